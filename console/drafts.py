"""Drafts of handovers: what was typed survives a crash, in the platform's own state folder (console.md, Acting safely)."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import platformdirs

KEPT = 50
"""Drafts that are kept, the newest ones."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What was typed for one session: made from which revision, and every field's text."""

    kind: str
    session_id: str
    revision: int
    standing: str
    text: str
    summary: str
    new_key: str = ""
    nothing: str = ""


class Drafts:
    """Keeps drafts as files whose names are hashes: nothing of a store is ever a path. Without a folder they last as long as the console."""

    def __init__(self, folder: Path | None, store_id: str = "") -> None:
        self._folder = folder
        self._store_id = store_id
        self._held: dict[str, Draft] = {}

    def for_store(self, store_id: str) -> Drafts:
        """The drafts of this store."""
        if store_id != self._store_id:
            self._store_id = store_id
        return self

    def load(self, kind: str, session_id: str) -> Draft | None:
        """The draft for a session; one that is missing or cannot be read is none."""
        name = self._name(kind, session_id)
        if self._folder is None:
            return self._held.get(name)
        try:
            data: Any = json.loads((self._folder / name).read_text(encoding="utf-8"))
            known = {one.name for one in fields(Draft)}
            draft = Draft(**{key: value for key, value in data.items() if key in known})
        except (OSError, ValueError, TypeError, AttributeError):
            return None
        return draft if isinstance(draft.text, str) and isinstance(draft.standing, str) else None

    def keep(self, draft: Draft) -> None:
        """Keep a draft, whole or not at all, readable by its owner alone. A folder that cannot be written costs the draft, not the dialog."""
        name = self._name(draft.kind, draft.session_id)
        if self._folder is None:
            self._held[name] = draft
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor, temporary = tempfile.mkstemp(dir=self._folder, prefix="draft-", suffix=".tmp")
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogatepass") as file:
                    json.dump(asdict(draft), file, ensure_ascii=False)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(temporary, self._folder / name)  # noqa: PTH105 - both are full paths already
            except BaseException:
                with contextlib.suppress(OSError):
                    Path(temporary).unlink()
                raise
            self._tidy(self._folder)

    def forget(self, kind: str, session_id: str) -> None:
        """Let a draft go: its text has been sent."""
        name = self._name(kind, session_id)
        self._held.pop(name, None)
        if self._folder is not None:
            with contextlib.suppress(OSError):
                (self._folder / name).unlink()

    def _name(self, kind: str, session_id: str) -> str:
        text = json.dumps([self._store_id, kind, session_id])
        return f"{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}.json"

    @staticmethod
    def _tidy(folder: Path) -> None:
        files = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in files[KEPT:]:
            with contextlib.suppress(OSError):
                old.unlink()


def drafts_folder() -> Path:
    """Where drafts lie."""
    return Path(platformdirs.user_state_dir("watchroom", appauthor=False)) / "drafts"
