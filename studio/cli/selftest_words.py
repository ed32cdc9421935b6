"""Sentences of `weir gateway selftest`."""

from studio.domain.selftest import Defence, Place

ABOUT = "Attack the gateway as strangers would, and say what held and what did not."
DEFENCES: dict[Defence, str] = {
    Defence.HOST: "Host names",
    Defence.ORIGIN: "Origins",
    Defence.KEY: "Keys",
    Defence.ROUTES: "Paths and methods",
    Defence.BODY_SIZE: "Size of bodies",
    Defence.HEAD_SIZE: "Size of headers",
    Defence.TIME: "Time limits",
    Defence.FRAMING: "Ends of bodies",
    Defence.LINES: "Ends of lines",
    Defence.TARGET: "Targets",
    Defence.HEADERS: "Headers to the engine",
}
PLACES: dict[Place, str] = {
    Place.TWIN: "a gateway of its own",
    Place.LIVE: "the open address",
    Place.CONTROL: "the control port",
}
HELD = "{repelled} of {all} attacks repelled"
LET_THROUGH = "let through"
FOUND = "{title} ({code}, on {place}): {found}."
SAFE = "The gateway held: {count} attacks in {took}, all repelled."
OPEN = "The gateway let {count} of {all} attacks through. Missing: {defences}."
LIVE = "The open address {address} was attacked too, without a valid key."
NOT_LIVE = "No address is open, so only a gateway of its own was attacked."
ADVICE = (
    "Do not serve on this address until it is mended: this is a mistake of the Studio, or a "
    "damaged installation. Report it with the output of `weir gateway selftest --json`."
)
