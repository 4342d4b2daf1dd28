"""A checked problem in, its IR and the text of its kernels out: the back half of the compiler."""

from __future__ import annotations

from dataclasses import dataclass

from gnarl_compiler.emit.module import emit_module
from gnarl_compiler.ir.ops import Program, Unsupported
from gnarl_compiler.ir.printing import print_program
from gnarl_compiler.ir.verify import verify_program
from gnarl_compiler.lower.program import lower_problem
from gnarl_compiler.passes.chains import keep_chains
from gnarl_compiler.passes.costs import print_costs
from gnarl_compiler.passes.near import keep_near
from gnarl_compiler.passes.pruning import EVERYTHING, Mode, hoist_inputs, prune
from gnarl_compiler.passes.tabulate import tabulate
from gnarl_compiler.passes.tally import tally
from gnarl_dsl.model import Problem


@dataclass(frozen=True)
class Generated:
    """What the compiler makes of a problem, in both its forms."""

    program: Program
    python: str
    found_anew: Program  # the same before writes kept anything but tables

    @property
    def ir(self) -> str:
        return print_program(self.program)

    @property
    def costs(self) -> str:
        return print_costs(self.found_anew, self.program)


def generate(problem: Problem, reward: str | None = None, mode: Mode = EVERYTHING) -> Generated:
    """Lower, run the passes and emit; the IR is verified after every pass."""
    lowered = lower_problem(problem, reward)
    verify_program(lowered, problem)
    pruned = prune(lowered, mode)
    verify_program(pruned, problem)
    hoisted = hoist_inputs(pruned, problem)
    verify_program(hoisted, problem)
    tabled = tabulate(hoisted, problem)
    verify_program(tabled, problem)
    neared = keep_near(tabled, problem)
    verify_program(neared, problem)
    chained = keep_chains(neared, problem)
    verify_program(chained, problem)
    tallied = tally(chained, problem)
    verify_program(tallied, problem)
    return Generated(tallied, emit_module(tallied, problem), tabled)


__all__ = ["Generated", "Unsupported", "generate"]
