"""`gnarl-sweep`: a study in, trained runs, a table and the best recipe out."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.spec_arguments import load_problem
from gnarl_runtime.api.asked import FLAGS, verify_least
from gnarl_runtime.api.recipe_choice import choose_recipe, verify_recipe
from gnarl_runtime.commands.console import run_command
from gnarl_runtime.commands.jobs.extras import require_extra
from gnarl_runtime.commands.options import add_extern, command_parser
from gnarl_runtime.sweeps.study_file import StudyError, load_study, study_path, verify_study

EXAMPLES = """
  gnarl-sweep study.toml                     all trials, one after the other, in runs/study
  gnarl-sweep study.toml --jobs 4            four at a time; any of them may be killed and replaced
  gnarl-sweep study.toml --table             what is known so far
  gnarl-sweep study.toml --jobs 64 --slurm partition=cpu --slurm timeout_min=240
  gnarl-sweep paper_bfs --jobs 2             a part of the paper's grid
  gnarl-sweep study.toml --storage postgresql+psycopg://me@host/studies
"""


def build_parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "gnarl-sweep",
        "Try out many settings of a recipe, with Optuna. Trials that were begun by a process that "
        "is gone are taken up again by the next one; start as many processes as there is room for.",
        EXAMPLES,
        ok="every trial is finished",
        failed="no trial came to a policy",
    )
    add = parser.add_argument
    add("study", metavar="STUDY.toml", help="what to try (docs/sweeps.md), or a shipped study")
    add("--out", type=Path, metavar="DIR", help="folder of the study (default runs/STUDY)")
    add("--jobs", type=int, default=1, metavar="N", help="processes here, or jobs of a cluster")
    add("--storage", metavar="URL", help="a database instead of a file in the folder")
    add(
        *("--slurm",),
        action="append",
        metavar="KEY=VALUE",
        help="hand the jobs to Slurm by submitit; `local` runs them on this machine",
    )
    add("--table", action="store_true", help="only print what is known so far")
    add_extern(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    return run_command("gnarl-sweep", lambda: _run(build_parser().parse_args(argv)))


def _run(args: argparse.Namespace) -> int:
    verify_least(FLAGS, "jobs", args.jobs, 1)
    file = study_path(args.study)
    plan = load_study(file)
    params = {name: str(value) for name, value in plan.params.items()}
    problem = load_problem(plan.spec, params, False, args.extern)
    name, base = choose_recipe(problem, plan.recipe, {}, "set")
    if name == "auto":
        raise StudyError(
            f"{file}: recipe: {problem.name} has none; expected a recipe's name or a file"
        )
    verify_recipe(problem, base, name)
    verify_study(base, plan, str(file))
    out = args.out or Path("runs") / file.stem
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out}: expected a folder, found a file")
    require_extra("sweep", "optuna", "filelock", "joblib", "tomli_w")
    if args.slurm:
        require_extra("sweep", "submitit")
    from gnarl_runtime.commands.jobs.sweep_command import Sweep, sweep_command

    sweep = Sweep(file, plan, problem, base, name, out, args.storage)
    return sweep_command(sweep, args.jobs, args.slurm, args.table)


if __name__ == "__main__":
    raise SystemExit(main())
