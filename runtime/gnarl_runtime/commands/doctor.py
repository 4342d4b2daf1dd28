"""`gnarl-doctor`: arguments in, what works and what does not on standard output out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from gnarl_runtime.commands.console import run_command
from gnarl_runtime.commands.options import FAILED, OK, add_format, command_parser
from gnarl_runtime.commands.work.progress import Progress
from gnarl_runtime.doctor.listing import as_json, line, verdict
from gnarl_runtime.doctor.looks import Finding, Probe, State, look

EXAMPLES = """
  gnarl-doctor               look at everything and try it out
  gnarl-doctor --quick       look only; compile and play nothing
  gnarl-doctor --json        for scripts and bug reports
"""
AGAIN = "install gnarl-dsl again in a fresh environment; if it stays, please report it"


def build_parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "gnarl-doctor",
        "Show versions, the kernel in use, threads, device, cache and extras, and try the whole "
        "way from a small spec to a policy's scores. Anything that does not work is named with "
        "the likely fix. The first run compiles the small spec, which takes some seconds.",
        EXAMPLES,
        ok="everything that was looked at works",
        failed="something is broken",
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="leave out the self-test")
    add_format(parser)
    add("--json", action="store_const", dest="format", const="json", help="short for --format json")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    return run_command("gnarl-doctor", lambda: _examine(build_parser().parse_args(argv)))


def _examine(args: argparse.Namespace) -> int:
    found: list[Finding] = []
    for finding in _awaited(examine(args.quick)):
        found.append(finding)
        if args.format == "text":
            print(line(finding), flush=True)
    tested = not args.quick
    print(as_json(found, tested) if args.format == "json" else f"\n{verdict(found, tested)}")
    return FAILED if any(finding.state is State.BROKEN for finding in found) else OK


def _awaited(findings: Iterator[Finding]) -> Iterator[Finding]:
    """The same; whoever waits long for the next one sees that something is going on."""
    while True:
        with Progress("gnarl-doctor") as progress:
            progress("looking", 0, 1)
            finding = next(findings, None)
        if finding is None:
            return
        yield finding


def examine(quick: bool) -> Iterator[Finding]:
    """Look at one thing after the other, the quick ones first."""
    try:
        from gnarl_runtime.doctor import machine
        from gnarl_runtime.doctor.selftest import self_test
    except ImportError as error:
        yield Finding("gnarl-dsl", f"cannot be imported: {error}", State.BROKEN, AGAIN)
        return
    probes: list[tuple[str, Probe, str]] = [
        ("versions", machine.versions, AGAIN),
        ("specs", machine.specs, AGAIN),
        ("extras", machine.extras, AGAIN),
        ("externs", machine.externs, AGAIN),
        ("C compiler", machine.compiler, "set CC to a C compiler"),
        ("cache", machine.cache, machine.OWN_CACHE),
        ("kernel", machine.kernel, "unset GNARL_KERNEL"),
        ("threads", machine.threads, AGAIN),
        ("device", machine.device, AGAIN),
        ("self-test", self_test, "see what is marked above; else please report it"),
    ]
    for topic, probe, fix in probes[:-1] if quick else probes:
        yield from look(topic, probe, fix)


if __name__ == "__main__":
    sys.exit(main())
