"""Texts that have broken other consoles (faults.md T38, T39, T41), for every place that shows foreign text."""

from __future__ import annotations

import re

BRACKETS = ("[/x]", "[/", "[b", "[red]", "[/INST]", "[@click=app.quit]x[/]", "path[/x]", "$var [bold")
ESCAPES = (
    "\x1b[2J\x1b[H",
    "\x1b]52;c;cm0gLXJm\x07",
    "\x1b]8;;http://evil.test\x1b\\click\x1b]8;;\x1b\\",
    "\x9b31m",
    "\x07bell",
    "nul\x00nul",
    "user\u202egnp.exe",
    "\u2066isolated\u2069 \u200emark\u200f \u061c",
    "lone \ud800 surrogate",
    "zero\u200bwidth\ufeff \u2060 tag\U000e0041",
    "\u0085next\u2028line\u2029para",
    "\x7fdel",
)
WIDTHS = (
    "日本語のプロジェクト",
    "👩‍👩‍👧‍👦 family",
    "❤️ heart ☎️",
    "e\u0301 combining a\u0323\u0302",
    "\u0301leading",
    "two\nlines",
    "a\ttab",
    "한국어",
    "🇬🇧 flag",
)
HOSTILE = (*BRACKETS, *ESCAPES, *WIDTHS, "x" * 1_000_000, "日" * 100_000, "a" + "\u0301" * 5_000, "", " ")

ACTING = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
"""What must never reach a terminal out of a stored text."""
