"""One process of the stress tests: `python -m tests.stress.actor WHAT STORE ...`. It says what it did on stdout, a line a deed."""

from __future__ import annotations

import contextlib
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

from core.errors import Refusal
from core.room import Place, Room
from core.sessions.models import Anchor
from tests.rooms import text

EXPECTED = {
    "wrap_in_progress",
    "wrap_token_mismatch",
    "no_wrap",
    "wrap_cancelled",
    "wrap_token_required",
    "episode_not_found",
    "wrap_already_finished",
}


def say(**what: object) -> None:
    """One line of JSON, at once, so that a kill loses none that was said."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def mixed(store: Path, seed: int, count: int) -> None:
    """A mixture of every verb, as a lively agent would use them."""
    chance = random.Random(seed)
    with Room(Place(store, "stdio", f"session-{seed}"), patience=60.0) as room:
        room.enter()
        token, mine = None, []
        for number in range(count):
            verb = chance.choice(
                ("record",) * 5 + ("prepare_wrap", "save_continuity", "wrap_cancel", "delete_episode", "recall", "status")
            )
            arguments: dict[str, object] = {"project_key": "demo"}
            if verb == "record":
                arguments |= {"content": f"episode {number} of {seed} on pools and queues", "episode_type": "observation"}
            elif verb == "save_continuity":
                arguments |= {"text": text(State=f"{seed} {number}"), "wrap_token": token}
            elif verb == "wrap_cancel":
                arguments |= {"wrap_token": token}
            elif verb == "delete_episode":
                arguments |= {"episode_id": chance.choice(mine) if mine else "00000000"}
            elif verb == "recall":
                arguments |= {"keyword": "pools"}
            try:
                result = room.do(verb, **arguments)
            except Refusal as refusal:
                if refusal.code not in EXPECTED:
                    say(unexpected=str(refusal), verb=verb)
                continue
            if verb == "record":
                mine.append(result.episode_id)
                say(recorded=result.episode_id)
            elif verb == "delete_episode":
                mine.remove(str(arguments["episode_id"]))
                say(deleted=arguments["episode_id"])
            elif verb == "prepare_wrap":
                token = result.wrap_token or token
    say(finished=seed)


def prepare(store: Path) -> None:
    """One prepare, at the moment stdin closes."""
    with Room(Place(store, "stdio"), patience=30.0) as room:
        say(ready=True)
        sys.stdin.read()
        try:
            say(outcome=room.do("prepare_wrap", project_key="demo").outcome)
        except Refusal as refusal:
            say(outcome=refusal.code)


def planter(store: Path, seed: int, count: int) -> None:
    """Plants open loops from the moment stdin closes."""
    with Room(Place(store, "stdio"), patience=60.0) as room:
        say(ready=True)
        sys.stdin.read()
        for number in range(count):
            planted = room.do("spore_add", project_key="demo", type="task", text=f"loop {number} of {seed}")
            say(planted=planted.spore_id, text=planted.text)


def racer(store: Path) -> None:
    """Runs the verb of each line of stdin at the moment the line names, and says what came of it."""
    with Room(Place(store, "stdio"), patience=30.0) as room:
        room.enter()
        say(ready=True)
        for line in sys.stdin:
            asked = json.loads(line)
            arguments = asked["arguments"]
            if "anchors" in arguments:
                arguments["anchors"] = [Anchor(**one) for one in arguments["anchors"]]
            while time.time() < asked["at"]:
                pass  # a sleep would wake up too unevenly for a race
            try:
                found = room.do(asked["verb"], **arguments)
            except Refusal as refusal:
                say(outcome=refusal.code)
            else:
                say(outcome="ok", replayed=getattr(found, "replayed", None), focus_outcome=getattr(found, "focus_outcome", None))


def open_new(store: Path) -> None:
    """Open a path that may not exist, at the moment stdin closes, and record."""
    say(ready=True)
    sys.stdin.read()
    with Room(Place(store, "stdio"), patience=30.0) as room:
        say(recorded=room.do("record", content="the first words", episode_type="observation", project_key="demo").episode_id)


def endless(store: Path, seed: int, report: Callable[[dict[str, object]], None]) -> None:
    """Deeds without end, to be killed in the middle of one; each is reported when it is done."""
    chance = random.Random(seed)
    room = Room(Place(store, "stdio"), patience=30.0)
    room.enter()
    while True:
        with contextlib.suppress(Refusal):  # its rival cancels and finishes wraps as well
            if chance.random() < 0.6:
                content = "x" * chance.randint(1, 5_000)
                report({"recorded": room.do("record", content=content, episode_type="context", project_key="demo").episode_id})
            elif chance.random() < 0.3:
                room.do("wrap_cancel", project_key="demo", force=True)
            else:
                opened = room.do("prepare_wrap", project_key="demo")
                saved = room.do(
                    "save_continuity", project_key="demo", text=text(State=str(chance.random())), wrap_token=opened.wrap_token
                )
                report({"saved": saved.continuity_revision})


def main() -> None:
    """Do what the command line says."""
    what, store, *rest = sys.argv[1:]
    {"mixed": mixed, "prepare": prepare, "open_new": open_new, "planter": planter, "racer": racer}[what](
        Path(store), *map(int, rest)
    )


if __name__ == "__main__":
    main()
