"""A foreign store with any value of any type anywhere: a report with findings or a clear refusal, never a crash nor a broken row."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import Refusal, StoreError
from core.exchange.anneal_source import read
from core.exchange.anneal_tables import TAKEN
from core.exchange.importing import examine
from core.room import Room
from core.trail.verify import verify_store
from core.trail.verify_store import mismatches_with_store
from tests.foreign import copied, loosened
from tests.rooms import Rooms

LOOSE = [*sorted(TAKEN), "drift_probes", "associations"]
DOCUMENTS = ("continuity.meta.json", "continuity.md.baton", "spores.json", "crystal.json", "audit.manifest.json")
ODD_TEXTS = st.one_of(
    st.sampled_from(
        ["", " ", "\x00", "a\x00b", "[/x]", "\x1b[31m", "0x10", "1_0", "9" * 30, "2026-13-45", "spore-9999999999", "name"]
    ),
    st.text(st.characters(exclude_categories=()), max_size=12),  # halves of characters included
)
ODD_NUMBERS = st.one_of(st.integers(), st.sampled_from([-1, 0, 2**63 - 1, -(2**63), 10**400]), st.floats())
ODD = st.one_of(
    st.none(),
    st.booleans(),
    ODD_NUMBERS,
    ODD_TEXTS,
    st.lists(ODD_TEXTS, max_size=2),
    st.dictionaries(ODD_TEXTS, ODD_TEXTS, max_size=1),
)
IN_DATABASE = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.binary(max_size=6),
    ODD_TEXTS.filter(lambda text: not any("\ud800" <= one <= "\udfff" for one in text)),
    ODD.map(lambda value: json.dumps(value)),
)


@pytest.fixture(scope="module")
def loose(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a real store whose tables hold no constraint any more, so that anything can be written to them."""
    return loosened(copied("1.0.2", tmp_path_factory.mktemp("loose")), *LOOSE).parent


def document_of(place: Path, content: bytes | None = None) -> Any:
    """What a file holds, an empty document when that is no JSON any more."""
    try:
        return json.loads(place.read_bytes() if content is None else content)
    except (OSError, ValueError):
        return {}


