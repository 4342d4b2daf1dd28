"""`gnarl-lsp`: a language server on standard input and output, for editors."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from typing import BinaryIO, cast

from gnarl_runtime.commands.console import run_command
from gnarl_runtime.commands.options import FAILED, OK, USAGE, command_parser

_EXAMPLES = """
  gnarl-lsp                       what an editor runs; it speaks on standard input and output
  gnarl-lsp --log /tmp/gnarl.log  the same, with a record of what went wrong
"""


def build_parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "gnarl-lsp",
        "Serve editors over the Language Server Protocol: mistakes as you type with their fixes, "
        "hover, go to definition, references, rename, completion, formatting, outline, folding, "
        "types and levels. docs/editors.md shows how to set it up.",
        _EXAMPLES,
        ok="the editor ended the session",
        failed="what the editor sent was no message",
    )
    add = parser.add_argument
    add("--stdio", action="store_true", help="the default, and the only way; editors may add it")
    add("--log", metavar="FILE", help="append messages for whoever mends the server")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    return run_command("gnarl-lsp", lambda: _serve(build_parser().parse_args(argv)))


def _serve(args: argparse.Namespace) -> int:
    try:
        from gnarl_dsl.editing.server import make_server
        from gnarl_dsl.editing.wire.protocol import Messages
    except ModuleNotFoundError as error:
        print(
            f"gnarl-lsp: {error.name} is not installed; the server needs the extra `lsp`\n"
            "Likely fix: pip install 'gnarl-dsl[lsp]'",
            file=sys.stderr,
        )
        return USAGE
    try:
        keep_log(args.log)
    except OSError as error:
        print(f"gnarl-lsp: --log {args.log}: {error.strerror}", file=sys.stderr)
        return USAGE
    # The reader that pygls starts is asked for bytes only.
    messages = Messages(sys.stdin.buffer)
    make_server().start_io(cast(BinaryIO, messages))
    if messages.broken:
        expected = "expected Content-Length: NUMBER and an empty line before every message"
        print(f"gnarl-lsp: {messages.broken}; {expected}", file=sys.stderr)
        return FAILED
    return OK


def keep_log(path: str | None) -> None:
    """Append what the server logs to a file; standard error belongs to the editor."""
    if path is not None:
        root = logging.getLogger()
        root.addHandler(logging.FileHandler(path, encoding="utf-8"))
        root.setLevel(logging.INFO)


if __name__ == "__main__":
    raise SystemExit(main())
