"""Names in, texts that come along out: the manual, its sections, the card, shipped specs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import gnarl_dsl
from gnarl_dsl.specs import shipped_specs

MANUAL, CARD = "language.md", "grammar_card.md"


def page(name: str) -> str | None:
    """A page of the documentation: inside the package where it is installed, else of a checkout."""
    home = Path(gnarl_dsl.__file__).parent
    for folder in (home / "manual", home.parent / "docs"):
        if (folder / name).is_file():
            return (folder / name).read_text("utf-8")
    return None


@cache
def sections() -> Mapping[str, str]:
    """The sections of the manual by their anchors, such as `features`."""
    parts = re.split(r"^(?=## )", page(MANUAL) or "", flags=re.MULTILINE)
    titled = (part for part in parts if part.startswith("## "))
    return {_anchor(part.partition("\n")[0]): part for part in titled}


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")


def specs() -> Mapping[str, Path]:
    return {path.stem: path for path in shipped_specs()}
