"""Texts in a Unicode normal form."""

from __future__ import annotations

import unicodedata
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.texts import MARKS_TOGETHER, normalized

FORMS: tuple[Literal["NFC", "NFKC"], ...] = ("NFC", "NFKC")
MARKED = st.text(st.sampled_from("ae\u0301\u0323\u0344\uff9e\uff76=\u0338-! \u1100\u1161한ﬁ"), max_size=120)


@pytest.mark.parametrize("form", FORMS)
@given(text=st.text() | MARKED)
def test_a_text_that_people_write_is_normalised_as_the_standard_says(form: Literal["NFC", "NFKC"], text: str) -> None:
    runs, longest = 0, 0
    for character in unicodedata.normalize("NFKD", text):
        runs = runs + 1 if unicodedata.combining(character) else 0
        longest = max(longest, runs)
    if longest <= MARKS_TOGETHER:
        assert normalized(text, form) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("marks", ["\u0301\u0323", "\uff9e\u0301", "\u0344\u0323", "\u0301"])
def test_marks_without_end_lose_and_gain_nothing(form: Literal["NFC", "NFKC"], marks: str) -> None:
    text = f"x{marks * 1_000}y ﬁn"
    assert unicodedata.normalize("NFKD", normalized(text, form)) == unicodedata.normalize("NFKD", text)
