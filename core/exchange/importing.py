"""`import_anneal`: a store of anneal-memory becomes a project, in one deed (issue 4, import; wraps.md a).

A first import goes into a project that is empty or missing: two histories are never merged. A later one of the same store
adds what is new of episodes, links, tombstones, open loops and trail; wraps, continuity, patterns, gate and baton are taken once,
for from then on they are the project's own.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core import projects
from core.clock import stamp
from core.errors import Refusal
from core.exchange import episodes, history
from core.exchange.anneal_source import NOT_TAKEN, AnnealSource, moment
from core.exchange.episodes import ForeignEpisode, Ids
from core.exchange.report import ImportReport, Tally
from core.memory.episodes import refresh_superseded
from core.store.deed import Deed, Reading

Progress = Callable[[int, int], None]
MANIFEST, TRAIL, FILE = "anneal-import", "anneal-audit", "anneal-file"
"""The kinds of attachments that an import leaves: what it did, the foreign trail's files, and the files beside the database."""


@dataclass(slots=True)
class Earlier:
    """What earlier imports of this store left: their renamings, and the digests of attached files."""

    first: bool = True
    renamed: dict[str, str] = field(default_factory=dict)
    digests: frozenset[str] = frozenset()


# before


def examine(reading: Reading | None, source: AnnealSource, project_key: str, now: str) -> ImportReport:
    """What an import would do, without doing it. `reading` is None while there is no store here.

    Refuses what `import_anneal` refuses.
    """
    key = projects.key_for_writing(project_key)
    earlier = _earlier(reading, source, key)
    ids = episodes.sort_out(reading, source, key, earlier.renamed)
    tally = _counted(source, ids)
    for _ in episodes.new_episodes(source, ids, now, tally):
        tally.imported["episodes"] += 1
    if earlier.first:
        history.count(source, tally)
    else:
        tally.notes.append("this store was imported before: only what is new of episodes, links, open loops and trail is added")
    _count_sides(reading, source, key, earlier, ids, tally)
    return _report("dry_run", source, key, earlier, tally)


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


def _counted(source: AnnealSource, ids: Ids) -> Tally:
    tally = Tally()
    tally.found["episodes"] = source.count("episodes")
    tally.found["links between old and new"] = source.count("supersessions")
    tally.found["deleted episodes"] = source.count("tombstones")
    renamed = sum(not ids.fits(one) for one in ids.new)
    if renamed:
        tally.notes.append(f"{renamed:,} episodes get a new id, for theirs is taken here or is no id")
    for table, why in NOT_TAKEN.items():
        tally.leave_out(table.replace("_", " "), why, source.count(table))
    return tally


def _count_sides(reading: Reading | None, source: AnnealSource, key: str, earlier: Earlier, ids: Ids, tally: Tally) -> None:
    # what depends on single rows is told exactly after the import; here it is what there is to take
    loops = history.new_loops(reading, source, key)
    tally.found["open loops"] = len(source.spores)
    tally.imported["open loops"] = len(loops)
    tally.leave_out("open loops", "they are here already, or break the rules of one", len(source.spores) - len(loops))
    if earlier.first or ids.new:
        tally.imported["links between old and new"] = sum(
            str(row[1]) in ids.new or str(row[0]) in ids.new for row in source.rows("supersessions", "old_id, new_id")
        )
    tally.imported["deleted episodes"] = len(_new_tombstones(reading, source))
    tally.found["trail files"] = len(source.trail.files)
    tally.imported["trail files"] = sum(one.sha256 not in earlier.digests for one in source.trail.files)


def _new_tombstones(reading: Reading | None, source: AnnealSource) -> list[Any]:
    rows = source.rows("tombstones", "id, timestamp, type, content_hash, pruned_at", "order by pruned_at, id")
    if reading is None or not rows:
        return rows
    names = json.dumps([str(row[0]) for row in rows])
    here = set()
    for table in ("tombstones", "episodes"):
        sql = f"select t.episode_id from json_each(?) wanted cross join {table} t on t.episode_id = wanted.value"
        here |= {row[0] for row in reading.all(sql, (names,))}
    return [row for row in rows if str(row[0]) not in here]


