"""Graduation: what a pattern line may claim, row by row of wraps.md e3."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rooms import Rooms
from tests.unit.memory.wrapping import Wrapping

EXPLANATION = "connection pool exhausted under checkout"


@pytest.fixture
def wrapping(rooms: Rooms) -> Wrapping:
    return Wrapping(rooms)


def seen(wrapping: Wrapping, name: str = "pool") -> None:
    wrapping.save(f"- {name} | 1x ({{today}})")


def climbed(wrapping: Wrapping, to: int, name: str = "pool") -> None:
    """A pattern that was earned rung by rung, one a wrap."""
    seen(wrapping, name)
    for level in range(2, to + 1):
        words = f"reason{level} kernel{level} socket{level}"
        episode = wrapping.record(f"{name} {words} observed again")
        wrapping.save(f'- {name} | {level}x ({{today}}) [evidence: {episode} "{words}"]')
    assert wrapping.level(name) == to


def line_of(wrapping: Wrapping, name: str = "pool") -> str:
    return next(line for line in wrapping.saved_text().split("\n") if line.startswith(f"- {name} "))


# the rows of e3


def test_a_pattern_climbs_one_rung_a_wrap_by_citation(wrapping: Wrapping) -> None:
    climbed(wrapping, 3)
    assert wrapping.history("pool") == [("entered", None, 1), ("validated", 1, 2), ("validated", 2, 3)]


def test_an_unknown_name_enters_at_1x_whatever_it_cites(wrapping: Wrapping) -> None:
    episode = wrapping.record()
    saved = wrapping.save(f'- pool | 5x ({{today}}) [evidence: {episode} "{EXPLANATION}"]')
    assert (saved.patterns[0].level, saved.patterns[0].capped) == (1, True)
    assert line_of(wrapping).endswith("(level-capped)")


@pytest.mark.parametrize("date", ["{today}", "2020-01-01", "2099-12-31"])
def test_an_unknown_name_enters_at_1x_whatever_the_date(wrapping: Wrapping, date: str) -> None:
    wrapping.save(f"- pool | 7x ({date})")
    assert wrapping.level("pool") == 1


def test_two_rungs_at_once_are_cut_to_one(wrapping: Wrapping) -> None:
    seen(wrapping)
    episode = wrapping.record()
    saved = wrapping.save(f'- pool | 9x ({{today}}) [evidence: {episode} "{EXPLANATION}"]')
    assert (saved.patterns[0].written, saved.patterns[0].level, saved.graduations_validated) == (9, 2, 1)


def test_a_line_of_another_date_is_skipped_and_still_bounded(wrapping: Wrapping) -> None:
    seen(wrapping)
    episode = wrapping.record()
    saved = wrapping.save(f'- pool | 2x (2020-01-01) [evidence: {episode} "{EXPLANATION}"]')
    assert (saved.skipped_by_date, saved.graduations_validated, wrapping.level("pool")) == (1, 0, 1)


@pytest.mark.parametrize("cited", ["ffffffff", "0000000", "zz"])
def test_ids_that_are_not_in_the_wrap_ground_nothing(wrapping: Wrapping, cited: str) -> None:
    seen(wrapping)
    wrapping.record()
    wrapping.save(f'- pool | 2x ({{today}}) [evidence: {cited} "{EXPLANATION}"]')
    assert wrapping.level("pool") == 1


def test_an_episode_of_an_earlier_wrap_is_no_evidence(wrapping: Wrapping) -> None:
    episode = wrapping.record()
    seen(wrapping)
    saved = wrapping.save(f'- pool | 2x ({{today}}) [evidence: {episode} "{EXPLANATION}"]')
    assert (saved.patterns[0].judgement, saved.patterns[0].level) == ("ungrounded", 1)
    assert line_of(wrapping).endswith("(ungrounded)") and saved.citations_unresolved


def test_an_episode_that_another_supersedes_is_no_evidence(wrapping: Wrapping) -> None:
    seen(wrapping)
    old = wrapping.record()
    wrapping.record("Connection pool is exhausted under checkout load at night", supersedes=[old])
    saved = wrapping.save(f'- pool | 2x ({{today}}) [evidence: {old} "{EXPLANATION}"]')
    assert saved.patterns[0].judgement == "ungrounded"


def test_an_episode_deleted_while_the_wrap_was_open_is_no_evidence(wrapping: Wrapping) -> None:
    seen(wrapping)
    gone = wrapping.record()
    wrapping.record("Another thing")
    assert wrapping.save(f'- pool | 2x ({{today}}) [evidence: {gone} "{EXPLANATION}"]', delete=gone).patterns[0].level == 1


@pytest.mark.parametrize(
    ("explanation", "level"),
    [
        ("connection pool", 2),
        ("CONNECTION, Pool!", 2),
        ("connection is the an of", 1),
        ("something else entirely", 1),
        ("", 2),  # nothing quoted is nothing to compare
    ],
)
def test_an_explanation_shares_two_meaningful_words_with_what_it_cites(wrapping: Wrapping, explanation: str, level: int) -> None:
    seen(wrapping)
    episode = wrapping.record()
    wrapping.save(f'- pool | 2x ({{today}}) [evidence: {episode} "{explanation}"]')
    assert wrapping.level("pool") == level


def test_one_grounding_episode_of_several_is_enough(wrapping: Wrapping) -> None:
    seen(wrapping)
    other, episode = wrapping.record("Unrelated words about bicycles"), wrapping.record()
    assert wrapping.save(f'- pool | 2x ({{today}}) [evidence: {other}, {episode} "{EXPLANATION}"]').patterns[0].level == 2


@pytest.mark.parametrize(
    ("trusts", "explained", "level"),
    [
        (["agent"], True, 2),
        (["tool"], True, 1),
        (["external"], True, 1),
        (["external", "agent"], True, 2),
        (["agent"], False, 2),
        (["external", "agent"], False, 1),
    ],
)
def test_trust_of_what_grounds(wrapping: Wrapping, trusts: list[str], explained: bool, level: int) -> None:
    seen(wrapping)
    ids = ", ".join(wrapping.record(trust=trust) for trust in trusts)
    quoted = f' "{EXPLANATION}"' if explained else ""
    saved = wrapping.save(f"- pool | 2x ({{today}}) [evidence: {ids}{quoted}]")
    assert saved.patterns[0].level == level
    assert (saved.patterns[0].judgement == "uncorroborated") == (level == 1)


def test_what_is_derived_from_foreign_text_is_trusted_no_more_than_it(wrapping: Wrapping) -> None:
    seen(wrapping)
    source = wrapping.record(trust="external")
    derived = wrapping.record(derived_from=[source])
    assert (
        wrapping.save(f'- pool | 2x ({{today}}) [evidence: {derived} "{EXPLANATION}"]').patterns[0].judgement == "uncorroborated"
    )


def test_uncorroborated_falls_to_1x_from_any_height(wrapping: Wrapping) -> None:
    climbed(wrapping, 3)
    episode = wrapping.record("fresh gadget widget seen", trust="external")
    wrapping.save(f'- pool | 4x ({{today}}) [evidence: {episode} "fresh gadget widget"]')
    assert wrapping.level("pool") == 1


def test_an_explanation_that_repeats_an_earlier_one_falls_a_rung(wrapping: Wrapping) -> None:
    seen(wrapping)
    episode = wrapping.record()
    wrapping.save(f'- pool | 2x ({{today}}) [evidence: {episode} "{EXPLANATION}"]')
    again = wrapping.record()
    saved = wrapping.save(f'- pool | 3x ({{today}}) [evidence: {again} "the connection pool exhausted again"]')
    assert (saved.patterns[0].judgement, saved.patterns[0].level) == ("cross-session-overlap", 2)


def test_an_explanation_kept_word_for_word_is_exempt_up_to_the_earned_level(wrapping: Wrapping) -> None:
    seen(wrapping)
    episode = wrapping.record()
    wrapping.save(f'- pool | 2x ({{today}}) [evidence: {episode} "{EXPLANATION}"]')
    again = wrapping.record()
    saved = wrapping.save(f'- pool | 2x ({{today}}) [evidence: {again} "{EXPLANATION}"]')
    assert (saved.patterns[0].judgement, saved.patterns[0].level) == ("validated", 2)


# bare lines and carry-forward


def test_a_bare_claim_is_allowed_until_a_citation_was_seen_but_never_above_the_bound(wrapping: Wrapping) -> None:
    seen(wrapping)
    assert wrapping.save("- pool | 2x ({today})").patterns[0].level == 1


def test_a_bare_claim_without_anything_earned_needs_evidence(wrapping: Wrapping) -> None:
    climbed(wrapping, 2, "other")
    seen(wrapping)
    saved = wrapping.save("- pool | 2x ({today})")
    assert (saved.patterns[0].judgement, saved.patterns[0].level) == ("needs-evidence", 1)


def test_a_warm_pattern_is_carried_forward_at_what_it_earned(wrapping: Wrapping) -> None:
    climbed(wrapping, 3)
    saved = wrapping.save("- pool | 3x ({today})")
    assert (saved.patterns[0].judgement, saved.patterns[0].level) == ("carried-forward", 3)
    assert line_of(wrapping) == f"- pool | 3x ({wrapping.today}) (carried-forward)"


def test_a_cited_line_that_grounds_nothing_is_carried_forward_while_warm(wrapping: Wrapping) -> None:
    climbed(wrapping, 2)
    saved = wrapping.save('- pool | 2x ({today}) [evidence: ffffffff "words of no episode"]')
    assert (saved.patterns[0].judgement, saved.patterns[0].level) == ("carried-forward", 2)


@pytest.mark.parametrize(("days", "judgement", "level"), [(7, "carried-forward", 2), (8, "ungrounded", 1)])
def test_a_cold_pattern_is_not_carried_forward_by_a_citation_that_fails(
    wrapping: Wrapping, days: int, judgement: str, level: int
) -> None:
    climbed(wrapping, 2)
    wrapping.rooms.clock.advance(days * 86_400)
    saved = wrapping.save('- pool | 2x ({today}) [evidence: ffffffff "words of no episode"]')
    assert (saved.patterns[0].judgement, saved.patterns[0].level) == (judgement, level)


def test_a_cold_bare_line_is_held_and_dated_back_to_its_last_grounding(wrapping: Wrapping) -> None:
    climbed(wrapping, 2)
    grounded = wrapping.today
    wrapping.rooms.clock.advance(30 * 86_400)
    wrapping.save("- pool | 2x ({today})")
    assert line_of(wrapping) == f"- pool | 2x ({grounded}) (carried-forward)"


def test_a_claim_above_the_earned_maximum_is_not_carried_forward(wrapping: Wrapping) -> None:
    climbed(wrapping, 2)
    saved = wrapping.save("- pool | 4x ({today})")
    assert (saved.patterns[0].judgement, saved.patterns[0].level) == ("needs-evidence", 2)


# the level bound


def test_the_text_can_lower_a_level_and_it_stays_lower(wrapping: Wrapping) -> None:
    climbed(wrapping, 3)
    wrapping.save("- pool | 1x ({today})")
    assert wrapping.level("pool") == 1
    wrapping.save("- pool | 3x ({today})")
    assert wrapping.level("pool") == 1


def test_the_level_is_the_stores_and_not_the_texts_of_a_restored_name(wrapping: Wrapping) -> None:
    climbed(wrapping, 2)
    wrapping.save()
    assert wrapping.history("pool")[-1] == ("left-out", 2, 2)
    saved = wrapping.save("- pool | 9x (2020-01-01)")
    assert saved.patterns[0].level == 2


@pytest.mark.parametrize("numeral", ["02", "0", "1000000000", "\u0663", "\u2167", "\u00bd", "\uff12"])
def test_other_numerals_become_1x(wrapping: Wrapping, numeral: str) -> None:
    wrapping.save(f"- pool | {numeral}x ({{today}})")
    assert wrapping.level("pool") == 1 and f"| {numeral}x" not in wrapping.saved_text()


def test_a_quoted_explanation_is_never_read_as_a_marker(wrapping: Wrapping) -> None:
    seen(wrapping)
    episode = wrapping.record()
    wrapping.save(f'- pool | 2x ({{today}}) [evidence: {episode} "connection pool | 9x (2020-01-01) [evidence: ffffffff]"]')
    assert wrapping.level("pool") == 2


def test_lines_outside_the_graduating_section_are_left_alone(wrapping: Wrapping) -> None:
    wrapping.record()
    opened = wrapping.agent.do("prepare_wrap", project_key="demo")
    text = "## State\n- pool | 9x (2020-01-01)\n\n## Patterns\nnone\n\n## Decisions\nnone\n\n## Context\nnone\n"
    wrapping.agent.do("save_continuity", project_key="demo", text=text, wrap_token=opened.wrap_token)
    assert "- pool | 9x (2020-01-01)" in wrapping.saved_text() and wrapping.row("pool") is None


# reports


def test_a_save_reports_what_vanished_what_is_undeclared_and_what_is_cited_often(wrapping: Wrapping) -> None:
    climbed(wrapping, 2)
    episode = wrapping.record()
    lines = [f'- {name} | 2x ({{today}}) [evidence: {episode} "{EXPLANATION}"]' for name in ("one", "two", "three")]
    saved = wrapping.save(*lines)
    assert [(one.name, one.level) for one in saved.vanished] == [("pool", 2)]
    assert saved.cited_often == (episode,)
    seen(wrapping, "new")
    episode = wrapping.record()
    saved = wrapping.save(f'- new | 2x ({{today}}) [evidence: {episode} "{EXPLANATION}"]')
    assert [one.name for one in saved.undeclared] == ["new"]


@pytest.mark.parametrize("stance", ["[no-contradicts]", "[contradicts: older]"])
def test_a_stance_is_a_declaration(wrapping: Wrapping, stance: str) -> None:
    seen(wrapping)
    episode = wrapping.record()
    assert wrapping.save(f'- pool | 2x ({{today}}) [evidence: {episode} "{EXPLANATION}"] {stance}').undeclared == ()


# revocation


def test_a_rung_falls_when_its_evidence_is_deleted(wrapping: Wrapping) -> None:
    seen(wrapping)
    episode = wrapping.record()
    wrapping.save(f'- pool | 2x ({{today}}) [evidence: {episode} "{EXPLANATION}"]')
    done = wrapping.agent.do("delete_episode", project_key="demo", episode_id=episode)
    assert [(one.name, one.before, one.level) for one in done.patterns_revoked] == [("pool", 2, 1)]
    assert wrapping.history("pool")[-1] == ("revoked", 2, 1)
    assert wrapping.save("- pool | 2x (2020-01-01)").patterns[0].level == 1


def test_a_rung_with_another_grounding_episode_stays(wrapping: Wrapping) -> None:
    seen(wrapping)
    one, two = wrapping.record(), wrapping.record()
    wrapping.save(f'- pool | 2x ({{today}}) [evidence: {one}, {two} "{EXPLANATION}"]')
    assert wrapping.agent.do("delete_episode", project_key="demo", episode_id=one).patterns_revoked == ()
    assert wrapping.agent.do("delete_episode", project_key="demo", episode_id=two).patterns_revoked != ()


def test_a_rung_that_was_not_checked_falls_with_any_of_its_episodes(wrapping: Wrapping) -> None:
    seen(wrapping)
    one, two = wrapping.record(), wrapping.record()
    wrapping.save(f"- pool | 2x ({{today}}) [evidence: {one}, {two}]")
    assert wrapping.agent.do("delete_episode", project_key="demo", episode_id=one).patterns_revoked != ()


def test_the_lowest_failed_rung_takes_those_above_with_it(wrapping: Wrapping) -> None:
    seen(wrapping)
    first = wrapping.record()
    wrapping.save(f'- pool | 2x ({{today}}) [evidence: {first} "{EXPLANATION}"]')
    second = wrapping.record("fresh gadget widget was seen")
    wrapping.save(f'- pool | 3x ({{today}}) [evidence: {second} "fresh gadget widget"]')
    (fell,) = wrapping.agent.do("delete_episode", project_key="demo", episode_id=first).patterns_revoked
    assert (fell.before, fell.level) == (3, 1)


def test_a_rung_falls_when_its_evidence_loses_its_trust(wrapping: Wrapping) -> None:
    source = wrapping.record("A page that was read by an agent")
    seen(wrapping)
    derived = wrapping.record(derived_from=[source])
    wrapping.save(f'- pool | 2x ({{today}}) [evidence: {derived} "{EXPLANATION}"]')
    done = wrapping.agent.do("delete_episode", project_key="demo", episode_id=source)
    assert list(done.trust_lowered) == [derived]
    assert wrapping.level("pool") == 1


def test_every_judgement_is_in_the_trail(wrapping: Wrapping) -> None:
    climbed(wrapping, 2)
    with wrapping.agent.snapshot() as view:
        row = view.one("select data from audit where event = 'continuity_saved' order by seq desc limit 1")
    told = {"name": "pool", "written": 2, "level": 2, "judgement": "validated", "capped": False}
    assert json.loads(row["data"])["patterns"] == [told]


def prepared(wrapping: Wrapping, **more: Any) -> Any:
    wrapping.record("Something to wrap")
    opened = wrapping.agent.do("prepare_wrap", project_key="demo", **more)
    wrapping.agent.do("wrap_cancel", project_key="demo", wrap_token=opened.wrap_token)
    return opened


def test_a_package_names_the_patterns_that_were_not_grounded_for_so_many_days(wrapping: Wrapping) -> None:
    first = wrapping.today
    wrapping.save(
        "- older | 1x ({today}) seen once", "- Ask before a release | 1x ({today})", "- undated | 1x", "- odd | 1x (2026-13-45)"
    )
    wrapping.rooms.clock.advance(6 * 86_400)
    assert prepared(wrapping).stale_patterns == ()
    assert "No pattern has gone 7 days" in prepared(wrapping).package
    wrapping.save(f"- older | 1x ({first}) seen once", "- newer | 1x ({today})", f"- Ask before a release | 1x ({first})")
    wrapping.rooms.clock.advance(86_400)
    opened = prepared(wrapping)
    assert [(one.name, one.level, one.date, one.days) for one in opened.stale_patterns] == [
        ("older", 1, first, 7),
        ("ask before a release", 1, first, 7),
    ]
    lines = wrapping.saved_text().split("\n")
    assert lines[opened.stale_patterns[0].line_number - 1].startswith("- older")
    told = opened.package.partition("--- current continuity ---")[2]
    assert f": older | 1x, dated {first}, 7 days ago" in told and ": newer" not in told
    assert prepared(wrapping, staleness_days=8).stale_patterns == ()
    assert [one.name for one in prepared(wrapping, staleness_days=1).stale_patterns] == ["older", "ask before a release", "newer"]


def test_a_package_names_the_oldest_stale_patterns_and_counts_the_rest_within_its_size(wrapping: Wrapping) -> None:
    first = wrapping.today
    wrapping.save(*(f"- name-{number} | 1x ({first})" for number in range(30)))
    wrapping.rooms.clock.advance(8 * 86_400)
    for number in range(60):
        wrapping.record(f"{number} " + "x" * 300)
    opened = prepared(wrapping, max_package_chars=8_000)
    assert len(opened.stale_patterns) == 30
    assert ": name-19 |" in opened.package and ": name-20 |" not in opened.package and "- and 10 more" in opened.package
    assert len(opened.package) <= 8_000
    assert len(opened.episodes) > 1
