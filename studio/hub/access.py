"""Where a hub is, with which token it is asked, and where its files go on this machine.

The variables are those of huggingface_hub (constants.py) and modelscope, so that what works for
their own programs works here. Their files are read, never written.
"""

import urllib.parse
from collections.abc import Mapping
from pathlib import Path

import msgspec

from studio.domain.downloads import HubName, LoginInfo
from studio.domain.errors import BadInput, NotFound
from studio.host import hf_folders
from studio.host.network import NetworkPolicy
from studio.host.paths import Paths
from studio.host.secrets import SecretStore

SERVICE = "hub"
"""Under which tokens are kept (host/secrets)."""
_ENDPOINTS = {
    HubName.HUGGING_FACE: (("HF_ENDPOINT",), "https://huggingface.co"),
    # Its programs up to 2025 know the domain only; the newer ones look at the endpoint first.
    HubName.MODEL_SCOPE: (
        ("MODELSCOPE_ENDPOINT", "MODELSCOPE_DOMAIN"),
        "https://www.modelscope.cn",
    ),
}
_TOKENS = {
    HubName.HUGGING_FACE: ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"),
    HubName.MODEL_SCOPE: ("MODELSCOPE_API_TOKEN",),
}
TITLES = {HubName.HUGGING_FACE: "Hugging Face", HubName.MODEL_SCOPE: "ModelScope"}
_LOGIN = "weir models login"
_MOST_TOKEN = 4096


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """A token, and who named it."""

    text: str
    source: str

    def __repr__(self) -> str:
        """Tell nothing of the token."""
        return f"Token(source={self.source!r})"


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """What is needed to ask a hub."""

    paths: Paths
    policy: NetworkPolicy
    environ: Mapping[str, str]

    def endpoint(self, hub: HubName) -> str:
        """Return a hub's address without a slash at its end.

        Raises: BadInput (`hub-endpoint`).
        """
        _variables, default = _ENDPOINTS[hub]
        variable, text = self._named(hub) or ("", default)
        if "://" not in text and hub is HubName.MODEL_SCOPE:
            text = f"https://{text}"
        if not _is_address(text):
            raise BadInput(
                "hub-endpoint",
                f"{variable} is no address of a hub: `{text}`.",
                hint=f"It is an address such as {default}; unset it to use that one.",
            )
        return text.rstrip("/")

    def is_named(self, hub: HubName) -> bool:
        """Return whether the person names where this hub is, such as a mirror."""
        return self._named(hub) is not None

    def _named(self, hub: HubName) -> tuple[str, str] | None:
        given = ((name, self.environ.get(name, "").strip()) for name in _ENDPOINTS[hub][0])
        return next((one for one in given if one[1]), None)

    def cache(self, hub: HubName) -> Path:
        """Return the folder of a hub's repositories, in the layout of huggingface_hub."""
        if hub is HubName.MODEL_SCOPE:
            return self.paths.models / "modelscope"
        return hf_folders.cache(self.environ)

    def token(self, hub: HubName) -> Token | None:
        """Return the token for a hub at the address in force; it goes to no other host.

        Blocks: the keyring may ask. Raises: BadInput (`hub-token`), HostLacks
        (`keyring-unavailable`), Damaged.
        """
        for variable in _TOKENS[hub]:
            text = self.environ.get(variable, "").strip()
            if text:
                return _checked(text, hub, variable)
        try:
            kept = SecretStore(self.paths.secrets).get(SERVICE, self._account(hub))
        except NotFound:
            return self._of_file(hub) if hub is HubName.HUGGING_FACE else None
        return Token(text=kept, source=_LOGIN)

    def keep_token(self, hub: HubName, text: str | None) -> LoginInfo:
        """Keep a token for a hub at the address in force, or with None forget it.

        Blocks. Raises: BadInput (`hub-token`), HostLacks.
        """
        store = SecretStore(self.paths.secrets)
        if text is None:
            store.delete(SERVICE, self._account(hub))
            return self.login(hub)
        store.put(SERVICE, self._account(hub), self.given(hub, text).text)
        return self.login(hub)

    def given(self, hub: HubName, text: str) -> Token:
        """Return a token that a person gave, not kept yet. Raises: BadInput (`hub-token`)."""
        return _checked(text.strip(), hub, _LOGIN)

    def login(self, hub: HubName) -> LoginInfo:
        """Return which token is used, without the token. Blocks."""
        token = self.token(hub)
        return LoginInfo(
            hub=hub, endpoint=self.endpoint(hub), source=token.source if token else None
        )

    def _account(self, hub: HubName) -> str:
        return urllib.parse.urlsplit(self.endpoint(hub)).netloc

    def _of_file(self, hub: HubName) -> Token | None:
        """Read the file that `hf auth login` writes."""
        file = hf_folders.token_file(self.environ)
        try:
            text = file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return None
        return _checked(text, hub, str(file)) if text else None


def _is_address(text: str) -> bool:
    try:
        parts = urllib.parse.urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    is_plain = text.isprintable() and not set(text) & set("?# \\")
    return parts.scheme in ("http", "https") and bool(parts.hostname) and is_plain


def _checked(text: str, hub: HubName, source: str) -> Token:
    """Return a token that can stand in a header; its text goes into no sentence."""
    is_good = len(text) <= _MOST_TOKEN and text.isascii() and text.isprintable()
    if not text or not is_good or " " in text:
        raise BadInput(
            "hub-token",
            f"What {source} gives is no token of {TITLES[hub]}.",
            hint="Copy it whole from the hub's page of access tokens; one line, no blanks.",
        )
    return Token(text=text, source=source)
