"""The themes, and what each state looks like: a word, a glyph and a colour, so that none of the three stands alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal

from rich.color import Color as RichColor
from rich.style import Style
from textual.app import App
from textual.color import Color, ColorParseError
from textual.theme import BUILTIN_THEMES, Theme

if TYPE_CHECKING:
    from core.models import Verdict

Role = Literal["", "danger", "warning", "ok", "muted", "accent"]
"""What a piece of text means; "" is plain text."""

ROLES: Final[tuple[Role, ...]] = ("danger", "warning", "ok", "muted", "accent")


@dataclass(frozen=True, slots=True)
class Look:
    """How a state is told: its glyph, its role (which has the colour) and its word."""

    glyph: str
    role: Role
    word: str


VERDICT_LOOK: Final[dict[Verdict, Look]] = {
    "DEAD": Look("✗", "danger", "DEAD"),
    "PARTIAL": Look("◒", "danger", "PARTIAL"),
    "WEDGED": Look("⊘", "warning", "WEDGED"),
    "STALE": Look("◌", "warning", "STALE"),
    "UNKNOWN": Look("?", "muted", "UNKNOWN"),
    "STARTING": Look("◔", "accent", "STARTING"),
    "LIVE": Look("●", "ok", "LIVE"),
}


@dataclass(frozen=True, slots=True)
class Colours:
    """The colours one theme is made of; tests hold every text colour against every ground at 4.5:1."""

    text: str
    danger: str
    warning: str
    ok: str
    muted: str
    accent: str
    ground: str
    """The screen."""
    panel: str
    """Header, footer, dialogs, fields."""
    cursor: str
    """The cursor's row while its list has the focus."""
    cursor_idle: str
    """The cursor's row while something else has the focus."""
    mark: str
    """A marked row."""
    flash: str
    """A cell that just changed."""
    selection: str
    """Text selected with the mouse or in a field."""
    rule: str
    """Lines and borders that carry no meaning."""


DARK: Final = Colours(
    text="#d7dde6",
    danger="#ff8f88",
    warning="#e9bd62",
    ok="#86d19a",
    muted="#9ca8b6",
    accent="#8cbcff",
    ground="#12161c",
    panel="#191f27",
    cursor="#24344d",
    cursor_idle="#1f2832",
    mark="#2b2a3d",
    flash="#3a3620",
    selection="#263c5a",
    rule="#333d4a",
)
LIGHT: Final = Colours(
    text="#1f2730",
    danger="#a3171c",
    warning="#774700",
    ok="#1b5e33",
    muted="#4d5763",
    accent="#114f9e",
    ground="#fbfbf9",
    panel="#f0f0ec",
    cursor="#d6e4f7",
    cursor_idle="#e8ebee",
    mark="#e9e4f5",
    flash="#fbeeb8",
    selection="#cfe0f8",
    rule="#c9ccc9",
)
HIGH_CONTRAST: Final = Colours(
    text="#ffffff",
    danger="#ff9d9d",
    warning="#ffd75e",
    ok="#7dff9b",
    muted="#d0d0d0",
    accent="#8fd0ff",
    ground="#000000",
    panel="#000000",
    cursor="#10305c",
    cursor_idle="#2a2a2a",
    mark="#30104a",
    flash="#4a3a00",
    selection="#10305c",
    rule="#ffffff",
)


def _role_variables(colours: Colours) -> dict[str, str]:
    """What watchroom.tcss and `palette_of` read: `$role-danger`, `$room-cursor`, …"""
    roles = {f"role-{role}": str(getattr(colours, role)) for role in ROLES}
    grounds = ("cursor", "cursor_idle", "mark", "flash", "rule")
    return roles | {f"room-{name.replace('_', '-')}": str(getattr(colours, name)) for name in grounds}


