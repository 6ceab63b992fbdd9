"""Graduation: what a pattern line may claim, judged line by line from evidence (wraps.md e3). Pure: no store, no clock.

A level is earned one rung a wrap, by a cited episode of this wrap that the quoted explanation is grounded in. Every
other claim of today's is held (`carried-forward`) or falls; whatever a line says, the level bound is applied last.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal

from core.memory import pattern_lines
from core.memory.grounding import GROUNDING_WORDS, grounded, grounding_words, repetition_words
from core.memory.pattern_lines import Claim, Key, Named, Token

Judgement = Literal[
    "validated",
    "ungrounded",
    "cross-session-overlap",
    "uncorroborated",
    "needs-evidence",
    "carried-forward",
    "misplaced-evidence",
    "older",
    "kept",
]
"""What came of a line. `older`: not dated today, so only bounded; `kept`: nothing in it was to be judged."""
Rule = Literal["checked", "unchecked"]

REPEATED_WORDS = 3
WARM_DAYS = 7
CLOCK_SKEW_DAYS = 1
REUSED_ON_LINES = 3
TRUST_ORDER = ("external", "tool", "agent", "operator")
CAPPED = "(level-capped)"

_HELD_BEFORE = re.compile(r"(?:[ \t]*\((?:carried-forward|needs-evidence|ungrounded)\))+")
_CARRIED = re.compile(r"\s*\(carried-forward\)")


@dataclass(frozen=True, slots=True)
class CitableEpisode:
    """An episode of this wrap that may be cited: its text, and its effective trust."""

    content: str
    trust: str


@dataclass(frozen=True, slots=True)
class PatternRecord:
    """What the store knows of a name: its earned maximum (0 before any), every earlier explanation, and when it was last grounded."""

    highest: int = 0
    explanations: tuple[str, ...] = ()
    last_grounded_on: str | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """All that a text is judged against.

    `wrap_date` is the date frozen with the wrap; `headings` are the text's heading lines of graduating sections.
    `saved` are the levels last saved by the store, None when it never saved any; `in_text` those of the standing text,
    which can only lower them.
    """

    wrap_date: str
    headings: frozenset[str]
    citable: Mapping[str, CitableEpisode]
    citations_seen: bool
    records: Mapping[str, PatternRecord]
    saved: Mapping[Key, int] | None
    in_text: Mapping[Key, int]

    def prior(self, key: Key) -> int | None:
        """The level that a line stands on: the saved one, which the standing text can lower; None for an unknown line."""
        if key[0] == "anon":
            return None
        if self.saved is None:
            return self.in_text.get(key)
        level = self.saved.get(key)
        return None if level is None else min(level, self.in_text.get(key, level))


@dataclass(frozen=True, slots=True)
class Grounding:
    """The episodes that a validated line's level rests on. `checked`: an explanation was compared with them."""

    rule: Rule
    episode_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PatternLine:
    """What was judged of one line of the text.

    `line_number` counts the text's lines from 1. `name` is the pattern's name, or the line's own words when it has none.
    `written` and `level` are its highest levels before and after; `detail` says why in a sentence; `capped` that the level bound cut it.
    """

    line_number: int
    key: Key
    written: int
    level: int
    judgement: Judgement
    detail: str
    capped: bool = False
    cited: tuple[str, ...] = ()
    explanation: str | None = None
    grounding: Grounding | None = None

    @property
    def name(self) -> str:
        """The name, or as much of the line's own words as a report needs."""
        return self.key[1] if len(self.key[1]) <= 120 else f"{self.key[1][:120]}…"


@dataclass(frozen=True, slots=True)
class Graduated:
    """The text as it is saved, and what was judged of its lines.

    `demoted` counts lines that lost a level for their evidence or the want of it, and numerals made 1x.
    `citations` counts, for each citable id, the lines of today that cite it.
    """

    text: str
    lines: tuple[PatternLine, ...]
    validated: int
    demoted: int
    skipped_by_date: int
    citations: Mapping[str, int]

    @property
    def reused(self) -> tuple[str, ...]:
        """Ids that are cited on three lines or more."""
        return tuple(sorted(one for one, count in self.citations.items() if count >= REUSED_ON_LINES))

    @property
    def unresolved(self) -> bool:
        """Whether lines of today cite, and no id of theirs is citable."""
        return not self.citations and any(
            line.cited and line.judgement in ("ungrounded", "carried-forward") for line in self.lines
        )


