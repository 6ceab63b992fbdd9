"""The one table of actions: no clash, no dangerous key by accident, and read-only that leaves nothing (faults.md T44)."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from textual.binding import BindingsMap

from console.actions import (
    ACTIONS,
    PLACES,
    Action,
    ActionClashError,
    Owner,
    action_named,
    bindings_for,
    footer_actions,
    for_screen,
    is_allowed,
    keymap_from_config,
    row_actions,
    textual_keymap,
    validate,
)
from console.table import RowTable
from console.widgets.detail import DetailBody

OWNERS: tuple[Owner, ...] = ("app", "pane", "list", "detail")


def test_the_table_holds() -> None:
    validate()


def test_every_key_of_the_specification_is_there() -> None:
    keys = {key for action in ACTIONS for key in action.keys}
    wanted = "1 2 3 4 5 6 D I c left right "
    wanted += "R E A b o C j k g G < > s space * . : ctrl+p y Y w v m u X ctrl+r t ? ctrl+o q ctrl+q / n N ! f p enter escape - tab [ ] +"
    assert set(wanted.split()) | {"up", "down", "home", "end", "ctrl+d", "ctrl+u", "pagedown", "pageup"} <= keys


def test_keys_of_screens_that_do_not_exist_are_not_there() -> None:
    assert "7" not in {key for action in ACTIONS for key in action.keys}


def test_a_dangerous_action_needs_a_capital() -> None:
    with pytest.raises(ActionClashError, match="must be one capital letter"):
        validate([replace(action_named("force_cancel"), key="x")])


def test_a_dangerous_letter_is_not_shared_with_a_plain_key_on_one_screen() -> None:
    cancel = action_named("force_cancel")
    plain = Action("expand", "x", "expand", "…", "Look", screens=frozenset({"wraps"}))
    with pytest.raises(ActionClashError, match="shares its letter"):
        validate([cancel, plain])
    validate([cancel, replace(plain, screens=frozenset({"audit"}))])


def test_one_key_does_one_thing_for_one_owner() -> None:
    mark = action_named("mark")
    with pytest.raises(ActionClashError, match="would do both"):
        validate([mark, replace(mark, id="other")])
    with pytest.raises(ActionClashError, match="two actions are called mark"):
        validate([mark, mark])


@pytest.mark.parametrize("screen", [*PLACES, "*"])
def test_read_only_leaves_no_dangerous_action_anywhere(screen: str) -> None:
    lists = [for_screen(screen, True), footer_actions(screen, True), row_actions(screen, True)]
    assert not any(action.dangerous for actions in lists for action in actions)
    dangerous = {action.id for action in ACTIONS if action.dangerous}
    assert dangerous
    for owner in OWNERS:
        assert not dangerous & {binding.id for binding in bindings_for(screen, owner, read_only=True)}
    assert not any(is_allowed(action_id, screen, read_only=True) for action_id in dangerous)


def test_an_action_is_only_on_its_screens() -> None:
    assert is_allowed("force_cancel", "wraps", read_only=False)
    assert not is_allowed("force_cancel", "audit", read_only=False)
    assert not is_allowed("no_such_action", "wraps", read_only=False)
    assert "verify" in {action.id for action in for_screen("audit")}
    assert "verify" not in {action.id for action in for_screen("wraps")}


def test_a_view_has_the_actions_of_its_screen_and_its_own() -> None:
    assert is_allowed("copy_text", "memory.episodes", read_only=False)
    assert is_allowed("delete_episode", "memory.episodes", read_only=False)
    assert not is_allowed("delete_episode", "memory.kept", read_only=False)
    assert not is_allowed("delete_episode", "memory", read_only=False)
    assert not is_allowed("only_attention", "memory.episodes", read_only=False)


def test_without_a_row_the_footer_has_nothing_that_needs_one() -> None:
    assert "force_cancel" in {action.id for action in footer_actions("wraps")}
    assert not any(action.needs_row for action in footer_actions("wraps", has_row=False))


@pytest.mark.parametrize("screen", PLACES)
@pytest.mark.parametrize("owner", OWNERS)
def test_no_binding_has_priority_and_each_has_its_id(screen: str, owner: Owner) -> None:
    for binding in bindings_for(screen, owner):
        assert not binding.priority
        assert binding.id in {action.id for action in ACTIONS}
        assert binding.tooltip


def test_every_action_has_an_owner_that_can_do_it() -> None:
    for action in ACTIONS:
        for owner, widget in (("list", RowTable), ("detail", DetailBody)):
            if owner in action.owners:
                assert hasattr(widget, f"action_{action.id}"), f"{owner} can't {action.id}"


def test_keys_are_shown_as_a_person_reads_them() -> None:
    assert action_named("move_down").shown_keys == "j ↓"
    assert action_named("step_back").shown_key == "esc"
    assert action_named("filter").shown_key == "/"


def test_keys_can_be_remapped_and_swapped() -> None:
    keymap, problems = keymap_from_config({"mark": "y", "copy_id": "space", "force_cancel": "Z"})
    assert keymap == {"mark": "y", "copy_id": "space", "force_cancel": "Z"}
    assert problems == ()
    assert next(action for action in for_screen("wraps", keymap=keymap) if action.id == "mark").shown_key == "y"


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"nonsense": "x"}, "no such action"),
        ({"mark": 3}, "a key is a text"),
        ({"mark": " , "}, "a key is a text"),
        ({"force_cancel": "b"}, "must be one capital letter"),
        ({"force_cancel": "ctrl+x"}, "must be one capital letter"),
        ({"mark": "x"}, "shares its letter"),
        ({"filter": "."}, "would do both"),
    ],
)
def test_a_mistake_in_the_config_costs_the_entry_and_is_said(entry: dict[str, object], problem: str) -> None:
    keymap, problems = keymap_from_config(entry | {"change_theme": "ctrl+t"})
    assert keymap == {"change_theme": "ctrl+t"}
    assert len(problems) == 1
    assert problem in problems[0]


def test_textual_takes_the_keymap() -> None:
    bindings = BindingsMap(bindings_for("wraps", "pane"))
    bindings.apply_keymap(textual_keymap({"filter": ";", "row_menu": "ctrl+k"}))
    assert bindings.key_to_bindings["semicolon"][0].id == "filter"
    assert bindings.key_to_bindings["ctrl+k"][0].id == "row_menu"
    assert "slash" not in bindings.key_to_bindings


def test_reading_the_table_does_not_import_textual() -> None:
    code = "import sys, console.actions as a; a.for_screen('wraps'); sys.exit('textual' in sys.modules or 'rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
