"""The driver of the compiler: a command's argument in; out: what each phase makes of it, as text.

    argument ─ read, parse, merge, check ─► Checked     gnarl_dsl.loading      --emit tree, problem
    Problem  ─ lower ─► IR                              gnarl_compiler.lower
    IR       ─ prune, hoist, tabulate, tally ─► IR      gnarl_compiler.passes  --emit ir, costs
    IR       ─ emit ─► a Python module of kernels       gnarl_compiler.emit    --emit python, -o

`--emit` names the point at which to stop and show what there is. The first line is the front end
and needs no NumPy; the others are `gnarl_compiler.build.generate`, which runs them in this order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, assert_never

from gnarl_compiler.build.files import write_module
from gnarl_compiler.describe.summary import Paint, plain, render_summary
from gnarl_compiler.describe.tree_text import render_tree
from gnarl_dsl.loading import Checked
from gnarl_dsl.model import Problem
from gnarl_dsl.report.diagnostics import Diagnostic
from gnarl_dsl.report.failures import Failure, UsageError
from gnarl_dsl.spec_arguments import check_argument
from gnarl_runtime.commands.options import FAILED, OK, USAGE
from gnarl_runtime.commands.work.outputs import verify_outputs

if TYPE_CHECKING:
    from gnarl_compiler.build.generate import Generated

Emit = Literal["summary", "tree", "problem", "ir", "costs", "python"]


@dataclass(frozen=True)
class Options:
    """What the user wishes for every file."""

    params: Mapping[str, str]
    allow_costly: bool = False
    werror: bool = False


@dataclass(frozen=True)
class Compiled:
    """One argument and how far it came: `checked` unless it could not be read."""

    file: str
    options: Options
    checked: Checked | None
    failure: str = ""

    @property
    def errors(self) -> list[Diagnostic]:
        return [finding for finding in self.diagnostics if finding.is_error]

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return self.checked.diagnostics if self.checked else ()

    @property
    def exit_code(self) -> int:
        if self.checked is None or _is_no_text(self.checked):
            return USAGE
        failed = self.errors or (self.options.werror and self.diagnostics)
        return FAILED if failed else OK


def compile_argument(argument: str, options: Options) -> Compiled:
    """Run the front end; an argument that cannot be read is a failure of its own."""
    try:
        checked = check_argument(argument, options.params, options.allow_costly)
    except UsageError as error:
        return Compiled(argument, options, None, str(error))
    return Compiled(checked.sources[0].name, options, checked)


def emit(compiled: Compiled, what: Emit, heading: Paint = plain) -> str:
    """What there is to show: a tree even of a spec with mistakes, the rest without them."""
    if compiled.checked is None:
        return ""
    if what == "tree":
        return render_tree(compiled.checked.tree, compiled.checked.sources[0])
    problem = _sound(compiled)
    if problem is None:
        return ""
    match what:
        case "summary":
            return render_summary(problem, heading)
        case "problem":
            return problem.model_dump_json(indent=2) + "\n"
        case "ir":
            return _generated(problem).ir
        case "costs":
            return _generated(problem).costs
        case "python":
            return _generated(problem).python
    assert_never(what)


def verify_modules(results: Sequence[Compiled], folder: Path) -> None:
    """Raise a UsageError if a module would replace a spec, another module, or a run's file."""
    modules = {
        f"-o for {result.file}": folder / f"{problem.name}.py"
        for result in results
        if (problem := _sound(result)) is not None
    }
    checked = [result.checked for result in results if result.checked]
    read = [source.name for front in checked for source in front.sources]
    verify_outputs(modules, read)


def write_generated(compiled: Compiled, folder: Path) -> Path | None:
    """Write the generated module to a folder; None for a spec with mistakes."""
    problem = _sound(compiled)
    if problem is None:
        return None
    text = _generated(problem).python
    try:
        return write_module(text, folder, problem.name)
    except OSError as error:
        raise UsageError(f"-o {folder}: {error.strerror or error}") from error


def _sound(compiled: Compiled) -> Problem | None:
    problem = compiled.checked.problem if compiled.checked else None
    return problem if compiled.exit_code == OK else None


def _generated(problem: Problem) -> Generated:
    # Code generation needs NumPy, which checking a spec does not.
    from gnarl_compiler.build.generate import Unsupported, generate

    try:
        return generate(problem)
    except Unsupported as error:
        raise Failure(
            f"{problem.name} cannot be compiled: {error}; gnarl-trace can run it"
        ) from error


def _is_no_text(checked: Checked) -> bool:
    """Whether the file itself, not one that it extends, is something else than UTF-8."""
    return not checked.sources[0].text and any(f.code == "GN001" for f in checked.diagnostics)
