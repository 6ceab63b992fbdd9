"""A project that has something of every kind, and another beside it of which an export must have nothing."""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import Refusal
from core.room import Room
from tests.rooms import Rooms, refused
from tests.unit.memory.wrapping import Wrapping
from tests.unit.sessions import support

KEY, OTHER = "demo", "other"
HEADING = "# a heading"
HOSTILE = (
    f"{HEADING}\n```\n<script>alert(1)</script>\n\x1b]52;c;cm0gLXJm\x07 user\u202egnp.exe \x7f\n````` [x](http://evil.test) | `"
)
"""A text that would break out of a document, drive a terminal, or run in a browser."""


@dataclass(frozen=True)
class Busy:
    """The rooms, and who is at work in them. `open_token` is that of the project's open wrap, `dead_token` of a cancelled one."""

    rooms: Rooms
    operator: Room
    agent: Room
    open_token: str
    dead_token: str
    deleted: str


def busy(rooms: Rooms, key: str = KEY) -> Busy:
    """Fill a project through its verbs."""
    operator, wrapping = rooms.operator(), Wrapping(rooms, key)
    support.project(operator, key=key)
    agent = wrapping.agent
    old = wrapping.record("The pool size is 10")
    evidence = wrapping.record("Connection pool is exhausted under checkout load", metadata={"tags": ["db"], "n": 1.0})
    deleted = wrapping.record("Nobody shall read this again")
    wrapping.record("The pool size is 20", supersedes=[old], derived_from=[evidence])
    wrapping.save("- pool | 1x ({today})")
    agent.do("delete_episode", project_key=key, episode_id=deleted)
    rooms.clock.advance(86_400)
    grounding = wrapping.record("Connection pool exhausted again under load")
    wrapping.save(f'- pool | 2x ({{today}}) [evidence: {grounding} "the connection pool is exhausted under load"]')
    dead_token = _late_save(agent, key)
    _sessions(rooms, operator, agent, key)
    _loops(agent, key)
    operator.do("baton_claim", project_key=key, session_id="nightly")
    operator.do("restore_continuity", project_key=key, revision=1, expected_revision=2, reason="the first was better")
    wrapping.record(HOSTILE, source="web [red]", trust="external")
    opened = agent.do("prepare_wrap", project_key=key)
    agent.do("draft_continuity", project_key=key, wrap_token=opened.wrap_token, text="half of it " + HOSTILE)
    operator.do("ask_release", wrap_id=opened.wrap_id, message="please save")
    return Busy(rooms, operator, agent, opened.wrap_token, dead_token, deleted)


def _late_save(agent: Room, key: str) -> str:
    agent.do("record", project_key=key, content="Something for a wrap that is cancelled", episode_type="context")
    opened = agent.do("prepare_wrap", project_key=key)
    agent.do("draft_continuity", project_key=key, wrap_token=opened.wrap_token, text="a draft left behind")
    agent.do("wrap_cancel", project_key=key, wrap_token=opened.wrap_token, reason="changed my mind")
    refusal: Refusal = refused(agent, "save_continuity", project_key=key, text="late words", wrap_token=opened.wrap_token)
    assert refusal.code == "wrap_cancelled"
    token: str = opened.wrap_token
    return token


def _sessions(rooms: Rooms, operator: Room, agent: Room, key: str) -> None:
    slot = support.slot(operator, "Two tabs", "Both tabs sell the same basket", key=key)
    first = support.start(agent, f"{key}-1", key)
    decision = {"title": "Use one pool", "context": "two", "decision_made": HOSTILE, "reasoning": "two starve each other"}
    operator.do("brain_log_decision", project_key=key, **decision, tags=["db"])
    support.capture(operator, first, support.knowledge(rooms, key=key, title="Never trust [/x] a | pipe"))
    support.note(operator, first, 1, "half of it", "the rest", blocker="no access")
    support.relay(operator, first, f"{key}-2", "hand over the base focus whole", nothing_to_capture_reason="it is captured")
    bound = support.start(operator, f"{key}-3", key)
    support.bind(operator, bound, slot)
    support.end(operator, bound, slot.revision, "The slot goes on", nothing_to_capture_reason="nothing new")
    support.abandon(operator, support.start(operator, f"{key}-4", key))


def _loops(agent: Room, key: str) -> None:
    agent.do("spore_add", project_key=key, type="task", text="Measure the pool\n## not a heading")
    agent.do("spore_add", project_key=key, type="question", text="Why twenty?")
    agent.do("spore_update", project_key=key, spore_id="spore-001", add_note="asked twice")
    agent.do("spore_descend", project_key=key, spore_id="spore-002", kind="answered")
