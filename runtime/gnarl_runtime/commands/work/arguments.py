"""Texts from a command line go in, checked numbers and names come out; needs nothing heavy."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.spec_arguments import load_problem, parse_params
from gnarl_runtime.api.asked import FLAGS, MOST_NODES, verify_input, verify_output, verify_playing
from gnarl_runtime.checkpoints.pretrained import chosen_checkpoint
from gnarl_runtime.commands.options import add_extern, add_param, add_seed

if TYPE_CHECKING:
    from gnarl_dsl.model import Code, Problem

CHECKPOINT = "a run folder, or a checkpoint in it"


def add_policy_arguments(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """What every command takes that plays a trained policy, or several beside each other."""
    add = parser.add_argument
    if several:
        told = f"{CHECKPOINT}; several of the same spec play the same graphs"
        add("checkpoint", nargs="*", metavar="RUN", help=told)
    else:
        add("checkpoint", nargs="?", metavar="RUN", help=CHECKPOINT)
    add("--pretrained", metavar="NAME", help="the shipped weights for a problem instead")
    add("--spec", metavar="SPEC", help="another spec than the one that was trained on")
    add_param(parser)
    add_extern(parser, accept=True)
    drawn = "draw picks instead of taking the best; 0: the best (default: what the recipe says)"
    add("--temperature", type=float, metavar="T", help=drawn)
    add("--max-rounds", type=int, metavar="K", help="cut episodes off there, at the latest")
    add_seed(parser, "instances and drawn picks")
    add("--threads", type=int, default=1, metavar="K", help="of the network (default 1)")


def verify_policy_arguments(args: argparse.Namespace) -> None:
    """Raise a UsageError for values that make no sense, before anything slow happens."""
    args.checkpoint = chosen_checkpoint(args.checkpoint, args.pretrained, CHECKPOINT)
    verify_run(args.checkpoint)
    verify_numbers_of_play(args)


def verify_run(path: str) -> None:
    """Raise a UsageError unless something is there."""
    if not Path(path).exists():
        raise UsageError(f"there is no {path}; expected {CHECKPOINT}")


def verify_numbers_of_play(args: argparse.Namespace) -> None:
    """The same for those that are numbers."""
    samples = 1 if args.samples is None else args.samples
    verify_playing(FLAGS, args.temperature, samples, args.threads, args.seed, args.max_rounds)


def other_problem(
    args: argparse.Namespace,
) -> tuple[Problem | None, dict[str, str], Code | None, bool]:
    """What `--spec` and `-p` say: another problem, or other params of the policy's own.

    And the code that `--extern` brings, and whether it may be other code than in training.
    """
    from gnarl_dsl.externs import read_code

    params = parse_params(args.param)
    code = read_code(args.extern) if args.extern else None
    if args.spec is None:
        return None, params, code, args.accept_extern
    problem = load_problem(args.spec, params, args.allow_costly, code or ())
    return problem, {}, code, args.accept_extern


def verify_file_to_read(flag: str, path: str | None) -> None:
    """Raise a UsageError unless a file is there, or none is asked for."""
    if path is not None:
        verify_input(f"{flag} {path}", path)


def verify_file_to_write(flag: str, path: str | None, endings: tuple[str, ...] = ()) -> None:
    """Raise a UsageError now rather than after the work, if a file cannot be written there."""
    if path is not None:
        verify_output(f"{flag} {path}", path, endings)


def parse_sizes(text: str | None) -> tuple[int, ...]:
    """`16,64,256` as numbers of nodes, each once, in that order."""
    if text is None:
        return ()
    sizes = []
    for part in text.split(","):
        word = part.strip()
        if not (word.isascii() and word.isdigit() and 1 <= int(word[:9]) <= MOST_NODES):
            raise UsageError(
                f"--sizes {text}: found `{word}`; expected numbers of nodes from 1 to "
                f"{MOST_NODES:,} with commas between, such as 16,64,256"
            )
        sizes.append(int(word))
    return tuple(dict.fromkeys(sizes))


def parse_names(flag: str, text: str | None) -> tuple[str, ...]:
    """`a,b` as names, each once."""
    names = [part.strip() for part in text.split(",")] if text is not None else []
    if not all(names):
        raise UsageError(f"{flag} {text}: expected names with commas between")
    return tuple(dict.fromkeys(names))
