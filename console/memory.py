"""What the console remembers between runs, and what its owner configured, in the platform's own folders (console.md, Feel)."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import platformdirs


@dataclass(slots=True)
class Memory:
    """The saved state: last screen, theme, sort orders by screen, and the reasons given lately, newest first."""

    screen: str = "overview"
    theme: str = ""
    sorts: dict[str, tuple[str, bool]] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)

    def add_reason(self, reason: str) -> None:
        """Remember a reason as the newest, once, and no more than ten."""
        self.reasons = [reason, *(one for one in self.reasons if one != reason)][:10]


@dataclass(frozen=True, slots=True)
class Config:
    """The config file `config.toml`: a theme, whether the mouse is used, and keys by action id; `problems` in words."""

    theme: str = ""
    mouse: bool = True
    keys: dict[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def memory_path() -> Path:
    """The file of the saved state."""
    return Path(platformdirs.user_state_dir("watchroom", appauthor=False)) / "console.json"


def config_path() -> Path:
    """The config file."""
    return Path(platformdirs.user_config_dir("watchroom", appauthor=False)) / "config.toml"


def load_memory(path: Path) -> Memory:
    """The saved state; a file that is missing or cannot be read is a fresh start, never an error."""
    try:
        data: Any = json.loads(path.read_text())
        known = {name: data[name] for name in (one.name for one in fields(Memory)) if name in data}
        found = Memory(**known)
        found.sorts = {str(screen): (str(column), bool(reverse)) for screen, (column, reverse) in found.sorts.items()}
        found.reasons = [str(one)[:500] for one in found.reasons][:10]
        found.screen, found.theme = str(found.screen), str(found.theme)
    except (OSError, ValueError, TypeError, AttributeError):
        return Memory()
    return found


def save_memory(path: Path, memory: Memory) -> None:
    """Write the saved state whole or not at all, for its owner alone; a full disk costs the memory, not the console."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(asdict(memory), file, ensure_ascii=False)
        draft.replace(path)


def load_config(path: Path) -> Config:
    """The owner's config. A mistake costs the entry, never the start; it is told in `problems`."""
    from console.actions import keymap_from_config

    try:
        text = path.read_text()
    except FileNotFoundError:
        return Config()
    except (OSError, ValueError) as error:
        return Config(problems=(f"{path} cannot be read: {error}",))
    import tomllib  # most have no such file

    try:
        data = tomllib.loads(text)
    except (OSError, ValueError) as error:
        return Config(problems=(f"{path} cannot be read: {error}",))
    keys, problems = keymap_from_config(data.get("keys", {}) if isinstance(data.get("keys", {}), dict) else {})
    theme, mouse = data.get("theme", ""), data.get("mouse", True)
    unknown = [f"{name}: there is no such setting" for name in data if name not in ("keys", "theme", "mouse")]
    return Config(theme if isinstance(theme, str) else "", mouse is not False, keys, (*problems, *unknown))
