"""Who does it: kind, name and via, taken from the operating system and never from an argument (room.md 1)."""

from __future__ import annotations

import getpass
import json
import os
from dataclasses import dataclass
from typing import Literal

ActorKind = Literal["agent", "operator", "server"]


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does a deed. `via` says how: console, cli, stdio, http or web, with terminal and parent program."""

    kind: ActorKind
    name: str
    via: str

    def as_json(self) -> str:
        """The text that the trail stores (room.md 5: `actor` is JSON text)."""
        return json.dumps({"kind": self.kind, "name": self.name, "via": self.via}, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | None) -> Actor:
        """The actor a stored text names; a text that cannot be read gives the name `unreadable`."""
        try:
            data = json.loads(text or "")
            return cls(data["kind"], str(data["name"]), str(data["via"]))
        except (ValueError, KeyError, TypeError, RecursionError):
            return cls("server", "unreadable", "unreadable")


def current_user() -> str:
    """The operating system's user of this process: by its uid, not by `$USER`, which anyone can set (faults.md C8)."""
    try:
        import pwd
    except ImportError:  # Windows has no uid
        return getpass.getuser()
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"


def describe_via(surface: str) -> str:
    """`via` for a surface: its name, with the terminal when there is one."""
    for descriptor in (0, 2):
        try:
            return f"{surface} {os.ttyname(descriptor)}"
        except OSError:
            continue
    return surface
