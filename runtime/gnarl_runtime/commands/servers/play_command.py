"""The work of `gnarl-play`: parsed arguments in, a page served until Ctrl-C, exit code out."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from gnarl_dsl.externs import read_code
from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.spec_arguments import resolve_spec
from gnarl_runtime.commands.console import write
from gnarl_runtime.commands.options import OK
from gnarl_runtime.commands.servers.play import USUAL_PORT
from gnarl_runtime.play.play_app import Wish, play_app
from gnarl_runtime.play.spec_folder import ENDING, Folder, SpecFile, shipped
from gnarl_runtime.web.running import Running, address_of, listen, new_token, open_browser


def play_command(args: argparse.Namespace) -> int:
    """Listen, say where, serve."""
    folder, opened = chosen(args.subject)
    code = read_code(args.extern) if args.extern else None
    app = play_app(Wish(folder, opened, args.seed, code, tuple(args.extern)))
    token = new_token()
    listening = listen(args.port, USUAL_PORT)
    address = address_of(listening, token)

    def started() -> None:
        write(f"{address}\nThe page of {folder.root}; Ctrl-C ends it.\n")
        if not args.no_browser:
            open_browser(address)

    Running(app, listening, token, started).run()
    sys.stdout.flush()
    os._exit(OK)  # an expert that is still being asked about a state that nobody looks at may go


def chosen(subject: str | None) -> tuple[Folder, SpecFile | None]:
    """The folder that the page may touch, and the spec that it opens."""
    path = Path(subject or ".")
    if path.is_dir():
        return Folder(path.resolve()), None
    found = resolve_spec(str(path))
    if not path.is_file():  # a shipped spec, by its name
        return Folder(Path.cwd()), shipped(str(path))
    if path.suffix != ENDING:
        raise UsageError(f"{subject}: expected a name that ends in {ENDING}, or a folder")
    folder = Folder(found.resolve().parent)
    return folder, folder.read(found.resolve().name)
