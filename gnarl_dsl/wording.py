"""Diagnostics in, words out: the sentences of wording.toml with their values filled in."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from gnarl_dsl.diagnostics import Diagnostic


@dataclass(frozen=True)
class Wording:
    """What is said about one code."""

    title: str
    says: str
    explain: str
    example: str
    fix: str = ""


@cache
def load_wordings() -> dict[str, Wording]:
    text = files("gnarl_dsl").joinpath("wording.toml").read_text("utf-8")
    return {code: Wording(**entry) for code, entry in tomllib.loads(text).items()}


def title_of(finding: Diagnostic) -> str:
    return _fill(load_wordings()[finding.code].title, finding)


def message_of(finding: Diagnostic) -> str:
    text = _fill(load_wordings()[finding.code].says, finding)
    return text[:1].upper() + text[1:]


def fix_of(finding: Diagnostic) -> str:
    """The checker's own suggestion, else the general one."""
    return finding.fix or _fill(load_wordings()[finding.code].fix, finding)


def _fill(template: str, finding: Diagnostic) -> str:
    for key, value in finding.values.items():
        template = template.replace("{" + key + "}", value)
    return template


def explain(code: str) -> str | None:
    """The paragraph and example for `--explain`, or None for an unknown code."""
    wording = load_wordings().get(code)
    if wording is None:
        return None
    kind = "warning" if code.startswith("GN9") else "error"
    example = "\n".join(f"    {line}" for line in wording.example.splitlines())
    title = wording.title.replace("{sign}", "=")
    return f"{code} ({kind}): {title}\n\n{wording.explain}\n\nFor example:\n\n{example}\n"
