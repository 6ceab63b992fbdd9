"""A file that a person named is there whole, or not at all, and nothing that is there is lost."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from core.errors import Refusal
from core.exchange.new_file import whole_file, whole_text


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store's place, with its files."""
    for suffix in ("", "-wal", "-beats", ".anchors"):
        (tmp_path / f"store.db{suffix}").write_text("precious")
    return tmp_path / "store.db"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Where the file is to be."""
    (tmp_path / "out").mkdir()
    return tmp_path / "out" / "demo.jsonl"


def test_it_comes_to_its_name_when_it_is_whole_and_is_its_owner_s_alone(target: Path, store: Path) -> None:
    with whole_text(target, store) as file:
        file.write("one\n")
        assert not target.exists()
        (folder,) = target.parent.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert target.read_text() == "one\n" and file.size == 4
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_whatever_stops_it_leaves_nothing(target: Path, store: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), whole_text(target, store) as file:
        file.write("half of it")
        raise error
    assert list(target.parent.iterdir()) == []


def test_what_is_there_is_replaced_only_when_that_is_said_and_only_by_a_whole_one(target: Path, store: Path) -> None:
    target.write_text("earlier")
    with pytest.raises(Refusal, match="file_exists"), whole_text(target, store):
        raise AssertionError("it is refused before any work")
    with pytest.raises(ValueError), whole_text(target, store, force=True) as file:
        file.write("later")
        raise ValueError
    assert target.read_text() == "earlier"
    with whole_text(target, store, force=True) as file:
        file.write("later")
    assert target.read_text() == "later"


def test_what_came_meanwhile_is_left_alone(target: Path, store: Path) -> None:
    with pytest.raises(Refusal, match="file_exists"), whole_text(target, store) as file:
        file.write("ours")
        target.write_text("theirs")
    assert target.read_text() == "theirs" and list(target.parent.iterdir()) == [target]


def test_a_link_is_replaced_and_never_written_through(target: Path, store: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("not yours")
    target.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refusal, match="file_exists"), whole_text(target, store):
        pass
    with whole_text(target, store, force=True) as file:
        file.write("ours")
    assert (tmp_path / "elsewhere").read_text() == "not yours" and not target.is_symlink()


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-beats", ".anchors"])
def test_nothing_of_the_store_is_ever_replaced(store: Path, suffix: str) -> None:
    place = store.with_name(store.name + suffix)
    before = {one: one.read_text() for one in store.parent.iterdir()}
    with pytest.raises(Refusal, match="own files"), whole_text(place, store, force=True):
        pass
    (store.parent / "link").symlink_to(store)
    with pytest.raises(Refusal, match="own files"), whole_text(store.parent / "link", store, force=True):
        pass
    (store.parent / "link").unlink()
    assert {one: one.read_text() for one in store.parent.iterdir()} == before


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_a_database_that_is_in_use_is_left_alone(target: Path, store: Path, suffix: str) -> None:
    target.with_name(target.name + suffix).write_text("the log of another program")
    with pytest.raises(Refusal, match="in use"), whole_file(target, store, force=True):
        pass


def test_a_place_that_cannot_be_is_refused_in_plain_words(tmp_path: Path, store: Path) -> None:
    with pytest.raises(Refusal, match="is a folder"), whole_text(tmp_path, store, force=True):
        pass
    why = "could not be written: No such file or directory"
    with pytest.raises(Refusal, match=why) as refused, whole_text(tmp_path / "no" / "where", store):
        pass
    assert refused.value.code == "file_unwritable"
    with (
        pytest.raises(Refusal, match="could not be written: File name too long") as refused,
        whole_text(tmp_path / ("x" * 300), store),
    ):
        pass
    assert refused.value.code == "file_unwritable"
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Refusal, match="no regular file"), whole_text(tmp_path / "pipe", store, force=True):
        pass
