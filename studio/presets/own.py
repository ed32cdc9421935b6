"""Presets of the person's own: made from others, changed, compared with what they came from.

<home>/presets/<id>.toml               the preset
<home>/presets/bases/<digest>.json     what it came from, as it was then; written first
"""

import contextlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from studio import __version__
from studio.domain.errors import BadInput, Busy, StudioError
from studio.domain.manifests import Preset
from studio.domain.presets import (
    CopyRequest,
    ImportPresetRequest,
    PresetDiff,
    PresetRemoved,
    PresetText,
    UpdateRequest,
)
from studio.domain.rules import Value
from studio.host.documents import read_json
from studio.host.files import exclusive, from_os_error, sha256_bytes, write_atomic
from studio.presets import compare, knobs, merge, text
from studio.presets.store import PresetStore

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_LARGEST_BYTES = 1 << 20
_LONGEST_TITLE = 120


class OwnPresets:
    """Writes the presets of one home."""

    def __init__(self, store: PresetStore) -> None:
        self._store = store
        self._folder = store.own_folder

    def copy(self, source_id: str, request: CopyRequest) -> Preset:
        """Return a new preset of the person's own, made from another one.

        Raises: NotFound (`preset-unknown`), BadInput (`preset-id`, `preset-exists`, …), HostLacks
        (`not-writable`, `disk-full`), Busy (`presets-busy`).
        """
        _check_id(request.id)
        with self._locked():
            self._require_free(request.id)
            source = self._store.get(source_id)
            values = _as_typed(source, knobs.read_overrides(source, request.values))
            content = self._text(source_id).text
            content = text.with_values(content, values) if values else content
            self._write(request.id, self._copied(content, source, request.id, request.title))
        return self._store.get(request.id)

    def take(self, request: ImportPresetRequest) -> Preset:
        """Return a preset that somebody else wrote, now the person's own.

        Raises: BadInput (`preset-id`, `preset-exists`, `preset-secret`, `document-invalid`, …),
        HostLacks, Busy (`presets-busy`).
        """
        where = request.source or "the preset"
        named = text.parse(request.text, where).get("id")
        if not isinstance(named, str):
            raise BadInput(
                "document-invalid",
                f"{where} is no preset: it has no `id` that is a text.",
                hint="`weir presets show cpu-demo` names the file of one to look at.",
            )
        new_id = named if request.id is None else request.id
        _check_id(new_id)
        with self._locked():
            self._require_free(new_id)
            content = request.text
            content = content if new_id == named else text.with_id(content, new_id)
            self._write(new_id, content, shown_as=request.source)
        return self._store.get(new_id)

    def _require_free(self, preset_id: str) -> None:
        if self._store.is_own(preset_id):
            raise BadInput(
                "preset-exists",
                f"You have a preset `{preset_id}` already.",
                hint=f"Choose another name, or change it: `weir presets edit {preset_id}`.",
            )

    def edit(self, preset_id: str, values: Mapping[str, str]) -> Preset:
        """Return a preset with these defaults; a bundled one is copied under its id first.

        Raises: NotFound (`preset-unknown`), BadInput (`knob-unknown`, `knob-value`,
        `preset-not-editable`, …), HostLacks, Busy (`presets-busy`).
        """
        preset = self._store.get(preset_id)
        found = knobs.read_overrides(preset, values)
        with self._locked():
            before = self._text(preset_id)
            after = text.with_values(before.text, _as_typed(preset, found))
            if not before.is_own:
                after = self._copied(after, preset, preset_id, None)
            self._write(preset_id, after)
        return self._store.get(preset_id)

    def save(self, preset_id: str, content: str) -> Preset:
        """Return the preset that `content` describes, now the person's own.

        Raises: BadInput (`preset-id`, `document-invalid`, `preset-secret`, `preset-version`, …),
        HostLacks, Busy (`presets-busy`).
        """
        _check_id(preset_id)
        with self._locked():
            document = text.parse(content, "the preset")
            is_first = not self._store.is_own(preset_id) and "origin" not in document
            bundled = self._store.bundled(preset_id) if is_first else None
            if bundled is not None:
                content = self._copied(content, bundled, preset_id, None)
            self._write(preset_id, content)
        return self._store.get(preset_id)

    def retitle(self, preset_id: str, title: str) -> Preset:
        """Return a preset of the person's own under another title.

        Raises: NotFound (`preset-unknown`), BadInput (`preset-not-own`, `preset-title`, …),
        HostLacks, Busy (`presets-busy`).
        """
        words = " ".join(title.split())
        if not words or len(words) > _LONGEST_TITLE:
            raise BadInput(
                "preset-title",
                f"A title has 1 to {_LONGEST_TITLE} characters; this one has {len(words)}.",
            )
        with self._locked():
            before = self._require_own(preset_id)
            self._write(preset_id, text.with_title(before.text, words))
        return self._store.get(preset_id)

    def remove(self, preset_id: str) -> PresetRemoved:
        """Delete a preset of the person's own; one that came with the Studio is back then.

        Raises: NotFound (`preset-unknown`), BadInput (`preset-not-own`), HostLacks, Busy
        (`presets-busy`).
        """
        with self._locked():
            gone = self._require_own(preset_id)
            path = Path(gone.path)
            try:
                path.unlink()
            except OSError as error:
                raise from_os_error(error, path) from error
        return PresetRemoved(
            id=preset_id,
            path=gone.path,
            text=gone.text,
            is_bundled_back=preset_id in self._store.ids(),
        )

    def update(self, preset_id: str, request: UpdateRequest) -> Preset:
        """Return a preset with what changed in its original since; the person's values stay.

        Raises: NotFound (`preset-unknown`), BadInput (`preset-not-own`, `preset-no-origin`,
        `preset-no-base`, `preset-change-unknown`, `preset-not-mergeable`), HostLacks, Busy.
        """
        with self._locked():
            before = self._require_own(preset_id)
            mine = self._store.get(preset_id)
            found = self.diff(preset_id, None)
            origin_id = mine.origin.id if mine.origin is not None else ""
            now, _ = self._original(preset_id, origin_id)
            if now is None or not found.is_three_way:
                raise BadInput(
                    "preset-no-base",
                    f"`{preset_id}` cannot be updated. {found.note or ''}".strip(),
                    hint=f"Change it by hand: `weir presets edit {preset_id}`.",
                )
            wanted = merge.wanted(preset_id, compare.values_of(mine), found.changes, request.take)
            is_bundled = origin_id == preset_id
            source = self._store.bundled_path(origin_id) if is_bundled else None
            theirs = self._text(origin_id, source).text
            self._write_merged(mine, now, merge.Texts(before.text, theirs), wanted)
        return self._store.get(preset_id)

    def _write_merged(
        self, mine: Preset, now: Preset, texts: merge.Texts, wanted: merge.Wanted
    ) -> None:
        """Write the first text that reads as what is wanted: the original's, else the person's."""
        kept = _as_typed(now, wanted.knobs_of(now, wanted.kept))
        taken = _as_typed(mine, wanted.knobs_of(mine, wanted.taken))
        tries = ((texts.theirs, kept, mine.title), (texts.mine, taken, None))
        for content, values, title in tries:
            try:
                content = text.with_values(content, values) if values else content
                made = self._copied(content, now, mine.id, title)
                self._write(mine.id, made, wanted=wanted.values)
            except (BadInput, merge.NotMeant):
                continue
            return
        raise BadInput(
            "preset-not-mergeable",
            f"`{mine.id}` and the update changed more than settings, so they cannot be put "
            "together line by line.",
            hint=f"Change the file by hand: `weir presets edit {mine.id}`.",
        )

    def _require_own(self, preset_id: str) -> PresetText:
        found = self._text(preset_id)
        if not found.is_own:
            raise BadInput(
                "preset-not-own",
                f"`{preset_id}` came with the Studio; only presets of your own can be changed.",
                hint=f"Make it yours first: `weir presets copy {preset_id} NAME`.",
            )
        return found

    def show(self, preset_id: str) -> PresetText:
        """Return a preset's file. Raises: NotFound (`preset-unknown`), HostLacks."""
        return self._text(preset_id)

    def diff(self, preset_id: str, other_id: str | None) -> PresetDiff:
        """Return how a preset differs from another one, or from what it came from.

        Raises: NotFound (`preset-unknown`), BadInput (`preset-no-origin`, …).
        """
        mine = self._store.get(preset_id)
        values = compare.values_of(mine)
        if other_id is not None:
            theirs = compare.values_of(self._store.get(other_id))
            return PresetDiff(
                mine=preset_id, theirs=other_id, changes=compare.two_way(values, theirs)
            )
        if mine.origin is None:
            raise BadInput(
                "preset-no-origin",
                f"`{preset_id}` was not made from another preset.",
                hint=f"Name one to compare with: `weir presets diff {preset_id} OTHER`.",
            )
        return self._against_origin(mine, mine.origin.id, mine.origin.digest)

    def _against_origin(self, mine: Preset, origin_id: str, digest: str) -> PresetDiff:
        values = compare.values_of(mine)
        base = self._base(digest)
        now, note = self._original(mine.id, origin_id)
        if base is None:
            theirs = compare.values_of(now) if now is not None else {}
            lost = "The copy of what it was made from is gone, so nobody knows who changed what."
            return PresetDiff(
                mine=mine.id, theirs=origin_id, note=" ".join(filter(None, (lost, note))),
                changes=compare.two_way(values, theirs),
            )  # fmt: skip
        was = compare.values_of(base)
        theirs = compare.values_of(now) if now is not None else was
        return PresetDiff(
            mine=mine.id,
            theirs=origin_id,
            is_three_way=True,
            note=note,
            changes=compare.three_way(was, values, theirs),
        )

    def _original(self, own_id: str, origin_id: str) -> tuple[Preset | None, str | None]:
        """Return the original as it is now, or why there is none."""
        try:
            if origin_id == own_id:
                found = self._store.bundled(origin_id)
            else:
                found = self._store.get(origin_id)
        except StudioError as error:
            return None, f"The original cannot be read: {error.message}"
        gone = f"`{origin_id}` is no longer among the presets." if found is None else None
        return found, gone

    def _base(self, digest: str) -> Preset | None:
        if not re.fullmatch(r"[0-9a-f]{64}", digest):
            return None
        try:
            return read_json(self._folder / "bases" / f"{digest}.json", Preset)
        except StudioError:
            return None

    def _copied(self, content: str, source: Preset, new_id: str, title: str | None) -> str:
        """Return the text of a copy; what it came from is kept first."""
        data = msgspec.json.encode(source)
        digest = sha256_bytes(data)
        self._put(self._folder / "bases" / f"{digest}.json", data)
        origin = {"id": source.id, "digest": digest, "program": __version__}
        return text.renamed(content, new_id, title, origin)

    def _text(self, preset_id: str, source: Path | None = None) -> PresetText:
        path = source or self._store.path(preset_id)
        try:
            content = path.read_text(encoding="utf-8")
        except OSError as error:
            raise from_os_error(error, path) from error
        except UnicodeDecodeError as error:
            raise BadInput("document-invalid", f"{path} is not UTF-8: {error}.") from error
        is_own = self._store.is_own(preset_id)
        return PresetText(id=preset_id, path=str(path), is_own=is_own, text=content)

    def _write(
        self,
        preset_id: str,
        content: str,
        *,
        shown_as: str | None = None,
        wanted: compare.Values | None = None,
    ) -> None:
        """Write a preset after reading it as it will be read, beside its place.

        Mistakes are told about the file `shown_as`, which the person knows; else about the place.
        What does not read as `wanted` is not written (`merge.NotMeant`).
        """
        data = content.encode()
        if len(data) > _LARGEST_BYTES:
            raise BadInput("document-invalid", "A preset's file is at most 1 MiB long.")
        path = self._folder / f"{preset_id}.toml"
        trial = self._folder / f".{preset_id}.toml.new"
        self._put(trial, data)
        try:
            read = self._store.read(trial, preset_id, is_own=True)
            if wanted is not None and compare.values_of(read) != wanted:
                raise merge.NotMeant
            text.require_no_secret_line(content, str(trial))
            trial.replace(path)
        except StudioError as error:
            message = error.message.replace(str(trial), shown_as or str(path))
            raise BadInput(error.code, message, hint=error.hint) from error
        except OSError as error:
            raise from_os_error(error, path) from error
        finally:
            with contextlib.suppress(OSError):
                trial.unlink(missing_ok=True)

    def _put(self, path: Path, data: bytes) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, data)
        except OSError as error:
            raise from_os_error(error, path) from error

    def _tidy(self) -> None:
        """Remove what a killed process left half written; only who holds the lock writes here."""
        for left in (*self._folder.glob(".*.toml.new*"), *self._folder.glob("bases/.*.json.*")):
            left.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with exclusive(self._folder / ".lock") as is_ours:
                if not is_ours:
                    raise Busy(
                        "presets-busy",
                        "Another process of the Studio is changing presets.",
                        hint="Run it again.",
                    )
                self._tidy()
                yield
        except OSError as error:
            raise from_os_error(error, self._folder) from error


def _as_typed(preset: Preset, values: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values with the words that people type instead of what the engine is given."""
    made = dict(values)
    for name, value in values.items():
        for word, meant in preset.knobs[name].words.items():
            if value == meant:
                made[name] = word
    return made


def _check_id(preset_id: str) -> None:
    if not _ID.fullmatch(preset_id) or preset_id.endswith(".toml"):
        raise BadInput(
            "preset-id",
            f"`{preset_id}` cannot be the name of a preset.",
            hint="Use small letters, digits, `-`, `_` and `.`: at most 64, no sign first.",
        )
