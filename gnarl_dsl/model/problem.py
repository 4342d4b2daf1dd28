"""The checked problem: frozen pydantic models that the interpreter and compiler read.

Names are resolved, types are known, parameters are filled in, enum branches are chosen.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from gnarl_dsl.model.brought import NO_CODE, Code, Trade
from gnarl_dsl.model.expr import Expr, Model, Statement
from gnarl_dsl.model.kinds import (
    CATEGORY,
    GRAPH,
    INPUT,
    NUMBER,
    TRUTH,
    FeatureType,
    Named,
    Place,
    Stage,
    Value,
)
from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.report.source import Span


class Param(Model):
    """A constant of the spec and the value chosen for it; `unit` is a feature that has its unit."""

    name: str
    choices: tuple[str, ...]
    default: float | str
    value: float | str
    doc: str
    unit: str = ""


class GraphKind(Model):
    directed: bool
    connected: bool
    complete: bool
    acyclic: bool
    mutable: bool


class InputSource(Model):
    """Where an input comes from when instances are generated; each gets one of all laws."""

    name: str
    args: tuple[float, ...]
    others: tuple[InputSource, ...] = ()

    @property
    def laws(self) -> tuple[InputSource, ...]:
        """All of them, each by itself."""
        if not self.others:
            return (self,)
        return (self.model_copy(update={"others": ()}), *self.others)

    @property
    def label(self) -> str:
        """As a spec writes it."""
        return " | ".join(
            f"{law.name}({', '.join(f'{arg:g}' for arg in law.args)})" if law.args else law.name
            for law in self.laws
        )


class Feature(Model):
    """`vars` name the position in `initial`; `choices` are the names of a categorical."""

    span: Span
    name: str
    stage: Stage
    place: Place
    type: FeatureType
    vars: tuple[str, ...]
    categories: int
    choices: tuple[str, ...]
    initial: Expr | None
    source: InputSource | None
    doc: str

    @property
    def observed(self) -> bool:
        """Whether the policy sees it."""
        return self.stage.observed

    @property
    def unset(self) -> bool:
        """Whether it is a mark that no node has at first; -1 stands for that."""
        return self.stage.written and self.initial is None

    @property
    def single(self) -> bool:
        """Whether it is one value: of the graph, or the one node that is marked."""
        return self.type.single or self.place is GRAPH

    @property
    def width(self) -> int:
        """How many nodes say which cell is meant."""
        return 0 if self.single else self.place.width

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers that one can calculate with."""
        return self.type.value is NUMBER

    @property
    def is_measured(self) -> bool:
        """Whether it has a unit: numbers, and points, which are some distance apart."""
        return self.is_number or self.type.apart

    @property
    def is_truth(self) -> bool:
        """Whether its values are true or false."""
        return self.type.value is TRUTH

    @property
    def marks(self) -> bool:
        """Whether it is one node."""
        return self.single and self.type.names_nodes

    @property
    def points(self) -> bool:
        """Whether it says of each node to which one it points: arrows, in a picture."""
        return self.type.names_nodes and self.width == 1

    @property
    def points_between(self) -> bool:
        """Whether it says so of each edge or pair."""
        return self.type.names_nodes and self.width == 2

    @property
    def stored(self) -> str:
        """Its array type in a batch; inputs that are numbers are single, by rule 9."""
        return "float32" if self.is_number and self.stage is INPUT else self.type.stored

    def shape(self, n: int) -> tuple[int, ...]:
        """Of its dense values on a graph of n nodes."""
        return () if self.single else self.place.shape(n)

    def room(self, nodes: int, edges: int) -> tuple[int, ...]:
        """Of its cells in a slot for so many nodes and edges."""
        return () if self.single else self.place.room(nodes, edges)

    def cells(self, n: int, m: int) -> int:
        """How many values it has in a graph of n nodes and m edges."""
        return 1 if self.single else self.place.cells(n, m)

    def limit(self, n: int) -> int | None:
        """Values are whole numbers below this; None where they are numbers or truth values."""
        if self.type.value is CATEGORY:
            return self.categories
        return n if self.type.names_nodes else None


