"""The fake service of a machine on which nothing was served yet: `FakeWelcome(service, "wsl2")`."""

import msgspec

from studio.domain.boots import BootHistory
from studio.domain.doctor import DoctorReport
from tests.ui.fake_planning import CHAT, LONG, MTP, FakePlanning
from tests.ui.fake_records import BOOTS
from tests.ui.fake_service import DEMO, FakeService
from tests.ui.fake_serving import DATA

STEP = "Put the files of the model into /home/ada/weir/models and prepare them (base, overlay)."


def recorded_doctor(name: str) -> DoctorReport:
    """Return what the real doctor says of a host of the catalogue."""
    return msgspec.json.decode((DATA / f"doctor-{name}.json").read_bytes(), type=DoctorReport)


class FakeWelcome:
    """Boots, doctor and plans; `boots` are empty until something was served."""

    def __init__(self, service: FakeService, host: str) -> None:
        self.service = service
        self.planning = FakePlanning(service)
        self.doctor = recorded_doctor(host)
        self.boots = BootHistory()
        self.asked: list[str] = []
        service.host = self.doctor.host
        has_card = bool(self.doctor.host.gpus)
        cards = [
            msgspec.structs.replace(
                one,
                usable=has_card,
                reasons=() if has_card else ("No NVIDIA driver was found on this machine.",),
            )
            for one in (CHAT, MTP, LONG)
        ]
        service.presets[:] = [*cards, DEMO] if has_card else [DEMO, *cards]
        service.areas.insert(0, self.answer)

    def serve_once(self) -> None:
        """Something was served here before."""
        self.boots = BOOTS

    def answer(self, _method: str, route: str, _body: bytes) -> object:
        """Return what the first run asks for; None: it is something else."""
        if route == "/boots":
            return self.boots
        if route == "/doctor":
            self.asked.append(route)
            return self.doctor
        return None
