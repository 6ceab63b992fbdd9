"""Ids and tokens, passed in so that tests can foresee them."""

from __future__ import annotations

import secrets
import uuid
from typing import Protocol


class Ids(Protocol):
    """What the room asks of chance."""

    def token(self) -> str:
        """A wrap token: 32 lower-case hex characters (wraps.md a3)."""
        ...

    def episode_id(self) -> str:
        """An episode id: 8 lower-case hex characters (wraps.md a2)."""
        ...

    def unique(self) -> str:
        """A UUID as text."""
        ...


class SystemIds:
    """Ids from the operating system's chance."""

    def token(self) -> str:
        """A wrap token."""
        return uuid.uuid4().hex

    def episode_id(self) -> str:
        """An episode id."""
        return secrets.token_hex(4)

    def unique(self) -> str:
        """A UUID as text."""
        return str(uuid.uuid4())
