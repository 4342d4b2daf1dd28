"""A policy and what to play it on in, how well it does out."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.instances.draw import choose_split, draw_instance, family_of
from gnarl_compiler.instances.generators import GenerationError
from gnarl_dsl.externs import Given, read_code
from gnarl_dsl.loading import Spec
from gnarl_dsl.model import Code, Problem
from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.api.asked import (
    MOST_GRAPHS,
    PYTHON,
    Spelling,
    Tell,
    verify_attempts,
    verify_between,
    verify_playing,
    verify_sizes,
)
from gnarl_runtime.api.given_graphs import notes_of, own_graphs
from gnarl_runtime.api.policies import (
    Params,
    PolicyLike,
    compiled_or_told,
    load_policy,
    torch_set_up,
)
from gnarl_runtime.api.verdict import read_verdict
from gnarl_runtime.checkpoints.checkpoint import BEST, TrainedPolicy
from gnarl_runtime.checkpoints.recipe_reading import read_by_level
from gnarl_runtime.evaluation.comparisons import Comparison
from gnarl_runtime.evaluation.evaluate import FRESH, POLICY, Figures, Plan, Rival
from gnarl_runtime.evaluation.evaluate import evaluate as play_plan
from gnarl_runtime.evaluation.kept import Kept
from gnarl_runtime.evaluation.scales import unusual_scales
from gnarl_runtime.evaluation.summary import Row
from gnarl_runtime.evaluation.tables import document, machine, table_text
from gnarl_runtime.search.strategy import Strategy, parse_searches

_LOOKED_AT = 4  # graphs that tell how large numbers are
WIDTH = 140  # columns of a table that nobody's terminal limits


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How well a policy did, and others on the same graphs; `str()` is the table of `gnarl-eval`.

    The rows have, for each size, `nodes`, `graphs`, `success`, `ci95` (the 95 % interval of
    success), `objective`, `ratio`, `steps`, `seconds_per_graph`, `metrics` and more.
    """

    trained: TrainedPolicy
    figures: Figures
    seconds: float  # all of it, loading and drawing included
    data: str | None = None  # the file of the graphs, if they came from one
    notes: tuple[str, ...] = ()  # what was drawn or left out when graphs were read
    others: tuple[TrainedPolicy, ...] = ()  # of the same problem, which played the same graphs

    @property
    def rows(self) -> Sequence[Row]:
        """The policy's, one per size."""
        return self.figures.rows

    @property
    def baselines(self) -> Mapping[str, Sequence[Row]]:
        """The same for everybody that it was compared with."""
        return self.figures.baselines

    @property
    def rivals(self) -> Mapping[str, Sequence[Row]]:
        """The same for the other trained policies."""
        return self.figures.rivals

    @property
    def comparisons(self) -> Sequence[Comparison]:
        """Who is better on the same graphs, two players and one size at a time."""
        return [*self.figures.among_runs, *self.figures.with_baselines]

    @property
    def heading(self) -> str:
        """`mvc, runs/mvc: test graphs, seed 0, ratio to the expert optimal`."""
        plan, reference = self.figures.plan, self.figures.reference
        given = plan.data is not None
        source = "given graphs" if given else f"{plan.split} graphs, seed {plan.seed}"
        drawn = f", temperature {plan.temperature:g}" if plan.temperature is not None else ""
        compared = f", ratio to the expert {reference}" if reference else ""
        own = None if self.others else self.trained.path  # with others, the rows say who
        policy = "" if own is None else f", {own}"
        return f"{self.trained.problem.name}{policy}: {source}{drawn}{compared}"

    def table(self, width: int = WIDTH, colour: bool = False) -> str:
        """Sizes down, figures across, under a heading."""
        warned = "".join(f"{line}\n" for line in self.warnings)
        return f"{self.heading}\n{table_text(self.figures, width, colour)}{warned}"

    @property
    def warnings(self) -> list[str]:
        """Sizes at which a policy was behind an expert that did not play now."""
        lines = []
        for own in (self.trained, *self.others):
            known = own.path is not None and own.meta.problem_hash == own.problem.hash
            verdict = read_verdict(own.path.parent) if own.path is not None and known else None
            name = run_name(own) if self.others else POLICY
            for nodes in dict.fromkeys(row.nodes for row in self.rows) if verdict else ():
                rival = verdict.behind_at(nodes) if verdict else None
                if rival and rival not in self.baselines:
                    lines.append(
                        f"{name} was behind `{rival}` on graphs of about {nodes:,} nodes at the "
                        f"end of its training; --against {rival} plays both on these"
                    )
        return lines

    def __str__(self) -> str:
        return self.table()

    def to_json(self) -> str:
        """All figures with what they were made from: what `gnarl-eval --json` writes."""
        origin = {**self.trained.provenance(), **machine(), **self._circumstances()}
        return json.dumps(document(self.figures, origin), indent=2, allow_nan=False) + "\n"

    def _circumstances(self) -> dict[str, Any]:
        others = [str(other.path) for other in self.others]
        return {"wall_seconds": round(self.seconds, 3), "data": self.data, "others": others}