class LetParam(Model):
    name: str
    type: Value


class Let(Model):
    span: Span
    name: str
    params: tuple[LetParam, ...]
    type: Value
    optional: bool
    body: Expr


class ExternParam(Model):
    """What an extern is given: a whole feature of a type at a place, or one value.

    A generator takes numbers, and so does a source.
    """

    name: str
    place: Place | None
    type: FeatureType


class Extern(Model):
    """What the spec needs and does not have; whoever plays it brings the code.

    Of a generator, `place` and `type` say nothing. `level` is the word for what it preserves;
    `cost` are exponents of n and m.
    """

    span: Span
    name: str
    kind: Literal["extern", "generator", "source"]
    params: tuple[ExternParam, ...]
    place: Place
    type: FeatureType
    oracle: bool
    random: bool
    whole: bool
    cost: tuple[tuple[int, int], ...]
    level: str
    doc: str

    @property
    def trade(self) -> Trade:
        """What its code does."""
        return Trade(self.kind)

    @property
    def form(self) -> str:
        """What it is given and what it gives, as it would be declared."""
        params = ", ".join(map(_param_form, self.params))
        words = {"extern": "", "generator": "generator", "source": "source "}[self.kind]
        words += "" if self.kind == "generator" else f"{self.place} {self.type}"
        flags = ("oracle", "random", "whole")
        told = [words, *(flag for flag in flags if getattr(self, flag))]
        return f"{self.name}({params}) : {' '.join(told)}"


def _param_form(param: ExternParam) -> str:
    kind = str(param.type.cell) if param.place is None else f"{param.place} {param.type}"
    return f"{param.name} : {kind}"


class Phase(Model):
    """`allow` None means that every node may be picked, `when` None that it is never skipped."""

    span: Span
    name: str
    variable: str
    allow: Expr | None
    update: tuple[Statement, ...]
    when: Expr | None = None


class Stop(Model):
    """At the start of a round the episode may be ended; without `when`, of any round."""

    span: Span
    when: Expr | None = None


RewardKind = Literal["potential", "terminal", "step"]


class Objective(Model):
    """Worth having much of; as a reward, each round pays what it gained."""

    span: Span
    name: str
    value: Expr

    @property
    def kind(self) -> RewardKind:
        return "potential"


class Reward(Model):
    span: Span
    name: str
    kind: RewardKind
    value: Expr


class Metric(Model):
    span: Span
    name: str
    value: Expr


class SortKey(Model):
    """One criterion of a choice; ties within tolerance go on to the next."""

    direction: Literal["minimising", "maximising"]
    value: Expr


class Alternative(Model):
    """`uniform v where P minimising E`."""

    span: Span
    where: Expr | None
    keys: tuple[SortKey, ...]


class ExpertPhase(Model):
    phase: str
    alternatives: tuple[Alternative, ...]


class RuleExpert(Model):
    kind: Literal["rules"] = "rules"
    span: Span
    name: str
    phases: tuple[ExpertPhase, ...]
    reads_oracle: bool


class GreedyExpert(Model):
    kind: Literal["greedy"] = "greedy"
    span: Span
    name: str
    objective: str


class SearchExpert(Model):
    """One episode per instance, the best that `work` picks find; without an objective, `correct`.

    It says what comes next as long as the picks so far are a beginning of that episode.
    """

    kind: Literal["search"] = "search"
    span: Span
    name: str
    objective: str | None
    work: int


class BestExpert(Model):
    """Of experts with a rule of their own, for each instance the one whose play ends best."""

    kind: Literal["best"] = "best"
    span: Span
    name: str
    members: tuple[str, ...]


# An expert of this name claims that no play is worth more than its own: `gnarl-check` holds it to
# that, and others are measured against it.
OPTIMAL = "optimal"

