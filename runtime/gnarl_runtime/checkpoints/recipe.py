"""How a policy is trained, as data: the checked form of a recipe file. Needs no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from gnarl_dsl.brought_names import is_brought
from gnarl_runtime.network.policy_config import PolicyConfig, require_one_of


@dataclass(frozen=True)
class TrainerEntry:
    """Where a trainer is, as `module:class`, and which sections of a recipe it reads in turn."""

    home: str
    parts: tuple[str, ...]


_TRAINING = "gnarl_runtime.training"
# A further trainer is a file that fulfils `training.trainer.Trainer` and a line here.
TRAINERS: Mapping[str, TrainerEntry] = {
    "bc": TrainerEntry(f"{_TRAINING}.imitation.imitation:ImitationTrainer", ("bc",)),
    "ppo": TrainerEntry(f"{_TRAINING}.ppo.ppo:PpoTrainer", ("ppo",)),
    "improve": TrainerEntry(f"{_TRAINING}.improve.improve:ImproveTrainer", ("improve",)),
    "bc+ppo": TrainerEntry(f"{_TRAINING}.chain:ChainTrainer", ("bc", "ppo")),
    "bc+improve": TrainerEntry(f"{_TRAINING}.chain:ChainTrainer", ("bc", "improve")),
    "bc+ppo+improve": TrainerEntry(f"{_TRAINING}.chain:ChainTrainer", ("bc", "ppo", "improve")),
    "ppo+improve": TrainerEntry(f"{_TRAINING}.chain:ChainTrainer", ("ppo", "improve")),
}


_BROUGHT_PARTS = ("bc",)  # the section with the number of updates of a trainer `extern:NAME`

# Numbers that decide how much memory is taken: none of them is ever so large on purpose.
Instances = Annotated[int, Field(ge=1, le=10_000_000)]
Graphs = Annotated[int, Field(ge=1, le=1_000_000)]  # side by side
Steps = Annotated[int, Field(ge=1, le=1_000_000)]

VALIDATIONS = 8  # in a run whose recipe does not say how often


class Section(BaseModel):
    """A table of a recipe: unknown keys are mistakes, and nothing changes afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


class Data(Section):
    """Which instances are played."""

    instances: str | None = None  # a set of the spec; None is its first
    nodes: int | tuple[int, int] | None = None  # instead of the split's own sizes
    # Instances drawn; None is what the spec's `train` line says.
    pool: Instances | None = None
    # What experts that read no oracle minimise or maximise is a feature of nodes, too.
    keys: bool = False
    # A folder of gnarl-draw whose instances are played, instead of drawing any.
    shards: str | None = None
    # Nodes of larger graphs, of which `bc.larger` and `improve.larger` say how many there are.
    larger_nodes: tuple[int, int] | None = None
    # Scalar inputs of each instance are multiplied by a factor, log-uniform in this range.
    scale: tuple[Annotated[float, Field(gt=0)], Annotated[float, Field(gt=0)]] = (1.0, 1.0)
    # Share of the instances of `bc` in which ranks are not equally far apart but drawn: small
    # graphs have few, and a network that never saw close ones cannot tell them apart. Only where
    # `policy.levels` is on and something is read as ranks.
    drawn_ranks: Annotated[float, Field(ge=0, le=1)] = 0.0
    boundary: Annotated[float, Field(ge=0, le=1)] = 0.0  # share of episodes on moved instances
    boundary_pool: Instances = 2_000
    boundary_margin: tuple[float, float] = (1e-3, 1e-1)  # log-uniform
    # Share of the graphs side by side that only ever play `boundary_steps` picks from a boundary:
    # in a whole episode one state is close to it, and most of the others are like any other.
    boundary_starts: Annotated[float, Field(ge=0, le=1)] = 0.0
    boundary_steps: Steps = 4

    @model_validator(mode="after")
    def _nodes_can_be_drawn(self) -> Data:
        if isinstance(self.nodes, tuple) and not 1 <= self.nodes[0] <= self.nodes[1]:
            found = list(self.nodes)
            raise ValueError(f"expected nodes = [low, high] from 1 up, found {found}")
        if isinstance(self.nodes, int) and self.nodes < 1:
            raise ValueError(f"expected nodes from 1 up, found {self.nodes}")
        return self

    @model_validator(mode="after")
    def _larger_nodes_can_be_drawn(self) -> Data:
        own = self.larger_nodes
        if own is not None and not 1 <= own[0] <= own[1]:
            raise ValueError(f"expected larger_nodes = [low, high] from 1 up, found {list(own)}")
        return self

    @model_validator(mode="after")
    def _scale_is_a_range(self) -> Data:
        if self.scale[0] > self.scale[1]:
            raise ValueError(f"expected scale = [low, high], found {list(self.scale)}")
        return self


