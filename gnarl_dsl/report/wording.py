"""Diagnostics in, words out: the sentences of wording.toml with their values filled in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gnarl_dsl.report.diagnostics import Diagnostic

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_MAX_VALUE = 300


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
    import tomllib  # most runs have nothing to say

    text = Path(__file__).with_name("wording.toml").read_text("utf-8")
    return {code: Wording(**entry) for code, entry in tomllib.loads(text).items()}


def title_of(finding: Diagnostic) -> str:
    return load_wordings()[finding.code].title


def message_of(finding: Diagnostic) -> str:
    text = _fill(load_wordings()[finding.code].says, finding)
    return text[:1].upper() + text[1:]


def fix_of(finding: Diagnostic) -> str:
    """The checker's own suggestion, else the general one."""
    return finding.fix or _fill(load_wordings()[finding.code].fix, finding)


def _fill(template: str, finding: Diagnostic) -> str:
    """Put the values in, in one pass: what a value says is never read as a placeholder."""

    def value_of(match: re.Match[str]) -> str:
        return _shorten(finding.values.get(match[1], match[0]))

    return _PLACEHOLDER.sub(value_of, template)


def _shorten(text: str) -> str:
    """A value cut to what fits into a sentence."""
    return text if len(text) <= _MAX_VALUE else f"{text[:60]}…"


def explain(code: str) -> str | None:
    """The paragraph and example for `--explain`, or None for an unknown code."""
    wording = load_wordings().get(code)
    if wording is None:
        return None
    kind = "warning" if code.startswith("GN9") else "error"
    example = "\n".join(f"    {line}" for line in wording.example.splitlines())
    return f"{code} ({kind}): {wording.title}\n\n{wording.explain}\n\nFor example:\n\n{example}\n"
