"""Every state is told by word and glyph as well as colour, and every colour can be read (faults.md T48)."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from console.table import Cell, Column, Row, RowTable
from console.themes import (
    DEFAULT_THEME,
    ROLES,
    THEME_NAMES,
    THEMES,
    VERDICT_LOOK,
    install_themes,
    next_theme,
    palette_of,
    theme_defaults,
)
from core.models import Verdict

OWN = [theme for theme in THEMES if not theme.ansi]
INKS = ("foreground", *(f"role-{role}" for role in ROLES))
GROUNDS = (
    "background",
    "surface",
    "panel",
    "room-cursor",
    "room-cursor-idle",
    "room-mark",
    "room-flash",
    "block-cursor-background",
    "block-cursor-blurred-background",
    "input-selection-background",
    "screen-selection-background",
)


def luminance(color: Color) -> float:
    """WCAG 2.1 relative luminance."""
    parts = [part / 255 for part in (color.r, color.g, color.b)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """WCAG 2.1 contrast ratio."""
    lights = sorted((luminance(Color.parse(one)), luminance(Color.parse(other))))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def variables(theme: Theme) -> dict[str, str]:
    return theme.to_color_system().generate() | theme.variables


@pytest.mark.parametrize("theme", OWN, ids=lambda theme: theme.name)
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("ink", INKS)
def test_every_role_can_be_read_on_every_ground(theme: Theme, ink: str, ground: str) -> None:
    values = variables(theme)
    assert Color.parse(values[ground]).a == 1, "a see-through ground has no contrast of its own"
    assert contrast(values[ink], values[ground]) >= 4.5


@pytest.mark.parametrize("theme", OWN, ids=lambda theme: theme.name)
@pytest.mark.parametrize(
    ("ink", "ground"),
    [
        ("text-muted", "background"),
        ("text-muted", "panel"),
        ("footer-key-foreground", "panel"),
        ("footer-description-foreground", "panel"),
        ("block-cursor-foreground", "block-cursor-background"),
        ("input-cursor-foreground", "input-cursor-background"),
        ("screen-selection-foreground", "screen-selection-background"),
    ],
)
def test_textuals_own_widgets_can_be_read_too(theme: Theme, ink: str, ground: str) -> None:
    values = variables(theme)
    assert contrast(values[ink], values[ground]) >= 4.5


def test_high_contrast_is_higher() -> None:
    values = variables(next(theme for theme in OWN if "high-contrast" in theme.name))
    assert all(contrast(values[ink], values["background"]) >= 7 for ink in INKS)


def test_every_verdict_has_a_word_a_glyph_and_a_role_of_its_own() -> None:
    assert set(VERDICT_LOOK) == set(get_args(Verdict))
    assert len({look.glyph for look in VERDICT_LOOK.values()}) == len(VERDICT_LOOK)
    for verdict, look in VERDICT_LOOK.items():
        assert look.word == verdict
        assert cell_len(look.glyph) == 1
        assert look.role in ROLES


class Room(App[None]):
    def __init__(self, theme: str = DEFAULT_THEME) -> None:
        super().__init__()
        install_themes(self, theme)

    CSS_PATH = "../../console/watchroom.tcss"

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme_defaults(self.current_theme)

    def compose(self) -> ComposeResult:
        yield RowTable([Column("verdict", "verdict", 12)])


@pytest.mark.parametrize("name", [*THEME_NAMES, *BUILTIN_THEMES])
async def test_the_style_sheet_parses_under_every_theme(name: str) -> None:
    app = Room()
    async with app.run_test() as pilot:
        app.theme = name
        await pilot.pause()
        assert palette_of(app).role("danger").color is not None


def roles_of(app: App[Any]) -> dict[str, Any]:
    look = palette_of(app)
    return {role: look.role(role) for role in ROLES}


async def test_without_colour_danger_is_bold_and_the_cursor_is_reversed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Room()
    async with app.run_test() as pilot:
        table = app.query_one(RowTable)
        table.focus()
        table.set_rows([Row("a", (Cell("DEAD", "danger", "✗"),)), Row("b", (Cell("LIVE", "ok", "●"),))])
        await pilot.pause()
        roles = roles_of(app)
        assert roles["danger"].bold
        assert all(style.color is None and not style.dim for style in roles.values())
        assert any(segment.style is not None and segment.style.reverse for segment in table.render_line(1))
        assert not any(segment.style is not None and segment.style.reverse for segment in table.render_line(2))
        assert "✗ DEAD" in table.render_line(1).text


async def test_a_reversed_row_has_no_patches_of_colour() -> None:
    app = Room("ansi-dark")
    async with app.run_test() as pilot:
        table = app.query_one(RowTable)
        table.focus()
        table.set_rows([Row("a", (Cell("DEAD", "danger", "✗"),))])
        await pilot.pause()
        inks = {segment.style.color.name for segment in table.render_line(1) if segment.style and segment.style.color}
        assert inks == {"default"}


def test_an_unknown_theme_of_an_old_config_is_the_default() -> None:
    app = Room("no-such-theme")
    assert app.theme == DEFAULT_THEME


def test_themes_go_round() -> None:
    name = DEFAULT_THEME
    seen = [name := next_theme(name) for _ in THEME_NAMES]
    assert sorted(seen) == sorted(THEME_NAMES)
    assert next_theme("nord") == DEFAULT_THEME
