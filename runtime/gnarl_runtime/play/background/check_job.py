"""A spec in, whether it describes the problem that was meant out: the work of `gnarl-check`."""

from __future__ import annotations

from typing import Any

from gnarl_dsl.model import Problem
from gnarl_dsl.report.source import Span
from gnarl_runtime.api.asked import FLAGS
from gnarl_runtime.api.check_spec import make_options, run_check, verify_wishes
from gnarl_runtime.checks.findings.findings import Failure
from gnarl_runtime.instances.instance_json import case_of
from gnarl_runtime.play.background.job_worker import Told
from gnarl_runtime.play.background.task_spec import problem_of_task

_NODES, _EXAMPLES, _STATES = 4, 500, 200_000  # as the command has them


def check_job(task: dict[str, Any], told: Told) -> dict[str, Any]:
    problem = problem_of_task(task)
    fast = bool(task["fast"])
    options = make_options(_NODES, _EXAMPLES, _STATES, int(task["seed"]), fast, False, None, None)
    verify_wishes(problem, options, options.max_nodes, FLAGS)
    report = run_check(problem, options, told)
    return {
        "ok": report.ok,
        "text": str(report),
        "hash": problem.hash,
        "seconds": report.seconds,
        "failures": [_failure(problem, failure) for failure in report.failures],
        "lints": [
            {"name": lint.name, "message": lint.message, "line": _line(problem, lint.span)}
            for lint in report.lints
        ],
    }


def _failure(problem: Problem, failure: Failure) -> dict[str, Any]:
    """With everything that it takes to play it."""
    return {
        "property": failure.property,
        "expert": failure.expert,
        "message": failure.message,
        "count": failure.count,
        "line": _line(problem, failure.span),
        "case": case_of(problem, failure.instance).model_dump(mode="json"),
        "picks": [int(pick) for pick in failure.picks],
    }


def _line(problem: Problem, span: Span | None) -> int | None:
    """The line of the spec itself, from 1."""
    return problem.line_of(span) if span is not None and span.file == 0 else None
