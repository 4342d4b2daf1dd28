"""What a person names on a command line in, a checked problem out, or a message.

The checker is imported when a spec is read: a command's `--help` needs none of it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gnarl_dsl.report.failures import SpecRejected, UsageError
from gnarl_dsl.specs import find_spec, shipped_specs

if TYPE_CHECKING:
    from gnarl_dsl.externs import Given
    from gnarl_dsl.loading import Checked
    from gnarl_dsl.model import Code, Problem


def parse_params(given: Sequence[str]) -> dict[str, str]:
    """`-p name=value` options as a mapping."""
    params: dict[str, str] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not name or not value:
            raise UsageError(f"-p {text}: expected NAME=VALUE, such as -p tau=0.1")
        params[name.strip()] = value.strip()
    return params


def load_problem(
    spec: str,
    params: Mapping[str, str],
    allow_costly: bool = False,
    extern: Sequence[Given] | Code = (),
) -> Problem:
    """The checked problem with the code that was brought; its diagnostics go to standard error."""
    from gnarl_dsl.externs import with_code
    from gnarl_dsl.report.render import render_all

    checked = check_argument(spec, params, allow_costly)
    if checked.diagnostics:
        print(render_all(checked.diagnostics, checked.sources), file=sys.stderr)
    if checked.problem is None:
        raise SpecRejected
    return with_code(checked.problem, extern)


def check_argument(spec: str, params: Mapping[str, str], allow_costly: bool = False) -> Checked:
    """Check what a command was given: `-`, a file, or the name of a shipped spec."""
    from gnarl_dsl.loading import check_file, check_text

    if spec == "-":
        return check_text(read_standard_input(), "<stdin>", params, Path(), allow_costly)
    try:
        return check_file(resolve_spec(spec), params, allow_costly)
    except OSError as error:
        raise UsageError(f"{spec[:80]}: {error.strerror or error}") from error


def read_standard_input() -> str:
    if sys.stdin is None:
        raise UsageError("standard input is closed; expected a spec, such as < specs/bfs.gnarl")
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is not UTF-8 text (byte {error.start})") from error


def resolve_spec(spec: str) -> Path:
    """A path to read, or a UsageError that says what is there instead."""
    path = Path(spec)
    if path.is_dir():
        raise UsageError(f"{path} is a folder; expected a .gnarl file, such as {path}/*.gnarl")
    if path.exists():
        return path
    shipped = find_spec(spec) if spec.isidentifier() else None
    if shipped is not None:
        return shipped
    raise UsageError(f"there is no file {spec}{_suggest_file(path)}")


def _suggest_file(path: Path) -> str:
    from gnarl_dsl.report.suggestions import nearest

    beside = [str(p) for p in path.parent.glob("*.gnarl")] if path.parent.is_dir() else []
    names = {Path(p).name: p for p in beside} | {p.stem: p.stem for p in shipped_specs()}
    close = nearest(path.name, names)
    if close is None:
        return "\nExpected a .gnarl file or the name of a shipped spec, such as bfs."
    return f"\nDid you mean {names[close]}?"
