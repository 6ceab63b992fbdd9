"""Makes the two small stores beside this file with the real anneal-memory, whose command line it calls as a person would.

    python tests/data/anneal/make.py 1.0.2 FOLDER_WITH_THAT_VERSION
    python tests/data/anneal/make.py 0.9.6 FOLDER_WITH_THAT_VERSION

The folder is what `pip install --target FOLDER anneal-memory==VERSION` fills. The ids and times differ each time, so the tests
read them from the stores.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path


def main(version: str, package: str) -> None:
    """Make the store of one version anew."""
    folder = Path(__file__).parent / version
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    maker = Maker(folder / "memory.db", package)
    maker.first_wrap()
    maker.second_wrap()
    maker.side_files()
    maker.open_wrap()
    for name in folder.rglob("*.lock"):
        name.unlink()


class Maker:
    """One store, written through the package's own command line."""

    def __init__(self, path: Path, package: str) -> None:
        self.path = path
        self.package = package
        self.new = path.parent.name.startswith("1.")
        self("init")
        if self.new:
            self("baton", "claim", "nightly")

    def __call__(self, *words: str, text: str | None = None) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "anneal_memory", "--db", str(self.path), *words],
            input=text,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": self.package},
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"{words}: {done.stdout}{done.stderr}")
        return done.stdout

    def record(self, content: str, kind: str = "observation", *more: str) -> str:
        """Record an episode and give its id."""
        found = re.search(r"\b[0-9a-f]{8}\b", self("record", content, "--type", kind, *more))
        assert found
        return found.group()

    def wrap(self, text: str) -> None:
        """Prepare a wrap and save it."""
        self("prepare-wrap", *self.session())
        if self.new:
            token = self("wrap-token-current").strip()
            self("save-continuity", "-", "--wrap-token", token, *self.session(), text=text)
        else:
            self("save-continuity", "-", text=text)

    def session(self) -> list[str]:
        """The session that a store of 1.0 asks for."""
        return ["--session-id", "nightly"] if self.new else []

    def first_wrap(self) -> None:
        """A first window with one pattern seen once, and an episode that is deleted in it."""
        self.record("The build cache is keyed by the lock file's hash")
        self.record("A stale build cache broke the release of Tuesday", "outcome", "--tags", "release,cache")
        self.record("Use ruff for linting and formatting", "decision")
        gone = self.record("a slip of the pen that nobody needs", "context")
        self("delete", gone, "--force")
        self.wrap(continuity(f"cache-keys | 1x ({date.today()}) the cache must be keyed by the lock file"))

    def second_wrap(self) -> None:
        """A second window, in which the pattern rises to 2x on a citation."""
        again = self.record("The build cache was stale again: the key missed the lock file")
        self.wrap(
            continuity(
                f'cache-keys | 2x ({date.today()}) [evidence: {again} "the stale build cache missed the lock file key"]'
                " [no-contradicts]"
            )
        )

    def side_files(self) -> None:
        """Open loops, a crystal, a baton; links, states and trust where the version has them."""
        old = self.record("The deploy target is the old cluster in Frankfurt")
        if self.new:
            self.record("The deploy target is the new cluster in Paris", "observation", "--supersedes", old)
            home = self.record("The office is in Bonn", "context", "--state-key", "office city")
            self.record("The office moved to Cologne", "context", "--state-key", "office city", "--derived-from", home)
            self.record("A web page says that the cache is harmless", "observation", "--trust", "external")
        self("spore", "add", "--text", "Measure the cold build", "--type", "task", "--tier", "hot")
        self("spore", "add", "--text", "Why was the key wrong?", "--type", "question")
        crystals = self.path.with_name("memory.crystal.json")
        crystals.write_text(json.dumps(crystal(old)), encoding="utf-8")

    def open_wrap(self) -> None:
        """An open wrap over what waits, and an episode after it."""
        self("prepare-wrap", *self.session())
        self.record("Recorded while the wrap was open", "tension")


def continuity(pattern: str) -> str:
    """A continuity text with one pattern line."""
    return (
        "# Agent — Memory (v1)\n\n## State\nThe release works.\n\n"
        f"## Patterns\n- {pattern}\n\n## Decisions\n- ruff lints and formats\n\n## Context\nTwo releases so far.\n"
    )


def crystal(evidence: str) -> dict[str, object]:
    """A crystal document as crystal.py's `_save` writes it."""
    today = date.today().isoformat()
    live = {
        "name": "small-steps",
        "level": 3,
        "explanation": "small releases are easier to take back",
        "evidence": [evidence],
        "permanence": "timeless",
        "activation_mode": "just-in-time",
        "tags": ["release"],
        "crystallized_on": today,
        "last_activated_on": today,
        "status": "crystallized",
        "retirement": None,
        "source": None,
        "notes": [],
    }
    retirement = {"kind": "falsified", "reason": "it did not hold", "on": today, "at": f"{today}T00:00:00.000000Z"}
    retired = {**live, "name": "big-bangs", "status": "retired", "retirement": retirement}
    return {"schema_version": 1, "crystal": [live], "retired": [retired]}


if __name__ == "__main__":
    main(*sys.argv[1:])