class Imitation(Section):
    """`bc`: learn from the expert in every state that is visited."""

    expert: str | None = None  # None is the spec's first
    updates: Annotated[int, Field(ge=1)] = 4_000
    graphs: Graphs = 256  # played side by side, and learned from in one update
    lr: Annotated[float, Field(gt=0)] = 3e-3  # decays to 0 along a cosine
    beta2: Annotated[float, Field(gt=0, lt=1)] = 0.99
    clip: Annotated[float, Field(gt=0)] = 1.0  # norm of the gradient
    average: Annotated[float, Field(ge=0, lt=1)] = 0.998  # decay of the averaged weights
    loss: Literal["set", "kl", "ce"] = "set"
    expert_share: Annotated[float, Field(ge=0, le=1)] = 0.25  # picks made by the expert
    sampled_share: Annotated[float, Field(ge=0, le=1)] = (
        0.25  # picks drawn from the policy; the rest its best
    )
    critic: Annotated[float, Field(ge=0)] = 0.0  # weight of the critic's loss, for bc+ppo
    larger: Annotated[float, Field(ge=0, le=1)] = 0.0  # share of graphs with `data.larger_nodes`


class Reinforcement(Section):
    """`ppo`: learn from rewards; the defaults are those of SB3, with gamma 1."""

    reward: str | None = None  # None is the spec's first objective or reward
    updates: Annotated[int, Field(ge=1)] = 200  # each on steps * graphs samples
    graphs: Graphs = 256
    steps: Steps = 16
    epochs: Steps = 10
    minibatch: Steps = 256  # samples
    lr: Annotated[float, Field(gt=0)] = 3e-4
    decay: bool = True  # the learning rate goes to 0 linearly
    gamma: Annotated[float, Field(gt=0, le=1)] = 1.0
    lam: Annotated[float, Field(ge=0, le=1)] = 0.95
    clip: Annotated[float, Field(gt=0)] = 0.2
    entropy: Annotated[float, Field(ge=0)] = 0.0
    value: Annotated[float, Field(ge=0)] = 0.5
    max_norm: Annotated[float, Field(gt=0)] = 0.5
    target_kl: float | None = None
    # Deviation of a fresh policy's scores within a graph. Sums of messages grow with depth and
    # degree; unscaled, a policy is sure of its first picks and hardly explores. 0: as it comes.
    spread: Annotated[float, Field(ge=0)] = 0.1


class Improvement(Section):
    """`improve`: learn the best of several episodes, one's own and the experts', of each graph."""

    reward: str | None = None  # what is best; None is the spec's first objective or reward
    updates: Annotated[int, Field(ge=1)] = 400
    graphs: Graphs = 32  # of the pool that are played in one update
    samples: Annotated[int, Field(ge=2)] = 32  # episodes of each: best picks once, drawn ones
    larger: Annotated[float, Field(ge=0, le=1)] = 0.0  # share of graphs with `data.larger_nodes`
    larger_samples: Annotated[int, Field(ge=2)] = 4  # episodes of each of these
    experts: bool = True  # those that read no oracle play each graph, too
    epochs: Steps = 8  # times that the best episode of each is learned
    batch: Annotated[int, Field(ge=1)] = 64  # states of one gradient
    lr: Annotated[float, Field(gt=0)] = 2e-3  # decays to 0 along a cosine
    beta2: Annotated[float, Field(gt=0, lt=1)] = 0.99
    clip: Annotated[float, Field(gt=0)] = 1.0  # norm of the gradient
    average: Annotated[float, Field(ge=0, lt=1)] = 0.995  # decay of the averaged weights
    spread: Annotated[float, Field(ge=0)] = 0.5  # as in `ppo`


