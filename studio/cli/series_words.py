"""The words of `weir runtime series` and of build steps."""

from studio.domain.runtimes import StepState

HELP_PIN_WITH = "Insist on a build step: it is done, or the installation stops."
HELP_PIN_WITHOUT = "Leave a build step out; may be given again."
NO_SERIES = "{name} takes no patches of another project."
KEPT = "Kept in {file}: copy it into the same folder of a machine without network."
STATES: dict[StepState, str] = {
    StepState.BUILT: "built",
    StepState.AT_START: "done by the engine at its start",
    StepState.FELL_BACK: "not built",
    StepState.NOT_NEEDED: "not needed",
}
INSTEAD = "instead: {fallback}"
COST = "cost: {cost}"
LOG = "log: {log}"
WITH_AND_WITHOUT = "`--with {step}` and `--without {step}` contradict each other; give one of them"
