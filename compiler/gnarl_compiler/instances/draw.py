"""A problem, a split, a seed and a number in, one instance out, the same every time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Array, Instance
from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.instances.brought import draw_family, draw_input
from gnarl_compiler.instances.generators import GenerationError
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_dsl.check.instance_sets import WHOLE_ARGUMENTS
from gnarl_dsl.model import Draw, InputLaw, InstanceSet, Problem, Split
from gnarl_dsl.model.kinds import INPUT
from gnarl_dsl.report.failures import UsageError

ATTEMPTS = 1000
# Separate streams: tags and values must not depend on how many draws the graph took.
GRAPH, VALUES, TAGS = 0, 1, 2  # what a stream of an instance draws


@dataclass(frozen=True)
class Family:
    """Graphs of one split and kind, with all arguments fixed but those drawn per instance."""

    split: str
    generator: str
    args: tuple[Draw, ...]
    laws: tuple[InputLaw, ...] = ()  # of inputs that are drawn otherwise than their lines say

    def label(self) -> str:
        texts = [f"{arg.name}={_describe(arg)}" for arg in self.args]
        laws = "".join(f", {law.input} ~ {law.source.label}" for law in self.laws)
        return f"{self.generator}({', '.join(texts)}){laws}"


def _describe(arg: Draw) -> str:
    texts = [f"{value:g}" for value in arg.values]
    if arg.kind == "between":
        return f"[{', '.join(texts)}]"
    return texts[0] if len(texts) == 1 else "{" + ", ".join(texts) + "}"


class NoSuchInstances(UsageError, LookupError):
    """A name that is no instance set, or no split, of the problem."""


@dataclass(frozen=True)
class ChosenSplit:
    """The lines of one split, which share its instances as their counts say."""

    lines: tuple[Split, ...]
    laws: tuple[InputLaw, ...]

    @property
    def name(self) -> str:
        return self.lines[0].name

    @property
    def count(self) -> int:
        """How many instances it has."""
        return sum(line.count for line in self.lines)

    def line_of(self, number: int) -> tuple[Split, int]:
        """Whose instance a number is, and how many that line had before.

        Every run of numbers has each line in proportion to its count, as nearly as it can be.
        """
        left = self.count
        for line in self.lines:
            before, after = (-(-k * line.count // left) for k in (number, number + 1))
            if after > before:
                return line, before
            number, left = number - before, left - line.count
        raise AssertionError(f"no line of {self.name} has instance {number}")


def choose_split(problem: Problem, split: str, instances: str | None = None) -> ChosenSplit:
    """The named split of the named instance set, or of the first set."""
    chosen = _choose_set(problem, instances)
    lines = tuple(entry for entry in chosen.splits if entry.name == split)
    if lines:
        return ChosenSplit(lines, chosen.laws)
    known = ", ".join(dict.fromkeys(entry.name for entry in chosen.splits))
    raise NoSuchInstances(
        f"the instances `{chosen.name}` have no split `{split}`; they have: {known}"
    )


def _choose_set(problem: Problem, name: str | None) -> InstanceSet:
    for entry in problem.instances:
        if name in (None, entry.name):
            return entry
    known = ", ".join(entry.name for entry in problem.instances) or "none"
    wanted = f"instances `{name}`" if name else "instances"
    raise NoSuchInstances(f"problem {problem.name} has no {wanted}; it has: {known}")


def families(split: ChosenSplit) -> list[Family]:
    """All families of a split, line by line."""
    return [family for line in split.lines for family in _families(line, split.laws)]


def family_of(split: ChosenSplit, number: int) -> Family:
    """The family of an instance: those of its line take turns."""
    line, before = split.line_of(number)
    own = _families(line, split.laws)
    return own[before % len(own)]


@cache
def _families(line: Split, laws: tuple[InputLaw, ...]) -> list[Family]:
    """In training one family that draws from its sets; else one for each choice from them."""
    if line.name == "train":
        return [Family(line.name, line.generator, line.args, laws)]
    fixed = [_each(arg) for arg in line.args]
    return [Family(line.name, line.generator, choice, laws) for choice in product(*fixed)]


def _each(arg: Draw) -> list[Draw]:
    if arg.kind == "between":
        return [arg]
    return [Draw.model_construct(name=arg.name, kind="one_of", values=(v,)) for v in arg.values]


def draw_instance(
    problem: Problem, family: Family, seed: int, number: int, nodes: int | None = None
) -> Instance:
    """Instance `number` of a family, redrawn until it is what the problem asks for."""
    game = Interpreter(problem)
    for attempt in range(ATTEMPTS):
        instance = _draw(problem, family, seed, (number, attempt), nodes)
        if instance is not None and _is_playable(game, instance):
            return instance
    raise GenerationError(
        f"{ATTEMPTS} draws of {family.label()} gave no instance of {problem.name} that is "
        f"{_wishes(problem)}; try larger or denser graphs"
    )


@cache
def split_seed(seed: int, split: str) -> int:
    """A seed of its own for each split, so that no two of them share an instance."""
    return int(stream(seed, f"split {split}").integers(2**62))


def _wishes(problem: Problem) -> str:
    graph = problem.graph
    wishes = [word for word in ("connected", "acyclic") if getattr(graph, word)]
    return " and ".join([*wishes, "not over at its start"])


def _is_playable(game: Interpreter, instance: Instance) -> bool:
    return game.reset(instance).ended is None


def _draw(
    problem: Problem, family: Family, seed: int, key: tuple[int, int], nodes: int | None
) -> Instance | None:
    seed = split_seed(seed, family.split)
    rng = stream(seed, "instance", *key, GRAPH)
    args = {arg.name: draw_argument(arg, rng) for arg in family.args}
    n = int(args.pop("n", 0)) if nodes is None else nodes
    args.pop("n", None)
    kind = problem.graph
    graph = draw_family(problem, family.generator, n, args, rng)
    if (kind.connected and not graph.is_connected()) or (kind.acyclic and not graph.is_acyclic()):
        return None
    tags = stream(seed, "instance", *key, TAGS).integers(0, 2**63, n).astype(np.uint64)
    values = stream(seed, "instance", *key, VALUES)
    return Instance(graph, draw_inputs(problem, graph, values, family.laws), tags)


def draw_argument(arg: Draw, rng: np.random.Generator) -> float:
    if arg.kind == "between":
        low, high = arg.values
        if arg.name in WHOLE_ARGUMENTS:
            return float(rng.integers(int(low), int(high) + 1))
        return float(rng.uniform(low, high))
    return float(arg.values[int(rng.integers(len(arg.values)))])


def draw_inputs(
    problem: Problem, graph: Graph, rng: np.random.Generator, laws: tuple[InputLaw, ...] = ()
) -> dict[str, Array]:
    """Every input feature, drawn from its source in the order of the spec."""
    inputs: dict[str, Array] = {}
    own = {law.input: law.source for law in laws}
    for feature in problem.features:
        source = own.get(feature.name, feature.source)
        if feature.stage is not INPUT or source is None:
            continue
        if source.name == "given":
            raise GenerationError(
                f"the input `{feature.name}` of {problem.name} comes from files only (~ given); "
                "it cannot be generated"
            )
        inputs[feature.name] = draw_input(problem, feature, source, graph, rng)
    return inputs


def draw_split(
    problem: Problem, split: str, count: int, seed: int = 0, instances: str | None = None
) -> Iterator[Instance]:
    """`count` instances of a split, cycling over its families."""
    chosen = choose_split(problem, split, instances)
    for number in range(count):
        yield draw_instance(problem, family_of(chosen, number), seed, number)
