"""Sentences and labels of `weir settings`."""

from studio.domain.settings import OnDeath, OnStall

ABOUT = (
    "Show and set what follows when an engine dies or stands still, how long requests wait, "
    "how often the monitor looks, and whether newer versions are looked for."
)
HELP_SET = (
    "Set one thing; may be given again: on-death=restart|tell, on-stall=restart|wait|tell, "
    "stall-s=SECONDS, wait-s=SECONDS, sample-s=SECONDS, history-mib=MIB, "
    "check-updates=on|off."
)
HELP_FORGET = "Forget one of them, so that the default holds again."

ON_DEATH = "on-death"
ON_STALL = "on-stall"
STALL = "stall-s"
WAIT = "wait-s"
SAMPLE = "sample-s"
HISTORY = "history-mib"
UPDATES = "check-updates"
NOT_CHOSEN = " (the default)"
BY_VARIABLE = " (by WEIR_SAMPLE_S)"

DEATHS = {
    OnDeath.RESTART: "restart: an engine that dies while it serves is started again; after the "
    "third death within ten minutes it stays down",
    OnDeath.TELL: "tell: an engine that dies stays down, with the reason in `weir status`",
}
STALLS = {
    OnStall.RESTART: "restart: an engine that stands still is ended and started again",
    OnStall.WAIT: "wait: an engine that stands still is left alone; `weir status` says how long",
    OnStall.TELL: "tell: an engine that stands still is left alone and shown as an error",
}
STALL_BY_PRESET = (
    "as the preset says: so long without a step, with requests waiting, is a standstill"
)
STALL_SECONDS = "{seconds} without a step, with requests waiting, is a standstill"
WAIT_AUTO = (
    "60 s, or as long as the boot should take: so long requests wait for an engine on its way"
)
WAIT_SECONDS = "{seconds}: so long requests wait for an engine on its way"
WAIT_NONE = "0: requests do not wait for an engine on its way and get 503 at once"
SAMPLE_SECONDS = "{seconds}: so often the monitor looks at cards, engine and host"
HISTORY_MIB = "{mib:,} MiB: the monitor's history grows no larger; the oldest minutes go first"
UPDATES_ON = "on: the service looks once a day whether there is a newer version of the Studio"
UPDATES_OFF = "off: nobody is asked for newer versions unless you type `weir update check`"
