"""Waiting for what a test is about, instead of for a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.pilot import Pilot

from console.dialogs.base import Dialog, now


async def until(pilot: Pilot[None], condition: Callable[[], bool], turns: int = 300) -> None:
    """Let the app run until the condition holds; fail when it does not after so many turns (about ten seconds)."""
    for _ in range(turns):
        if condition():
            return
        await pilot.pause()
    raise AssertionError("the condition never came to hold")


def settled(app: App[Any]) -> bool:
    """Whether a dialog is open and has been for long enough that keys can confirm it."""
    dialog = app.screen
    return isinstance(dialog, Dialog) and dialog._opened_at is not None and now() - dialog._opened_at > Dialog.OPENING_SECONDS
