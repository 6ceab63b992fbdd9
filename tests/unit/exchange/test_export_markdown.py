"""A project as Markdown: what stands, for people, in a document that no text in it can break (console.md, Feel)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from console.text import copyable
from core.exchange.anneal_source import read
from core.exchange.export_markdown import export_markdown
from core.exchange.exporting import ExportCancelled
from core.exchange.markdown import Page
from core.room import Room
from tests.console.hostile import ACTING
from tests.rooms import Rooms
from tests.unit.exchange.busy import HOSTILE, KEY, OTHER, Busy, busy
from tests.unit.sessions.support import outside, rows

TICKS = st.text(alphabet=st.sampled_from("`~ \n\t\\#->[]()<!&*_|x\r\x00\x85\u2028"), max_size=60)
TEXTS = st.one_of(st.text(max_size=80), TICKS, st.just(HOSTILE))


def document(room: Room, key: str = KEY, **more: Any) -> str:
    written: list[str] = []
    with room.snapshot() as view:
        export_markdown(view, key, written.append, inert=copyable, now=room.clock.now(), program="watchroom test", **more)
    return "".join(written)


def parsed(text: str) -> list[Token]:
    """The document as GitHub reads it: CommonMark with tables and bare links."""
    return MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(text)


def headings(tokens: list[Token]) -> list[tuple[str, str]]:
    return [(one.tag, tokens[at + 1].content) for at, one in enumerate(tokens) if one.type == "heading_open"]


def blocks(tokens: list[Token]) -> list[str]:
    return [one.content.removesuffix("\n") for one in tokens if one.type == "fence"]


def written_by(*steps: tuple[str, Any]) -> str:
    parts: list[str] = []
    page = Page(parts.append, copyable)
    for name, value in steps:
        getattr(page, name)(value)
    return "".join(parts)


@given(TEXTS)
@example("```\n# out\n````\nof it")
@example("~~~~\n")
def test_no_text_gets_out_of_its_fence(text: str) -> None:
    tokens = parsed(written_by(("say", "before"), ("text", text), ("say", "after")))
    kinds = [one.type for one in tokens]
    paragraph = ["paragraph_open", "inline", "paragraph_close"]
    assert kinds == [*paragraph, "fence", *paragraph]
    shown = copyable(text)
    assert tokens[3].content == (shown if shown.endswith("\n") else f"{shown}\n")
    assert not ACTING.search(tokens[3].content.replace("\n", "").replace("\t", ""))


@given(TEXTS)
def test_no_word_gets_out_of_its_code_span(text: str) -> None:
    page = Page(lambda part: None, copyable)
    tokens = parsed(written_by(("items", [f"before {page.code(text)} after"])))
    (inline,) = [one for one in tokens if one.type == "inline"]
    assert [one.type for one in inline.children or ()] == ["text", "code_inline", "text"]
    assert (inline.children or [])[1].content == (" ".join(copyable(text).split()) or " ")


@pytest.fixture
def made(rooms: Rooms) -> Busy:
    """The project, with another beside it."""
    found = busy(rooms)
    busy(rooms, OTHER)
    return found


def test_everything_that_was_written_is_there_whole_and_inert(made: Busy) -> None:
    text = document(made.operator)
    tokens = parsed(text)
    found = blocks(tokens)
    assert {one.type for one in tokens} & {"html_block", "table_open", "blockquote_open"} == set()
    children = [child.type for one in tokens for child in one.children or ()]
    assert set(children) <= {"text", "code_inline", "softbreak"}
    for sql in (
        "select content from episodes where project_key = 'demo'",
        "select text from salvage where project_key = 'demo' union select text from drafts where project_key = 'demo'",
        "select text from spores where project_key = 'demo' union select text from spore_notes where project_key = 'demo'",
        "select body from knowledge where project_key = 'demo'",
        "select focus from focus_history where project_key = 'demo'",
        "select body from slot_history where slot_id in (select id from slots where project_key = 'demo')",
        "select summary from sessions where project_key = 'demo' and summary is not null",
        "select text from continuity where project_key = 'demo' order by revision desc limit 1",
    ):
        for (stored,) in rows(made.operator, sql):
            assert copyable(stored).removesuffix("\n") in found, sql
    assert not ACTING.search(text.replace("\n", ""))


def test_its_headings_are_its_own(made: Busy) -> None:
    found = headings(parsed(document(made.operator)))
    assert found[0] == ("h1", "Project `demo`")
    assert [words for tag, words in found if tag == "h2"] == [
        *("Continuity", "Patterns", "Loops", "Knowledge", "Base focus", "Slots", "Handovers", "Salvage and drafts", "Wraps"),
        *("Episodes", "Deleted episodes"),
    ]
    thirds = [words for tag, words in found if tag == "h3"]
    assert "2x `pool`" in thirds and "Open `task` `spore-001`" in thirds and "Resolved `question` `spore-002`" in thirds
    assert thirds[-2:] == ["2026-11-30", "2026-12-01"], "episodes stand by their days"


def test_patterns_stand_with_the_episodes_that_they_rest_on(made: Busy) -> None:
    ((episode_id,),) = rows(
        made.operator, "select episode_id from pattern_grounding join patterns p on p.id = pattern_id and project_key = 'demo'"
    )
    rests = (
        f"- 2x rests on episode `{episode_id}`, earned on `2026-12-01`, `checked`: `Connection pool exhausted again under load`"
    )
    assert rests in document(made.operator).splitlines()


def test_no_token_and_nothing_deleted_or_of_another_project(made: Busy) -> None:
    text = document(made.operator)
    assert made.open_token[:8] not in text and made.dead_token[:8] not in text
    assert "Nobody shall read this again" not in text and made.deleted in text
    assert "other-1" not in text and "demo-1" in text


def test_a_part_without_rows_is_left_out(rooms: Rooms) -> None:
    room = rooms.operator()
    room.do("record", project_key=KEY, content="the only one", episode_type="context")
    assert [words for tag, words in headings(parsed(document(room))) if tag == "h2"] == ["Base focus", "Episodes"]


def test_damage_is_shown_as_it_is(made: Busy) -> None:
    outside(
        made.rooms, "update wraps set generation = 'x`y', started_at = x'00ff', ended_reason = cast(x'61ff' as text) where id = 3"
    )
    outside(made.rooms, "update patterns set explanations = 'no list', highest = 'high' where id = 1")
    text = document(made.operator)
    assert "generation ``x`y``" in text and "`a\ufffd`" in text and "no list" in blocks(parsed(text))


def test_it_goes_through_as_many_rows_as_it_said_and_can_be_cancelled(made: Busy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.exchange.exporting.ROWS_BETWEEN", 1)
    told: list[tuple[int, int]] = []
    document(made.operator, progress=lambda done, total: told.append((done, total)))
    assert [done for done, _ in told] == list(range(told[0][1])) and len(told) > 20
    with pytest.raises(ExportCancelled):
        document(made.operator, cancelled=lambda: True)


def test_a_real_store_reads_as_a_document(rooms: Rooms, foreign: Path) -> None:
    room = rooms.operator()
    room.do("import_anneal", project_key=KEY, source=read(foreign))
    tokens = parsed(document(room))
    assert foreign.with_name("memory.continuity.md").read_text().removesuffix("\n") in blocks(tokens)
    assert {"2x `cache-keys`", "3x `small-steps`"} <= {words for _, words in headings(tokens)}
