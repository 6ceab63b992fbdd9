"""Open loops, the `spore_*` verbs: what is to be done, known or thought through, until it is resolved (wraps.md b).

How alive a loop is, its germination, is computed when it is read and stored nowhere. A loop is resolved down (done with) or up
(it became something, which `ref` names), once; the kinds that fit depend on its type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, get_args

from core import projects
from core.clock import Clock, stamp
from core.errors import Refusal
from core.memory.loop_rules import (
    Direction,
    Germination,
    LoopType,
    Tier,
    bounded,
    day,
    one_of,
    planted,
    refuse_unfit,
    tidy,
    whole_salience,
    words,
)
from core.store.deed import Deed, Reading
from core.texts import digest, not_blank, storable

GROWING_DAYS = 3
"""A loop seen fewer days ago is growing."""
RESTING_DAYS = 7
"""One seen more days ago is dormant."""
LISTED = 200
_TIERS = get_args(Tier)
_GERMINATIONS = get_args(Germination)


@dataclass(frozen=True, slots=True)
class Resolution:
    """How a loop was resolved: which way, as what, what it became (only up), on which day and at what time."""

    direction: Direction
    kind: str
    ref: str | None
    on: str
    at: str


@dataclass(frozen=True, slots=True)
class LoopNote:
    """A note on a loop with the day it was made."""

    noted_on: str
    text: str


@dataclass(frozen=True, slots=True)
class Loop:
    """An open loop, or a resolved one. Dates are days (YYYY-MM-DD); `germination` is as of the day of reading."""

    spore_id: str
    project_key: str
    type: LoopType
    text: str
    domain: str
    tier: Tier
    salience: int
    germination: Germination
    seen: str
    next: str | None
    pointer: str | None
    created: str
    status: Literal["open", "resolved"]
    resolution: Resolution | None
    notes: tuple[LoopNote, ...] = ()


@dataclass(frozen=True, slots=True)
class Loops:
    """What `spore_list` and `spore_surface` answer: open loops in their order, at most 200 of `total`."""

    project_key: str
    total: int
    loops: tuple[Loop, ...]


@dataclass(frozen=True, slots=True)
class LoopChange:
    """What a verb that changes a loop answers: the loop as it is now, and which of its fields changed."""

    loop: Loop
    changed: tuple[str, ...]


def germination(today: date, *, tier: str, seen: str, next_date: str | None) -> Germination:
    """How alive a loop is on a day: parked on purpose, dormant when its next date has come, else by the days since it was seen."""
    if tier == "parked":
        return "parked"
    if next_date and today.isoformat() >= next_date[:10]:
        return "dormant"
    try:
        days = (today - date.fromisoformat(seen[:10])).days
    except ValueError:
        return "dormant"
    return "growing" if days < GROWING_DAYS else "resting" if days <= RESTING_DAYS else "dormant"


# reading


def spore_get(view: Reading, *, project_key: str, spore_id: str, clock: Clock) -> Loop:
    """One loop, open or resolved, with its notes. Refuses `spore_not_found`."""
    key = projects.normal_key(project_key)
    return _loop(view, _required(view, key, spore_id), clock.today())


def spore_list(
    view: Reading,
    *,
    project_key: str,
    type: str | None = None,
    tier: str | None = None,
    germination: str | None = None,
    domain: str | None = None,
    clock: Clock,
) -> Loops:
    """The open loops of a project that match every filter: by tier, then the most salient, then the most alive, then the oldest.

    Refuses `invalid_input` for a value that is none of a filter's.
    """
    one_of(type, "type", LoopType)
    one_of(tier, "tier", Tier)
    one_of(germination, "germination", Germination)
    wanted = {"type": type, "tier": tier, "germination": germination, "domain": domain}
    return _listed(
        view,
        project_key,
        clock.today(),
        lambda loop: all(value is None or getattr(loop, name) == value for name, value in wanted.items()),
    )


def spore_surface(view: Reading, *, project_key: str, top_of_mind: bool = False, clock: Clock) -> Loops:
    """The open loops in their order; `top_of_mind` keeps those that are hot or growing."""
    return _listed(
        view, project_key, clock.today(), lambda loop: not top_of_mind or loop.tier == "hot" or loop.germination == "growing"
    )


def _listed(view: Reading, project_key: str, today: date, wanted: Any) -> Loops:
    key = storable(projects.normal_key(project_key), "project_key")
    rows = view.all("select * from spores where project_key = ? and status = 'open' order by id", (key,))
    found = sorted((loop for row in rows if wanted(loop := loop_of(row, today))), key=order)
    return Loops(key, len(found), tuple(found[:LISTED]))


def order(loop: Loop) -> tuple[int, int, int]:
    """Where a loop stands among the open ones: by tier, then the most salient, then the most alive."""
    return _TIERS.index(loop.tier), -loop.salience, _GERMINATIONS.index(loop.germination)


# planting and tending


def spore_add(
    deed: Deed,
    *,
    project_key: str,
    type: str,
    text: str,
    domain: str = "",
    tier: str = "warm",
    salience: int = 0,
    next: str | None = None,
    pointer: str | None = None,
) -> Loop:
    """Plant a loop; its id is the project's next `spore-001`. `next` is a day on which to come back to it.

    Refuses `invalid_input` for a blank text, an unknown type or tier, a salience outside 0 to 3, and a day that is none.
    """
    fields = planted(type=type, text=text, domain=domain, tier=tier, salience=salience, next=next, pointer=pointer)
    project = projects.ensure(deed, project_key)
    key, today = project.project_key, deed.clock.today().isoformat()
    number = deed.one(
        "select coalesce(max(cast(substr(spore_id, 7) as integer)), 0) + 1 from spores where project_key = ?"
        " and spore_id like 'spore-%'",
        (key,),
    )[0]
    spore_id = f"spore-{number:03}"
    deed.execute(
        "insert into spores (spore_id, project_key, type, text, domain, tier, salience, seen, next, pointer, created, origin_key)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            spore_id,
            key,
            fields["type"],
            fields["text"],
            fields["domain"],
            fields["tier"],
            fields["salience"],
            today,
            fields["next"],
            fields["pointer"],
            today,
            deed.ids.unique(),
        ),
    )
    _tell(deed, "spore_add", key, spore_id, {**fields, "text": digest(fields["text"]), "pointer": digest(fields["pointer"])})
    return _loop(deed.transaction, _required(deed.transaction, key, spore_id), deed.clock.today())


def spore_touch(deed: Deed, *, project_key: str, spore_id: str) -> LoopChange:
    """Say that an open loop was looked at today; a next date that has come is cleared. Refuses `spore_not_found`, `spore_resolved`."""
    key, row = _open(deed, project_key, spore_id)
    today = deed.clock.today().isoformat()
    come = row["next"] is not None and today >= row["next"]
    return _change(deed, "spore_touch", key, row, {"seen": today, "next": None if come else row["next"]})


def spore_update(
    deed: Deed,
    *,
    project_key: str,
    spore_id: str,
    tier: str | None = None,
    next: str | None = None,
    text: str | None = None,
    salience: int | None = None,
    domain: str | None = None,
    pointer: str | None = None,
    add_note: str | None = None,
) -> LoopChange:
    """Change what is given of an open loop; an empty `next`, `pointer` or `domain` clears it. It does not count as seen.

    Refuses `invalid_input` as `spore_add` does, and when nothing is given, then `spore_not_found`, `spore_resolved`.
    """
    values: dict[str, Any] = {}
    if tier is not None:
        values["tier"] = one_of(tier, "tier", Tier)
    if next is not None:
        values["next"] = day(next)
    if text is not None:
        values["text"] = words(text, "text")
    if salience is not None:
        values["salience"] = whole_salience(salience)
    if domain is not None:
        values["domain"] = tidy(domain, "domain")
    if pointer is not None:
        values["pointer"] = storable(bounded(pointer, "pointer"), "pointer") or None
    note = bounded(not_blank(add_note, "add_note"), "add_note") if add_note else None
    if not values and note is None:
        raise Refusal("invalid_input", "Nothing to change: give tier, next, text, salience, domain, pointer or add_note.")
    key, row = _open(deed, project_key, spore_id)
    if note is not None:
        now = deed.clock.now()
        deed.execute(
            "insert into spore_notes (project_key, spore_id, text, noted_on, actor, created_at) values (?, ?, ?, ?, ?, ?)",
            (key, row["spore_id"], note, deed.clock.today().isoformat(), deed.identity.actor.as_json(), stamp(now)),
        )
    return _change(deed, "spore_update", key, row, values, note)


# resolving


def spore_descend(deed: Deed, *, project_key: str, spore_id: str, kind: str) -> LoopChange:
    """Resolve an open loop down: it is done with. `kind` fits its type: a task is done or dropped, a question answered or mooted, a
    thought explored or dropped, and any of them composted. Refuses `spore_not_found`, `spore_resolved`, `invalid_input`.
    """
    return _resolve(deed, project_key, spore_id, "descend", kind, None)


def spore_ascend(deed: Deed, *, project_key: str, spore_id: str, kind: str, ref: str) -> LoopChange:
    """Resolve an open loop up: it became what `ref` names. `kind` fits its type: a task becomes a project or thread, a question an
    episode or pattern, a thought an essay, pattern or project. Refuses as `spore_descend`, and `invalid_input` for a blank ref.
    """
    return _resolve(deed, project_key, spore_id, "ascend", kind, bounded(not_blank(ref, "ref"), "ref"))


def _resolve(deed: Deed, project_key: str, spore_id: str, direction: Direction, kind: str, ref: str | None) -> LoopChange:
    key, row = _open(deed, project_key, spore_id)
    refuse_unfit(row["type"], direction, kind, row["spore_id"])
    values = {
        "status": "resolved",
        "direction": direction,
        "kind": kind,
        "ref": ref,
        "resolved_on": deed.clock.today().isoformat(),
        "resolved_at": stamp(deed.clock.now()),
    }
    return _change(deed, f"spore_{direction}", key, row, values)


# shared


def _change(deed: Deed, event: str, key: str, row: Any, values: Mapping[str, Any], note: str | None = None) -> LoopChange:
    changed = {name: value for name, value in values.items() if row[name] != value}
    if changed:
        deed.execute(
            f"update spores set {', '.join(f'{name} = ?' for name in changed)} where id = ?", (*changed.values(), row["id"])
        )
    if changed or note is not None:
        told = {name: digest(value) if name in ("text", "pointer", "ref") else value for name, value in changed.items()}
        _tell(deed, event, key, row["spore_id"], told if note is None else {**told, "note": digest(note)})
    loop = _loop(deed.transaction, _required(deed.transaction, key, row["spore_id"]), deed.clock.today())
    return LoopChange(loop, (*changed, *(["notes"] if note is not None else [])))


def _tell(deed: Deed, event: str, key: str, spore_id: str, data: dict[str, Any]) -> None:
    deed.append(event, project_key=key, subject=f"spore:{spore_id}", data=data)


def _open(deed: Deed, project_key: str, spore_id: str) -> tuple[str, Any]:
    key = projects.normal_key(project_key)
    row = _required(deed.transaction, key, spore_id)
    if row["status"] != "open":
        raise Refusal(
            "spore_resolved",
            f"{row['spore_id']} was resolved on {row['resolved_on']} ({row['direction']}: {row['kind']}); it cannot be changed any more.",
            facts={"spore_id": row["spore_id"], "direction": row["direction"], "kind": row["kind"], "ref": row["ref"]},
            project_key=key,
            subject=f"spore:{row['spore_id']}",
        )
    return key, row


def _required(reading: Reading, key: str, spore_id: str) -> Any:
    wanted = not_blank(spore_id, "spore_id").strip()
    row = reading.one("select * from spores where project_key = ? and spore_id = ?", (key, wanted))
    if row is None:
        raise Refusal(
            "spore_not_found",
            f"Project {key} has no open loop {wanted[:40]!r}. spore_list names those that are open.",
            facts={"spore_id": wanted[:200], "project_key": key},
        )
    return row


def _loop(reading: Reading, row: Any, today: date) -> Loop:
    notes = reading.all(
        "select noted_on, text from spore_notes where project_key = ? and spore_id = ? order by id",
        (row["project_key"], row["spore_id"]),
    )
    return loop_of(row, today, tuple(LoopNote(note["noted_on"], note["text"]) for note in notes))


def loop_of(row: Any, today: date, notes: tuple[LoopNote, ...] = ()) -> Loop:
    """A stored row as a loop, as of that day."""
    resolved = row["status"] == "resolved"
    return Loop(
        row["spore_id"],
        row["project_key"],
        row["type"],
        row["text"],
        row["domain"],
        row["tier"],
        row["salience"],
        germination(today, tier=row["tier"], seen=row["seen"], next_date=row["next"]),
        row["seen"],
        row["next"],
        row["pointer"],
        row["created"],
        row["status"],
        Resolution(row["direction"], row["kind"], row["ref"], row["resolved_on"], row["resolved_at"]) if resolved else None,
        notes,
    )
