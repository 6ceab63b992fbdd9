"""Meaningful words of a text: what `supersedes` and recall's word matches compare (wraps.md a2 and b)."""

from __future__ import annotations

import re

from core.texts import normalized

_STOP_TEXT = """
the and for are but not you all any can had has have her his him was were one our out who how its may did does get got she too use
this that these those with from they them their then than there here when where which while what why will would could should been
being into onto over under also just only very some such more most much many other each every your yours mine about after before
again because between both during off own same few nor don let
"""
STOP_WORDS = frozenset(_STOP_TEXT.split())
"""English words that say nothing about what a text is about."""

# scripts that are written without spaces: Thai, Lao, Myanmar, Khmer, kana and Han
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = f"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff{_HAN}"
# combining marks inside words, which `\w` leaves out: accents, Hebrew, Arabic, the Indic scripts
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0963\u0966-\u0dff\u1dc0-\u1dff"
)
_TOKEN = re.compile(rf"([{_UNSPACED}]+)|(?:(?![{_UNSPACED}])(?:[^\W_]|[{_MARKS}]))+")
_GRAM = 3


def runs(text: str) -> list[tuple[str, bool]]:
    """Every run of letters of a text in order, normalised (NFKC) and case-folded, each with whether its script has no spaces."""
    folded = normalized(text, "NFKC").casefold()
    return [(match.group(), match.group(1) is not None) for match in _TOKEN.finditer(folded)]


def tokens(text: str) -> list[str]:
    """Every token of a text in order, normalised (NFKC) and case-folded.

    A run of a script without spaces gives its overlapping pieces of three characters, as no space tells its words apart.
    """
    found: list[str] = []
    for run, unspaced in runs(text):
        if unspaced and len(run) > _GRAM:
            found.extend(run[start : start + _GRAM] for start in range(len(run) - _GRAM + 1))
        else:
            found.append(run)
    return found


def is_meaningful(token: str) -> bool:
    """Whether a token says what a text is about: more than 2 characters and no stop word (wraps.md e3)."""
    return len(token) > 2 and token not in STOP_WORDS


def meaningful(text: str) -> frozenset[str]:
    """The meaningful words of a text, each once."""
    return frozenset(filter(is_meaningful, tokens(text)))


def in_order(text: str) -> tuple[str, ...]:
    """The meaningful words of a text, each once, in the order of their first appearance."""
    return tuple(dict.fromkeys(filter(is_meaningful, tokens(text))))
