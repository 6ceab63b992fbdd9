"""The environment's switches, read when a call is made (room.md 2.16). What cannot be read as true is off."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

Switch = Literal[
    "RELAY_GUARD_MOD_ENABLED",
    "AUTO_OPEN_ENABLED",
    "DERIVED_CAPTURE_ENABLED",
    "INACTIVE_SWEEP_ENABLED",
    "SWEEP_ENABLED",
    "SWEEP_DRY_RUN",
]

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"0", "false", "no", "off"})


def is_on(switch: Switch, environment: Mapping[str, str] | None = None) -> bool:
    """Whether `WATCHROOM_<switch>` is set to 1, true, yes or on."""
    return _value(switch, environment) in TRUE


def is_off(switch: Switch, environment: Mapping[str, str] | None = None) -> bool:
    """Whether `WATCHROOM_<switch>` is set to 0, false, no or off: for the one switch whose default is on, SWEEP_DRY_RUN."""
    return _value(switch, environment) in FALSE


def _value(switch: Switch, environment: Mapping[str, str] | None) -> str:
    found = os.environ if environment is None else environment
    return found.get(f"WATCHROOM_{switch}", "").strip().lower()
