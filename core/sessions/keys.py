"""Client keys: what a successor may be called, and what its agent calls to come back (sessions.md b.3 and b.9)."""

from __future__ import annotations


def next_key(client_key: str) -> str:
    """A key for the successor, from the old one: `k`, `k-2`, `k-3`."""
    head, _, tail = client_key.rpartition("-")
    if head and tail.isascii() and tail.isdigit() and len(tail) < 6:
        return f"{head}-{int(tail) + 1}"[:128]
    return f"{client_key[:125]}-2"


def for_the_agent(session_id: str, client_key: str) -> str:
    """What the operator hands to the agent that is to go on."""
    return f"brain_session_resume(session_id={session_id!r}, expected_client_key={client_key!r})"
