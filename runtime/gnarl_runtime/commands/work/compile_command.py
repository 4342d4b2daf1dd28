"""The work of `gnarl-compile`: parsed arguments in, standard output and an exit code out."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import fill

from gnarl_compiler.describe.summary import bold, plain
from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.report.render import render_all, to_record
from gnarl_dsl.report.suggestions import edit_distance
from gnarl_dsl.report.wording import explain, load_wordings
from gnarl_dsl.spec_arguments import parse_params
from gnarl_runtime.commands.console import write
from gnarl_runtime.commands.options import OK
from gnarl_runtime.commands.work.phases import (
    Compiled,
    Options,
    compile_argument,
    emit,
    verify_modules,
    write_generated,
)

JSON_VERSION = 1
_TEXT_WIDTH = 88


def compile_command(args: argparse.Namespace) -> int:
    """Compile every file, show each; the worst of their exit codes."""
    if not args.specs:
        raise UsageError(
            "no spec given; expected a .gnarl file or the name of a shipped spec\n"
            "For example: gnarl-compile bfs (more with --help)"
        )
    options = Options(parse_params(args.param), args.allow_costly, args.werror)
    for file in args.extern:
        told = "is not run: what is shown here needs no code; commands that play take it"
        print(f"gnarl-compile: --extern {file} {told}", file=sys.stderr)
    results = [compile_argument(spec, options) for spec in args.specs]
    if args.out is not None:
        verify_modules(results, Path(args.out))
    for result in results:
        _show(result, args)
        if args.out is not None:
            _save(result, args)
    if args.format == "json":
        write(_document(results))
    return max(result.exit_code for result in results)


def _show(result: Compiled, args: argparse.Namespace) -> None:
    if result.failure:
        print(f"gnarl-compile: {result.failure}", file=sys.stderr)
    if args.format == "json":
        return
    if not args.quiet and (args.emit or args.out is None):
        paint = bold if _wants_colour() else plain
        write(emit(result, args.emit or "summary", paint), styled=paint is bold)
    for text in _diagnostics(result):
        print(text, file=sys.stderr)


def _save(result: Compiled, args: argparse.Namespace) -> None:
    path = write_generated(result, Path(args.out))
    if path is not None and args.format != "json":
        print(f"wrote {path}", file=sys.stderr)


def _diagnostics(result: Compiled) -> Iterator[str]:
    if result.checked is not None and result.diagnostics:
        yield render_all(result.diagnostics, result.checked.sources)
        yield f"{_count(result)} in {result.file}"


def _count(result: Compiled) -> str:
    errors = len(result.errors)
    warnings = len(result.diagnostics) - errors
    counts = ((errors, "error"), (warnings, "warning"))
    return ", ".join(f"{n} {word}{'s' * (n != 1)}" for n, word in counts if n)


def _document(results: Iterable[Compiled]) -> str:
    import json

    files = [_record(result) for result in results]
    return json.dumps({"version": JSON_VERSION, "files": files}, indent=2) + "\n"


def _record(result: Compiled) -> dict[str, object]:
    problem = result.checked.problem if result.checked else None
    sources = result.checked.sources if result.checked else ()
    return {
        "file": result.file,
        "ok": result.exit_code == OK,
        "error": result.failure or None,
        "name": problem.name if problem else None,
        "hash": problem.hash if problem else None,
        "deployable": problem.deployable if problem else None,
        "diagnostics": [to_record(finding, sources) for finding in result.diagnostics],
    }


def explain_command(code: str) -> int:
    """`--explain CODE`, or all codes with their titles."""
    if code.lower() == "all":
        wordings = load_wordings().items()
        write("".join(f"{name}  {wording.title}\n" for name, wording in wordings))
        return OK
    text = explain(code.upper())
    if text is None:
        close = min(load_wordings(), key=lambda known: edit_distance(code.upper()[:40], known))
        raise UsageError(
            f"there is no diagnostic {code[:40]}; expected a code such as {close}\n"
            "--explain all lists them."
        )
    write("".join(f"{_filled(line)}\n" for line in text.splitlines()))
    return OK


def _filled(line: str) -> str:
    return line if line.startswith(" ") else fill(line, _TEXT_WIDTH)


def _wants_colour() -> bool:
    return sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