# What says something in every state, by itself; and what needs to know the instance first.
OwnExpert = RuleExpert | GreedyExpert
PlannedExpert = SearchExpert | BestExpert
Expert = Annotated[OwnExpert | PlannedExpert, Field(discriminator="kind")]


class Nearest(Model):
    """`minimising E first 24`: ties within tolerance go to the lowest hidden rank."""

    direction: Literal["minimising", "maximising"]
    value: Expr
    count: int

    @property
    def sign(self) -> int:
        """What makes the best the least."""
        return 1 if self.direction == "minimising" else -1


class Window(Model):
    """`observe x in nodes where P minimising E first 24`: nodes that the network reads."""

    span: Span
    variable: str
    where: Expr | None
    nearest: Nearest | None


class Messages(Model):
    """`messages (x, y) in edges where P minimising E first 16`: x sends y a message."""

    span: Span
    sender: str
    receiver: str
    where: Expr | None
    nearest: Nearest | None


class Draw(Model):
    """An argument of a generator: `{…}` (each in test) or `[low, high]`."""

    name: str
    kind: Literal["one_of", "between"]
    values: tuple[float, ...]


class Split(Model):
    """One line of a set of instances; lines of one name share a split, as their counts say."""

    name: Literal["train", "valid", "test"]
    count: int
    generator: str
    args: tuple[Draw, ...]


class InputLaw(Model):
    """Where an input comes from in one set of instances."""

    input: str
    source: InputSource


class InstanceSet(Model):
    span: Span
    name: str
    splits: tuple[Split, ...]
    laws: tuple[InputLaw, ...] = ()


class CostTerm(Model):
    """n**nodes * m**edges * degree**degree."""

    nodes: int = 0
    edges: int = 0
    degree: int = 0


class Costs(Model):
    """Worst case per step of what the environment does, and of the experts."""

    step: tuple[CostTerm, ...]
    mask: tuple[CostTerm, ...]
    update: tuple[CostTerm, ...]
    ending: tuple[CostTerm, ...]
    observation: tuple[CostTerm, ...]
    reward: tuple[CostTerm, ...]
    experts: tuple[tuple[str, tuple[CostTerm, ...]], ...]


class SourceText(Model):
    """One file the problem was read from; spans point into these by position."""

    name: str
    text: str


