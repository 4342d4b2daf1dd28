"""A study in; out: a table, a picture, and the best recipe as a file that gnarl-train takes."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w
from optuna.trial import FrozenTrial, TrialState

from gnarl_compiler.build.files import write_whole
from gnarl_dsl.model import Problem
from gnarl_runtime.checkpoints.provenance import provenance
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.sweeps.studies import FINISHED, OpenStudy
from gnarl_runtime.sweeps.study_file import StudyPlan, recipe_at
from gnarl_runtime.sweeps.trials import SCORES, SECONDS, WHY, Subject

_SHOWN = 20  # rows of a table on a terminal


@dataclass(frozen=True)
class Row:
    """A finished trial."""

    number: int
    point: dict[str, Any]
    state: str
    scores: tuple[float, ...]  # success, reward, -steps of its best validation; () if it failed
    seconds: float
    why: str
    beside: bool

    @property
    def order(self) -> tuple[float, ...]:
        return self.scores or (-math.inf,)


def rows_of(own: OpenStudy, problem: Problem) -> list[Row]:
    """Finished trials, the best first: by the goal, then as validations are compared."""
    rows = [_row(own, trial) for trial in own.study.get_trials(deepcopy=False, states=FINISHED)]
    place = 0 if own.plan.goal_of(problem) == "success" else 1

    def order(row: Row) -> tuple[float, ...]:
        own = row.order
        return own if len(own) == 1 else (own[place], own[1 - place], *own[2:])

    return sorted(rows, key=lambda row: (*order(row), -row.number), reverse=True)


def _row(own: OpenStudy, trial: FrozenTrial) -> Row:
    known = trial.user_attrs
    return Row(
        trial.number,
        dict(trial.params),
        trial.state.name.lower(),
        tuple(known.get(SCORES, ())),
        float(known.get(SECONDS, 0.0)),
        str(known.get(WHY, "")),
        trial.number == own.beside,
    )


def table_text(own: OpenStudy, rows: list[Row], problem: Problem, most: int | None = _SHOWN) -> str:
    """A Markdown table of the best, and the one that is told beside them."""
    keys = list(own.plan.search)
    shown = [row for place, row in enumerate(rows) if most is None or place < most or row.beside]
    head = ["trial", *(key.removeprefix("policy.") for key in keys), "success", "reward", "steps"]
    lines = [_line([*head, "CPU s"]), _line(["---"] * (len(head) + 1))]
    lines += [_line(_cells(row, keys)) for row in shown]
    if len(shown) < len(rows):
        lines.append(f"\n{len(rows) - len(shown)} more in trials.md")
    return "\n".join(lines)


def _cells(row: Row, keys: list[str]) -> list[str]:
    name = f"{row.number} (beside)" if row.beside else str(row.number)
    point = [_value(row.point.get(key, "")) for key in keys]
    if not row.scores:
        return [name, *point, row.state, row.why.replace("|", "/")[:60], "", ""]
    success, reward, steps = row.scores
    figures = [f"{100 * success:.1f} %", f"{reward:.4g}", f"{-steps:.4g}"]
    return [name, *point, *figures, f"{row.seconds:.0f}"]


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def write_outcome(own: OpenStudy, subject: Subject, where: str) -> list[Row]:
    """All files of a study; whoever is last has written them last."""
    rows, folder = rows_of(own, subject.problem), own.folder
    title = f"# {own.plan.doc or 'Study'}\n\n"
    table = table_text(own, rows, subject.problem, None)
    write_whole(folder / "trials.md", f"{title}{table}\n".encode())
    record = {
        "study": where,
        "plan": json.loads(own.plan.model_dump_json()),
        "problem_hash": subject.problem.hash,
        "provenance": provenance(),
        "trials": [vars(row) for row in rows],
    }
    write_whole(folder / "trials.json", (json.dumps(record, indent=2) + "\n").encode())
    best = [row for row in rows if row.scores]
    if best:
        recipe = recipe_at(subject.base, own.plan, best[0].point, where)
        write_whole(folder / "best.toml", recipe_toml(recipe, own.plan, best[0]).encode())
    if len(best) > 1:
        draw_parallel(own, folder / "parallel.png")
    return rows


def recipe_toml(recipe: Recipe, plan: StudyPlan, row: Row) -> str:
    """A recipe as a file: what differs from the defaults, so that it can be read."""
    table = recipe.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    doc = f"Trial {row.number} of a study of {', '.join(plan.search)}."
    head = {"doc": doc, "trainer": recipe.trainer}
    return tomli_w.dumps({**head, **{k: v for k, v in table.items() if k not in head}})


def draw_parallel(own: OpenStudy, path: Path) -> None:
    """Optuna's picture: an axis for each key, a line for each trial."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from optuna.visualization.matplotlib import plot_parallel_coordinate

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plot_parallel_coordinate(own.study, params=_varied(own))
        figure = pyplot.gcf()
        figure.set_size_inches(1.6 * len(own.plan.search) + 3, 4)
        figure.savefig(path, dpi=120, bbox_inches="tight")
        pyplot.close(figure)


def _varied(own: OpenStudy) -> list[str]:
    """Keys of which more than one value was tried."""
    tried = own.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    seen = {key: {str(trial.params.get(key)) for trial in tried} for key in own.plan.search}
    return [key for key, values in seen.items() if len(values) > 1] or list(own.plan.search)