@dataclass(slots=True)
class _Judged:
    """A line on its way through the checks."""

    line: str
    judgement: Judgement = "kept"
    detail: str = ""
    written: int | None = None
    claim: Claim | None = None
    grounding: Grounding | None = None
    demoted: bool = False


@dataclass(slots=True)
class _Tally:
    citations: Counter[str] = field(default_factory=Counter)
    demoted: int = 0
    skipped: int = 0


def graduate(text: str, standing: Standing) -> Graduated:
    """Judge every line of the graduating sections of a canonical text, and write what each may claim (wraps.md e3)."""
    lines = text.split("\n")
    found: list[PatternLine] = []
    tally = _Tally()
    for place in pattern_lines.graduating_lines(lines, standing.headings):
        line, numerals = pattern_lines.canonical_numerals(lines[place])
        judged = _judge(line, standing, tally)
        tally.demoted += judged.demoted + len(numerals)
        bounded = _bound(judged, standing, numerals)
        if bounded:
            lines[place], report = bounded
            found.append(replace(report, line_number=place + 1))
        else:
            lines[place] = judged.line
    validated = sum(line.judgement == "validated" for line in found)
    return Graduated("\n".join(lines), tuple(found), validated, tally.demoted, tally.skipped, dict(tally.citations))


def _judge(line: str, standing: Standing, tally: _Tally) -> _Judged:
    claim = pattern_lines.claim_with_evidence(line)
    if claim:
        return _judge_cited(line, claim, standing, tally)
    claim = pattern_lines.bare_claim(line) if standing.citations_seen else None
    return _judge_bare(line, claim, standing, tally) if claim else _Judged(line)


# lines with evidence


def _judge_cited(line: str, claim: Claim, standing: Standing, tally: _Tally) -> _Judged:
    if claim.date != standing.wrap_date:
        tally.skipped += 1
        return _Judged(
            line, "older", f"dated {claim.date}, not {standing.wrap_date}, so its evidence was not looked at", claim=claim
        )
    cited = sorted(one for one in claim.cited or () if one in standing.citable)
    tally.citations.update(cited)
    if not cited:
        return _held_or_demoted(line, claim, standing, "it cites no episode of this wrap that still counts")
    grounds = [one for one in cited if grounded(claim.explanation, standing.citable[one].content)] if claim.explanation else cited
    own = _own_claim(line, claim)
    repeated = _repetition(own, claim, grounds, standing) if own and claim.explanation else None
    if repeated:
        why = f"its explanation repeats an earlier one ({', '.join(repeated)})"
        return _demoted(line, claim, claim.level - 1, "cross-session-overlap", why)
    if not grounds:
        why = f"its explanation shares fewer than {GROUNDING_WORDS} meaningful words with any episode that it cites"
        return _held_or_demoted(line, claim, standing, why)
    trusts = [standing.citable[one].trust for one in grounds]
    weighed = (max if claim.explanation else min)(trusts, key=TRUST_ORDER.index)
    if TRUST_ORDER.index(weighed) < TRUST_ORDER.index("agent"):
        why = f"what grounds it is {weighed} content, relayed and not observed"
        return _demoted(line, claim, 1, "uncorroborated", why)
    rule: Rule = "checked" if claim.explanation else "unchecked"
    grounding = Grounding(rule, tuple(grounds))
    return _Judged(line, "validated", f"grounded by {', '.join(grounds)}", claim=claim, grounding=grounding)


def _own_claim(line: str, claim: Claim) -> Named | None:
    """The line's name, when the claim that is judged is the name's own."""
    own = pattern_lines.named_with_evidence(line)
    return own if own and own.level_at == claim.level_at else None


