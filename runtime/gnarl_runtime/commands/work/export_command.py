"""The work of `gnarl-export`: parsed arguments in, an archive on disk, exit code out."""

from __future__ import annotations

import argparse

from gnarl_dsl.model import Problem
from gnarl_runtime.api.asked import FLAGS
from gnarl_runtime.api.export_trajectories import run_export, verify_export
from gnarl_runtime.commands.options import FAILED, OK
from gnarl_runtime.commands.work.progress import Progress
from gnarl_runtime.trajectories.probes import Stage
from gnarl_runtime.trajectories.trajectory import Trajectories


def export_command(args: argparse.Namespace, problem: Problem) -> int:
    """Play, write, say what was written and whether it is right."""
    wishes = (args.count, args.nodes, args.expert, args.split, args.instances, args.seed)
    verify_export(FLAGS, problem, *wishes, args.ties)
    with Progress(problem.name) as progress:
        found = run_export(problem, *wishes, args.ties, progress)
    found.save(args.out)
    print(f"{args.out}: {_summary(found)}")
    for stage in ("input", "hint", "output"):
        print(f"  {stage:<7} {_listed(found, stage)}")
    wrong = int((~found.correct).sum())
    if wrong:
        print(
            f"{wrong} of {len(found)} episodes of the expert `{found.expert}` do not end with a "
            f"right answer; `correct` in the archive says which (likely fix: gnarl-check)"
        )
    return FAILED if wrong else OK


def _summary(found: Trajectories) -> str:
    longest = int(found.lengths.max())
    return (
        f"{len(found)} episodes of the expert {found.expert} on {found.nodes} nodes, "
        f"{found.lengths.mean():.1f} states each, {longest} at most"
    )


def _listed(found: Trajectories, stage: Stage) -> str:
    return ", ".join(f"{p.name} ({p.location} {p.kind})" for p in found.by_stage[stage])
