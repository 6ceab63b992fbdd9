"""Make the pictures of every screen and dialog: `python screenshots/make.py [NAME ...]`, from the repository's root.

The store they show is the demo scene that the console's tests use (tests/console/scene.py), so that the tests guard what
the README shows. It needs the `dev` extra and a Chromium or Chrome, which turns Textual's SVG into PNG.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.console.scene import PICTURES, lead_to, scene  # noqa: E402

SIZE = (120, 40)
NARROW = (80, 24)
THEMES = ("dark", "light")
ALSO_NARROW = ("overview", "wraps", "sessions", "slots", "audit", "continuity", "episodes", "patterns", "force-cancel", "relay")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--hide-scrollbars"),
)


async def picture(name: str, theme: str, size: tuple[int, int]) -> str:
    """One picture as SVG."""
    with tempfile.TemporaryDirectory() as folder, scene(Path(folder)) as made:
        app = made.app(theme=f"watchroom-{theme}")
        async with app.run_test(size=size) as pilot:
            await lead_to(name)(pilot)
            return app.export_screenshot(title="watchroom")


def to_png(browser: str, svg: str, target: Path) -> None:
    """Turn an SVG into a PNG of its own size."""
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    if found is None:
        raise SystemExit(f"{target.name}: the SVG has no size")
    width, height = (int(float(one)) + 1 for one in found.groups())
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(f"<html><body style='margin:0'>{svg}</body></html>", encoding="utf-8")
        command = [
            browser,
            *FLAGS,
            f"--user-data-dir={folder}/profile",
            f"--window-size={width},{height}",
            f"--screenshot={target}",
            page.as_uri(),
        ]
        subprocess.run(command, check=True, capture_output=True, timeout=120)


def main() -> int:
    """Make the named pictures, or all."""
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        print("No Chromium or Chrome was found: it is what turns the pictures into PNG.", file=sys.stderr)
        return 1
    wanted = sys.argv[1:] or list(PICTURES)
    for name in wanted:
        shots = [(f"{name}-{theme}", theme, SIZE) for theme in THEMES]
        shots += [(f"{name}-narrow", "dark", NARROW)] if name in ALSO_NARROW else []
        for file, theme, size in shots:
            to_png(browser, asyncio.run(picture(name, theme, size)), ROOT / "screenshots" / f"{file}.png")
            print(f"screenshots/{file}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
