"""Texts from a command line go in, checked numbers and names come out; needs nothing heavy."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.checkpoints.pretrained import chosen_checkpoint
from gnarl_runtime.commands.options import add_param, add_seed

MOST_NODES = 10_000
CHECKPOINT = "a run folder, or a checkpoint in it"


def add_policy_arguments(parser: argparse.ArgumentParser) -> None:
    """What every command takes that plays a trained policy."""
    add = parser.add_argument
    add("checkpoint", nargs="?", metavar="RUN", help=CHECKPOINT)
    add("--pretrained", metavar="NAME", help="the shipped weights for a problem instead")
    add("--spec", metavar="SPEC", help="another spec than the one that was trained on")
    add_param(parser)
    drawn = "draw picks instead of taking the best; 0: the best (default: what the recipe says)"
    add("--temperature", type=float, metavar="T", help=drawn)
    add("--max-rounds", type=int, metavar="K", help="cut episodes off there, at the latest")
    add_seed(parser, "instances and drawn picks")
    add("--threads", type=int, default=1, metavar="K", help="of the network (default 1)")


def verify_policy_arguments(args: argparse.Namespace) -> None:
    """Raise a UsageError for values that make no sense, before anything slow happens."""
    args.checkpoint = chosen_checkpoint(args.checkpoint, args.pretrained, CHECKPOINT)
    if not Path(args.checkpoint).exists():
        raise UsageError(f"there is no {args.checkpoint}; expected {CHECKPOINT}")
    if args.temperature is not None and not 0 <= args.temperature < float("inf"):
        raise UsageError(f"--temperature {args.temperature:g}: expected a number from 0 up")
    for flag, least in (("samples", 1), ("threads", 1), ("seed", 0), ("max-rounds", 1)):
        given = getattr(args, flag.replace("-", "_"))
        if given is not None and given < least:
            raise UsageError(f"--{flag} {given}: expected {least} or more")
    if args.samples > 1 and not args.temperature:
        raise UsageError(
            f"--samples {args.samples} without --temperature would play the same picks again; "
            "expected both, such as --temperature 0.05 --samples 100"
        )


def verify_output(flag: str, path: str | None, endings: tuple[str, ...] = ()) -> None:
    """Raise a UsageError now rather than after the work, if a file cannot be written there."""
    if path is None:
        return
    target = Path(path)
    folder = target.parent
    if target.is_dir():
        raise UsageError(f"{flag} {path}: is a folder; expected the name of a file")
    if not folder.is_dir():
        raise UsageError(f"{flag} {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{flag} {path}: nothing can be written in {folder}")
    if endings and target.suffix.lower() not in endings:
        raise UsageError(f"{flag} {path}: expected a name that ends in {' or '.join(endings)}")


def verify_input(flag: str, path: str | None) -> None:
    """Raise a UsageError unless a file is there."""
    if path is not None and not Path(path).is_file():
        what = "is a folder" if Path(path).is_dir() else "there is no such file"
        raise UsageError(f"{flag} {path}: {what}; expected a file of graphs")


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
