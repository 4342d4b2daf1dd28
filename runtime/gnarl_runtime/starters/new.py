"""`gnarl-new`: a name and three answers in, a spec that can be trained as it is out."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.commands.console import run_command, write
from gnarl_runtime.commands.options import OK, command_parser
from gnarl_runtime.starters.choices import QUESTIONS, Goal, Graphs, Picked, Question

EXAMPLES = """
  gnarl-new guards                                    asks three questions, writes guards.gnarl
  gnarl-new guards --picks nodes --goal best --graphs hubs
  gnarl-new tour --picks order --goal best --graphs complete --print
"""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_TRIES = 3


def build_parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "gnarl-new",
        "Write a first spec of your own: one that compiles, passes gnarl-check and can be trained "
        "as it is, with comments where to change it. What no flag says is asked.",
        EXAMPLES,
        ok="the spec was written",
        failed="not used",
    )
    add = parser.add_argument
    add("name", metavar="NAME", help="of the problem; the spec is NAME.gnarl, in this folder")
    for question in QUESTIONS:
        add(f"--{question.flag}", choices=list(question.answers), help=question.asks)
    add("--print", action="store_true", help="to standard output; nothing is written")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    return run_command("gnarl-new", lambda: _new(build_parser().parse_args(argv)))


def _new(args: argparse.Namespace) -> int:
    path = _path_for(args.name)
    _verify_name(path.stem)
    if not args.print:
        _verify_free(path)
    answers = [getattr(args, question.flag) or _ask(question) for question in QUESTIONS]
    text = _spec(path.stem, *answers)
    if args.print:
        write(text)
        return OK
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        _verify_free(path)
    write(f"wrote {path}\n{_told(answers)}\n\n{_NEXT.format(path=path, name=path.stem)}")
    return OK


_NEXT = """\
  gnarl-check {path}
  gnarl-train --spec {path} --minutes 1 --out runs/{name}
  gnarl-eval runs/{name}
"""


def _path_for(name: str) -> Path:
    path = Path(name)
    path = path if path.suffix == ".gnarl" else Path(f"{name}.gnarl")
    if not _NAME.match(path.name.removesuffix(".gnarl")):
        likely = re.sub(r"\W+", "_", path.stem, flags=re.ASCII).strip("_").lower()
        fix = f"\nDid you mean {likely}?" if _NAME.match(likely) else ""
        raise UsageError(
            f"{name[:80]}: expected a name of a-z, A-Z, 0-9 and _, such as guards{fix}"
        )
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {path.parent}; make it first")
    return path


def _verify_name(name: str) -> None:
    """Raise a UsageError for a name that no spec may have, such as a word of the language."""
    from gnarl_dsl.report.diagnostics import Collector
    from gnarl_dsl.report.source import Source
    from gnarl_dsl.report.wording import fix_of, message_of
    from gnarl_dsl.syntax.parse import parse_spec

    found = Collector()
    parse_spec(Source(name, f"gnarl 1\nproblem {name}\n"), 0, found)
    for finding in found:
        raise UsageError(f"{message_of(finding)}\n{fix_of(finding)}")


def _verify_free(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise UsageError(f"{path} is there already and is left as it is; choose another name")


def _ask(question: Question) -> str:
    """An answer from whoever sits there: a word, its beginning, or its number in the list."""
    known = list(question.answers)
    shown = [
        f"  {k}  {name:<9} {what}" for k, (name, what) in enumerate(question.answers.items(), 1)
    ]
    print("\n".join([question.asks, *shown]), file=sys.stderr)
    for _ in range(_TRIES):
        print("> ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline() if sys.stdin is not None else ""
        if not line:
            break
        given = line.strip().lower()
        if given.isdecimal() and 1 <= int(given) <= len(known):
            return known[int(given) - 1]
        meant = [name for name in known if given and name.startswith(given)]
        if len(meant) == 1:
            return meant[0]
        print(f"Expected one of {', '.join(known)}, or its number.", file=sys.stderr)
    flag = f"--{question.flag} {{{','.join(known)}}}"
    raise UsageError(f"no answer to: {question.asks}\nNothing was written; say {flag}.")


def _spec(name: str, picked: str, goal: str, graphs: str) -> str:
    from gnarl_runtime.starters.first_spec import first_spec

    return first_spec(name, Picked(picked), Goal(goal), Graphs(graphs))


def _told(answers: Sequence[str]) -> str:
    said = zip(QUESTIONS, answers, strict=True)
    return "\n".join(f"  {flag.flag:<6} {answer}: {flag.answers[answer]}" for flag, answer in said)


if __name__ == "__main__":
    raise SystemExit(main())
