"""The sentences of `weir wsl`. Those with braces are filled with `format`."""

from studio.domain.wsl import WslStep

ABOUT = "On Windows: set up, look after and remove the Linux in which engines run."
COMMANDS: dict[str, str] = {
    "status": "Show how far it is, its disk, its network, its memory.",
    "setup": "Take the next step, as far as it goes without you.",
    "memory": "Write into .wslconfig how much memory it may have; the old file is kept.",
    "open": "Let other machines reach the gateway: a port proxy, and a rule of the firewall.",
    "close": "Take both away again.",
    "compact": "Give back what its disk image does not use.",
    "remove": "Say what is in it, ask, and remove it.",
}
HELP_YES = "Do not ask."
HELP_ROOTFS = "Root file system to import instead of the one that came along."
HELP_PRESET = "What is to be served: what it takes of the memory decides."
HELP_GIB = "So many GiB instead of what is proposed."

STEPS: dict[WslStep, str] = {
    WslStep.NOT_WINDOWS: "this is no Windows: engines run right here",
    WslStep.FIRMWARE: "virtualization has to be switched on in the firmware",
    WslStep.INSTALL: "WSL has to be installed: `weir wsl setup`",
    WslStep.RESTART: "Windows has to be started anew; then `weir wsl setup` goes on",
    WslStep.UPDATE: "WSL is too old: `weir wsl setup` updates it",
    WslStep.IMPORT: "the Studio's Linux is not there yet: `weir wsl setup`",
    WslStep.START: "set up; the service starts with `weir up` or the window",
    WslStep.READY: "set up, and the service runs",
    WslStep.REFUSED: "it cannot go on by itself",
}
STATE = "State"
VERSION = "WSL"
INSIDE = "Service"
DISK = "Disk"
IMPORTING = "Import"
NETWORK = "Network"
REACHED = "Localhost"
MEMORY = "Memory"
LAN = "Other machines"
CARD = "Card"
FIRMWARE = "Firmware"
PROBLEM = "Problem"

INSIDE_OLDER = (
    "version {version}, older than this program: `weir down`, and its next start is the new one"
)
DISK_IS = "{size} in {path}; `weir wsl compact` gives back what is not used"
DISK_WAS = "it was {size} before"
COMPACTING = "it is being made smaller; the Linux starts again when that is over"
WRITTEN_SO_FAR = "{size} are written"
REACHED_YES = "{address} is reached from Windows"
REACHED_NO = "{address} is not reached from Windows: `wsl --shutdown`, or see `networkingMode`"
PROPOSED = "{lines} is proposed for {file}: `weir wsl memory` writes it"
LAN_OPEN = "they may reach the gateway; `weir wsl close` ends that"
LAN_STALE = "the Linux has another address since: `weir wsl open` leads them there again"
LAN_GATEWAY = "once, so that the gateway answers them: {command}"
LAN_IS = "`weir wsl open` lets them in, or as administrator: {command}"
CARD_IS = "{name}: {size} of its memory lies in the machine's"
QUESTION_INSTALL = (
    "WSL is not installed. Windows will ask for the administrator and has to be started anew. "
    "Go on? [Y/n] "
)
CHANGES = "What would change in {file}:"
QUESTION_MEMORY = "Write {lines} into {file}? A copy of it is kept. [y/N] "
QUESTION_OPEN = "Let other machines reach the gateway? Windows asks for the administrator. [y/N] "
QUESTION_CLOSE = "Close it for other machines? Windows asks for the administrator. [y/N] "
NOTHING_CHANGED = "Nothing was changed."
NO_PRESET = "Say what is to be served: `weir wsl memory --preset NAME`, or --gib N."
QUESTION_REMOVE = "Remove the Studio's Linux with all that is in it? [y/N] "
NOTHING_PROPOSED = "It has enough memory; --gib names another figure."
WRITTEN = "Written. It holds after `wsl --shutdown`."
CONTENTS = "In it ({size}):"
CONTENTS_HIDDEN = "  cannot be looked at, because the Linux does not start; models may be in it"
REMOVED = "It was removed."
NOT_REMOVED = "Nothing was removed."
CONSENT = "This needs a yes, and nobody can be asked here."
HINT_CONSENT = "Add --yes."
