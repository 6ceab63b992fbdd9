"""The shelf of built stores: each is built once by a process of its own, kept in pytest's cache folder, and lent as a copy."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import core.store.schema
import core.trail.append
from tests.benchmarks import build, contents

ROOT = Path(__file__).parents[2]
MADE_OF = {
    "ours": (core.store.schema, core.trail.append, build, contents),
    "peer": (contents,),
}
"""What a built store depends on: when one of these changes, it is built anew."""


class Shelf:
    """Lends built stores. `folder` outlives the run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def original(self, what: str, episodes: int, trail_rows: int = 0) -> Path:
        """The folder of a built store, for those who change nothing in it."""
        kept = self._folder / f"{what}-{fingerprint(what)}-{episodes}-{trail_rows}"
        if not kept.exists():
            fresh = kept.with_name(f"{kept.name}.{os.getpid()}")
            fresh.mkdir(parents=True)
            numbers = (str(episodes), str(trail_rows))
            subprocess.run(python("-m", "tests.benchmarks.build", what, str(fresh), *numbers), env=environment(), check=True)
            fresh.rename(kept)
        return kept

    def copy(self, into: Path, what: str, episodes: int, trail_rows: int = 0) -> Path:
        """A copy of a built store; gives the file of the store itself."""
        shutil.copytree(self.original(what, episodes, trail_rows), into, dirs_exist_ok=True)
        return into / (build.OURS if what == "ours" else build.PEER)


def fingerprint(what: str) -> str:
    """What a built store was built by, in short."""
    digest = hashlib.sha256()
    for module in MADE_OF[what]:
        digest.update(Path(str(module.__file__)).read_bytes())
    if what == "peer":
        digest.update(importlib.metadata.version("anneal-memory").encode())
    return digest.hexdigest()[:12]


def python(*arguments: str) -> Sequence[str]:
    """The command line of a Python process of this environment."""
    return (sys.executable, *arguments)


def environment(**more: str) -> dict[str, str]:
    """A child's environment: this checkout, compiled files kept as in any installation, and none of the caller's own settings."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("WATCHROOM_", "PYTHON", "TEXTUAL"))}
    ours.pop("NO_COLOR", None)
    return {**ours, "PYTHONPATH": str(ROOT), **more}
