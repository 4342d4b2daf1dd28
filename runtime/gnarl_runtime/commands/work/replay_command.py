"""The work of `gnarl-check --replay`: a witness file in, whether it still shows out."""

from __future__ import annotations

import argparse
import json

from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.checks.report.report_json import failure_record
from gnarl_runtime.checks.witness import witness_files
from gnarl_runtime.checks.witness.telling import render
from gnarl_runtime.commands.console import write
from gnarl_runtime.commands.options import FAILED, OK


def replay_command(args: argparse.Namespace, problem: Problem | None) -> int:
    """Play a saved counterexample again; 1 if it still shows, 0 if it does not."""
    try:
        replayed = witness_files.replay(args.replay, problem)
    except witness_files.WitnessError as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(f"--replay {args.replay}: {error.strerror or error}") from error
    if args.format == "json":
        record = failure_record(replayed.problem, replayed.failure)
        write(json.dumps({"version": 1, "happens": replayed.happens, **record}, indent=2) + "\n")
    else:
        failure = replayed.failure
        name = " ".join(filter(None, (failure.property, failure.expert)))
        word = "still shows" if replayed.happens else "no longer shows"
        if replayed.happens:
            write(render(replayed.problem, failure).rstrip() + "\n\n")
        write(f"{replayed.problem.name}: {name} {word}\n")
    return FAILED if replayed.happens else OK
