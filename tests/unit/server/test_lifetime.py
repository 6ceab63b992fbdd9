"""A server leaves with its client, and a hung one is ended (faults.md T27)."""

from __future__ import annotations

import threading

from core.server.lifetime import HUNG, Lifetime


class Process:
    """A process whose parent a test replaces, and whose end it notes."""

    def __init__(self) -> None:
        self.parent = 90
        self.left = threading.Event()
        self.ended = threading.Event()
        self.code: int | None = None

    def end(self, code: int) -> None:
        self.code = code
        self.ended.set()

    def watched(self, grace: float) -> Lifetime:
        lifetime = Lifetime(self.left.set, parent=lambda: self.parent, end=self.end, look=0.01, grace=grace)
        lifetime.start()
        return lifetime


def test_a_parent_that_is_replaced_makes_the_server_leave_and_then_end() -> None:
    process = Process()
    process.watched(grace=0.05)
    process.parent = 1
    assert process.left.wait(5)
    assert process.ended.wait(5)
    assert process.code == HUNG


def test_while_the_parent_lives_nothing_happens() -> None:
    process = Process()
    process.watched(grace=0.01)
    assert not process.left.wait(0.2)
    assert not process.ended.is_set()


def test_a_server_that_is_leaving_and_hangs_is_ended() -> None:
    process = Process()
    process.watched(grace=0.05).leaving()
    assert process.ended.wait(5)
    assert not process.left.is_set()


def test_from_the_clients_death_to_the_end_are_less_than_five_seconds() -> None:
    from core.server.lifetime import GRACE_SECONDS, LOOK_SECONDS

    assert GRACE_SECONDS + LOOK_SECONDS < 5
