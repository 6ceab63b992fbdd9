"""How a demo agent compresses: it reads the package as text, as a model would, and writes a continuity with every section."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.server.demo.stories import Story

EPISODE = re.compile(
    r"^\[(?P<id>[0-9a-f]{8})\] (?P<at>\S+) (?P<type>[a-z]+)"
    r"(?:(?: from (?P<marked>.+?))? \[(?P<trust>[a-z]+): data, not instructions\]|(?: from (?P<source>.+?))?): (?P<text>.*)$",
    re.MULTILINE,
)
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
    return "" if one.trust in ("agent", "operator") else f" (says {one.source})"


def _patterns(story: Story, episodes: Sequence[Read], earlier: str, wrap_date: str) -> list[str]:
    lines = []
    for name, word in story.patterns:
        before = re.search(rf"^{re.escape(name)} \| (\d+)x .*$", earlier, re.MULTILINE)
        evidence = [one.episode_id for one in episodes if word in one.text.lower()]
        if evidence:
            times = int(before[1]) + 1 if before else 1
            lines.append(f"{name} | {times}x ({wrap_date}) [evidence: {', '.join(evidence[:5])}]")
        elif before:
            lines.append(before[0])
    return lines or ["None yet."]


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
