"""Reports go in, the JSON document of `gnarl-check --format json` comes out.

    {"version": 1, "seed": 0, "specs": [{
       "name", "hash", "passed", "seconds", "examples",
       "sizes":    [{"nodes", "graphs", "instances", "possible", "complete", "states",
                     "transitions", "depth", "live", "winnable", "undecided"}],
       "experts":  [{"name", "states", "labelled", "recoverable", "winnable", "undecided"}],
       "failures": [{"property", "expert", "message", "count", "smallest", "line", "nodes",
                     "edges", "inputs", "picks"}],
       "waived":   [{"property", "expert", "message", "count", "line", "reason"}],
       "lints":    [{"name", "message", "figures", "line"}]}]}

`depth` is null where everything was explored, else the number of picks to which all states are
known. `line` counts from 1 and is null where no line is to blame.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from gnarl_dsl.model import Problem
from gnarl_dsl.report.source import Span
from gnarl_dsl.syntax.waivers import Waiver
from gnarl_runtime.checks.findings.findings import Failure, Lint, Report
from gnarl_runtime.checks.findings.wishes import Options

VERSION = 1


def document(reports: Sequence[Report], options: Options) -> str:
    """The text of one document for all reports."""
    specs = [_record(report) for report in reports]
    return json.dumps({"version": VERSION, "seed": options.seed, "specs": specs}, indent=2) + "\n"


def _record(report: Report) -> dict[str, Any]:
    problem = report.problem
    return {
        "name": problem.name,
        "hash": problem.hash,
        "passed": report.passed,
        "seconds": round(report.seconds, 3),
        "examples": report.examples,
        "sizes": [asdict(size) for size in report.sizes],
        "experts": [asdict(expert) for expert in report.experts],
        "failures": [failure_record(problem, failure) for failure in report.failures],
        "waived": [_waived(failure, waiver) for failure, waiver in report.waived],
        "lints": [_lint(problem, lint) for lint in report.lints],
    }


def failure_record(problem: Problem, failure: Failure) -> dict[str, Any]:
    """One failure with its witness."""
    instance = failure.instance
    return {
        "property": failure.property,
        "expert": failure.expert,
        "message": failure.message,
        "count": failure.count,
        "smallest": failure.smallest,
        "line": _line(problem, failure.span),
        "nodes": instance.graph.n,
        "edges": instance.graph.edges().tolist(),
        "inputs": {name: np.asarray(value).tolist() for name, value in instance.inputs.items()},
        "picks": list(failure.picks),
    }


def _waived(failure: Failure, waiver: Waiver) -> dict[str, Any]:
    """What a comment of the spec waives; `line` is the comment's."""
    return {
        "property": failure.property,
        "expert": failure.expert,
        "message": failure.message,
        "count": failure.count,
        "line": waiver.line,
        "reason": waiver.reason,
    }


def _lint(problem: Problem, lint: Lint) -> dict[str, Any]:
    figures = {
        name: value if math.isfinite(value) else None for name, value in lint.figures.items()
    }
    line = _line(problem, lint.span)
    return {"name": lint.name, "message": lint.message, "figures": figures, "line": line}


def _line(problem: Problem, span: Span | None) -> int | None:
    return None if span is None else problem.line_of(span)
