"""Recording and deleting episodes (wraps.md a2 and b)."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import pytest

from core.errors import Refusal, StoreError
from core.memory import words
from core.memory.episodes import normal_key_of_state

from .support import SmallRoom

POOL = "Connection pool is exhausted under checkout load"
POOL_FIXED = "Connection pool is no longer exhausted under checkout load"


def refusal_of(room: SmallRoom, *arguments: Any, **more: Any) -> Refusal:
    """The refusal of a record, after which nothing may have changed."""
    tables = ("audit", "episodes", "supersessions", "projects", "tombstones")
    before = [room.rows(f"select * from {table}") for table in tables]
    with pytest.raises(Refusal) as caught:
        room.record(*arguments, **more)
    assert [room.rows(f"select * from {table}") for table in tables] == before
    return caught.value


def test_a_record_has_an_id_of_8_hex_characters_and_a_time_in_microseconds(room: SmallRoom) -> None:
    receipt = room.record("A first fact")
    assert re.fullmatch(r"[0-9a-f]{8}", receipt.episode_id)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", receipt.created_at)
    assert (receipt.trust, receipt.effective_trust, receipt.superseded) == ("agent", "agent", ())


def test_the_trail_gets_lengths_and_hashes_and_no_copy(room: SmallRoom) -> None:
    receipt = room.record(POOL, state_key="pool state")
    events = room.trail()
    assert [event for event, _ in events] == ["project_created", "record"]
    assert events[1][1] == {
        "episode_id": receipt.episode_id,
        "type": "observation",
        "content_sha256": hashlib.sha256(POOL.encode()).hexdigest(),
        "characters": len(POOL),
        "source": "agent",
        "trust": "agent",
    }
    assert room.rows("select subject from audit where event = 'record'") == [(f"episode:{receipt.episode_id}",)]


def test_the_same_content_twice_gives_two_episodes(room: SmallRoom) -> None:
    assert room.record(POOL).episode_id != room.record(POOL).episode_id


@pytest.mark.parametrize("content", ["", " \n\t", "a\x00b", "a\ud800b"])
def test_blank_and_unstorable_texts_are_refused(room: SmallRoom, content: str) -> None:
    assert refusal_of(room, content).code == "invalid_input"


@pytest.mark.parametrize(
    "more", [{"source": "a\x00"}, {"metadata": float("nan")}, {"metadata": object()}, {"metadata": ["\ud800"]}]
)
def test_unstorable_sources_and_metadata_are_refused(room: SmallRoom, more: dict[str, Any]) -> None:
    assert refusal_of(room, POOL, **more).code == "invalid_input"


def test_types_are_case_sensitive_and_six(room: SmallRoom) -> None:
    assert refusal_of(room, "x", "note").code == "invalid_input"
    assert refusal_of(room, "x", "Decision").code == "invalid_input"


def test_an_empty_source_is_accepted(room: SmallRoom) -> None:
    room.record(POOL, source="")
    assert room.recall(source="").total == 1


@pytest.mark.parametrize("metadata", ["free text", 7, None, False, [1, {"a": None}], {"b": 1, "a": "\x00 ü"}])
def test_metadata_is_any_json_value_stored_as_given(room: SmallRoom, metadata: object) -> None:
    room.record(POOL, metadata=metadata)
    assert json.loads(room.rows("select metadata from episodes")[0][0]) == metadata
    assert room.recall().episodes[0].metadata == metadata


def test_metadata_left_out_is_no_json_null(room: SmallRoom) -> None:
    room.record(POOL)
    assert room.rows("select metadata from episodes") == [(None,)]


def test_only_the_operator_gives_operator_trust(room: SmallRoom) -> None:
    assert refusal_of(room, POOL, trust="operator").code == "invalid_input"
    assert refusal_of(room, POOL, trust="certain").code == "invalid_input"
    room.become(role="operator", kind="agent")
    assert refusal_of(room, POOL, trust="operator").code == "invalid_input"
    room.become(role="operator", kind="operator")
    assert room.record(POOL, trust="operator").effective_trust == "operator"


def test_effective_trust_is_the_lesser_of_its_own_and_the_best_source(room: SmallRoom) -> None:
    external, tool = room.record(POOL, trust="external"), room.record(POOL, trust="tool")
    receipt = room.record(POOL, derived_from=[external.episode_id, tool.episode_id, tool.episode_id])
    assert (receipt.trust, receipt.effective_trust) == ("agent", "tool")
    assert room.record(POOL, derived_from=[receipt.episode_id]).effective_trust == "tool"
    assert room.record(POOL, trust="external", derived_from=[receipt.episode_id]).effective_trust == "external"
    data = room.trail()[3][1]
    assert data["trust_via"] == "derived_from"
    assert data["derived_from"] == [external.episode_id, tool.episode_id]


def test_unknown_ids_are_listed_and_nothing_is_stored(room: SmallRoom) -> None:
    known, elsewhere = room.record(POOL), room.record(POOL, project_key="other")
    refusal = refusal_of(room, POOL, supersedes=["0badf00d", known.episode_id], derived_from=[elsewhere.episode_id])
    assert refusal.code == "episode_not_found"
    assert refusal.sentence.startswith(f"invalid ids: 0badf00d, {elsewhere.episode_id}.")
    assert refusal.facts["supersedes"] == ["0badf00d"]
    assert refusal.facts["derived_from"] == [elsewhere.episode_id]


def test_a_refused_record_creates_no_project(room: SmallRoom) -> None:
    refusal_of(room, POOL, supersedes=["0badf00d"])
    assert room.rows("select * from projects") == []
    assert refusal_of(room, POOL, project_key="No Key").code == "invalid_input"


# supersedes


def test_an_accepted_link_hides_the_old_one_and_leaves_a_row_of_its_own(room: SmallRoom) -> None:
    old = room.record(POOL)
    new = room.record(POOL_FIXED, "outcome", supersedes=[old.episode_id, f" {old.episode_id} "])
    assert new.superseded == (old.episode_id,)
    assert [event for event, _ in room.trail(2)] == ["record", "supersede"]
    assert room.trail(3)[0][1] == {"old_id": old.episode_id, "new_id": new.episode_id, "source": "agent"}
    assert room.superseded_by(old.episode_id) == new.episode_id


def test_a_link_between_unrelated_texts_refuses_the_whole_record(room: SmallRoom) -> None:
    near, far = room.record(POOL), room.record("Chose a bounded queue because retries amplified timeouts")
    refusal = refusal_of(room, POOL_FIXED, supersedes=[near.episode_id, far.episode_id])
    assert refusal.code == "invalid_input"
    assert far.episode_id in refusal.sentence
    assert near.episode_id not in refusal.sentence
    assert "25 %" in refusal.sentence


def test_a_quarter_of_the_shorter_texts_words_is_enough(room: SmallRoom) -> None:
    old = room.record("alpha bravo charlie delta")
    room.record("alpha " + " ".join(f"word{number}" for number in range(40)), supersedes=[old.episode_id])
    five = room.record("alpha bravo charlie delta echo")
    refusal_of(room, "alpha " + " ".join(f"word{number}" for number in range(40)), supersedes=[five.episode_id])


def test_texts_without_meaningful_words_supersede_only_their_own_like(room: SmallRoom) -> None:
    old = room.record("It is OK")
    refusal_of(room, POOL, supersedes=[old.episode_id])
    room.record("it is ok", supersedes=[old.episode_id])


def test_a_more_trusted_episode_cannot_be_superseded(room: SmallRoom) -> None:
    old = room.record(POOL)
    assert "trusted more" in refusal_of(room, POOL, trust="tool", supersedes=[old.episode_id]).sentence
    source = room.record(POOL, trust="external")
    refusal_of(room, POOL, derived_from=[source.episode_id], supersedes=[old.episode_id])


def test_a_newer_episode_cannot_be_superseded(room: SmallRoom) -> None:
    old = room.record(POOL)
    room.clock.set(room.clock._now.replace(year=2025))
    assert "newer" in refusal_of(room, POOL, supersedes=[old.episode_id]).sentence


# state keys


def test_the_newest_holder_of_a_key_hides_the_others(room: SmallRoom) -> None:
    first = room.record("Deploys are frozen", state_key="Deploy  State")
    second = room.record("Deploys are open", state_key="deploy state")
    third = room.record("Deploys are slow", state_key="ＤＥＰＬＯＹ state ")
    assert [hit.episode_id for hit in room.recall().episodes] == [third.episode_id]
    everything = room.recall(include_superseded=True).episodes
    assert [hit.superseded_by for hit in everything] == [None, third.episode_id, third.episode_id]
    room.delete(third.episode_id)
    assert [hit.episode_id for hit in room.recall().episodes] == [second.episode_id]
    room.delete(second.episode_id)
    assert [hit.episode_id for hit in room.recall().episodes] == [first.episode_id]


def test_deleting_a_holder_in_the_middle_keeps_the_older_one_hidden(room: SmallRoom) -> None:
    first, second, third = (room.record("Deploys", state_key="deploy") for _ in range(3))
    room.delete(second.episode_id)
    assert room.superseded_by(first.episode_id) == third.episode_id


def test_state_keys_of_other_projects_do_not_meet(room: SmallRoom) -> None:
    room.record("Deploys", state_key="deploy")
    room.record("Deploys", state_key="deploy", project_key="other")
    assert room.recall().total == 1


@pytest.mark.parametrize("state_key", ["", "   ", "a" * 201, "a\nb", "a\tb", "a\x00", "\ud800", "\x85a"])
def test_bad_state_keys_are_refused(room: SmallRoom, state_key: str) -> None:
    assert refusal_of(room, POOL, state_key=state_key).code == "invalid_input"


def test_a_state_key_is_normalised_before_it_is_measured() -> None:
    assert normal_key_of_state(f"  {'A' * 100}\u2003\u00a0{'ß' * 49} ") == f"{'a' * 100} {'s' * 98}"
    assert len(normal_key_of_state("x" * 200)) == 200


# deleting


def test_a_deleted_episode_leaves_a_tombstone(room: SmallRoom) -> None:
    receipt = room.record(POOL, "decision")
    deleted = room.delete(f"  {receipt.episode_id}\n")
    assert room.recall().total == 0
    digest = hashlib.sha256(POOL.encode()).hexdigest()
    assert room.rows("select episode_id, episode_type, content_sha256, characters, removed_at from tombstones") == [
        (receipt.episode_id, "decision", digest, len(POOL), deleted.deleted_at)
    ]
    assert room.trail(2) == [
        ("delete", {"episode_id": receipt.episode_id, "type": "decision", "content_sha256": digest, "characters": len(POOL)})
    ]


def test_the_reason_of_a_deletion_stands_in_the_trail(room: SmallRoom) -> None:
    told, untold = room.record("A first fact").episode_id, room.record("A second fact").episode_id
    since = len(room.trail())
    room.delete(told, reason="  it names a customer  ")
    room.delete(untold)
    reasons = [data.get("reason") for event, data in room.trail(since) if event == "delete"]
    assert reasons == ["it names a customer", None]
    with pytest.raises(Refusal) as caught:
        room.delete(room.record("A third fact").episode_id, reason="x" * 501)
    assert caught.value.code == "invalid_input"


def test_unknown_deleted_and_foreign_ids_are_not_found(room: SmallRoom) -> None:
    receipt, elsewhere = room.record(POOL), room.record(POOL, project_key="other")
    upper = room.record("An id with letters", project_key="demo")
    room.delete(receipt.episode_id)
    for wanted in ("00000000", receipt.episode_id, elsewhere.episode_id, upper.episode_id.upper() + "F", "x" * 5000):
        with pytest.raises(Refusal) as caught:
            room.delete(wanted)
        assert caught.value.code == "episode_not_found"
        assert caught.value.subject and len(caught.value.subject) < 80
    with pytest.raises(Refusal, match="deleted already"):
        room.delete(receipt.episode_id)


def test_an_id_is_not_case_folded(room: SmallRoom) -> None:
    room.ids.next_ids = ["abcdef01"]
    room.record(POOL)
    with pytest.raises(Refusal, match="episode_not_found"):
        room.delete("ABCDEF01")


def test_deleting_the_newer_one_frees_the_older(room: SmallRoom) -> None:
    old, kept = room.record(POOL), room.record(POOL)
    first = room.record(POOL_FIXED, supersedes=[old.episode_id])
    second = room.record(POOL_FIXED, supersedes=[old.episode_id, kept.episode_id])
    assert room.superseded_by(old.episode_id) == second.episode_id
    deleted = room.delete(second.episode_id)
    assert (deleted.supersession_links_removed, deleted.visible_again) == (2, (kept.episode_id,))
    assert room.superseded_by(old.episode_id) == first.episode_id
    assert room.trail()[-1][1]["supersession_links_removed"] == 2
    assert room.delete(old.episode_id).supersession_links_removed == 1
    assert room.rows("select * from supersessions") == []


def test_an_id_is_never_one_that_was_used(room: SmallRoom) -> None:
    room.ids.next_ids = ["aaaaaaaa", "bbbbbbbb"]
    room.record(POOL)
    room.record(POOL)
    room.delete("aaaaaaaa")
    room.ids.next_ids = ["aaaaaaaa", "bbbbbbbb", "cccccccc"]
    assert room.record(POOL).episode_id == "cccccccc"
    room.ids.next_ids = ["cccccccc"] * 50
    with pytest.raises(StoreError):
        room.record(POOL)


def test_a_frozen_episode_can_be_deleted_and_the_wrap_stays(room: SmallRoom) -> None:
    receipt = room.record(POOL)
    with room.store.transaction() as transaction:
        transaction.execute(
            "insert into wraps (project_key, generation, wrap_token, started_at, episode_ids) values ('demo', 1, 't', 's', ?)",
            (json.dumps([receipt.episode_id]),),
        )
    before = room.rows("select * from wraps")
    room.record(POOL)
    room.delete(receipt.episode_id)
    assert room.rows("select * from wraps") == before


# words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The pool IS not an Über-Straße", {"pool", "über", "strasse"}),
        ("wrap_token=42 v2026", {"wrap", "token", "v2026"}),
        ("连接池耗尽", {"连接池", "接池耗", "池耗尽"}),
        ("池 ok 连接池", {"连接池"}),
        ("cafe\u0301 हिन्दी", {"café", "हिन्दी"}),
        ("🙂 … ()", set()),
    ],
)
def test_meaningful_words_are_longer_than_2_characters_and_no_stop_words(text: str, found: set[str]) -> None:
    assert words.meaningful(text) == found
