"""Open loops of a foreign store: what keeps the rules of one (core.memory.loop_rules) is read, told apart from what is here, and written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from core.clock import stamp
from core.errors import Refusal
from core.exchange import foreign_values
from core.exchange.report import Tally
from core.memory.loop_rules import SALIENCE_LIMIT, TEXT_LIMIT, Direction, Tier, planted, refuse_unfit
from core.store.deed import Deed, Reading

LOOPS, NOTES = "open loops", "notes of open loops"
ID_SHAPE = re.compile(r"(?!spore-[0-9]{10})[0-9A-Za-z._:-]{1,100}")
"""A loop's id here; one that goes on counting from 10 digits would leave no room for the next."""
ORIGIN_SHAPE = re.compile(r"[0-9A-Za-z._:-]{1,128}")


@dataclass(frozen=True, slots=True)
class ForeignLoop:
    """A loop as it can be stored: `fields` are those of a planted one. Days and times are None where none can be read."""

    spore_id: str
    fields: Mapping[str, Any]
    origin_key: str | None
    created: str | None
    seen: str | None
    status: Literal["open", "resolved"]
    direction: Direction | None
    kind: str | None
    ref: str | None
    resolved_on: str | None
    resolved_at: str | None
    notes: tuple[str, ...]


# reading


def read(entries: Sequence[Mapping[str, Any]], tally: Tally) -> tuple[ForeignLoop, ...]:
    """Every loop that keeps the rules of one; the others are counted with their reason, and mended values are told."""
    found: dict[str, ForeignLoop] = {}
    origins: set[str] = set()
    for entry in entries:
        spore_id = entry.get("id")
        if not isinstance(spore_id, str) or not ID_SHAPE.fullmatch(spore_id) or spore_id in found:
            tally.leave_out(LOOPS, "their id is none, or there twice")
            continue
        try:
            one = _loop(spore_id, entry, tally)
        except Refusal as refusal:
            tally.leave_out(LOOPS, f"they break a rule: {refusal.sentence[:200]}")
            continue
        if one.origin_key in origins:
            tally.leave_out(LOOPS, "their origin is there twice")
            continue
        found[spore_id] = one
        if one.origin_key:
            origins.add(one.origin_key)
    return tuple(found.values())


def _loop(spore_id: str, entry: Mapping[str, Any], tally: Tally) -> ForeignLoop:
    def given(name: str, found: Any, otherwise: Any) -> Any:
        if found is None and entry.get(name) not in (None, ""):
            tally.mend(LOOPS, f"their {name} is damaged and left at its default")
        return otherwise if found is None else found

    tier, origin = entry.get("tier"), entry.get("origin_key")
    fields = planted(
        type=_text(entry, "type"),
        text=_text(entry, "text"),
        domain=given("domain", foreign_values.text(entry.get("domain")), ""),
        tier=given("tier", tier if tier in get_args(Tier) else None, "warm"),
        salience=given("salience", foreign_values.whole(entry.get("salience"), 0, SALIENCE_LIMIT), 0),
        next=given("next", foreign_values.day(entry.get("next")), None),
        pointer=given("pointer", foreign_values.words(entry.get("pointer")), None),
    )
    status, end = _resolution(spore_id, fields["type"], entry)
    return ForeignLoop(
        spore_id,
        fields,
        given("origin_key", origin if isinstance(origin, str) and ORIGIN_SHAPE.fullmatch(origin) else None, None),
        given("created", foreign_values.day(entry.get("created")), None),
        given("seen", foreign_values.day(entry.get("seen")), None),
        status,
        end.get("direction"),
        end.get("kind"),
        foreign_values.words(end.get("ref")),
        foreign_values.day(end.get("on")),
        foreign_values.moment(end.get("at")),
        _notes(entry.get("notes"), tally),
    )


def _text(entry: Mapping[str, Any], name: str) -> str:
    found = entry.get(name)
    if not isinstance(found, str):
        raise Refusal("invalid_input", f"{name} is no text.")
    return found


def _resolution(
    spore_id: str, kind_of_loop: str, entry: Mapping[str, Any]
) -> tuple[Literal["open", "resolved"], Mapping[str, Any]]:
    status, end = entry.get("status"), entry.get("resolution") or {}
    if status == "open" and not end:
        return "open", {}
    if status != "resolved" or not isinstance(end, dict):
        raise Refusal("invalid_input", "status is neither open nor resolved, or its resolution does not fit.")
    direction: Direction | None = next((one for one in get_args(Direction) if one == end.get("direction")), None)
    if direction is None:
        raise Refusal("invalid_input", "the direction of its resolution is none.")
    refuse_unfit(kind_of_loop, direction, _text(end, "kind"), spore_id)
    ref = foreign_values.words(end.get("ref"))
    if (direction == "ascend" and ref is None) or len(ref or "") > TEXT_LIMIT:
        raise Refusal("invalid_input", "what it became is not named, or at too great length.")
    return "resolved", end


def _notes(entries: object, tally: Tally) -> tuple[str, ...]:
    if entries is None:
        return ()
    if not isinstance(entries, list):
        tally.leave_out(NOTES, "they are no texts, or too long")
        return ()
    found = [foreign_values.words(one) for one in entries]
    kept = tuple(one for one in found if one is not None and len(one) <= TEXT_LIMIT)
    tally.leave_out(NOTES, "they are no texts, or too long", len(entries) - len(kept))
    return kept


# beside what is here, and writing


def new_loops(reading: Reading | None, found: Sequence[ForeignLoop], key: str) -> list[ForeignLoop]:
    """The loops that the project has neither by their id nor by their origin."""
    if reading is None:
        return list(found)
    rows = reading.all("select spore_id, origin_key from spores where project_key = ?", (key,))
    ids, origins = {row[0] for row in rows}, {row[1] for row in rows}
    return [one for one in found if one.spore_id not in ids and one.origin_key not in origins]


def write(deed: Deed, key: str, found: Sequence[ForeignLoop]) -> None:
    """Write loops and their notes."""
    now, actor = stamp(deed.clock.now()), deed.identity.actor.as_json()
    for one in found:
        fields, created = one.fields, one.created or now[:10]
        ended = one.status == "resolved"
        deed.execute(
            "insert into spores (spore_id, project_key, type, text, domain, tier, salience, seen, next, pointer, created, status, direction,"
            " kind, ref, resolved_on, resolved_at, origin_key) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(one.spore_id, key, fields["type"], fields["text"], fields["domain"], fields["tier"], fields["salience"]),
                *(one.seen or created, fields["next"], fields["pointer"], created, one.status, one.direction, one.kind, one.ref),
                *((one.resolved_on or created, one.resolved_at or now) if ended else (None, None)),
                one.origin_key or deed.ids.unique(),
            ),
        )
        for note in one.notes:
            deed.execute(
                "insert into spore_notes (project_key, spore_id, text, noted_on, actor, created_at) values (?, ?, ?, ?, ?, ?)",
                (key, one.spore_id, note, one.seen or created, actor, now),
            )
