"""`import_anneal`: a store of anneal-memory becomes a project, in one deed (issue 4, import; wraps.md a).

A first import goes into a project that is empty or missing: two histories are never merged. A later one of the same store
adds what is new of episodes, links, tombstones, open loops and trail; wraps, continuity, patterns, gate and baton are taken once,
for from then on they are the project's own. The store was read and judged before (core.exchange.anneal_source): while others
wait for the writer, what is new is looked up and written, and nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core import projects
from core.clock import stamp
from core.errors import Refusal
from core.exchange import episodes, foreign_values, history, loops, patterns
from core.exchange.anneal_files import SideFile
from core.exchange.anneal_source import AnnealSource
from core.exchange.anneal_trail import TrailFile
from core.exchange.episodes import GRAVES, LINKS, ForeignEpisode, ForeignGrave, ForeignLink, Ids, Progress
from core.exchange.loops import LOOPS, ForeignLoop
from core.exchange.report import ImportReport, Tally
from core.store.deed import Deed, Reading

MANIFEST, TRAIL, FILE = "anneal-import", "anneal-audit", "anneal-file"
"""The kinds of attachments that an import leaves: what it did, the foreign trail's files, and the files beside the database."""
MANY = 20_000
"""Episodes from which on the report says beforehand that other writers will wait."""
SECONDS_EACH = 3.0 / 100_000


@dataclass(slots=True)
class Earlier:
    """What earlier imports of this store left: their renamings, and the digests of attached files."""

    first: bool = True
    renamed: dict[str, str] = field(default_factory=dict)
    digests: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Plan:
    """What of a source is new in a project, and is to be written; its tally counts what was found, taken and left out."""

    earlier: Earlier
    ids: Ids
    episodes: list[ForeignEpisode]
    links: list[ForeignLink]
    graves: list[ForeignGrave]
    loops: list[ForeignLoop]
    trail_files: list[TrailFile]
    files: list[SideFile]
    tally: Tally

    @property
    def nothing_new(self) -> bool:
        """Whether an earlier import has taken everything already."""
        new = self.episodes or self.links or self.graves or self.loops or self.trail_files
        return not self.earlier.first and not new


# before


def examine(reading: Reading | None, source: AnnealSource, project_key: str) -> ImportReport:
    """What an import would do, without doing it. `reading` is None while there is no store here.

    Refuses what `import_anneal` refuses.
    """
    key = projects.key_for_writing(project_key)
    return _report("dry_run", source, key, _plan(reading, source, key))


def _plan(reading: Reading | None, source: AnnealSource, key: str) -> Plan:
    earlier = _earlier(reading, source, key)
    ids = episodes.sort_out(reading, [one.id for one in source.episodes], key, earlier.renamed)
    tally = Tally(dict(source.found.found))
    tally.also(source.found)
    plan = Plan(
        earlier,
        ids,
        [one for one in source.episodes if one.id in ids.new],
        episodes.new_links(reading, source.links, ids, key, earlier.renamed),
        _new_graves(reading, source, key, tally),
        loops.new_loops(reading, source.loops, key),
        [one for one in source.trail.files if one.sha256 not in earlier.digests],
        [one for one in source.files if one.sha256 not in earlier.digests],
        tally,
    )
    for what, new in (("episodes", plan.episodes), (LINKS, plan.links), (GRAVES, plan.graves), (LOOPS, plan.loops)):
        tally.take(what, 0, len(new))
    tally.take("trail files", len(source.trail.files), len(plan.trail_files))
    if earlier.first:
        source.history.count(tally)
        tally.take("patterns", len(source.patterns.patterns), len(source.patterns.patterns))
    else:
        tally.notes.append("this store was imported before: only what is new of episodes, links, open loops and trail is added")
    renamed = sum(not ids.fits(one.id) for one in plan.episodes)
    if renamed:
        tally.notes.append(f"{renamed:,} episodes get a new id, for theirs is taken here or is no id")
    if len(plan.episodes) >= MANY:
        seconds = len(plan.episodes) * SECONDS_EACH
        tally.notes.append(
            f"while they are written, other writers wait: some {seconds:.0f} s for so many episodes; readers never do"
        )
    return plan


def _earlier(reading: Reading | None, source: AnnealSource, key: str) -> Earlier:
    if reading is None:
        return Earlier()
    found = reading.all(
        "select project_key, content from attachments where kind = ? and name = ? order by id", (MANIFEST, source.identity)
    )
    for row in found:
        if row["project_key"] != key:
            raise Refusal(
                "import_elsewhere",
                f"This store was imported into project {row['project_key']!r} before; its episodes have their ids there. "
                f"Nothing was changed. Import it again with --project {row['project_key']}.",
                facts={"project_key": row["project_key"]},
            )
    if found:
        renamed: dict[str, str] = {}
        for row in found:
            renamed |= json.loads(row["content"])["renamed"]
        digests = reading.all("select sha256 from attachments where project_key = ?", (key,))
        return Earlier(False, renamed, frozenset(row[0] for row in digests))
    used = [
        what
        for what, table in (
            ("episodes", "episodes"),
            ("deleted episodes", "tombstones"),
            ("wraps", "wraps"),
            ("continuity", "continuity"),
            ("patterns", "patterns"),
            ("open loops", "spores"),
        )
        if reading.one(f"select 1 from {table} where project_key = ? limit 1", (key,))
    ]
    if used:
        raise Refusal(
            "import_project_in_use",
            f"Project {key!r} has {' and '.join(used[:3])} of its own, and two histories are never merged. Nothing was changed. "
            "Import into a new project with --project KEY.",
            facts={"project_key": key, "has": used},
            project_key=key,
        )
    return Earlier()


