"""Continuity texts by chance, from a seed: pattern lines and durable facts as agents write them, and as they should not."""

from __future__ import annotations

import random
from collections.abc import Sequence

TODAY = "2026-11-30"
DATES = (*[TODAY] * 6, "2020-01-01", "2099-12-31", "2026-11-29")
NAMES = ("pool", "cache", "queue.x", "a-b")
IDS = ("0a1b2c3d", "0a1b2c3e", "ffffffff", "deadbeef", "12345678")
VOCABULARY = (
    *("connection", "pool", "exhausted", "checkout", "cache", "invalidated", "twice", "queue", "drained", "the", "an"),
    *("of", "is", "five", "while", "\u212aernel", "naïve", "x1", "42"),
)
LEVELS = ("1", "2", "2", "3", "3", "4", "5", "12", "999999999")
OTHER_NUMERALS = (
    "1000000000",
    "0",
    "02",
    "007",
    "\u0663",
    "\uff11\uff12",
    "\u00b2",
    "\u00bd",
    "\u2167",
    "\u2460",
    "3\u0969",
    "1_0",
    "-2",
)
SPACES = (" ", " ", " ", " ", "", "  ", "\t", "\u00a0", "\x1f", "\r")
MARKS = ("- ", "- ", "- ", "  ", "", "! ", "- !! ", "✓ ", "* ", "- ? ", "-", "\t- ", "1. ", "  !! ")
TAILS = (
    *(" (carried-forward)", " (level-capped)", " (ungrounded)", " (needs-evidence)", " prose [no-contradicts]"),
    *(" [contradicts: pool]", " [contradicts: the old rule]", " [contradicts: a-b , pool]", " [provenance: 0a1b2c3d]"),
    *("(carried-forward) (needs-evidence) x", " (level-capped) "),
)
SLIPS = ('"', "[", "]", "|", "(", ")", "\u2028", "\x85", "\x0b", "\n", "x", "1", "\r\n", "\x00")