def evaluate(
    policy: PolicyLike,
    *,
    sizes: int | Sequence[int] = (),
    graphs: int | None = None,
    seed: int = 0,
    baselines: str | Sequence[str] = (),
    instances: Any = None,
    split: str = "test",
    samples: int = 1,
    temperature: float | None = None,
    max_rounds: int | None = None,
    reference: str | None = None,
    metrics: bool = True,
    problem: Spec | None = None,
    params: Params | None = None,
    others: Sequence[PolicyLike] = (),
    extern: Sequence[Given] = (),
    accept_extern: bool = False,
    search: str | Strategy | Sequence[str | Strategy] = (),
    optimum: bool = False,
    threads: int = 1,
    progress: Tell | None = None,
) -> Evaluation:
    """Play a policy on fresh graphs, as `gnarl-eval` does.

    policy       what `train` returned, a run folder, a checkpoint, the name of shipped weights,
                 or with `problem` a policy of one's own
    sizes        numbers of nodes; none takes the sizes of the split
    graphs       how many per size; None takes what the split says
    seed         of instances and drawn picks
    baselines    who else plays: "random", "expert", the name of an expert, "greedy", "approx"
    instances    the name of an instance set of the spec, or graphs as for `solve`
    split        which split of the set to draw from
    samples      attempts at each graph, at a `temperature`
    temperature  draw picks; 0 takes the best, None what the recipe says
    max_rounds   cut episodes off there, at the latest
    reference    the expert whose objective `ratio` refers to
    metrics      False leaves out metrics and what they need solved
    problem      another spec than the one that was trained on
    params       other values for params of the spec
    others       further policies of the same problem, to compare with on the same graphs
    extern       code for what the spec declares as `extern`: files, modules, functions
    accept_extern  also another file than the one of the training
    search       strategies that the policy drives besides, such as ["beam:16", "work:2000"]
    optimum      look for the optimum of each graph, by exact search where that ends
    threads      of the network
    progress     is told (what is being done, done, total)
    """
    began = time.monotonic()
    verify_playing(PYTHON, temperature, samples, threads, seed, max_rounds)
    verify_attempts(PYTHON, temperature, samples)
    verify_between(PYTHON, "graphs", graphs, 1, MOST_GRAPHS)
    plan = Plan(
        sizes=verify_sizes([sizes] if isinstance(sizes, int) else list(sizes)),
        graphs=graphs,
        seed=seed,
        split=split,
        samples=samples,
        max_rounds=max_rounds,
        against=(baselines,) if isinstance(baselines, str) else tuple(baselines),
        reference=reference,
        metrics=metrics,
        search=searches_of(search),
        optimum=optimum,
    )
    with torch_set_up(threads):
        brought = read_code(extern) if extern else None
        trained = load_policy(policy, problem, params, brought, accept_extern)
        verify_optimum(PYTHON, trained.problem, optimum)
        plan = replace(plan, temperature=trained.temperature(temperature))
        plan = plan_on(trained.problem, plan, instances)
        rivals = load_others(trained, others, problem, params, brought, accept_extern)
        data = _file(plan, instances)
        given = temperature
        return run_evaluation(trained, plan, began, progress, None, data, rivals, given)


def searches_of(given: str | Strategy | Sequence[str | Strategy]) -> tuple[Strategy, ...]:
    """`"picks,beam:16"`, or strategies one by one."""
    several = [given] if isinstance(given, str | Strategy) else list(given)
    return parse_searches(",".join(map(str, several))) if several else ()


