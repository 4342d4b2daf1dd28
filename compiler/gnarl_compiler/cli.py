"""`gnarl-compile`: arguments in, the checked problem as text, diagnostics and an exit code out."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gnarl_dsl import __version__

# The front end takes most of the start-up time; --help and --version need none of it.
if TYPE_CHECKING:
    from gnarl_compiler.driver import Compiled, Options

EXAMPLES = """examples:
  gnarl-compile specs/bfs.gnarl               check a spec and show what it says
  gnarl-compile bfs                           the same, by the name of a shipped spec
  gnarl-compile bellman_ford -p stop=settled  with another value of a param
  gnarl-compile --quiet specs/*.gnarl         only the mistakes, in all files
  gnarl-compile --format json my.gnarl        the same for editors and scripts
  gnarl-compile --explain GN401               what a diagnostic means

exit codes: 0 fine, 1 mistakes in a spec, 2 mistakes on the command line
"""
JSON_VERSION = 1
_ASCII = str.maketrans({"ψ": "psi", "∅": "none", "∀": "for", "∈": "in", "²": "^2", "─": "-"})


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gnarl-compile",
        description="Check GNARL specs and show the problem that each describes.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("specs", nargs="*", metavar="SPEC", help="a .gnarl file, a shipped spec's name, or -")
    add("--emit", choices=["summary", "tree", "problem"], help="what to show (default: summary)")
    add("--format", choices=["text", "json"], default="text", help="json: for editors and scripts")
    add("-p", "--param", action="append", default=[], metavar="NAME=VALUE", help="set a param")
    add("--allow-costly", action="store_true", help="accept more than O(n^3) per step")
    add("--quiet", action="store_true", help="show diagnostics only")
    add("--werror", action="store_true", help="count warnings as errors")
    add("--explain", metavar="CODE", help="explain a diagnostic such as GN012, or list all")
    add("--version", action="version", version=f"gnarl-compile {__version__}")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    parser = build_parser()
    args = parser.parse_args(argv)
    if args.emit and args.format == "json":
        parser.error(f"--emit {args.emit} and --format json exclude each other")
    from gnarl_compiler.console import run_command

    return run_command("gnarl-compile", lambda: _run(args))


def _run(args: argparse.Namespace) -> int:
    code = explain(args.explain) if args.explain else compile_all(args)
    sys.stdout.flush()  # here, where a closed pipe is still expected
    return code


# Compiling


def compile_all(args: argparse.Namespace) -> int:
    from gnarl_compiler.driver import compile_argument

    options = _options(args)
    results = []
    for spec in args.specs:
        results.append(compile_argument(spec, options))
        if args.format == "text":
            _show_text(results[-1], args)
    if args.format == "json":
        _show_json(results)
    return max(result.exit_code for result in results)


def _options(args: argparse.Namespace) -> Options:
    from gnarl_compiler.console import UsageError, parse_params
    from gnarl_compiler.driver import Options

    if not args.specs:
        raise UsageError(
            "no spec given; expected a .gnarl file or the name of a shipped spec\n"
            "For example: gnarl-compile bfs (more with --help)"
        )
    return Options(parse_params(args.param), args.allow_costly, args.werror)


def _show_text(result: Compiled, args: argparse.Namespace) -> None:
    from gnarl_compiler.driver import emit
    from gnarl_compiler.summary import bold, plain

    if not args.quiet:
        _write(emit(result, args.emit or "summary", bold if _wants_colour() else plain))
    sys.stdout.flush()
    for line in _diagnostic_lines(result):
        print(line, file=sys.stderr)


def _diagnostic_lines(result: Compiled) -> Iterable[str]:
    if result.failure:
        yield f"gnarl-compile: {result.failure}"
    if result.checked is not None and result.diagnostics:
        from gnarl_dsl.render import render_all

        yield render_all(result.diagnostics, result.checked.sources)
        yield f"{_count(result)} in {result.file}"


def _count(result: Compiled) -> str:
    errors = len(result.errors)
    warnings = len(result.diagnostics) - errors
    counts = ((errors, "error"), (warnings, "warning"))
    return ", ".join(f"{n} {word}{'s' * (n != 1)}" for n, word in counts if n)


def _show_json(results: Iterable[Compiled]) -> None:
    import json

    document = {"version": JSON_VERSION, "files": [_record(result) for result in results]}
    _write(json.dumps(document, indent=2) + "\n")


def _record(result: Compiled) -> dict[str, object]:
    from gnarl_dsl.render import to_record

    problem = result.checked.problem if result.checked else None
    sources = result.checked.sources if result.checked else ()
    return {
        "file": result.file,
        "ok": result.exit_code == 0,
        "error": result.failure or None,
        "name": problem.name if problem else None,
        "hash": problem.hash if problem else None,
        "deployable": problem.deployable if problem else None,
        "diagnostics": [to_record(finding, sources) for finding in result.diagnostics],
    }


# Explaining


def explain(code: str) -> int:
    from textwrap import fill

    from gnarl_dsl.wording import explain as explanation_of

    if code.lower() == "all":
        _write("".join(f"{line}\n" for line in _all_codes()))
        return 0
    text = explanation_of(code.upper())
    if text is None:
        _raise_unknown(code)
    for line in str(text).splitlines():
        _write((line if line.startswith(" ") else fill(line, 88)) + "\n")
    return 0