class Problem(Model):
    """A checked spec: everything later stages need, and nothing they could misread."""

    language: int
    name: str
    doc: str
    params: tuple[Param, ...]
    graph: GraphKind
    features: tuple[Feature, ...]
    lets: tuple[Let, ...]
    phases: tuple[Phase, ...]
    horizon: Expr
    limit: Expr | None
    terminate: Expr | None
    valid: Expr | None
    correct: Expr | None
    objectives: tuple[Objective, ...]
    rewards: tuple[Reward, ...]
    metrics: tuple[Metric, ...]
    experts: tuple[Expert, ...]
    instances: tuple[InstanceSet, ...]
    costs: Costs
    deployable: bool
    sources: tuple[SourceText, ...]
    # What the network reads: all nodes without windows, all edges without messages.
    windows: tuple[Window, ...] = ()
    messages: tuple[Messages, ...] = ()
    externs: tuple[Extern, ...] = ()
    stop: Stop | None = None  # None: nobody can end an episode
    code: Code = Field(default=NO_CODE, exclude=True, repr=False)

    def extern(self, name: str) -> Extern | None:
        """What the spec declares as brought from outside, if it does."""
        return next((extern for extern in self.externs if extern.name == name), None)

    def feature(self, name: str) -> Feature:
        return next(feature for feature in self.features if feature.name == name)

    def let(self, name: str) -> Let:
        return next(let for let in self.lets if let.name == name)

    def phase(self, name: str) -> Phase:
        return next(phase for phase in self.phases if phase.name == name)

    def expert(self, name: str | None = None) -> OwnExpert | PlannedExpert:
        """The named expert, or the first."""
        return next(expert for expert in self.experts if name in (None, expert.name))

    @property
    def may_stop(self) -> bool:
        """Whether ending the episode is one more thing to pick."""
        return self.stop is not None

    @property
    def may_skip(self) -> bool:
        """Whether a round can go by without some of the phases."""
        return any(phase.when is not None for phase in self.phases)

    @property
    def own_experts(self) -> tuple[OwnExpert, ...]:
        """The experts that say something in every state by themselves."""
        return tuple(e for e in self.experts if not isinstance(e, PlannedExpert))

    def without_planned(self) -> Problem:
        """The same without the experts that are made for each instance."""
        own = self.own_experts
        names = [expert.name for expert in own]
        spent = tuple(entry for entry in self.costs.experts if entry[0] in names)
        costs = self.costs.model_copy(update={"experts": spent})
        return self.model_copy(update={"experts": own, "costs": costs})

    def reads_oracle(self, name: str) -> bool:
        """Whether the rules of an expert, or of one that it may follow, read an oracle.

        Greed and search know nothing but objectives, which cannot.
        """
        match self.expert(name):
            case RuleExpert(reads_oracle=reads):
                return reads
            case BestExpert(members=members):
                return any(self.reads_oracle(member) for member in members)
        return False

    def objective(self, name: str | None = None) -> Objective:
        return next(entry for entry in self.objectives if name in (None, entry.name))

    def line_of(self, span: Span) -> int:
        """1-based line of a span in its file."""
        return self.sources[span.file].text.count("\n", 0, span.start) + 1

    def located(self, span: Span, what: str) -> str:
        """A message about a place of the spec, with the line it is about."""
        line = self.line_of(span)
        return f"{self.sources[span.file].name}:{line}: {what}\n  {line} | {self.text_of(span)}"

    def text_of(self, span: Span) -> str:
        """The spec's own words at a span, on one line."""
        text = self.sources[span.file].text[span.start : span.end]
        return " ".join(_COMMENT.sub(r"\1", text).split())

    @property
    def hash(self) -> str:
        """Identity of the behaviour: unchanged by formatting, comments and documentation."""
        return hashlib.blake2b("".join(_meaning(self)).encode(), digest_size=8).hexdigest()


def choose_reward(problem: Problem, name: str | None) -> Objective | Reward | None:
    """The named objective or reward; without a name the first objective, else the first reward."""
    entries: list[Objective | Reward] = [*problem.objectives, *problem.rewards]
    if name is None:
        return entries[0] if entries else None
    for entry in entries:
        if entry.name == name:
            return entry
    known = ", ".join(entry.name for entry in entries) or "none"
    raise UsageError(f"the problem has no reward or objective `{name}`; it has: {known}")


def cheapest_reward(problem: Problem) -> str | None:
    """A reward that is quick to compute, for those who need none; None is the spec's first."""
    return next((reward.name for reward in problem.rewards if reward.kind != "potential"), None)


# Where things stand, what is said about them, and what follows from the rest.
_NOT_MEANING = frozenset({"span", "doc", "sources", "costs", "code"})
# What specs did not always have: where it is empty, they mean what they meant before.
_LATER = frozenset({"others", "laws", "windows", "messages", "unit", "externs", "when", "stop"})


def _meaning(value: object) -> Iterator[str]:
    """One unambiguous text per meaning, without pydantic's serializers (50 ms to build)."""
    match value:
        case Model():
            for name, item in sorted(vars(value).items()):
                if name not in _NOT_MEANING and (item or name not in _LATER):
                    yield f"{name}="
                    yield from _meaning(item)
            yield ";"
        case tuple():
            yield f"{len(value)}["
            for item in value:
                yield from _meaning(item)
        case str() | Named():
            text = str(value)
            yield f"{len(text)}:{text}"
        case float() if value.is_integer():
            yield f"{int(value)},"
        case _:
            yield f"{value!r},"


# A comment, or a text that may hold its sign.
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|#[^\n]*')