class Damage:
    """Draws what to spoil in a copy of that store, and spoils it."""

    def __init__(self, data: st.DataObject, path: Path) -> None:
        self.draw, self.path = data.draw, path

    def do(self) -> None:
        for _ in range(self.draw(st.integers(1, 4))):
            self.draw(
                st.sampled_from(
                    [self.value, self.value, self.row, self.structure, self.document, self.document, self.trail, self.file]
                )
            )()

    def value(self) -> None:
        """One column of one row, or of all."""
        with self.table() as (there, table, columns):
            column = self.draw(st.sampled_from(columns))
            where = self.draw(
                st.sampled_from(["", "where rowid = (select min(rowid) from {0})", "where rowid = (select max(rowid) from {0})"])
            )
            there.execute(f"update {table} set {column} = ? {where.format(table)}", (self.draw(IN_DATABASE),))

    def row(self) -> None:
        """A row of odd values, perhaps twice."""
        with self.table() as (there, table, columns):
            row = [self.draw(IN_DATABASE) for _ in columns]
            there.executemany(
                f"insert into {table} values ({', '.join('?' * len(columns))})", [row] * self.draw(st.integers(1, 2))
            )

    def structure(self) -> None:
        """A column or a table that is not there."""
        with self.table() as (there, table, columns):
            if len(columns) > 1 and self.draw(st.booleans()):
                there.execute(f"alter table {table} drop column {self.draw(st.sampled_from(columns))}")
            else:
                there.execute(f"drop table {table}")

    @contextlib.contextmanager
    def table(self) -> Iterator[tuple[sqlite3.Connection, str, list[str]]]:
        with contextlib.closing(sqlite3.connect(self.path)) as there:
            known = {row[0] for row in there.execute("select name from sqlite_master where type = 'table'")}
            table = self.draw(st.sampled_from([one for one in LOOSE if one in known]))
            yield there, table, [row[1] for row in there.execute(f"pragma table_info({table})")]
            there.commit()

    def document(self) -> None:
        """A value somewhere in a file beside the database, or all of it."""
        place = self.path.with_name(f"memory.{self.draw(st.sampled_from(DOCUMENTS))}")
        whole: Any = {"": document_of(place)}
        at, key = whole, ""
        while isinstance(at[key], dict | list) and at[key] and self.draw(st.integers(0, 3)):
            at = at[key]
            key = self.draw(st.sampled_from(list(at) if isinstance(at, dict) else range(len(at))))
        at[key] = self.draw(ODD)
        if not place.is_dir():
            place.write_text(json.dumps(whole[""]))

    def trail(self) -> None:
        """A line of the trail."""
        place = self.path.with_name("memory.audit.jsonl")
        lines = place.read_bytes().splitlines() if place.is_file() else []
        entry = document_of(place, lines[0]) if lines and self.draw(st.booleans()) else {}
        if isinstance(entry, dict):
            entry |= {self.draw(st.sampled_from(["seq", "event", "data", "prev_hash", "ts"])): self.draw(ODD)}
        fresh = json.dumps(entry).encode() if self.draw(st.booleans()) else self.draw(st.binary(max_size=20))
        lines.insert(self.draw(st.integers(0, len(lines))), fresh)
        if not place.is_dir():
            place.write_bytes(b"\n".join(lines))

    def file(self) -> None:
        """A file that is gone, is a folder, or holds anything."""
        name = self.draw(
            st.sampled_from([*DOCUMENTS, "continuity.md", "audit.jsonl", "outcomes.jsonl", "audit.2026-W01.jsonl.gz"])
        )
        place = self.path.with_name(f"memory.{name}")
        if place.is_file():
            place.unlink()
        how = self.draw(st.sampled_from(["gone", "folder", "content"]))
        if how == "folder":
            place.mkdir(exist_ok=True)
        elif how == "content" and not place.is_dir():
            place.write_bytes(self.draw(st.binary(max_size=20)))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_anything_anywhere_is_a_finding_or_a_refusal(loose: Path, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(shutil.copytree(loose, Path(folder) / "anneal")) / "memory.db"
        with contextlib.suppress(sqlite3.Error):
            Damage(data, path).do()
        rooms = Rooms(Path(folder) / "store.db")
        try:
            imports_or_refuses(rooms, path)
        finally:
            rooms.close()


def imports_or_refuses(rooms: Rooms, path: Path) -> None:
    room = rooms.operator()
    try:
        source = read(path)
    except (Refusal, StoreError) as refusal:
        assert str(refusal)
        return
    with room.snapshot() as view:
        dry = examine(view, source, "brought")
    done = room.do("import_anneal", project_key="brought", source=source)
    assert (dry.taken, dry.left_out, dry.notes) == (done.taken, done.left_out, done.notes)
    for one in done.taken:
        assert 0 <= one.imported <= one.found
    assert room.do("import_anneal", project_key="brought", source=read(path)).outcome == "nothing_new"
    assert verify_store(rooms.path).ok
    with room.snapshot() as view:
        assert mismatches_with_store(view, "") == []
        for (table,) in view.all("select name from sqlite_master where type = 'table' and sql not like 'create virtual%'"):
            view.all(f"select * from {table}")
    use(rooms, room)


def use(rooms: Rooms, room: Room) -> None:
    """What everybody does with a memory works with what was imported."""
    agent = rooms.agent()
    found = agent.do("recall", project_key="brought", include_superseded=True, limit=1_000)
    for loop in agent.do("spore_list", project_key="brought").loops:
        agent.do("spore_get", project_key="brought", spore_id=loop.spore_id)
        agent.do("spore_touch", project_key="brought", spore_id=loop.spore_id)
    agent.do("spore_add", project_key="brought", type="task", text="one more")
    agent.do("crystal_index", project_key="brought")
    agent.do("crystal_recall", project_key="brought", query="the stale build cache and its key")
    agent.do("status", project_key="brought")
    for hit in found.episodes[:3]:
        agent.do("delete_episode", project_key="brought", episode_id=hit.episode_id)
    with contextlib.suppress(Refusal):
        agent.do("prepare_wrap", project_key="brought")
    with contextlib.suppress(Refusal):
        agent.do("wrap_cancel", project_key="brought", force=True)
    assert verify_store(rooms.path).ok