def verify_optimum(spell: Spelling, problem: Problem, asked: bool) -> None:
    """A UsageError where there is nothing to be optimal in."""
    if asked and not problem.objectives:
        raise UsageError(f"{problem.name} has no objective, which {spell.name('optimum')} compares")


def load_others(
    trained: TrainedPolicy,
    others: Sequence[PolicyLike],
    problem: Spec | None = None,
    params: Params | None = None,
    extern: Code | None = None,
    accept: bool = False,
) -> tuple[TrainedPolicy, ...]:
    """Further policies; a UsageError if one of them is of another problem, or there already."""
    loaded = tuple(load_policy(other, problem, params, extern, accept) for other in others)
    names = [run_name(trained)]
    for other in loaded:
        name = run_name(other)
        if other.problem.hash != trained.problem.hash:
            found = f"{name} is of {_spec(other.problem)}, {names[0]} of {_spec(trained.problem)}"
            raise UsageError(
                f"{found}; expected runs of the same spec with the same params, which can play "
                "the same graphs (another spec for all of them: --spec)"
            )
        if name in names:
            raise UsageError(f"{name} is there twice; expected different runs to compare")
        names.append(name)
    return loaded


def run_name(trained: TrainedPolicy) -> str:
    """How a policy is called beside others: its run folder, or its file."""
    path = trained.path
    if path is None:
        return POLICY
    return str(path.parent if path.name == BEST else path)


def _spec(problem: Problem) -> str:
    return f"{problem.name} (hash {problem.hash[:12]})"


def plan_on(problem: Problem, plan: Plan, instances: Any) -> Plan:
    """The plan on a set of the spec, given by its name, or on graphs of a user's own."""
    if instances is None or (isinstance(instances, str) and not _is_file_name(problem, instances)):
        choose_split(problem, plan.split, instances)
        return replace(plan, instances=instances)
    if plan.sizes or plan.graphs:
        raise UsageError("sizes and graphs are about drawn instances; leave them out with others")
    return replace(plan, data=own_graphs(problem, instances, seed=plan.seed))


def plan_notes(trained: TrainedPolicy, plan: Plan) -> tuple[str, ...]:
    """How graphs were read, and numbers unlike those of training, as `gnarl-solve` tells them."""
    problem = trained.problem
    known = read_by_level(problem, trained.policy.reading)
    graphs = list(plan.data) if plan.data is not None else _some_graphs(problem, plan)
    scales = unusual_scales(problem, graphs, known) if graphs else []
    told = (f"{scale}; gnarl-solve --rescale shows the network the usual size" for scale in scales)
    return (*notes_of(plan.data or ()), *told)


def _some_graphs(problem: Problem, plan: Plan) -> list[Instance]:
    """A few like those that will be played, as small as there are; none if they cannot be drawn."""
    split, size = choose_split(problem, plan.split, plan.instances), min(plan.sizes, default=None)
    try:
        families = [family_of(split, number) for number in range(_LOOKED_AT)]
        return [
            draw_instance(problem, family, FRESH + plan.seed, number, nodes=size)
            for number, family in enumerate(families)
        ]
    except (GenerationError, LookupError):  # values from files only
        return []


def _is_file_name(problem: Problem, given: str) -> bool:
    named = any(entry.name == given for entry in problem.instances)
    return not named and (Path(given).is_file() or bool(Path(given).suffix))


def _file(plan: Plan, instances: Any) -> str | None:
    """The file that graphs came from, if they did."""
    given = plan.data is not None and isinstance(instances, str | Path)
    return str(instances) if given else None


def run_evaluation(
    trained: TrainedPolicy,
    plan: Plan,
    began: float,
    progress: Tell | None = None,
    kept: Kept | None = None,
    data: str | None = None,
    others: Sequence[TrainedPolicy] = (),
    temperature: float | None = None,
) -> Evaluation:
    """Play as planned; `kept` has what an earlier process has played already.

    `temperature` is what was asked of the others; their recipes say it where nobody did.
    """
    rivals = [Rival(run_name(own), own.policy, own.temperature(temperature)) for own in others]
    name = run_name(trained) if others else POLICY
    with compiled_or_told(trained.problem):
        figures = play_plan(trained.policy, trained.problem, plan, progress, kept, rivals, name)
    seconds, notes = time.monotonic() - began, plan_notes(trained, plan)
    return Evaluation(trained, figures, seconds, data, notes, tuple(others))
