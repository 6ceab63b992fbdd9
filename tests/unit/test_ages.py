"""Ages in seconds and in words."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.ages import seconds_ahead, seconds_since, words_for_age
from tests.fakes import START


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "0 s"),
        (0, "0 s"),
        (0.9, "0 s"),
        (41, "41 s"),
        (59.99, "59 s"),
        (60, "1 min"),
        (180, "3 min"),
        (3_599, "59 min"),
        (3_600, "1 h 00 min"),
        (7_500, "2 h 05 min"),
        (11_520, "3 h 12 min"),
        (86_399, "23 h 59 min"),
        (86_400, "1 d 0 h"),
        (3 * 86_400 + 4 * 3_600 + 3_599, "3 d 4 h"),
        (400 * 86_400, "400 d 0 h"),
    ],
)
def test_an_age_is_said_in_at_most_two_units_rounded_down(seconds: float, words: str) -> None:
    assert words_for_age(seconds) == words


def test_a_negative_age_is_zero() -> None:
    assert seconds_since(START + timedelta(hours=1), START) == 0
    assert seconds_since(START - timedelta(seconds=41), START) == 41


@pytest.mark.parametrize(("ahead", "skew"), [(-10, 0), (0, 0), (1, 0), (1.5, 1.5), (3_600, 3_600)])
def test_a_time_over_one_second_in_the_future_is_clock_skew(ahead: float, skew: float) -> None:
    assert seconds_ahead(START + timedelta(seconds=ahead), START) == skew
