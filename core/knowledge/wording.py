"""How the index of words knows a text, and how a query asks it: the two must agree (issue 3).

SQLite's tokenizer takes a run of a script without spaces, such as Chinese, for one word. Beside the text, the index therefore
gets pieces: every two neighbouring characters of such a run, in order, and its last one alone. So any part of a run is found,
a single character too.
"""

from __future__ import annotations

import re

from core.memory.words import STOP_WORDS, runs

PREFIX_LEAST = 3
"""Characters from which on a word is looked for by its beginning."""
WHOLE_RUN = 4
"""Characters up to which a run without spaces is one term; a longer one is a sentence and is found by its parts."""
TERMS_LIMIT = 64
"""Terms of a query that are looked for at most."""
_PLAIN_WORD = re.compile(r"\w+")
_SHORT_STOP_TEXT = "a am an as at be by do he i if in is it me my no of oh on or so to up us we"
_SHORT_STOP_WORDS = frozenset(_SHORT_STOP_TEXT.split())


def pieces_of(title: str, body: str) -> str:
    """What the index gets beside an entry's text: pieces of runs without spaces, and words that only normalising makes (ß, ﬁ)."""
    text = f"{title}\n{body}"
    plain = frozenset(_PLAIN_WORD.findall(text.lower()))
    found: list[str] = []
    made: dict[str, None] = {}
    for run, unspaced in runs(text):
        if unspaced:
            found += [*_pairs(run), run[-1]]
        elif run not in plain:
            made[run] = None
    return " ".join([*found, *made])


def query_of(text: str) -> str | None:
    """The index query for any of a text's words, of which those that say nothing are left out; None for a text without words.

    Whatever the text holds is quoted, so none of it is query language.
    """
    every = list(dict.fromkeys(runs(text)))
    telling = [one for one in every if one[0] not in STOP_WORDS and one[0] not in _SHORT_STOP_WORDS] or every
    terms = dict.fromkeys(term for run, unspaced in telling[:TERMS_LIMIT] for term in _terms(run, unspaced=unspaced))
    return " OR ".join(list(terms)[:TERMS_LIMIT]) or None


def _terms(run: str, *, unspaced: bool) -> list[str]:
    if not unspaced:
        return [f"{_quoted(run)} *" if len(run) >= PREFIX_LEAST else _quoted(run)]
    # the second form is for entries of other programs, which have no pieces
    if len(run) == 1:
        return [f"{_quoted(run)} *"]
    if len(run) <= WHOLE_RUN:
        return [_quoted(" ".join(_pairs(run))), f"{_quoted(run)} *"]
    return [_quoted(pair) for pair in _pairs(run)]


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


def _quoted(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
