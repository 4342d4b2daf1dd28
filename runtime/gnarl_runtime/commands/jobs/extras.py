"""The name of an extra and what it brings in; out: nothing, or how to install what is missing."""

from __future__ import annotations

from importlib.util import find_spec

from gnarl_dsl.report.failures import UsageError


def require_extra(extra: str, *modules: str) -> None:
    """Raise a UsageError that names the line to install; imports nothing."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"{missing[0]} is not installed; this needs the extra `{extra}`. "
            f"Likely fix: pip install 'gnarl-dsl[{extra}]'"
        )
