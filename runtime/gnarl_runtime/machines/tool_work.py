"""The work of one tool: its arguments as JSON on standard input, its answer as JSON on the output.

python -m gnarl_runtime.machines.tool_work NAME     what the server starts for each call

A process of its own can be ended when its time is over, whatever a spec makes it do. Specs are
text: nothing that they bring is run, and they can extend shipped specs only.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gnarl_dsl.editing.document import Document
from gnarl_dsl.editing.fixes import applied, fixes
from gnarl_dsl.loading import Checked, check_text
from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import GnarlError
from gnarl_dsl.report.render import render_all, to_record
from gnarl_dsl.report.source import Source, normalise_text

Answer = dict[str, Any]
MAX_FIXES = 12
MEMORY = 4 << 30  # bytes
NOWHERE = Path("/nowhere")  # beside which no other spec lies


def checked_spec(spec: str, params: Mapping[str, str]) -> Checked:
    return check_text(spec, "spec.gnarl", params, folder=NOWHERE)


def mistakes(checked: Checked) -> Answer:
    """Every finding, as an editor has it and as a person reads it."""
    return {
        "ok": checked.problem is not None,
        "diagnostics": [to_record(own, checked.sources) for own in checked.diagnostics],
        "text": render_all(checked.diagnostics, checked.sources),
    }


def compile_spec(spec: str, params: Mapping[str, str]) -> Answer:
    from gnarl_compiler.describe.summary import render_summary

    checked = checked_spec(spec, params)
    found = mistakes(checked)
    if checked.diagnostics:
        document = Document(Source("spec.gnarl", normalise_text(spec)), checked)
        offered = fixes(document)[:MAX_FIXES]
        found["fixes"] = [
            {
                "code": own.finding.code,
                "title": own.title,
                "spec": applied(document.source.text, own.edits),
            }
            for own in offered
        ]
    if checked.problem is not None:
        found["hash"] = checked.problem.hash
        found["summary"] = render_summary(checked.problem)
    return found


def format_spec(spec: str) -> Answer:
    from gnarl_dsl.format.house_style import format_text

    return {"spec": format_text(spec)}


def check_spec(spec: str, params: Mapping[str, str], thorough: bool, seed: int) -> Answer:
    from gnarl_runtime.api.check_spec import check

    checked = checked_spec(spec, params)
    if checked.problem is None:
        return mistakes(checked)
    report = check(checked.problem, fast=not thorough, seed=seed)
    return {"ok": report.ok, "text": str(report), "report": json.loads(report.to_json())}


def trace_spec(
    spec: str, params: Mapping[str, str], nodes: int, seed: int, policy: str, expert: str, why: bool
) -> Answer:
    from gnarl_runtime.commands.work.trace_command import Request, report

    checked = checked_spec(spec, params)
    if checked.problem is None:
        return mistakes(checked)
    problem: Problem = checked.problem
    player = policy or ("expert" if problem.experts else "random")
    names = [own.name for own in problem.experts]
    if player == "expert" and (not names or (expert and expert not in names)):
        raise GnarlError(f"{problem.name} has the experts: {', '.join(names) or 'none'}")
    if not problem.instances:
        raise GnarlError(f"{problem.name} declares no instances to draw a graph from")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        report(problem, Request(nodes, seed, player, expert or None, None, None, why, "json"))
    return {"ok": True, **json.loads(out.getvalue())}


TOOLS: Mapping[str, Callable[..., Answer]] = {
    "compile": compile_spec,
    "format": format_spec,
    "check": check_spec,
    "trace": trace_spec,
}


def bound_memory() -> None:
    """No more than this, where the system can keep a process to it."""
    with contextlib.suppress(ImportError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main(name: str) -> int:
    """Answer once; a mistake of whoever asks is an answer, too."""
    bound_memory()
    arguments = json.loads(sys.stdin.buffer.read())
    try:
        answer = TOOLS[name](**arguments)
    except GnarlError as error:
        answer = {"error": str(error)}
    json.dump(answer, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