class Validation(Section):
    """How the best weights are chosen: by success, then reward, then shorter episodes."""

    graphs: Graphs = 100
    # None: the sizes of the `valid` split. Several: as many graphs of each, `graphs` in all.
    nodes: int | tuple[int, ...] | None = None
    # Besides, graphs of so many nodes, which count half however few they are: their rewards times
    # `larger_weight`, since those of larger graphs are of another size.
    larger: Annotated[int, Field(ge=1)] | None = None
    larger_graphs: Annotated[int, Field(ge=1)] = 10
    larger_weight: Annotated[float, Field(gt=0)] = 1.0
    # Updates of the last part; None: so many that there are eight validations.
    every: Annotated[int, Field(ge=1)] | None = None
    stop_when_perfect: bool = True  # where every episode has the same length
    # Validations in a row that changed nothing, after which a run ends; 0: it goes on.
    flat: Annotated[int, Field(ge=0)] = 0
    # Share of the run after which weights replace any from before it, however those did: a few
    # graphs cannot tell luck at a high learning rate from skill at a low one.
    settled: Annotated[float, Field(ge=0, le=1)] = 0.0

    @property
    def shares(self) -> list[tuple[int | None, int]]:
        """Sizes, and how many graphs of each; the larger ones are the last."""
        sizes = self.nodes if isinstance(self.nodes, tuple) else (self.nodes,)
        last = [] if self.larger is None else [(self.larger, self.larger_graphs)]
        each, rest = divmod(self.graphs, len(sizes))
        return [*((size, each + (place < rest)) for place, size in enumerate(sizes)), *last]

    @model_validator(mode="after")
    def _every_size_has_a_graph(self) -> Validation:
        if self.nodes == () or any(count == 0 for _, count in self.shares):
            sizes = list(self.nodes) if isinstance(self.nodes, tuple) else self.nodes
            raise ValueError(
                f"expected a graph for each size, found nodes = {sizes}, graphs = {self.graphs}"
            )
        return self


class Recipe(Section):
    """Everything that decides a training run, but for the spec and the seed."""

    trainer: str = "bc"
    doc: str = ""
    params: dict[str, str | float] = {}
    # How the trained policy picks, unless somebody says otherwise: 0 takes the best node, more
    # draws one. A policy that takes the best and changes nothing by it does so for ever.
    temperature: Annotated[float, Field(ge=0)] = 0.0
    policy: PolicyConfig = PolicyConfig()
    data: Data = Data()
    bc: Imitation = Imitation()
    ppo: Reinforcement = Reinforcement()
    improve: Improvement = Improvement()
    validation: Validation = Validation()

    @field_validator("trainer")
    @classmethod
    def _trainer_is_known(cls, name: str) -> str:
        if not is_brought(name):
            require_one_of("trainer", name, tuple(TRAINERS))
        return name

    @property
    def validate_every(self) -> int:
        """Updates of the last part between two validations."""
        last: int = getattr(self, self.parts[-1]).updates
        return self.validation.every or max(1, last // VALIDATIONS)

    @property
    def reward(self) -> str | None:
        """What the last part of training, and validation, count; None is the spec's first."""
        return self.improve.reward if self.parts[-1] == "improve" else self.ppo.reward

    @property
    def parts(self) -> tuple[str, ...]:
        """The sections that its trainer reads, one after the other."""
        return _BROUGHT_PARTS if is_brought(self.trainer) else TRAINERS[self.trainer].parts
