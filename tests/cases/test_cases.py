"""The black-box cases of wraps, sessions and graduation, each against real server processes and the command line.

A case that needs a fixture is skipped here; tests/unit/sessions/test_fixture_cases_*.py have it under its id.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cases.runner import Skip, run_case

DATA = Path(__file__).parent / "data"
ROOT = Path(__file__).parents[2]
COMMAND = os.environ.get("WATCHROOM_COMMAND") or shutil.which("watchroom") or shlex.join([sys.executable, "-m", "console.cli"])


def cases(name: str) -> list[Any]:
    """The cases of a file, each under its own id."""
    return [pytest.param(case, id=case["id"]) for case in json.loads((DATA / name).read_text())["cases"]]


@pytest.fixture(autouse=True)
def our_own_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers and commands run this checkout, and nothing of the caller's own settings."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for name in [name for name in os.environ if name.startswith("WATCHROOM_")]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize("case", [*cases("wraps.json"), *cases("sessions.json"), *cases("graduation.json")])
def test_case(case: dict[str, Any]) -> None:
    try:
        fault = run_case(case, f"{COMMAND} serve", COMMAND)
    except Skip as why:
        pytest.skip(str(why))
    assert fault is None, f"{case['title']}: {fault}"
