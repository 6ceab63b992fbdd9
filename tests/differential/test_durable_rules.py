"""Durable facts beside anneal-memory's: the same two texts by chance give the same text to save (wraps.md a5)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from core.memory import continuity, durable
from tests.differential.texts import DurableTexts

peer = pytest.importorskip("anneal_memory.durable", reason="the peer comes with the bench extra")

EACH = 1_500
SECTIONS = continuity.DEFAULT_SECTIONS
SCHEMA = [{"heading": one.heading, "role": one.role, **({"optional": True} if one.optional else {})} for one in SECTIONS]


def both(before: str | None, text: str) -> tuple[tuple[str, durable.DurableFacts], tuple[str, Any]]:
    """What each makes of two canonical texts."""
    return durable.keep(before, text, SECTIONS), peer.enforce_durable_facts(before, text, SCHEMA)


@pytest.mark.parametrize("part", range(8))
def test_both_keep_put_back_and_drop_the_same(part: int) -> None:
    for seed in range(part * EACH, (part + 1) * EACH):
        chance = random.Random(seed)
        texts = DurableTexts(chance)
        before = continuity.canonical(texts.text()) if chance.random() < 0.9 else None
        text = continuity.canonical(texts.text())
        (we, facts), (they, report) = both(before, text)
        assert we == they, seed
        assert (list(facts.reinserted), list(facts.dropped)) == (report.reinserted, report.dropped), seed
        assert (facts.recreated, facts.characters, facts.budget) == (report.recreated, report.chars, report.budget), seed
        assert bool(facts.unknown_drops) <= bool(report.unknown_drops) or facts.dropped, seed


def test_a_fact_that_begins_like_a_bullet_is_dropped_by_its_exact_text() -> None:
    """A marker names the exact text (wraps.md a5); the peer takes the text's own beginning for a bullet and finds no such fact."""
    before = "## Durable Facts\n- 1. May is first\n- Another\n"
    text = "## Durable Facts\n- Another\n- [drop-durable: 1. May is first]\n"
    (we, facts), (they, _) = both(before, text)
    assert (we, facts.dropped) == ("## Durable Facts\n- Another\n", ("- 1. May is first",))
    assert "- 1. May is first" in they


def test_a_second_marker_for_a_fact_is_no_unknown_one() -> None:
    """Both markers name the fact that went; the peer counts it to the first, and calls the second unknown."""
    before = "## Durable Facts\n- Port 5432 — cues: port\n"
    text = "## Durable Facts\n- [drop-durable: Port 5432]\n- [drop-durable: Port 5432 — cues: db]\n"
    (_, facts), (_, report) = both(before, text)
    assert facts.unknown_drops == ()
    assert [target for target, _ in report.unknown_drops] == ["Port 5432 — cues: db"]