def _new_graves(reading: Reading | None, source: AnnealSource, key: str, tally: Tally) -> list[ForeignGrave]:
    if reading is None or not source.graves:
        return list(source.graves)
    names = json.dumps([one.id for one in source.graves])
    here: dict[str, tuple[str, str]] = {}
    for table in ("tombstones", "episodes"):
        sql = f"select t.episode_id, t.project_key from json_each(?) wanted cross join {table} t on t.episode_id = wanted.value"
        here |= {row[0]: (table, row[1]) for row in reading.all(sql, (names,))}
    tally.leave_out(GRAVES, "their episodes live on here", sum(one == ("episodes", key) for one in here.values()))
    tally.leave_out(GRAVES, "their id is taken here", sum(project != key for _, project in here.values()))
    return [one for one in source.graves if one.id not in here]


def _report(outcome: Any, source: AnnealSource, key: str, plan: Plan, held_seconds: float | None = None) -> ImportReport:
    return ImportReport(
        outcome,
        key,
        str(source.path),
        source.identity,
        source.format_version,
        plan.earlier.first,
        plan.tally.taken(),
        plan.tally.missing(),
        plan.tally.said(),
        source.trail.entries,
        source.trail.head,
        source.trail.findings,
        held_seconds,
    )


# the deed


def import_anneal(deed: Deed, *, project_key: str, source: AnnealSource, progress: Progress | None = None) -> ImportReport:
    """Import a store of anneal-memory into a project, which a first import creates or finds empty. Twice is once.

    A broken foreign trail is imported with its findings, which the trail row and the report name: the memory is worth more
    than its log, and the finding is never lost. `progress` hears how many of the new episodes are written. Refuses
    `import_project_in_use` for a project with a history of its own, `import_elsewhere` when the store is in another project already.
    """
    began = deed.clock.monotonic()
    key = projects.key_for_writing(project_key)
    plan = _plan(deed.transaction, source, key)
    if plan.nothing_new:
        return _report("nothing_new", source, key, plan, deed.clock.monotonic() - began)
    projects.ensure(deed, key)
    first = plan.earlier.first
    covering = history.completed_wraps(deed, source.history, key) if first else {}
    names = _names(deed, plan)
    frozen = episodes.write(deed, key, plan.episodes, names, covering, progress)
    episodes.write_links(deed, key, plan.links, names)
    episodes.write_graves(deed, key, plan.graves)
    loops.write(deed, key, plan.loops)
    _attach(deed, source, key, plan, names)
    if first:
        patterns.write(deed, source.patterns, source.history, key, names, covering)
        history.after_episodes(deed, source.history, key, names, frozen)
    return _report("imported", source, key, plan, deed.clock.monotonic() - began)


def _names(deed: Deed, plan: Plan) -> dict[str, str]:
    """Every renamed id with its name here."""
    names = dict(plan.earlier.renamed)
    kept = {one.id for one in plan.episodes} | set(names.values())
    for one in plan.episodes:
        if not plan.ids.fits(one.id) and one.id not in names:
            names[one.id] = _free_id(deed, kept)
            kept.add(names[one.id])
    return names


def _free_id(deed: Deed, kept: set[str]) -> str:
    while True:
        found = deed.ids.episode_id()
        sql = "select 1 from episodes where episode_id = ? union all select 1 from tombstones where episode_id = ?"
        if found not in kept and deed.one(sql, (found, found)) is None:
            return found


def _attach(deed: Deed, source: AnnealSource, key: str, plan: Plan, names: Mapping[str, str]) -> None:
    """Keep the foreign trail and the files beside the database, and anchor the trail's head in ours."""
    now, head = stamp(deed.clock.now()), source.trail.head

    def attach(kind: str, name: str, content: bytes, digest: str, head: str | None) -> None:
        deed.execute(
            "insert into attachments (project_key, kind, name, content, sha256, head, created_at) values (?, ?, ?, ?, ?, ?, ?)",
            (key, kind, name, content, digest, head, now),
        )

    for one in plan.trail_files:
        attach(TRAIL, one.name, one.packed, one.sha256, head)
    for file in plan.files:
        attach(FILE, file.name, file.packed, file.sha256, None)
    told = {
        "source": foreign_values.shown(source.path.name),
        "identity": source.identity,
        "format_version": source.format_version,
        "first": plan.earlier.first,
        "episodes": len(plan.episodes),
        "links": len(plan.links),
        "tombstones": len(plan.graves),
        "open_loops": len(plan.loops),
        "trail_entries": source.trail.entries,
        "trail_head": head,
        "trail_findings": list(source.trail.findings[:20]),
        "trail_findings_count": len(source.trail.findings),
        "trail_files": {one.name: one.sha256 for one in plan.trail_files},
        "renamed_count": len(names),
    }
    manifest = json.dumps({**told, "renamed": names}, separators=(",", ":")).encode()
    attach(MANIFEST, source.identity, manifest, hashlib.sha256(manifest).hexdigest(), head)
    deed.append("import_anneal", project_key=key, subject=f"project:{key}", data=told)