def _report(outcome: Any, source: AnnealSource, key: str, earlier: Earlier, tally: Tally) -> ImportReport:
    notes = [*tally.notes, *([source.continuity_note] if source.continuity_note and earlier.first else [])]
    return ImportReport(
        outcome,
        key,
        str(source.path),
        source.identity,
        source.format_version,
        earlier.first,
        tally.taken(),
        tally.missing(),
        tuple(dict.fromkeys(notes)),
        source.trail.entries,
        source.trail.head,
        source.trail.findings,
    )


# the deed


def import_anneal(deed: Deed, *, project_key: str, source: AnnealSource, progress: Progress | None = None) -> ImportReport:
    """Import a store of anneal-memory into a project, which a first import creates or finds empty. Twice is once.

    A broken foreign trail is imported with its findings, which the trail row and the report name: the memory is worth more
    than its log, and the finding is never lost. Refuses `import_project_in_use` for a project with a history of its own,
    `import_elsewhere` when the store is in another project already.
    """
    key = projects.key_for_writing(project_key)
    earlier = _earlier(deed.transaction, source, key)
    ids = episodes.sort_out(deed.transaction, source, key, earlier.renamed)
    loops = history.new_loops(deed.transaction, source, key)
    graves = _new_tombstones(deed.transaction, source)
    files = [one for one in source.trail.files if one.sha256 not in earlier.digests]
    tally = _counted(source, ids)
    tally.found["open loops"], tally.found["trail files"] = len(source.spores), len(source.trail.files)
    if not earlier.first and not _any_new(source, ids, tally) and not (loops or graves or files):
        return _report("nothing_new", source, key, earlier, _counted(source, ids))
    projects.ensure(deed, key)
    if earlier.first:
        history.count(source, tally)
    covering = history.completed_wraps(deed, source, key) if earlier.first else {}
    names = _names(deed, source, ids, earlier)
    _write_episodes(deed, source, key, ids, names, covering, tally, progress)
    _write_links(deed, source, key, ids, names, tally)
    _write_tombstones(deed, key, graves, tally)
    tally.imported["open loops"] = history.write_loops(deed, key, loops)
    tally.leave_out("open loops", "they are here already, or break the rules of one", len(source.spores) - len(loops))
    _attach(deed, source, key, files, earlier, names, tally)
    if earlier.first:
        history.after_episodes(deed, source, key, names, covering, tally)
    else:
        tally.notes.append("this store was imported before: only what is new of episodes, links, open loops and trail was added")
    return _report("imported", source, key, earlier, tally)


def _any_new(source: AnnealSource, ids: Ids, tally: Tally) -> bool:
    return bool(ids.new) and any(True for _ in episodes.new_episodes(source, ids, "", Tally()))


def _names(deed: Deed, source: AnnealSource, ids: Ids, earlier: Earlier) -> dict[str, str]:
    """Every renamed id with its name here."""
    names = dict(earlier.renamed)
    for one in sorted(ids.new):
        if not ids.fits(one) and one not in names:
            names[one] = _free_id(deed)
    return names


def _free_id(deed: Deed) -> str:
    while True:
        found = deed.ids.episode_id()
        sql = "select 1 from episodes where episode_id = ? union all select 1 from tombstones where episode_id = ?"
        if deed.one(sql, (found, found)) is None:
            return found


def _write_episodes(
    deed: Deed,
    source: AnnealSource,
    key: str,
    ids: Ids,
    names: dict[str, str],
    covering: dict[int, int],
    tally: Tally,
    progress: Progress | None,
) -> None:
    own, effective, sources = source.trust()
    now = stamp(deed.clock.now())
    total = len(ids.new)

    def row(one: ForeignEpisode) -> tuple[Any, ...]:
        derived = [names.get(each, each) for each in sources.get(one.id, ())]
        return (
            names.get(one.id, one.id),
            key,
            one.created_at,
            one.episode_type,
            one.content,
            one.source,
            own.get(one.id, "agent"),
            effective.get(one.id, "agent"),
            one.metadata,
            json.dumps(derived) if derived else "[]",
            one.state_key,
            history.covered_by(one.session, covering),
        )

    def write(batch: list[Any]) -> None:
        deed.transaction.many(
            "insert into episodes (episode_id, project_key, created_at, episode_type, content, source, trust, effective_trust, metadata,"
            " derived_from, state_key, wrap_id) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            batch,
        )
        tally.imported["episodes"] += len(batch)
        if progress:
            progress(tally.imported["episodes"], total)

    if progress:
        progress(0, total)
    episodes.in_batches((row(one) for one in episodes.new_episodes(source, ids, now, tally)), write)


