"""A round of messages by the fused kernels: exactly the torch path, in values and gradients."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from message_cases import SHAPES, Shape, make_case
from torch import Tensor

from gnarl_runtime.network.fused import kernel_library
from gnarl_runtime.network.fused.message_build import usable_variants
from gnarl_runtime.network.fused.product_kernel import add_product, multiply
from gnarl_runtime.network.fused.round_kernel import fused_round
from gnarl_runtime.network.graphs import Graphs
from gnarl_runtime.network.rounds import NormWeights, Round, RoundWeights, torch_round

NAMES = [variant.name for variant in usable_variants()]
HAS_COMPILER = not isinstance(kernel_library.library(), str)
needs_compiler = pytest.mark.skipif(not HAS_COMPILER, reason="no C compiler")


@dataclass(frozen=True)
class RoundShape:
    """What a round looks like."""

    message: Shape
    inputs: int  # columns of nodes
    context: int  # columns of graphs
    norm: bool


ROUNDS = st.builds(
    RoundShape,
    message=SHAPES,
    inputs=st.sampled_from([3, 32, 64]),
    context=st.integers(0, 2),
    norm=st.booleans(),
)
SMALL = Shape(9, 80, 2, 64, "sum", 2, 5)


@dataclass(frozen=True, eq=False)
class RoundCase:
    """One call of a round."""

    nodes: Tensor
    context: Tensor
    weights: RoundWeights
    graphs: Graphs

    @property
    def leaves(self) -> list[Tensor]:
        weights, norm = self.weights, self.weights.norm
        layers = [tensor for layer in weights.message.layers for tensor in layer]
        always = [self.nodes, weights.node, weights.bias, weights.message.edge, weights.heard]
        sometimes = [weights.context] if len(weights.context) else []
        sometimes += [] if weights.per_message is None else [weights.per_message]
        sometimes += [] if norm is None else [norm.gain, norm.offset]
        return [*always, *sometimes, *layers]

    def run(self, compute: Round) -> Tensor:
        return compute(self.nodes, self.context, self.weights, self.graphs)


def make_round(shape: RoundShape) -> RoundCase:
    """Numbers of all sizes."""
    case, width = make_case(shape.message), shape.message.width
    rng = np.random.default_rng(shape.message.seed + 1)

    def numbers(*size: int, scale: float = 1.0) -> Tensor:
        return torch.from_numpy((scale * rng.normal(size=size)).astype(np.float32))

    made = RoundCase(
        numbers(shape.message.nodes, shape.inputs),
        numbers(shape.message.nodes, shape.context),
        RoundWeights(
            node=numbers(3 * width, shape.inputs, scale=shape.inputs**-0.5),
            bias=numbers(3 * width),
            context=numbers(shape.context, width),
            message=case.weights,
            heard=numbers(width, width, scale=width**-0.5),
            per_message=numbers(width) if shape.message.aggregation == "sum" else None,
            norm=NormWeights(numbers(width), numbers(width), 1e-5) if shape.norm else None,
        ),
        case.graphs,
    )
    for leaf in made.leaves:
        leaf.requires_grad_()
    return made


def assert_close(found: Tensor, wanted: Tensor, tolerance: float) -> None:
    """Equal up to a share of the largest number."""
    scale = float(wanted.detach().abs().max()) if wanted.numel() else 0.0
    torch.testing.assert_close(found, wanted, rtol=0.0, atol=tolerance * max(scale, 1.0))


@needs_compiler
@pytest.mark.parametrize("variant", NAMES)
@settings(max_examples=60)
@given(shape=ROUNDS)
@example(shape=RoundShape(SMALL, 64, 1, True))
@example(shape=RoundShape(replace(SMALL, messages=0), 3, 0, True))
@example(shape=RoundShape(replace(SMALL, columns=9), 32, 2, False))
def test_same_values_and_gradients_as_torch(variant: str, shape: RoundShape) -> None:
    case = make_round(shape)
    wanted = case.run(torch_round)
    found = fused_round(case.nodes, case.context, case.weights, case.graphs, variant)
    assert_close(found, wanted, 1e-5)
    with torch.no_grad():
        again = fused_round(case.nodes, case.context, case.weights, case.graphs, variant)
    assert torch.equal(found, again)
    slopes = torch.randn(found.shape, generator=torch.Generator().manual_seed(shape.inputs))
    ours = torch.autograd.grad(found, case.leaves, slopes)
    theirs = torch.autograd.grad(wanted, case.leaves, slopes)
    for one, two in zip(ours, theirs, strict=True):
        assert_close(one, two, 1e-4)


@needs_compiler
def test_same_bits_every_time() -> None:
    case = make_round(RoundShape(Shape(300, 4000, 3, 64, "sum", 2, 1), 64, 1, True))
    runs = []
    for _ in range(2):
        new = case.run(fused_round)
        runs.append([new, *torch.autograd.grad(new.square().sum(), case.leaves)])
    assert all(torch.equal(one, two) for one, two in zip(*runs, strict=True))


@needs_compiler
def test_a_second_derivative_is_refused() -> None:
    case = make_round(RoundShape(SMALL, 64, 1, True))
    with pytest.raises(RuntimeError, match="differentiated twice"):
        torch.autograd.grad(case.run(fused_round).sum(), case.nodes, create_graph=True)


@needs_compiler
@pytest.mark.parametrize("variant", NAMES)
@pytest.mark.parametrize(("rows", "depth", "columns"), [(1, 3, 32), (97, 64, 192), (6, 192, 96)])
def test_products_of_tables(variant: str, rows: int, depth: int, columns: int) -> None:
    """With gaps between rows, on top of a row or in place."""
    generator = torch.Generator().manual_seed(rows)
    table = torch.randn(rows, depth + 5, generator=generator)[:, 2 : depth + 2]
    weight = torch.randn(columns, depth, generator=generator).t()
    start = torch.randn(columns, generator=generator)
    wide = torch.randn(rows, columns + 32, generator=generator)
    out, before = wide[:, 32:], wide.clone()
    assert_close(multiply(table, weight, variant), table @ weight, 1e-6)
    assert_close(
        add_product(out, table, weight, out, variant), before[:, 32:] + table @ weight, 1e-6
    )
    assert_close(add_product(start, table, weight, out, variant), start + table @ weight, 1e-6)
    assert torch.equal(wide[:, :32], before[:, :32])
