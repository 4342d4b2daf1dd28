"""A graph of the user's own in, the best solution that a search finds out, told as it improves."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from gnarl_dsl.externs import read_code
from gnarl_dsl.model import Problem
from gnarl_runtime.api.asked import FLAGS, chosen_search
from gnarl_runtime.api.given_graphs import own_graphs
from gnarl_runtime.api.policies import torch_set_up
from gnarl_runtime.api.solve_graphs import (
    Unaided,
    notes_about,
    run_solve,
    solving_subject,
)
from gnarl_runtime.checkpoints.checkpoint import TrainedPolicy
from gnarl_runtime.evaluation.solving import Attempts
from gnarl_runtime.play.background.job_worker import Told
from gnarl_runtime.play.background.task_spec import problem_of_task
from gnarl_runtime.play.graphs_asked import Dropped, GraphAsked, instance_of, written
from gnarl_runtime.readers.raw import Imported
from gnarl_runtime.search.task import Moment


def solve_job(task: dict[str, Any], told: Told) -> dict[str, Any]:
    told("reading", 0, 1)
    problem = problem_of_task(task)
    policy, seed = task["policy"], int(task["seed"])
    strategy = chosen_search(FLAGS, task["search"], None, None, policy is not None)
    with torch_set_up(1):
        subject = _subject(policy, problem, task["extern"])
        graphs = _graphs(subject.problem, task["graph"], seed)[:1]
        notes = notes_about(subject, graphs, False, FLAGS)
        attempt = Attempts(strategy, subject.temperature(None), seed)

        def improved(number: int, moment: Moment) -> None:
            value = moment.value if problem.objectives else -moment.value
            told.found(seconds=moment.seconds, value=value + 0.0, right=moment.right)

        (solution,) = run_solve(
            *(subject, graphs, [attempt], task["name"], notes, FLAGS, told), improved=improved
        )
    return {
        "text": str(solution),
        "notes": list(solution.notes),
        "solution": solution.to_dict(),
        "picks": [int(pick) for pick in solution.episode.picks],
        "objective": solution.objective,
        "valid": solution.valid,
        "correct": solution.correct,
        "proven": solution.episode.proven,
        "nodes": graphs[0].graph.n,
    }


def _subject(policy: str | None, problem: Problem, extern: list[str]) -> TrainedPolicy | Unaided:
    return solving_subject(policy, problem, None, read_code(extern) if extern else None)


def _graphs(problem: Problem, asked: Any, seed: int) -> list[Imported]:
    """A file may be larger than a picture; other graphs come from one."""
    graph: Any = TypeAdapter(GraphAsked).validate_python(asked)
    if isinstance(graph, Dropped):
        with written(graph) as path:
            return own_graphs(problem, path, seed=seed)
    return own_graphs(problem, instance_of(problem, graph), seed=seed)
