"""The control API's calls about alarms."""

from studio.control.transport import Calls, part
from studio.domain.alarms import AlarmList, MuteRequest


class AlarmCalls(Calls):
    """What the monitor warns of."""

    async def alarms(self) -> AlarmList:
        """Return the alarms that hold, those that are over, and what is muted."""
        return await self.call("GET", "/alarms", AlarmList)

    async def mute_alarm(self, code: str, request: MuteRequest) -> AlarmList:
        """Silence an alarm; it is still watched and shown."""
        return await self.call("POST", f"/alarms/{part(code)}/mute", AlarmList, body=request)

    async def unmute_alarm(self, code: str) -> AlarmList:
        """Let an alarm be heard again."""
        return await self.call("POST", f"/alarms/{part(code)}/unmute", AlarmList)
