"""What reads the one table of actions: keys, palette, help, footer, row menu, read-only rule and their tests.

Nothing here imports Textual until a binding is made, so the command line can read it for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from console.action_table import ACTIONS, EVERYWHERE, MEMORY_VIEWS, PLACES, SCREENS, Action, Group, Owner, key_face

if TYPE_CHECKING:
    from textual.binding import Binding

__all__ = ["ACTIONS", "EVERYWHERE", "MEMORY_VIEWS", "PLACES", "SCREENS", "Action", "Group", "Owner", "key_face"]


class ActionClashError(ValueError):
    """Two actions, or an action and the rule for dangerous ones, can't both have a key."""


_BY_ID: Final[dict[str, Action]] = {action.id: action for action in ACTIONS}


def action_named(action_id: str) -> Action:
    """The action with this id; KeyError when there is none."""
    return _BY_ID[action_id]


def for_screen(
    screen: str, read_only: bool = False, keymap: Mapping[str, str] | None = None, *, table: Iterable[Action] = ACTIONS
) -> tuple[Action, ...]:
    """Every action there is on this screen, with the operator's own keys; read-only has none that changes the store."""
    own = keymap or {}
    return tuple(
        replace(action, key=own[action.id]) if action.id in own else action
        for action in table
        if action.is_on(screen) and not (read_only and action.writes)
    )


def is_allowed(action_id: str, screen: str, read_only: bool) -> bool:
    """Whether this action may be done here; what `check_action` and every dispatcher ask before anything else."""
    action = _BY_ID.get(action_id)
    return action is not None and action.is_on(screen) and not (read_only and action.writes)


def footer_actions(
    screen: str, read_only: bool = False, has_row: bool = True, keymap: Mapping[str, str] | None = None
) -> tuple[Action, ...]:
    """The footer's actions, the most wanted first; those that need a row are absent without one."""
    return tuple(
        action
        for action in for_screen(screen, read_only, keymap)
        if action.show_in_footer and action.keys and (has_row or not action.needs_row)
    )


def row_actions(screen: str, read_only: bool = False, keymap: Mapping[str, str] | None = None) -> tuple[Action, ...]:
    """What the menu of a row lists, rare actions included."""
    return tuple(action for action in for_screen(screen, read_only, keymap) if action.needs_row and action.id != "row_menu")


def bindings_for(screen: str, owner: Owner, read_only: bool = False) -> list[Binding]:
    """The Textual bindings of one owner on one screen ("*" for what is there on all of them); none has priority."""
    from textual.binding import Binding

    return [
        Binding(
            action.key,
            action.call or action.id,
            action.label,
            show=action.show_in_footer,
            tooltip=action.help,
            id=action.id,
            # A printable key with priority would be taken from the field one types in.
            priority=False,
        )
        for action in for_screen(screen, read_only)
        if owner in action.owners and action.keys
    ]


def validate(table: Iterable[Action] = ACTIONS, screens: Iterable[str] = PLACES) -> None:
    """Raise ActionClashError when ids repeat, a key means two things, or a dangerous key could be hit for a plain one."""
    actions = tuple(table)
    seen: set[str] = set()
    for action in actions:
        if action.id in seen:
            raise ActionClashError(f"two actions are called {action.id}")
        seen.add(action.id)
        if action.dangerous and not all(len(key) == 1 and key.isascii() and key.isupper() for key in action.keys):
            raise ActionClashError(f"{action.id} is dangerous, so its key must be one capital letter, not {action.key}")
        if not action.keys and not action.rare:
            raise ActionClashError(f"{action.id} has no key")
    for screen in screens:
        _validate_screen(screen, tuple(action for action in actions if action.is_on(screen)))


def _validate_screen(screen: str, actions: tuple[Action, ...]) -> None:
    taken: dict[tuple[str, Owner], Action] = {}
    letters = {key.lower(): action for action in actions if action.dangerous for key in action.keys}
    for action in actions:
        for key in action.keys:
            # Caps lock must not turn a plain key into a dangerous one, so the letters are compared without their case.
            rival = letters.get(key.lower())
            if rival is not None and rival is not action:
                raise ActionClashError(f"on {screen}, {key} of {action.id} shares its letter with the dangerous {rival.id}")
            for owner in action.owners:
                other = taken.setdefault((key, owner), action)
                if other is not action:
                    raise ActionClashError(f"on {screen}, {key} would do both {other.id} and {action.id}")


def keymap_from_config(mapping: Mapping[str, object]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The config file's `[keys]` as a keymap for `App.set_keymap`, and a sentence for each entry that was not taken.

    A mistake costs the entry, never the start. The entries are tried together, so that two keys can be swapped; only if they
    don't go together each is tried against those before it.
    """
    keymap: dict[str, str] = {}
    problems: list[str] = []
    for action_id, wanted in mapping.items():
        if action_id not in _BY_ID:
            problems.append(f"keys.{action_id}: there is no such action")
        elif not isinstance(wanted, str) or not wanted.strip(" ,"):
            problems.append(f"keys.{action_id}: a key is a text such as x, ctrl+x or f5")
        else:
            keymap[action_id] = ",".join(part.strip() for part in wanted.split(",") if part.strip())
    if _clash(keymap) is None:
        return keymap, tuple(problems)
    taken: dict[str, str] = {}
    for action_id, key in keymap.items():
        clash = _clash(taken | {action_id: key})
        if clash is None:
            taken[action_id] = key
        else:
            problems.append(f"keys.{action_id}: {clash}")
    return taken, tuple(problems)


def _clash(keymap: Mapping[str, str]) -> ActionClashError | None:
    try:
        validate(replace(action, key=keymap.get(action.id, action.key)) for action in ACTIONS)
    except ActionClashError as clash:
        return clash
    return None


def textual_keymap(keymap: Mapping[str, str]) -> dict[str, str]:
    """The keymap with Textual's key names: `.` is `full_stop` to it."""
    from textual.keys import _character_to_key

    return {
        action_id: ",".join(_character_to_key(key) if len(key) == 1 else key for key in keys.split(","))
        for action_id, keys in keymap.items()
    }
