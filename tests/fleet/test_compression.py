"""The demo agents' texts: they read a package as it is rendered, and write a continuity that the store takes."""

from __future__ import annotations

from core.memory import continuity
from core.server.demo.compression import compress, read_package
from core.server.demo.seed import seed
from core.server.demo.stories import STORIES
from core.views import snapshot
from core.views.look import Looker
from tests.rooms import Rooms


def test_every_episode_of_a_package_is_read_with_its_source_and_trust(rooms: Rooms) -> None:
    room = rooms.agent()
    room.do("record", content="plain: a [bracket] and a: colon", episode_type="decision", project_key="docs")
    room.do("record", content="says so", episode_type="outcome", source="web: blog", trust="external", project_key="docs")
    room.do("record", content="counted", episode_type="outcome", source="ci", trust="tool", project_key="docs")
    package = room.do("prepare_wrap", project_key="docs").package
    episodes, earlier = read_package(package)
    assert [(one.episode_type, one.source, one.trust, one.text) for one in episodes] == [
        ("decision", "agent", "agent", "plain: a [bracket] and a: colon"),
        ("outcome", "web: blog", "external", "says so"),
        ("outcome", "ci", "tool", "counted"),
    ]
    assert "none yet" in earlier


def test_continuity_has_every_section_and_does_not_grow_for_ever(rooms: Rooms) -> None:
    room = rooms.agent()
    story = STORIES["payments"]
    lines = story.episodes("a test")
    lengths = []
    for _ in range(30):
        for _ in range(4):
            line = next(lines)
            room.do("record", content=line.text, episode_type=line.episode_type, project_key="payments")
        prepared = room.do("prepare_wrap", project_key="payments")
        text = compress(story, *read_package(prepared.package), prepared.wrap_date)
        saved = room.do("save_continuity", text=text, wrap_token=prepared.wrap_token, project_key="payments")
        assert all(saved.section_characters[one.heading] > 0 for one in continuity.DEFAULT_SECTIONS)
        lengths.append(saved.characters)
    assert max(lengths) < 6_000
    assert "120 episodes in 30 wraps." in text


def test_the_history_is_believable_and_leaves_nothing_open(tmp_path: object, rooms: Rooms) -> None:
    path = rooms.path.with_name("demo.db")
    seed(path, gated_session="docs-agent")
    with Looker(path) as looker, looker.snapshot() as (view, witness):
        room = snapshot.take(view, witness)
    assert {one.project_key for one in room.projects} == {"checkout", "search", "payments", "docs"}
    assert room.wraps == ()
    assert room.connections == ()
    # a slot whose session ended with work left waits for somebody: the one thing that the history asks for
    assert [one.kind for one in room.attention] == ["orphan_slot"]
    assert sum(one.wraps_cancelled for one in room.projects) == 1
    assert sum(1 for minute in room.activity if minute) > 30, "the hour before has activity"
