"""What is changed in the messages of a request. Each returns what it did, without their text.

Only messages in which a rule's word stands are read, and only those that change are written anew.
"""

from collections.abc import Iterator

import msgspec

from studio.gateway.draft import Draft
from studio.gateway.traps import Documents, EmptyContent, Parts, Roles, StripLine, Systems

_HEAD_ROLES = ("system", "developer")


def roles(draft: Draft, action: Roles) -> Iterator[str]:
    """Put another role in place of one that a template lacks."""
    for before, after in action.values.items():
        count = 0
        for number, message in draft.items(f'"{before}"'.encode()):
            if message.get("role") == before:
                draft.put_item(number, {**message, "role": after})
                count += 1
        if count:
            yield f"role {before} → {after} in {_messages(count)}"


def systems(draft: Draft, action: Systems) -> Iterator[str]:
    """Make one of the system messages at the head, and give later ones another role."""
    found = draft.roles()
    head = 0
    while head < len(found) and found[head] in _HEAD_ROLES:
        head += 1
    if action.late is not None:
        late = [at for at in range(head, len(found)) if found[at] in _HEAD_ROLES]
        for at, message in list(draft.items()) if late else []:
            if at in late:
                draft.put_item(at, {**message, "role": action.late})
        if late:
            yield f"{_messages(len(late))} of role system in the middle → {action.late}"
    if action.merge and head > 1:
        texts = [_text(message.get("content")) for _, message in _first(draft, head)]
        if any(one is None for one in texts):
            return
        draft.put_item(0, {"role": "system", "content": "\n\n".join(str(one) for one in texts)})
        for _ in range(head - 1):
            draft.drop_item(1)
        yield f"{head} system messages → 1"


def parts(draft: Draft, action: Parts) -> Iterator[str]:
    """Give parts the names that the route knows, and leave out what nobody can read."""
    needles = tuple(f'"{one}"'.encode() for one in (*action.values, *action.drop))
    renamed: dict[str, int] = {}
    for number, message in draft.items(*needles):
        content = message.get("content")
        if not isinstance(content, list):
            continue
        kept, is_changed = [], False
        for part in content:
            kind = part.get("type") if isinstance(part, dict) else None
            kind = kind if isinstance(kind, str) else ""
            if kind in action.drop or kind in action.values:
                renamed[kind] = renamed.get(kind, 0) + 1
                is_changed = True
            if kind in action.drop:
                continue
            kept.append({**part, "type": action.values[kind]} if kind in action.values else part)
        if is_changed:
            draft.put_item(number, {**message, "content": kept})
    for kind, count in renamed.items():
        becomes = f"→ {action.values[kind]}" if kind in action.values else "left out"
        yield f"{count} parts {kind} {becomes}" if count > 1 else f"1 part {kind} {becomes}"


def documents(draft: Draft, _action: Documents) -> Iterator[str]:
    """Put the text of a document in its place, with its title where it has one."""
    count = 0
    for number, message in draft.items(b'"document"'):
        content = message.get("content")
        if not isinstance(content, list):
            continue
        before = count
        kept = []
        for part in content:
            text = _document(part)
            count += text is not None
            kept.append(part if text is None else {"type": "text", "text": text})
        if count > before:
            draft.put_item(number, {**message, "content": kept})
    if count:
        yield f"{count} documents → text" if count > 1 else "1 document → text"


def arguments(draft: Draft) -> Iterator[str]:
    """Write the arguments of past calls as the text that the dialect wants."""
    count = 0
    for number, message in draft.items(b'"arguments"'):
        calls = message.get("tool_calls")
        changed = 0
        for call in calls if isinstance(calls, list) else []:
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict) and not isinstance(function.get("arguments"), str):
                given = function.get("arguments")
                text = "{}" if given is None else msgspec.json.encode(given).decode()
                function["arguments"] = text
                changed += 1
        if changed:
            draft.put_item(number, message)
            count += changed
    if count:
        yield f"arguments of {count} calls → text" if count > 1 else "arguments of 1 call → text"


def empty_content(draft: Draft, action: EmptyContent) -> Iterator[str]:
    """Put nothing, in a form that is taken, where null stands."""
    count = 0
    for number, message in draft.items(b"null"):
        if message.get("role") in action.roles and message.get("content", "") is None:
            draft.put_item(number, {**message, "content": [] if action.as_list else ""})
            count += 1
    if count:
        yield f"content null → empty in {_messages(count)}"


def strip_line(draft: Draft, action: StripLine) -> Iterator[str]:
    """Take a line away from the head of the system prompt, wherever the dialect keeps that."""
    count = 0
    for name in ("system", "instructions"):
        if not draft.raw(name):
            continue
        content, stripped = _without_line(draft.get(name), action.begins)
        if stripped:
            draft.set(name, content)
            count += stripped
    for number, message in draft.items(action.begins.encode()):
        if message.get("role") not in _HEAD_ROLES:
            continue
        content, stripped = _without_line(message.get("content"), action.begins)
        if stripped:
            draft.put_item(number, {**message, "content": content})
            count += stripped
    if count:
        yield f"{count} lines taken out" if count > 1 else "1 line taken out"


def _without_line(content: object, begins: str) -> tuple[object, int]:
    """Return a content without the line, and how many were taken; an empty part goes too."""
    if isinstance(content, str):
        if not content.startswith(begins):
            return content, 0
        return content.partition("\n")[2], 1
    if not isinstance(content, list):
        return content, 0
    kept, count = [], 0
    for part in content:
        text = part.get("text") if isinstance(part, dict) else None
        if isinstance(text, str) and text.startswith(begins):
            count += 1
            rest = text.partition("\n")[2]
            if rest:
                kept.append({**part, "text": rest})
        else:
            kept.append(part)
    return kept, count


def _first(draft: Draft, count: int) -> Iterator[tuple[int, dict[str, object]]]:
    for number, message in draft.items():
        if number >= count:
            return
        yield number, message


def _text(content: object) -> str | None:
    """Return a content as one text; None: it holds more than text."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if not isinstance(content, list):
        return None
    texts = []
    for part in content:
        text = part.get("text") if isinstance(part, dict) else None
        if not isinstance(text, str) or part.get("type") != "text":
            return None
        texts.append(text)
    return "\n".join(texts)


def _document(part: object) -> str | None:
    """Return the text of a document that brings it along; None: it is none, or a picture of one."""
    if not isinstance(part, dict) or part.get("type") != "document":
        return None
    source = part.get("source")
    if not isinstance(source, dict) or source.get("type") != "text":
        return None
    text, title = source.get("data"), part.get("title")
    if not isinstance(text, str):
        return None
    return f"{title}\n\n{text}" if isinstance(title, str) and title else text


def _messages(count: int) -> str:
    return "1 message" if count == 1 else f"{count} messages"
