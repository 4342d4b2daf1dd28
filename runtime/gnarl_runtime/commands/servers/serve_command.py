"""The work of `gnarl-serve`: parsed arguments in, graphs answered until Ctrl-C, exit code out."""

from __future__ import annotations

import argparse
import sys

from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.api.policies import torch_set_up
from gnarl_runtime.commands.console import write
from gnarl_runtime.commands.options import OK
from gnarl_runtime.commands.servers.serve import USUAL_PORT
from gnarl_runtime.serving.batches import Limits
from gnarl_runtime.serving.serve_app import serve_app
from gnarl_runtime.serving.served_policy import Bounds, ServedPolicy, load_served
from gnarl_runtime.web.running import Running, address_of, listen


def serve_command(args: argparse.Namespace) -> int:
    """Load, compile, listen, serve."""
    bounds, limits = Bounds(args.nodes, args.seconds), Limits(most=args.batch)
    with torch_set_up(args.threads):
        served = [load_served(given, bounds, limits) for given in args.runs]
        names = [own.name for own in served]
        if len(set(names)) < len(names):
            raise UsageError(f"two runs are called alike: {', '.join(names)}; rename a folder")
        listening = listen(args.port, USUAL_PORT)
        for own in served:
            _warm(own)
        address = address_of(listening, "")

        def started() -> None:
            paths = ["solve"] if len(served) == 1 else [f"solve/{name}" for name in names]
            write("".join(f"POST {address}{path}\n" for path in paths))

        # A request that is solved together with larger ones may wait for them.
        Running(serve_app(served, 2 * args.seconds), listening, "", started).run()
    return OK


def _warm(own: ServedPolicy) -> None:
    """What a problem asks of its graphs can forbid the small one; then the first request waits."""
    print(f"{own.name}: compiling", file=sys.stderr, flush=True)
    try:
        own.warm()
    except Exception as error:
        print(f"{own.name}: compiled with its first request ({error})", file=sys.stderr)
