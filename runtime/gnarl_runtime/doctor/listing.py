"""Findings in, text for people or JSON for scripts out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from gnarl_runtime.doctor.looks import Finding, State

JSON_VERSION = 1
_SIGNS = {State.OK: "  ", State.NOTE: "! ", State.BROKEN: "x "}
_TOPIC = 16


def line(finding: Finding) -> str:
    """A finding, with what to do about it below."""
    first = f"{_SIGNS[finding.state]}{finding.topic:<{_TOPIC}} {finding.text}"
    if not finding.fix:
        return first
    word = "likely fix: " if finding.state is not State.OK else ""
    return f"{first}\n  {'':<{_TOPIC}} {word}{finding.fix}"


def verdict(findings: Sequence[Finding], tested: bool) -> str:
    broken = sum(finding.state is State.BROKEN for finding in findings)
    if broken:
        return f"{broken} of {len(findings)} things looked at do not work (marked x)."
    if tested:
        return "Everything works."
    return "Nothing is missing; without --quick the doctor also tries it out."


def as_json(findings: Iterable[Finding], tested: bool) -> str:
    found = list(findings)
    document = {
        "version": JSON_VERSION,
        "ok": all(finding.state is not State.BROKEN for finding in found),
        "tested": tested,
        "findings": [
            {"topic": f.topic, "text": f.text, "state": f.state.value, "fix": f.fix} for f in found
        ],
    }
    return json.dumps(document, indent=2)
