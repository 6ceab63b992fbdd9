"""Foreign text is inert and holds its columns wherever it is shown (faults.md T38, T39, T41)."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from console.text import block, cells, copyable, crop, fit, one_line, safe, safe_content
from tests.console.hostile import ACTING, HOSTILE

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)
NASTY = st.text(
    st.sampled_from(
        "ab [/]\x1b\x07\x00\n\r\t\x9b\u202e\u2066\u200f\u061c\u200b\u200c\u200d\ufe0f\ufe0e\u0301\u0e33日한👩❤🏽🇬\ud800שע\u0644"
    )
    | st.characters(categories=("Cf", "Mn", "Me", "So")),
    max_size=40,
)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:24]))
def test_hostile_text_is_inert_in_every_function(text: str) -> None:
    shown = [one_line(text), crop(text, 20), fit(text, 20), fit(text, 7, "right"), fit(text, 9, "center")]
    shown += [safe(text).plain, safe_content(text).plain, *block(text, 20, 30)]
    for line in shown:
        assert not ACTING.search(line)
    assert not ACTING.search(copyable(text).replace("\n", "").replace("\t", ""))
    assert cells(fit(text, 20)) == 20
    assert all(cells(line) <= 30 for line in block(text, 20, 30))
    assert len(block(text, 20, 30)) <= 20


@pytest.mark.parametrize("text", ["[/x]", "[/", "[b", "[red]", "[/INST]"])
def test_brackets_stay_as_they_were_written(text: str) -> None:
    assert one_line(text) == safe(text).plain == safe_content(text).plain == copyable(text) == text
    assert block(text) == (text,)
    assert not safe(text).spans
    assert not safe_content(text).spans


@given(ANY_TEXT | NASTY)
def test_one_line_never_holds_a_control_or_bidi_character(text: str) -> None:
    line = one_line(text)
    assert not ACTING.search(line)
    assert not any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in line)
    assert one_line(line) == line


@given(ANY_TEXT | NASTY, st.integers(0, 30), st.sampled_from(["left", "right", "center"]))
def test_fit_is_exactly_the_width(text: str, width: int, align: str) -> None:
    fitted = fit(text, width, align)  # type: ignore[arg-type]
    assert cell_len(fitted) == width
    assert not ACTING.search(fitted)


@given(ANY_TEXT | NASTY, st.integers(1, 8), st.integers(2, 20))
def test_block_keeps_its_lines_and_columns(text: str, lines: int, columns: int) -> None:
    shown = block(text, lines, columns)
    assert 1 <= len(shown) <= lines
    assert all(cell_len(line) <= columns and not ACTING.search(line) for line in shown)


@given(st.text(st.characters(categories=("L", "Nd"), max_codepoint=0x7FF) | st.just(" "), max_size=60))
def test_block_loses_no_letter(text: str) -> None:
    assert "".join(block(text, 500, 10)).replace(" ", "") == copyable(text).replace(" ", "")


@given(ANY_TEXT | NASTY)
def test_a_copy_is_inert_and_whole(text: str) -> None:
    copied = copyable(text)
    assert not ACTING.search(copied.replace("\n", "").replace("\t", ""))
    assert len(copied) >= len(text.replace("\r\n", "\n"))


@pytest.mark.parametrize(
    "text", ["שלום עולם", "مرحبا بالعالم", "می\u200cخواهم", "👩\u200d👩\u200d👧", "🙂\u200d↔️", "❤️", "naïve café", "日本語"]
)
def test_letters_and_emoji_sequences_survive(text: str) -> None:
    assert one_line(text) == copyable(text) == text


def test_a_joiner_outside_an_emoji_sequence_is_shown() -> None:
    assert one_line("ad\u200dmin") == "ad\ufffdmin"
    assert copyable("ad\u200dmin") == "ad⟨U+200D⟩min"


def test_where_there_is_room_a_hidden_character_is_named() -> None:
    assert block("user\u202egnp.exe") == ("user⟨U+202E⟩gnp.exe",)
    assert copyable("\x1b[31m") == "␛[31m"


def test_line_breaks_stay_on_the_line_and_in_copies() -> None:
    assert one_line("one\r\n\n  two\tthree") == "one↵ two three"
    assert block("one\r\ntwo\n  three") == ("one", "two", "  three")
    assert copyable("one\r\ntwo\tthree") == "one\ntwo\tthree"


def test_what_is_cut_is_said_and_counted() -> None:
    assert one_line("x" * 50, limit=10) == "x" * 9 + "…"
    assert block("x" * 1_000_000, max_lines=3, max_columns=40)[-1] == "… 999,920 more characters"


@pytest.mark.parametrize("text", ["x" * 1_000_000, " " * 1_000_000, "\n" * 1_000_000, "\u200b" * 1_000_000, "日" * 1_000_000])
def test_a_megabyte_is_cut_before_any_work(text: str) -> None:
    start = time.process_time()
    one_line(text)
    fit(text, 40)
    assert time.process_time() - start < 0.5