def _repetition(own: Named, claim: Claim, grounds: list[str], standing: Standing) -> list[str] | None:
    """The words that an explanation repeats from the earlier one it is most like; None when they are few, or it is exempt.

    Exempt is a grounded explanation kept word for word, or a warm pattern's with a grounding word that no earlier one
    had, as long as the level is not above the earned maximum.
    """
    record, explanation = standing.records.get(own.name), claim.explanation or ""
    if record is None:
        return None
    most = max(
        (repetition_words(explanation) & repetition_words(one) for one in record.explanations), key=len, default=frozenset()
    )
    if len(most) < REPEATED_WORDS:
        return None
    if grounds and claim.level <= record.highest:
        if _verbatim(explanation, record.explanations):
            return None
        known = frozenset[str]().union(*(grounding_words(one) for one in record.explanations))
        ground = frozenset[str]().union(*(grounding_words(standing.citable[one].content) for one in grounds))
        if _warm(record, standing.wrap_date) and (grounding_words(explanation) & ground) - known:
            return None
    return sorted(most)


def _verbatim(explanation: str, earlier: tuple[str, ...]) -> bool:
    spaced = " ".join(explanation.split())
    return bool(spaced) and any(spaced == " ".join(one.split()) for one in earlier)


# held or demoted


def _held_or_demoted(line: str, claim: Claim, standing: Standing, why: str) -> _Judged:
    own = _own_claim(line, claim)
    record = standing.records.get(own.name) if own else None
    if own and record and not _echo(claim.explanation, record, standing.wrap_date):
        level = _held_level(own.name, claim.level, record, standing)
        if level is not None and _warm(record, standing.wrap_date):
            text = f"{line[: claim.evidence_at]}(carried-forward){pattern_lines.without_other_evidence(line[claim.end :])}"
            detail = f"{why}, so it is held at the level earned before; last grounded on {record.last_grounded_on}"
            return _Judged(_with_level(text, claim, level), "carried-forward", detail, claim=claim)
    return _demoted(line, claim, claim.level - 1, "ungrounded", why)


def _echo(explanation: str | None, record: PatternRecord, wrap_date: str) -> bool:
    """Whether a cold pattern's explanation repeats an earlier one without being it."""
    if not explanation or _verbatim(explanation, record.explanations) or _warm(record, wrap_date):
        return False
    own = repetition_words(explanation)
    return any(len(own & repetition_words(one)) >= REPEATED_WORDS for one in record.explanations)


def _held_level(name: str, level: int, record: PatternRecord, standing: Standing) -> int | None:
    """The level at which carry-forward holds a name: never above the earned maximum, the claim, the saved and the standing one."""
    prior = standing.prior(("name", name))
    return None if level > record.highest or prior is None else min(level, prior)


def _demoted(line: str, claim: Claim, level: int, judgement: Judgement, why: str) -> _Judged:
    marker = f"| {level}x{line[claim.level_at[1] + 1 : claim.evidence_at]}({judgement})"
    rest = pattern_lines.without_other_evidence(line[claim.end :])
    return _Judged(f"{line[: claim.start]}{marker}{rest}", judgement, why, claim=claim, demoted=True)


def _judge_bare(line: str, claim: Claim, standing: Standing, tally: _Tally) -> _Judged:
    if claim.date != standing.wrap_date:
        tally.skipped += 1
        return _Judged(line, "older", f"dated {claim.date}, not {standing.wrap_date}", claim=claim)
    rest = line[claim.end :]
    if pattern_lines.TAG_START in rest:
        why = "its evidence does not follow the level and date at once, so it was not looked at"
        return _Judged(line, "misplaced-evidence", why, claim=claim)
    marker = line[claim.start : claim.end].rstrip()
    own = pattern_lines.named(line)
    record = standing.records.get(own.name) if own and own.level_at == claim.level_at else None
    level = _held_level(own.name, claim.level, record, standing) if own and record else None
    days = _days(record.last_grounded_on, standing.wrap_date) if record else None
    if record and level is not None and days is not None and days >= -CLOCK_SKEW_DAYS:
        kept = _HELD_BEFORE.sub("", rest, count=1) if _HELD_BEFORE.match(rest) else rest
        text = f"{line[: claim.start]}{marker} (carried-forward){_apart(kept)}{kept}"
        if days > WARM_DAYS:
            text = f"{text[: claim.date_at[0]]}{record.last_grounded_on}{text[claim.date_at[1] :]}"
        detail = f"it cites nothing, so it is held at the level earned before; last grounded on {record.last_grounded_on}"
        return _Judged(_with_level(text, claim, level), "carried-forward", detail, claim=claim)
    marker = f"| {claim.level - 1}{marker[claim.level_at[1] - claim.start :]}"
    text = f"{line[: claim.start]}{marker} (needs-evidence){_apart(rest)}{rest}"
    return _Judged(text, "needs-evidence", "it cites nothing, and nothing earned holds it", claim=claim, demoted=True)


