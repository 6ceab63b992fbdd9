"""Foreign text made safe to show: whatever an agent wrote, the screen gets inert characters that hold their columns.

Nothing here parses markup, and nothing it returns holds a character that drives a terminal, turns the reading direction,
or can't be seen. Hebrew, Arabic, CJK, combining marks and emoji sequences stay what they are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len, split_graphemes

if TYPE_CHECKING:
    from rich.text import Text
    from textual.content import Content

Align = Literal["left", "right", "center"]

ELLIPSIS = "…"
LINE_BREAK = "↵"
"""Stands for a line break in text that must stay on one line."""
UNSEEN = "\ufffd"
"""Stands for a character that would act, hide or turn the line, where there is no room to name it."""

_LINE_LIMIT = 600
_MARKS_ON_ONE_BASE = 8
_ZWNJ, _ZWJ, _TEXT_FACE, _EMOJI_FACE = "\u200c", "\u200d", "\ufe0e", "\ufe0f"

# Everything outside these ranges is looked at one by one; inside them nothing acts, hides or combines.
_SUSPECT = re.compile(
    "[^\x20-\x7e\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u0557\u05d0-\u05ea\u0620-\u064a\u2010-\u2027\u2030-\u205e"
    "\u2190-\u2bff\u3001-\u3029\u3041-\u3096\u309b-\u3163\u3165-\u318e\u3400-\u9fff\uac00-\ud7a3\U0001f000-\U0001f3fa"
    "\U0001f400-\U0001faff\U00020000-\U0002ffef]"
)
_BREAKS = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_BREAK_RUN = re.compile(f"(?:(?:{_BREAKS.pattern})[ \t]*)+")
# Letters, marks and joiners that show as nothing at all although their category says otherwise.
_HIDDEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2065\u3164\uffa0")
_TWO_WAY_ARROWS = frozenset("\u2194\u2195")


def one_line(text: str, limit: int = _LINE_LIMIT) -> str:
    """The text as one inert line; more than `limit` characters are cut away, with an ellipsis, before any other work."""
    was_cut = len(text) > limit
    if was_cut:
        text = text[: max(0, limit - 1)]
    if not (text.isascii() and text.isprintable()):
        text = _BREAK_RUN.sub(f"{LINE_BREAK} ", text).replace("\t", " ")
        text = _rooted(_SUSPECT.sub(_unseen, text))
    return f"{text}{ELLIPSIS}" if was_cut and limit > 0 else text


def block(text: str, max_lines: int = 500, max_columns: int = 120) -> tuple[str, ...]:
    """The text as inert lines of at most `max_columns` cells, wrapped at words; what did not fit is counted in the last line."""
    max_columns = max(2, max_columns)
    most = max(1, max_lines) * max_columns
    rest = len(text) - most
    lines: list[str] = []
    for line in _BREAKS.split(text[:most]):
        clean = _rooted(_SUSPECT.sub(_named, line.expandtabs(4)))
        lines.extend(islice(_wrapped(clean, max_columns), max_lines + 1 - len(lines)))
        if len(lines) > max_lines:
            break
    if len(lines) > max_lines or rest > 0:
        shown = lines[: max(0, max_lines - 1)]
        left = max(1, len(text) - sum(len(line) for line in shown))
        return (*shown, fit(f"{ELLIPSIS} {left:,} more characters", max_columns).rstrip())
    return tuple(lines)


def cells(text: str) -> int:
    """How many terminal cells the text takes."""
    return cell_len(text)


def crop(text: str, width: int) -> str:
    """The text as one inert line of at most `width` cells, with an ellipsis where it was cut."""
    if width <= 0:
        return ""
    text = one_line(text, limit=max(_LINE_LIMIT, width * 4))
    if cell_len(text) <= width:
        return text
    return f"{text[: _head(text, width - 1)]}{ELLIPSIS}"


def fit(text: str, width: int, align: Align = "left") -> str:
    """The text as one inert line of exactly `width` cells: cropped with an ellipsis, or padded."""
    text = crop(text, width)
    room = max(0, width - cell_len(text))
    if align == "right":
        return " " * room + text
    if align == "center":
        return " " * (room // 2) + text + " " * (room - room // 2)
    return text + " " * room


def copyable(text: str) -> str:
    """The text for a clipboard or an export: whole, line breaks and tabs kept, every acting or hidden character named."""
    if text.isascii() and text.isprintable():
        return text
    return _SUSPECT.sub(_named_or_kept, text.replace("\r\n", "\n"))


def safe(text: str, style: str = "", limit: int = _LINE_LIMIT) -> Text:
    """One inert line as a rich Text, for every place that would parse a plain string as markup."""
    from rich.text import Text

    return Text(one_line(text, limit), style=style, no_wrap=True, end="")


def safe_content(text: str, style: str = "", limit: int = _LINE_LIMIT) -> Content:
    """One inert line as Textual Content, for Static, Label, toasts and palette hits."""
    from textual.content import Content

    content = Content(one_line(text, limit))
    return content.stylize(style) if style else content


def _rooted(text: str) -> str:
    """Give a leading combining mark a base of its own, so that it does not sit on the character before the text."""
    return f"\u25cc{text}" if text and unicodedata.category(text[0]) in ("Mn", "Me") else text


def _unseen(match: re.Match[str]) -> str:
    character = match.group()
    if _stays(match):
        return character
    if _is_mark(character) and not _is_selector(character):
        # More marks than any script stacks on one letter: a flood that would paint over the lines above.
        return ""
    point = ord(character)
    if point < 0x20:
        return chr(0x2400 + point)
    if point == 0x7F:
        return "\u2421"
    return UNSEEN


def _named(match: re.Match[str]) -> str:
    shown = _unseen(match)
    return f"⟨U+{ord(match.group()):04X}⟩" if shown == UNSEEN != match.group() else shown


def _named_or_kept(match: re.Match[str]) -> str:
    character = match.group()
    # A copy keeps every combining mark: it is on its way to a file, where nothing is painted over.
    return character if character in "\n\t" or (_is_mark(character) and not _is_selector(character)) else _named(match)


def _stays(match: re.Match[str]) -> bool:
    """Whether this character neither acts nor hides where it stands."""
    character, text, at = match.group(), match.string, match.start()
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    category = unicodedata.category(character)
    if character in _HIDDEN:
        return False
    if category in ("Mn", "Me"):
        if character in (_TEXT_FACE, _EMOJI_FACE):
            return bool(before) and before.isprintable() and not before.isspace() and not _is_mark(before)
        if _is_selector(character):
            return False
        return not all(_is_mark(mark) for mark in text[max(0, at - _MARKS_ON_ONE_BASE) : at]) or at < _MARKS_ON_ONE_BASE
    if character == _ZWJ:
        base = text[at - 2 : at - 1] if before == _EMOJI_FACE and at > 1 else before
        return _is_pictograph(base) and _is_pictograph(after)
    if character == _ZWNJ:
        return _joins(before) and _joins(after)
    if category == "Cn":
        point = ord(character)
        never_a_character = point & 0xFFFE == 0xFFFE or 0xFDD0 <= point <= 0xFDEF
        return not (never_a_character or 0xFFF0 <= point <= 0xFFF8 or 0xE0000 <= point < 0xE1000)
    return category not in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _is_mark(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Me")


def _is_selector(character: str) -> bool:
    """Whether the character picks a face of the one before it; they show nothing and can carry hidden data."""
    return "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef" or character in _HIDDEN


def _is_pictograph(character: str) -> bool:
    """Whether the character can stand on a side of the joiner in an emoji sequence."""
    if not character:
        return False
    return unicodedata.category(character) == "So" or character >= "\U0001f000" or character in _TWO_WAY_ARROWS


def _joins(character: str) -> bool:
    """Whether the character is a letter of a script whose spelling needs the zero-width non-joiner (Arabic, Indic)."""
    return bool(character) and "\u0600" <= character <= "\u0dff" and character.isalpha()


def _head(text: str, width: int) -> int:
    """How many characters of the text fit into `width` cells without cutting a cluster."""
    if text[: width + 1].isascii():
        return width
    size = width + 16
    spans, total = split_graphemes(text[:size])
    while total <= width and size < len(text):
        size *= 2
        spans, total = split_graphemes(text[:size])
    taken = end = 0
    for _start, stop, span_cells in spans:
        if taken + span_cells > width:
            break
        taken, end = taken + span_cells, stop
    return end


def _wrapped(line: str, width: int) -> Iterator[str]:
    """The line in pieces of at most `width` cells, broken at a space where there is one in the last two thirds."""
    while len(line) * 2 > width:
        # A cluster wider than the width still has to go somewhere.
        end = _head(line, width) or 1
        if end >= len(line):
            break
        space = line.rfind(" ", 0, end)
        if space > width // 3 and line[end] != " ":
            end = space + 1
        yield line[:end].rstrip(" ")
        line = line[end:].lstrip(" ")
    yield line