def _write_links(deed: Deed, source: AnnealSource, key: str, ids: Ids, names: dict[str, str], tally: Tally) -> None:
    hidden: list[str] = []
    for old, new, when in source.rows("supersessions", "old_id, new_id, recorded_at", "order by recorded_at, old_id, new_id"):
        if str(old) not in ids.new and str(new) not in ids.new:
            continue
        old_id, new_id = names.get(str(old), str(old)), names.get(str(new), str(new))
        sql = "select count(*) from episodes where project_key = ? and episode_id in (?, ?)"
        if deed.one(sql, (key, old_id, new_id))[0] != 2:
            tally.leave_out("links between old and new", "an episode that they join is gone")
            continue
        written = deed.execute(
            "insert or ignore into supersessions (old_id, new_id, project_key, created_at) values (?, ?, ?, ?)",
            (old_id, new_id, key, moment(when) or stamp(deed.clock.now())),
        )
        tally.imported["links between old and new"] += written.rowcount
        hidden.append(old_id)
    if source.count("state_keys"):
        rows = deed.all("select episode_id from episodes where project_key = ? and state_key is not null", (key,))
        hidden += [row[0] for row in rows]
    refresh_superseded(deed, dict.fromkeys(hidden))


def _write_tombstones(deed: Deed, key: str, graves: list[Any], tally: Tally) -> None:
    now, actor = stamp(deed.clock.now()), deed.identity.actor.as_json()
    for row in graves:
        # over there only a keyed hash is kept: it stands where ours is, and says so itself
        deed.execute(
            "insert into tombstones (episode_id, project_key, created_at, episode_type, source, trust, content_sha256, characters,"
            " removed_at, removed_by) values (?, ?, ?, ?, '', 'agent', ?, 0, ?, ?)",
            (str(row[0]), key, moment(row[1]) or now, str(row[2]), str(row[3]), moment(row[4]) or now, actor),
        )
    tally.imported["deleted episodes"] += len(graves)


def _attach(
    deed: Deed, source: AnnealSource, key: str, files: list[Any], earlier: Earlier, names: dict[str, str], tally: Tally
) -> None:
    """Keep the foreign trail and the files beside the database, and anchor the trail's head in ours."""
    now = stamp(deed.clock.now())

    def attach(kind: str, name: str, content: bytes, digest: str, head: str | None) -> None:
        deed.execute(
            "insert into attachments (project_key, kind, name, content, sha256, head, created_at) values (?, ?, ?, ?, ?, ?, ?)",
            (key, kind, name, content, digest, head, now),
        )

    for one in files:
        attach(TRAIL, one.name, gzip.compress(one.content, 1, mtime=0), one.sha256, source.trail.head)
    tally.imported["trail files"] = len(files)
    for name, content in source.files.items():
        digest = hashlib.sha256(content).hexdigest()
        if digest not in earlier.digests:
            attach(FILE, name, gzip.compress(content, 1, mtime=0), digest, None)
    told = {
        "source": Path(source.path).name,
        "identity": source.identity,
        "format_version": source.format_version,
        "first": earlier.first,
        "episodes": tally.imported["episodes"],
        "links": tally.imported["links between old and new"],
        "tombstones": tally.imported["deleted episodes"],
        "open_loops": tally.imported["open loops"],
        "trail_entries": source.trail.entries,
        "trail_head": source.trail.head,
        "trail_findings": list(source.trail.findings[:20]),
        "trail_findings_count": len(source.trail.findings),
        "trail_files": {one.name: one.sha256 for one in files},
        "renamed_count": len(names),
    }
    manifest = json.dumps({**told, "renamed": names}, ensure_ascii=False, separators=(",", ":")).encode()
    attach(MANIFEST, source.identity, manifest, hashlib.sha256(manifest).hexdigest(), source.trail.head)
    deed.append("import_anneal", project_key=key, subject=f"project:{key}", data=told)
