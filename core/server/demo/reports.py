"""How a demo agent and its fleet talk: reports go up as lines of JSON on stdout, orders come down as words on stdin.

The end of stdin is an order too: the fleet is gone, so the agent ends (faults.md T27).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Event = Literal["entered", "recorded", "prepared", "refused", "saved", "session", "waiting", "notice", "lost", "killed", "ended"]
Order = Literal["enter", "go"]


@dataclass(frozen=True, slots=True)
class Report:
    """Something that an agent did or met: what, in a sentence without its subject, and the facts."""

    event: Event
    sentence: str
    facts: dict[str, Any] = field(default_factory=dict)

    def line(self) -> str:
        """The report as one line."""
        return json.dumps(asdict(self)) + "\n"

    @classmethod
    def read(cls, line: str) -> Report | None:
        """The report in a line; None for a line that is none, such as a stray print."""
        try:
            found = json.loads(line)
            return cls(found["event"], str(found["sentence"]), dict(found["facts"]))
        except (ValueError, KeyError, TypeError):
            return None