def _theme(name: str, colours: Colours, *, dark: bool) -> Theme:
    return Theme(
        name=name,
        primary=colours.accent,
        secondary=colours.accent,
        accent=colours.accent,
        warning=colours.warning,
        error=colours.danger,
        success=colours.ok,
        foreground=colours.text,
        background=colours.ground,
        surface=colours.ground,
        panel=colours.panel,
        dark=dark,
        variables=_role_variables(colours)
        | {
            # Textual's own "auto 60%" texts fall under 4.5:1 on a cursor row.
            "text": colours.text,
            "text-muted": colours.muted,
            "text-disabled": colours.muted,
            "text-primary": colours.accent,
            "text-secondary": colours.accent,
            "text-accent": colours.accent,
            "text-warning": colours.warning,
            "text-error": colours.danger,
            "text-success": colours.ok,
            "foreground-muted": colours.muted,
            "border": colours.accent,
            "border-blurred": colours.rule,
            "block-cursor-background": colours.cursor,
            "block-cursor-foreground": colours.text,
            "block-cursor-text-style": "bold",
            "block-cursor-blurred-background": colours.cursor_idle,
            "block-cursor-blurred-foreground": colours.text,
            "block-hover-background": colours.cursor_idle,
            "input-selection-background": colours.selection,
            "input-selection-foreground": colours.text,
            "screen-selection-background": colours.selection,
            "screen-selection-foreground": colours.text,
            "footer-background": colours.panel,
            "footer-key-foreground": colours.accent,
            "footer-description-foreground": colours.muted,
            "scrollbar": colours.rule,
            "scrollbar-hover": colours.muted,
            "scrollbar-active": colours.accent,
            "scrollbar-background": colours.ground,
            "link-color": colours.accent,
            "button-color-foreground": colours.ground,
        },
    )


def _ansi(name: str, muted: str, accent: str) -> Theme:
    """Textual's theme of the terminal's own sixteen colours, with the room's roles laid over it."""
    theme = BUILTIN_THEMES[name]
    roles = {
        "role-danger": "ansi_red",
        "role-warning": theme.warning or "ansi_yellow",
        "role-ok": "ansi_green",
        "role-muted": muted,
        "role-accent": accent,
        "room-cursor": theme.variables["block-cursor-background"],
        "room-cursor-idle": "ansi_default",
        "room-mark": "ansi_default",
        "room-flash": "ansi_default",
        "room-rule": theme.variables["border-blurred"],
    }
    return dataclasses.replace(theme, variables=theme.variables | roles)


THEMES: Final[tuple[Theme, ...]] = (
    _theme("watchroom-dark", DARK, dark=True),
    _theme("watchroom-light", LIGHT, dark=False),
    _theme("watchroom-high-contrast", HIGH_CONTRAST, dark=True),
    _ansi("ansi-dark", muted="ansi_default", accent="ansi_cyan"),
    _ansi("ansi-light", muted="ansi_default", accent="ansi_blue"),
)
THEME_NAMES: Final[tuple[str, ...]] = tuple(theme.name for theme in THEMES)
DEFAULT_THEME: Final = "watchroom-dark"

_STAND_INS: Final[dict[str, str]] = {
    "role-danger": "text-error",
    "role-warning": "text-warning",
    "role-ok": "text-success",
    "role-muted": "foreground",
    "role-accent": "text-accent",
    "room-cursor": "block-cursor-blurred-background",
    "room-cursor-idle": "surface",
    "room-mark": "surface",
    "room-flash": "panel",
    "room-rule": "border-blurred",
}
"""Which of Textual's own variables stands in for each of the room's under a theme that is none of these."""


def theme_defaults(theme: Theme) -> dict[str, str]:
    """For `App.get_theme_variable_defaults`: the room's variables under any other theme, so that the style sheet parses."""
    if "role-danger" in theme.variables:
        return {}
    generated = theme.to_color_system().generate()
    return {name: generated[stand_in] for name, stand_in in _STAND_INS.items()}


def install_themes(app: App[Any], chosen: str = DEFAULT_THEME) -> None:
    """Register the themes and put one on; an unknown name (an old config file) gets the default."""
    for theme in THEMES:
        app.register_theme(theme)
    app.theme = chosen if chosen in THEME_NAMES else DEFAULT_THEME