def _apart(rest: str) -> str:
    return " " if rest and not rest.startswith(" ") else ""


def _with_level(line: str, claim: Claim, level: int) -> str:
    start, end = claim.level_at
    return f"{line[:start]}{level}{line[end:]}"


def _days(then: str | None, today: str) -> int | None:
    try:
        return (date.fromisoformat(today[:10]) - date.fromisoformat((then or "")[:10])).days
    except ValueError:
        return None


def _warm(record: PatternRecord, today: str) -> bool:
    days = _days(record.last_grounded_on, today)
    return days is not None and -CLOCK_SKEW_DAYS <= days <= WARM_DAYS


# the level bound, last


def _bound(judged: _Judged, standing: Standing, numerals: list[int]) -> tuple[str, PatternLine] | None:
    """The line with no level above what it stands on, one rung more when it was validated now; None for a line without levels."""
    parsed = pattern_lines.levels_in(judged.line)
    if parsed is None:
        return None
    key, tokens = parsed
    first, claim = tokens[0], judged.claim
    valid = judged.judgement == "validated" and claim is not None and claim.start == first.start
    prior = standing.prior(key)
    allowed = max(1, (prior or 0) + valid)
    highest = max(token.level for token in tokens)
    written = max(highest, *numerals, claim.level if claim else 0)
    cited = tuple(sorted((claim.cited if claim else None) or ()))
    explanation = claim.explanation if claim else None
    if highest <= allowed:
        line = judged.line if numerals else _without_mark(judged.line)
        grounding = judged.grounding if valid else None
        detail = judged.detail or ("its level was no number" if numerals else "")
        return line, PatternLine(
            0, key, written, highest, judged.judgement, detail, bool(numerals), cited, explanation, grounding
        )
    line = _cut(judged, tokens, allowed)
    if not numerals and not line.rstrip().endswith(CAPPED):
        body = line.rstrip()
        line = f"{body} {CAPPED}{line[len(body) :]}"
    judgement: Judgement = judged.judgement
    earned = valid and allowed >= 2
    if judgement == "validated" and not earned:
        judgement = "kept"
    stands = f"the store has it at {prior}x" if prior is not None else "the store does not know it"
    why = f"{stands}, so it may claim {allowed}x at most"
    detail = f"{judged.detail}; {why}" if judged.detail and judgement == judged.judgement else why
    grounding = judged.grounding if earned else None
    return line, PatternLine(0, key, written, min(highest, allowed), judgement, detail, True, cited, explanation, grounding)


def _cut(judged: _Judged, tokens: list[Token], allowed: int) -> str:
    line, parts, last = judged.line, [], 0
    carried = judged.judgement == "carried-forward"
    for token in tokens:
        start, end = token.level_at
        parts += [line[last:start], str(allowed) if token.level > allowed else line[start:end]]
        last = end
        mark = _CARRIED.match(line, token.end) if carried else None
        if mark:
            parts.append(line[end : token.end])
            last, carried = mark.end(), False
    return "".join([*parts, line[last:]])


def _without_mark(line: str) -> str:
    body = line.rstrip()
    return f"{body[: -len(CAPPED)].rstrip()}{line[len(body) :]}" if body.endswith(CAPPED) else line
