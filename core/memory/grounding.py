"""Grounding: whether an explanation and an episode share enough meaningful words (wraps.md e3).

The words are those of the peer system, ASCII alone, so that the same explanation is judged alike in both.
"""

from __future__ import annotations

import re
from functools import lru_cache

GROUNDING_WORDS = 2
"""Meaningful words that an explanation shares, at least, with an episode that grounds it."""
_LONG_TEXT = 20_000
_NO_WORD = re.compile(r"[^a-zA-Z0-9]+")
_SMALL_TEXT = """
a an the is are was were be been being have has had do does did will would shall should may might can could this that these
those it its he she they we you i me my our his her their in on at to for of by with from and or but not no nor so if as
"""
_LARGER_TEXT = """
having doing must itself him himself hers herself them themselves us ourselves your yours yourself myself mine ours theirs
what which who whom whose about against between into through during before after above below up down out off over under
again further then once here there when where why how all any both each few more most other some such because until while
than too very only own same just now also still even ever yet already much many another within without upon across since
though although whether unless via every one two three four five six seven eight nine ten am
"""
SMALL_STOP_LIST = frozenset(_SMALL_TEXT.split())
LARGER_STOP_LIST = SMALL_STOP_LIST | frozenset(_LARGER_TEXT.split())


def grounded(explanation: str, content: str) -> bool:
    """Whether an explanation shares enough meaningful words with an episode's content to be about it."""
    return len(grounding_words(explanation) & grounding_words(content)) >= GROUNDING_WORDS


def grounding_words(text: str) -> frozenset[str]:
    """The words of a text that can ground: over 2 characters, lower-case, without the small stop list."""
    return _kept(text) if len(text) <= _LONG_TEXT else _words(text)


def repetition_words(text: str) -> frozenset[str]:
    """The words of an explanation that can repeat an earlier one's: without the larger stop list."""
    return grounding_words(text) - LARGER_STOP_LIST


@lru_cache(maxsize=2048)
def _kept(text: str) -> frozenset[str]:
    return _words(text)


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in _NO_WORD.split(text.lower()) if len(word) > 2 and word not in SMALL_STOP_LIST)