def begin_with_theme(app: App[Any], chosen: str) -> None:
    """Have an app that does not run yet start with its theme: put on later, the whole style sheet is parsed and applied again.

    `install_themes` still puts on a theme of the terminal's own colours, for which more than the style sheet changes.
    """
    for theme in THEMES:
        app.register_theme(theme)
    wanted = app.available_themes[chosen if chosen in THEME_NAMES else DEFAULT_THEME]
    if not wanted.ansi:
        app.set_reactive(type(app).theme, wanted.name)
        app.stylesheet.set_variables(app.get_css_variables())
        app.set_class(wanted.dark, "-dark-mode", update=False)
        app.set_class(not wanted.dark, "-light-mode", update=False)


def next_theme(name: str) -> str:
    """The theme after this one, round and round."""
    return THEME_NAMES[(THEME_NAMES.index(name) + 1) % len(THEME_NAMES)] if name in THEME_NAMES else DEFAULT_THEME


@dataclass(frozen=True, slots=True)
class Palette:
    """The rich styles that Line API widgets draw with: laid over the widget's own style, never parsed from text."""

    roles: Mapping[str, Style]
    cursor: Style
    cursor_idle: Style
    mark: Style
    flash: Style
    bar: Style
    heading: Style
    named: Mapping[str, Style]

    def role(self, name: str) -> Style:
        """The style of a role; an unknown name is plain text, since a typo must not end the console."""
        return self.roles.get(name, _PLAIN)

    def style(self, names: str) -> Style:
        """The styles with these names (roles, or `heading key bar rule found tab strong bold`), laid over each other."""
        style = _PLAIN
        for name in names.split():
            style += self.roles.get(name) or self.named.get(name, _PLAIN)
        return uncoloured(style) if style.reverse else style


_PLAIN: Final = Style()


@lru_cache(maxsize=64)
def uncoloured(style: Style) -> Style:
    """The style without its colours: in reverse video a colour of ink would become a patch of ground."""
    return style.without_color


def palette_of(app: App[Any]) -> Palette:
    """The styles for the theme that is on; under NO_COLOR and the ANSI themes, bold and reverse say it."""
    variables = app.theme_variables
    colours = tuple(variables.get(name) or variables.get(_STAND_INS[name], "") for name in _STAND_INS)
    return _palette(colours, plain=app.no_color, ansi=app.native_ansi_color)


@lru_cache(maxsize=16)
def _palette(colours: tuple[str, ...], *, plain: bool, ansi: bool) -> Palette:
    named = dict(zip(_STAND_INS, colours, strict=True))

    def ink(name: str) -> Style:
        return Style(color=None if plain else _rich(named[name]))

    def ground(name: str) -> Style:
        return Style(bgcolor=None if plain or ansi else _rich(named[name]))

    bold = Style(bold=True)
    shout = bold if plain or ansi else _PLAIN
    return Palette(
        roles={
            "danger": ink("role-danger") + shout,
            "warning": ink("role-warning") + shout,
            "ok": ink("role-ok"),
            # Dim only where the terminal has its own colours: without any it can't be read.
            "muted": ink("role-muted") + (Style(dim=True) if ansi and not plain else _PLAIN),
            "accent": ink("role-accent"),
        },
        cursor=Style(reverse=True) if plain or ansi else ground("room-cursor"),
        cursor_idle=Style(underline=True) if plain or ansi else ground("room-cursor-idle"),
        mark=Style(italic=True) if plain or ansi else ground("room-mark"),
        flash=ground("room-flash") + bold + (Style(underline=True) if plain or ansi else _PLAIN),
        bar=ink("role-accent") + bold,
        heading=ink("role-muted") + bold,
        named={
            "heading": ink("role-muted") + bold,
            "key": ink("role-accent") + bold,
            "bar": ink("role-accent") + bold,
            "rule": ink("room-rule"),
            "found": Style(reverse=True),
            "tab": Style(reverse=True) if plain or ansi else ground("room-cursor"),
            "strong": bold,
            "bold": bold,
        },
    )


def _rich(colour: str) -> RichColor | None:
    """The CSS colour for rich; one that needs a ground to be known ("auto 60%") leaves the colour as it is."""
    try:
        return Color.parse(colour).rich_color
    except ColorParseError:
        return None
