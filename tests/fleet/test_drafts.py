"""What a killed agent had drafted survives it: kill -9, force-cancel and adopt over real processes (issue 4, 5)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.fleet.servers import ROOT, Fleet, environment, rows
from tests.rooms import text


def watchroom(fleet: Fleet, *arguments: str, code: int = 0) -> Any:
    """Run the command line as a process of its own on the fleet's store, and give its JSON answer."""
    done = subprocess.run(
        [sys.executable, "-m", "console.cli", *arguments, "--store", str(fleet.store), "--json"],
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == code, (done.stdout, done.stderr)
    return json.loads(done.stdout)


def test_the_draft_of_a_killed_agent_is_adopted_after_its_wrap_was_cancelled_by_force(fleet: Fleet, tmp_path: Path) -> None:
    agent, other = fleet.agent(name="writer"), fleet.agent(name="other")
    agent.recorded()
    wrap = agent.done("prepare_wrap")
    for words in ("first words", text(State="as far as it got")):
        agent.done("draft_continuity", wrap_token=wrap["wrap_token"], text=words)
    agent.process.kill()
    agent.process.wait(10)

    shown = watchroom(fleet, "salvage", "show", "draft:2")["data"]["text"]
    assert (shown["text"], shown["row"]["wrap_state"]) == (text(State="as far as it got"), "open")
    file = tmp_path / "finished.md"
    file.write_text(text(State="finished by hand"))
    adopt = ("salvage", "adopt", "draft:2", "--text-file", str(file), "--expected-revision", "0", "--reason", "its host was lost")
    assert watchroom(fleet, *adopt, code=1)["error"]["code"] == "wrap_in_progress"

    typed = wrap["wrap_token"][:6]
    watchroom(fleet, "cancel", str(wrap["wrap_id"]), "--reason", "it was killed", "--typed", typed)
    assert other.done("status")["drafts_waiting"] == 2
    adopted = watchroom(fleet, *adopt)["data"]
    assert (adopted["from_wrap_id"], adopted["texts"], adopted["saved"]["episodes_compressed"]) == (wrap["wrap_id"], 2, 1)
    assert adopted["saved"]["generation"] == wrap["generation"] + 1

    again = watchroom(fleet, *adopt[:-4], "--expected-revision", "1", "--reason", "once more", code=1)["error"]
    assert (again["code"], set(again["facts"]["obstacles"])) == ("adopt_conflict", {"revision", "covered"})
    assert rows(fleet.store, "select text from continuity") == [(text(State="finished by hand"),)]
    assert other.done("status")["drafts_waiting"] == 0
    events = [row[0] for row in rows(fleet.store, "select event from audit where subject like 'wrap:%' order by seq")]
    assert events == [
        "wrap_started",
        "continuity_drafted",
        "adopt_continuity",
        "wrap_cancelled",
        "wrap_started",
        "wrap_completed",
        "continuity_saved",
        "continuity_adopted",
        "adopt_continuity",
    ]
    assert watchroom(fleet, "audit", "verify")["command"] == "audit verify"


def test_a_kill_in_the_middle_of_drafting_leaves_whole_drafts_and_a_sound_trail(fleet: Fleet) -> None:
    agent = fleet.agent()
    agent.recorded()
    wrap = agent.done("prepare_wrap")
    drafts = [f"draft {number} " + "x" * 200_000 for number in range(30)]
    agent.done("draft_continuity", wrap_token=wrap["wrap_token"], text=drafts[0])
    for words in drafts[1:]:
        agent.start("tools/call", {"name": "draft_continuity", "arguments": {"wrap_token": wrap["wrap_token"], "text": words}})
        if rows(fleet.store, "select count(*) from drafts")[0][0] >= 3:
            break
    agent.process.kill()
    agent.process.wait(10)
    kept = [row[0] for row in rows(fleet.store, "select text from drafts order by id")]
    assert kept and len(kept) <= 5 and set(kept) <= set(drafts)
    watchroom(fleet, "audit", "verify")