class PatternTexts:
    """Texts with pattern lines. A line has levels that are no numbers or is malformed, not both: see the exceptions of the tests."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._malformed = False

    def words(self, count: int) -> str:
        """So many words; some of them are on the stop lists."""
        return " ".join(self._chance.choice(VOCABULARY) for _ in range(count))

    def text(self) -> str:
        """A whole continuity text."""
        chance = self._chance
        heading = "## patterns " if chance.random() < 0.1 else "## Patterns"
        lines = [self.line() for _ in range(chance.randrange(1, 5))]
        whole = ["## State", "s", self.line(), heading, *lines, "## Decisions", "d", "## Context", "c"]
        return ("\r\n" if chance.random() < 0.15 else "\n").join(whole)

    def line(self) -> str:
        """A pattern line, or nearly one."""
        chance = self._chance
        self._malformed = chance.random() < 0.4
        name = chance.choice((*NAMES, *NAMES, "Multi word text", "{topic}", "", "9lives", "É"))
        line = f"{chance.choice(MARKS)}{name}{self._space()}{self._marker()}"
        while chance.random() < 0.25:
            line += chance.choice((" ", "", " other ")) + chance.choice((self._marker, self._evidence))()
        if chance.random() < 0.4:
            line += chance.choice(TAILS)
        if self._malformed and chance.random() < 0.3:
            place = chance.randrange(len(line) + 1)
            line = line[:place] + chance.choice(SLIPS) + line[place:]
        if self._malformed and chance.random() < 0.2:
            place = chance.randrange(len(line))
            line = line[:place] + line[place + 1 :]
        return line

    def _marker(self) -> str:
        chance = self._chance
        levels: Sequence[str] = LEVELS if self._malformed else (*LEVELS, *LEVELS, *OTHER_NUMERALS)
        date = f"{self._space()}({chance.choice(DATES)})" if chance.random() < 0.92 else ""
        evidence = f"{self._space()}{self._evidence()}" if chance.random() < 0.75 else ""
        return f"|{self._space()}{chance.choice(levels)}x{date}{evidence}"

    def _evidence(self) -> str:
        chance = self._chance
        between = chance.choice((", ", ",", " ", " ,  "))
        ids = between.join(
            chance.choice((*IDS, "0A1B2C3D", "0a1b2c3dffff", "zz", "a")) for _ in range(chance.choice((1, 1, 1, 2, 3)))
        )
        spoken = (
            *("", self.words(3), self.words(5), f"{self.words(3)} | 9x ({TODAY})", f"{self.words(2)} ] ["),
            "| \u0663x",
        )
        quoted = f'{self._space()}"{chance.choice(spoken)}"' if chance.random() < 0.8 else ""
        if self._malformed and chance.random() < 0.3:
            broken = (f"[evidence: {ids}", f'[evidence: {ids} "{self.words(2)}]', "[evidence:]", f"[[evidence: {ids}{quoted}]] [")
            return chance.choice((*broken, f"[evidence: {ids} {self.words(2)}]"))
        return f"[evidence:{self._space()}{ids}{quoted}{chance.choice(('', ' '))}]"

    def _space(self) -> str:
        return self._chance.choice(SPACES)


FACTS = (
    *("The primary is db1", "the primary  is db1", "Port 5432", "Port 5432 — cues: port, db", "Port 5432 | cues: x"),
    *("Port 5432 -- CUES:", "Deploys on Tuesday [not Monday]", "*", "x", "a — b – c", "[drop-durable: x", "cues: y"),
    "Key — cues: a — cues: b",
)
BULLETS = ("- ", "- ", "- ", "* ", "1. ", "12. ", "  - ", "-  ", "-", "\t- ", "\u0663. ", "-\t", "+ ")
BESIDE = ("prose", "### sub", "-", " -", "- ", "  - ", "1.", "1. ", "---")
HEADINGS = (*["## Durable Facts"] * 6, "## durable facts", "## Durable Facts  ", "## Archived Durable Facts", "##  Durable Facts")


class DurableTexts:
    """Texts with sections of durable facts, drop markers among them."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def text(self) -> str:
        """A whole continuity text; now and then one without the section, or with several."""
        chance = self._chance
        lines = ["intro"] if chance.random() < 0.2 else []
        lines += ["## State", "s"]
        for _ in range(chance.choice((0, 1, 1, 1, 1, 2))):
            lines += [chance.choice(HEADINGS), *(self._item() for _ in range(chance.randrange(6)))]
        if chance.random() < 0.3:
            lines.append("")
        lines += [chance.choice((*["## Patterns"] * 5, "## patterns now")), "p"]
        if chance.random() < 0.2:
            lines += ["## Durable Facts", *(self._item() for _ in range(chance.randrange(4)))]
        lines += ["## Decisions", self._item(), "## Context", "c"]
        if chance.random() < 0.05:
            lines = ["nothing", *[""] * chance.randrange(3)]
        return chance.choice((*["\n"] * 5, "\r\n")).join(lines) + chance.choice(("", "\n", "\n\n"))

    def _item(self) -> str:
        chance = self._chance
        kind, fact = chance.random(), chance.choice(FACTS)
        if kind < 0.6:
            return chance.choice(BULLETS) + fact + chance.choice(("", "", "  ", " \t"))
        if kind < 0.75:
            word = chance.choice(("drop-durable", "DROP-durable", "drop-durable "))
            inside = f"{chance.choice((' ', '', '  '))}{chance.choice(('', '- ', '* '))}{fact}{chance.choice(('', ' '))}"
            return f"{chance.choice(('', '- ', '  - ', '1. ', '  '))}[{word}:{inside}]{chance.choice(('', ' ', 'x'))}"
        if kind < 0.85:
            return chance.choice(("  ", "\t", "    ")) + chance.choice(
                ("continued", "more — cues: z", "[drop-durable: x]", "- sub")
            )
        return chance.choice(("", " ", "\t")) if kind < 0.93 else chance.choice(BESIDE)
