"""What decided a training and what came of it go in, tables and sentences come out."""

from __future__ import annotations

from collections.abc import Sequence

from gnarl_dsl.model import PlannedExpert, Problem
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.training.auto.choice import RANDOM, Standing

_WORDS = {"bc": "imitation", "ppo": "PPO", "improve": "self-improvement"}


def standings_table(problem: Problem, standings: Sequence[Standing]) -> str:
    """Who plays the validation graphs how well: the line to beat."""
    value = problem.objectives[0].name if problem.objectives else ""
    graphs = standings[0].graphs
    on = f"on {'' if graphs is None else f'{graphs} '}validation graphs"
    rows = [(on, "right" if problem.correct else "valid", value, "steps", "")]
    rows += [_row(problem, standing) for standing in standings]
    shown = [k for k in range(len(rows[0])) if any(row[k] for row in rows)]
    widths = [max(len(row[k]) for row in rows) for k in shown]
    lines = []
    for row in rows:
        cells = [row[k].rjust(width) for k, width in zip(shown, widths, strict=True)]
        cells[0] = cells[0].strip().ljust(widths[0])
        cells[-1] = cells[-1].strip() if row[-1] else cells[-1]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _row(problem: Problem, standing: Standing) -> tuple[str, str, str, str, str]:
    return (
        "random picks" if standing.name == RANDOM else f"expert {standing.name}",
        f"{100 * standing.success:.1f} %",
        "" if standing.objective is None else f"{standing.objective:.4g}",
        f"{standing.steps:.1f}",
        _remark(problem, standing),
    )


def _remark(problem: Problem, standing: Standing) -> str:
    """Why an expert is not among those to beat."""
    if not standing.reads_oracle:
        return ""
    made = isinstance(problem.expert(standing.name), PlannedExpert)
    return "(made for each graph)" if made else "(reads an oracle)"


def recipe_line(recipe: Recipe) -> str:
    """What a race has chosen, in one line."""
    words = {**_WORDS, "bc": f"imitation of {recipe.bc.expert}"}
    parts = [f"{words[name]} ({getattr(recipe, name).updates:,} updates)" for name in recipe.parts]
    own = recipe.policy
    network = f"{own.rounds} rounds of {own.aggregation} messages, {own.pooling} pooling"
    return f"chosen by a race: {', then '.join(parts)}; {network}"
