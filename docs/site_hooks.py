"""What mkdocs does while it builds the site: fences of ours in, fences that it can read out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

# Pages that a checkout may lack.
OPTIONAL = frozenset({"tutorial.md", "gallery.md", "viewing.md"})
# The tests read more words behind the language of a fence; the site needs the language only.
FENCE = re.compile(r"^(\s*```\w+)[ \t][^\n`]*$", re.MULTILINE)


def on_config(config: Any) -> Any:
    """Leave pages out of the navigation that are optional and not there."""
    config.nav = without_missing(config.nav, Path(config.docs_dir))
    return config


def without_missing(nav: list[Any], folder: Path) -> list[Any]:
    kept: list[Any] = []
    for entry in nav:
        ((title, target),) = entry.items()
        if isinstance(target, list):
            kept.append({title: without_missing(target, folder)})
        elif target not in OPTIONAL or (folder / target).is_file():
            kept.append(entry)
    return kept


def on_page_markdown(markdown: str, **_: Any) -> str:
    return FENCE.sub(r"\1", markdown)
