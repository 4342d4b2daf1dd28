"""How a policy is trained, as data: the checked form of a recipe file. Needs no torch."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from gnarl_runtime.policy_config import PolicyConfig


class Section(BaseModel):
    """A table of a recipe: unknown keys are mistakes, and nothing changes afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


class Data(Section):
    """Which instances are played."""

    instances: str | None = None  # a set of the spec; None is its first
    nodes: int | tuple[int, int] | None = None  # instead of the split's own sizes
    pool: int = Field(10_000, ge=1)  # instances drawn
    boundary: float = Field(0.0, ge=0, le=1)  # share of episodes on moved instances
    boundary_pool: int = Field(2_000, ge=1)
    boundary_margin: tuple[float, float] = (1e-3, 1e-1)  # log-uniform


class Imitation(Section):
    """`bc`: learn from the expert in every state that is visited."""

    expert: str | None = None  # None is the spec's first
    updates: int = Field(4_000, ge=1)
    graphs: int = Field(256, ge=1)  # played side by side, and learned from in one update
    lr: float = Field(3e-3, gt=0)  # decays to 0 along a cosine
    beta2: float = Field(0.99, gt=0, lt=1)
    clip: float = Field(1.0, gt=0)  # norm of the gradient
    average: float = Field(0.998, ge=0, lt=1)  # decay of the averaged weights
    loss: Literal["set", "kl", "ce"] = "set"
    expert_share: float = Field(0.25, ge=0, le=1)  # picks made by the expert
    sampled_share: float = Field(0.25, ge=0, le=1)  # picks drawn from the policy; the rest its best
    demonstrations: int | None = None  # learn offline from so many expert episodes instead
    critic: float = Field(0.0, ge=0)  # weight of the critic's loss on expert returns


class Reinforcement(Section):
    """`ppo`: learn from rewards; the defaults are those of SB3, with gamma 1."""

    reward: str | None = None  # None is the spec's first objective or reward
    updates: int = Field(200, ge=1)  # each on steps * graphs samples
    graphs: int = Field(256, ge=1)
    steps: int = Field(16, ge=1)
    epochs: int = Field(10, ge=1)
    minibatch: int = Field(256, ge=1)  # samples
    lr: float = Field(3e-4, gt=0)
    decay: bool = True  # the learning rate goes to 0 linearly
    gamma: float = Field(1.0, gt=0, le=1)
    lam: float = Field(0.95, ge=0, le=1)
    clip: float = Field(0.2, gt=0)
    entropy: float = Field(0.0, ge=0)
    value: float = Field(0.5, ge=0)
    max_norm: float = Field(0.5, gt=0)
    target_kl: float | None = None


class Validation(Section):
    """How the best weights are chosen: by success, then reward, then shorter episodes."""

    graphs: int = Field(100, ge=1)
    nodes: int | None = None  # None: the sizes of the `valid` split
    every: int = Field(500, ge=1)  # updates
    stop_when_perfect: bool = True  # where every episode has the same length


class Recipe(Section):
    """Everything that decides a training run, but for the spec and the seed."""

    trainer: Literal["bc", "ppo", "bc+ppo"] = "bc"
    doc: str = ""
    params: dict[str, str | float] = {}
    policy: PolicyConfig = PolicyConfig()
    data: Data = Data()
    bc: Imitation = Imitation()
    ppo: Reinforcement = Reinforcement()
    validation: Validation = Validation()
