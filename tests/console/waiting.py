"""Waiting for what a test is about, instead of for a time."""

from __future__ import annotations

from collections.abc import Callable

from textual.pilot import Pilot


async def until(pilot: Pilot[None], condition: Callable[[], bool], turns: int = 300) -> None:
    """Let the app run until the condition holds; fail when it does not after so many turns (about ten seconds)."""
    for _ in range(turns):
        if condition():
            return
        await pilot.pause()
    raise AssertionError("the condition never came to hold")
