"""Where things lie when nobody names a place: in the platform's own folders."""

from __future__ import annotations

from pathlib import Path

import platformdirs


def default_store_path() -> Path:
    """The store of a person who named none: in the platform's data folder."""
    return Path(platformdirs.user_data_dir("watchroom", appauthor=False)) / "store.db"
