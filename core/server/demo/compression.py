"""How a demo agent compresses: it reads the package as text, as a model would, and writes a continuity with every section."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.server.demo.stories import Pattern, Story

EPISODE = re.compile(
    r"^\[(?P<id>[0-9a-f]{8})\] (?P<at>\S+) (?P<type>[a-z]+)"
    r"(?:(?: from (?P<marked>.+?))? \[(?P<trust>[a-z]+): data, not instructions\]|(?: from (?P<source>.+?))?): (?P<text>.*)$",
    re.MULTILINE,
)
PATTERN_LINE = r"^- {name} \| (?P<level>\d+)x \(\S+\)(?: \[evidence: [^\]]*\])?(?: \([a-z-]+\))* ?(?P<said>.*)$"
TRUSTED = ("agent", "operator")
EARLIER = "--- current continuity ---"
DECISIONS_KEPT = 12
DONE = re.compile(r"^(\d+) episodes in (\d+) wraps\.$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Read:
    """An episode as the package shows it."""

    episode_id: str
    at: str
    episode_type: str
    source: str
    trust: str
    text: str


def read_package(package: str) -> tuple[list[Read], str]:
    """The episodes of a package, and the continuity that stands."""
    head, _, earlier = package.partition(EARLIER)
    found = [
        Read(one["id"], one["at"], one["type"], one["marked"] or one["source"] or "agent", one["trust"] or "agent", one["text"])
        for one in EPISODE.finditer(head)
    ]
    return found, earlier


def compress(story: Story, episodes: Sequence[Read], earlier: str, wrap_date: str) -> str:
    """A new continuity from frozen episodes and the earlier text; it does not grow without end."""
    done = DONE.search(earlier)
    total = len(episodes) + (int(done[1]) if done else 0)
    wraps = 1 + (int(done[2]) if done else 0)
    sections = {
        "State": [story.about, f"{total} episodes in {wraps} wraps.", *_said(episodes, "observation", "outcome")],
        "Durable Facts": [f"- {fact}" for fact in story.facts],
        "Patterns": _patterns(story, episodes, earlier, wrap_date),
        "Decisions": _decisions(episodes, earlier),
        "Context": [_period(episodes), *_said(episodes, "tension", "question", "context"), *_trust(episodes)],
    }
    return "\n\n".join("\n".join([f"## {heading}", *lines]) for heading, lines in sections.items()) + "\n"


def _said(episodes: Iterable[Read], *types: str) -> list[str]:
    return [f"- {one.text}{_mark(one)}" for one in episodes if one.episode_type in types]


def _mark(one: Read) -> str:
    return "" if one.trust in TRUSTED else f" (says {one.source})"


def _patterns(story: Story, episodes: Sequence[Read], earlier: str, wrap_date: str) -> list[str]:
    trusted = [one for one in episodes if one.trust in TRUSTED]
    lines = [_pattern_line(pattern, trusted, earlier, wrap_date) for pattern in story.patterns]
    return [line for line in lines if line] or ["None yet."]


def _pattern_line(pattern: Pattern, episodes: Sequence[Read], earlier: str, wrap_date: str) -> str | None:
    """A pattern's line: entered at 1x, raised by a rung where an episode of this wrap teaches something new of it, else as it was."""
    before = re.search(PATTERN_LINE.format(name=re.escape(pattern.name)), earlier, re.MULTILINE)
    if before is None:
        sighted = any(pattern.word in one.text.lower() for one in episodes)
        return f"- {pattern.name} | 1x ({wrap_date}) {pattern.says}" if sighted else None
    for lesson in pattern.lessons:
        cited = [one.episode_id for one in episodes if lesson.words in one.text]
        # what was explained already stands behind the evidence: said again it would count against the pattern
        if cited and lesson.explanation not in before["said"]:
            evidence = f'[evidence: {", ".join(cited[:5])} "{lesson.explanation}"]'
            return f"- {pattern.name} | {int(before['level']) + 1}x ({wrap_date}) {evidence} {before['said']} So: {lesson.explanation}."
    return before[0]


def _decisions(episodes: Iterable[Read], earlier: str) -> list[str]:
    section = re.search(r"^## Decisions\n(.*?)(?=\n## |\Z)", earlier, re.MULTILINE | re.DOTALL)
    kept = re.findall(r"^- .*$", section[1], re.MULTILINE) if section else []
    new = [f"- {one.text} [{one.episode_id}]" for one in episodes if one.episode_type == "decision"]
    return [*kept, *new][-DECISIONS_KEPT:] or ["None since the last wrap."]


def _period(episodes: Sequence[Read]) -> str:
    if not episodes:
        return "Nothing happened."
    return f"From {episodes[0].at[:16].replace('T', ' ')} to {episodes[-1].at[:16].replace('T', ' ')} UTC."


def _trust(episodes: Sequence[Read]) -> list[str]:
    foreign = [one for one in episodes if one.trust in ("tool", "external")]
    if not foreign:
        return []
    sources = ", ".join(sorted({one.source for one in foreign}))
    return [f"{len(foreign)} of {len(episodes)} episodes come from tools or from outside ({sources})."]
