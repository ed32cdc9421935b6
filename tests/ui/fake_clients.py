"""The fake service's chat clients: plugged in by `FakeClients(service)`."""

import msgspec

from studio.domain.clients import (
    ClientInfo,
    ClientList,
    ClientState,
    Connected,
    ConnectPlan,
    ConnectRequest,
    Labelled,
    Snippet,
    TryGrant,
    Undone,
)
from studio.domain.errors import ErrorInfo
from tests.ui.fake_service import BASE_URL, FakeService

CLAUDE = ClientInfo(
    id="claude-code",
    title="Claude Code",
    summary="Anthropic's agent for the terminal, over the Anthropic dialect.",
    is_found=True,
    found_by="/usr/local/bin/claude",
    can_write=True,
    path="/home/ada/.claude/settings.json",
    documented="https://code.claude.com/docs/en/llm-gateway",
    versions="2.1, October 2026",
)
CLINE = ClientInfo(
    id="cline",
    title="Cline",
    summary="An agent in VS Code.",
    is_found=True,
    found_by="/home/ada/.vscode/extensions/saoudrizwan.claude-dev-3.1.0",
    can_write=False,
    documented="https://docs.cline.bot/provider-config/openai-compatible",
    versions="3.x, October 2026",
)
OTHERS = tuple(
    ClientInfo(
        id=title.lower().replace(" ", "-"),
        title=title,
        summary="A chat.",
        is_found=False,
        can_write=False,
        documented="https://example.org",
        versions="2026",
    )
    for title in (
        "Chatbox", "Cherry Studio", "Codex CLI", "Continue", "LibreChat", "Open WebUI", "OpenCode",
        "VS Code (Copilot, own key)", "Your own program", "Zed",
    )
)  # fmt: skip
DIFF = """--- /home/ada/.claude/settings.json
+++ /home/ada/.claude/settings.json
@@ -2,6 +2,12 @@
 {
   "model": "opus", // keep
   "env": {
-    "FOO": "1"
+    "FOO": "1",
+    "ANTHROPIC_BASE_URL": "http://127.0.0.1:18020",
+    "ANTHROPIC_AUTH_TOKEN": "sk-weir-…",
+    "ANTHROPIC_MODEL": "smollm2-135m"
   },
 }"""
STEPS = ("Start `claude` anew; `/status` shows the address.",)
VALUES = (
    Labelled(label="API Provider", value="OpenAI Compatible"),
    Labelled(label="Base URL", value=BASE_URL),
    Labelled(label="OpenAI Compatible API Key", value="sk-weir-…", is_secret=True),
    Labelled(label="Model ID", value="smollm2-135m"),
)
SNIPPETS = (
    Snippet(title="curl", language="sh", text=f"curl -N {BASE_URL}/models"),
    Snippet(title="Python", language="python", text="import openai\n\nclient = openai.OpenAI()"),
    Snippet(title="JavaScript", language="javascript", text='import OpenAI from "openai";'),
)


class FakeClients:
    """Keeps which clients are connected."""

    def __init__(self, service: FakeService) -> None:
        self.service = service
        self.clients = [CLAUDE, CLINE, *OTHERS]
        self.refusal: ErrorInfo | None = None
        self.too_early: ErrorInfo | None = None
        """Why nothing can be planned yet."""
        self.too_early_for: dict[str, ErrorInfo] = {}
        self.grant: TryGrant | ErrorInfo = ErrorInfo(
            code="client-model-unknown", message="Nothing has been served yet.", exit_status=3
        )
        self.asked: list[tuple[str, object]] = []
        service.areas.append(self.answer)

    def answer(self, _method: str, route: str, body: bytes) -> object:
        """Return a record for what is asked of clients; None: it is not."""
        if route == "/clients":
            return ClientList(clients=tuple(self.clients))
        if route == "/try":
            return self.grant
        if not route.startswith("/clients/"):
            return None
        client, verb = route.removeprefix("/clients/").split("/")
        request = msgspec.json.decode(body, type=ConnectRequest) if body else None
        self.asked.append((verb, request))
        if verb == "plan":
            file = request.file if request is not None else None
            if file is not None and not file.startswith("/"):
                return ErrorInfo(code="path-not-absolute", message=f"{file} is no whole path.")
            return self.too_early_for.get(client) or self.too_early or self.plan(client, file)
        if self.refusal is not None:
            return self.refusal
        return self.connect(client) if verb == "connect" else self.undo(client)

    def info(self, client: str) -> ClientInfo:
        """Return a client."""
        return next(one for one in self.clients if one.id == client)

    def plan(self, client: str, file: str | None = None) -> ConnectPlan:
        """Return what would be written, into `file` where one was named."""
        info = self.info(client)
        if file is not None:
            info = msgspec.structs.replace(info, path=file)
        is_written = info.state is ClientState.CONNECTED
        return ConnectPlan(
            client=info,
            base_url=BASE_URL,
            model="smollm2-135m",
            context=2_048,
            key_name=info.title,
            key_exists=is_written,
            path=info.path,
            exists=True,
            digest="d1",
            diff=DIFF if info.path and not is_written else "",
            is_written=is_written,
            steps=STEPS,
            values=() if info.path else VALUES,
            snippets=SNIPPETS if not info.path else SNIPPETS[:1],
            notes=("The file will hold the key `Claude Code`: whoever reads it can use it.",)
            if info.path
            else (),
        )

    def connect(self, client: str) -> Connected:
        """Write it."""
        info = self.info(client)
        self.become(client, ClientState.CONNECTED if info.can_write else info.state)
        plan = self.plan(client)
        values = tuple(
            msgspec.structs.replace(one, value="sk-weir-secret") if one.is_secret else one
            for one in plan.values
        )
        return Connected(
            plan=msgspec.structs.replace(plan, values=values),
            path=info.path,
            backup=f"{info.path}.weir-backup" if info.path else None,
            has_changed=info.path is not None,
            key_id="k9",
            key_was_made=True,
        )

    def undo(self, client: str) -> Undone:
        """Put it back."""
        self.become(client, ClientState.UNTOUCHED)
        path = self.info(client).path or ""
        return Undone(client=client, path=path, was_removed=False, key_name="Claude Code")

    def become(self, client: str, state: ClientState) -> None:
        """Let a client stand so."""
        self.clients = [
            msgspec.structs.replace(one, state=state) if one.id == client else one
            for one in self.clients
        ]
