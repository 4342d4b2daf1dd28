"""The shared policy: what it may depend on, what it must not, and how it is chosen from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from batch_cases import OWN, loaded, relabelled, visited
from shipped_specs import shipped
from torch import Tensor, nn

import gnarl_dsl as gnarl
from gnarl_compiler.interpret.state import State
from gnarl_dsl.model import Problem
from gnarl_runtime.batch.pack import Packed, pack
from gnarl_runtime.batch.signature import Signature, differences, signature_of
from gnarl_runtime.network.encoder import Encoded, Encoder
from gnarl_runtime.network.graphs import Graphs, to_graphs
from gnarl_runtime.network.policy import Output, Policy, PolicyConfig, argmax, log_chances, sample
from gnarl_runtime.network.segments import SegmentMax, segment_argmax, segment_mean, segment_sample

SPECS = ("bellman_ford", "dfs", "rgc", "zoo", "flip")  # weights, directions, no input, all kinds
CONFIGS = {
    "max": PolicyConfig(width=32),
    "sum": PolicyConfig(width=32, aggregation="sum", message_depth=3, pooling="mean"),
    "norm": PolicyConfig(width=32, layer_norm=True, rounds=1),
    "gatv2": PolicyConfig(width=32, processor="gatv2"),
    "triplets": PolicyConfig(width=32, processor="triplets"),
    "product": PolicyConfig(width=32, actor="product"),
    "deep": PolicyConfig(
        width=32,
        rounds=3,
        chains=True,
        firsts=2,
        whole=True,
        tied=True,
        layer_norm=True,
        played_rounds=5,
    ),
    "whole": PolicyConfig(width=32, rounds=3, whole=True, aggregation="sum", pooling="mean"),
}


def problem_of(name: str) -> Problem:
    return gnarl.loads(OWN[name]) if name in OWN else shipped(name)


def policy_for(problem: Problem, config: PolicyConfig, seed: int = 0) -> Policy:
    torch.manual_seed(seed)
    return Policy(problem, config)


def some_states(problem: Problem, sizes: tuple[int, ...] = (7, 4, 9)) -> list[State]:
    """A state in which something can be picked, per size, some steps into an episode."""
    return [list(visited(problem, n, seed=n, steps=5))[-2] for n in sizes]


def packed_states(
    problem: Problem, states: list[State], signature: Signature | None = None
) -> Packed:
    room = max(state.n for state in states)
    return pack(loaded(problem, states, room), range(len(states)), signature)


def run(policy: Policy, packed: Packed) -> Output:
    with torch.inference_mode():
        output: Output = policy(packed)
    return output


# What the network may depend on


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_relabelled_graphs_get_relabelled_scores(name: str, config: PolicyConfig) -> None:
    problem, rng = problem_of(name), np.random.default_rng(0)
    policy = policy_for(problem, config)
    for state in some_states(problem, (8, 5)):
        permutation = rng.permutation(state.n).astype(np.int64)
        other = relabelled(problem, state, permutation)
        one = run(policy, packed_states(problem, [state], policy.signature))
        two = run(policy, packed_states(problem, [other], policy.signature))
        moved = two.logits[torch.from_numpy(permutation)]
        torch.testing.assert_close(moved, one.logits, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(two.values, one.values, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_graphs_of_all_sizes_side_by_side_do_not_meet(name: str, config: PolicyConfig) -> None:
    problem = problem_of(name)
    policy, states = policy_for(problem, config), some_states(problem)
    signature = policy.signature
    together = run(policy, packed_states(problem, states, signature))
    apart = [run(policy, packed_states(problem, [state], signature)) for state in states]
    logits, values = torch.cat([o.logits for o in apart]), torch.cat([o.values for o in apart])
    torch.testing.assert_close(together.logits, logits, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(together.values, values, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_every_observed_column_is_read(config: PolicyConfig) -> None:
    """A change of any column of any location changes some score."""
    problem = problem_of("zoo")
    policy = policy_for(problem, config)
    states = some_states(problem, (6,))
    graphs = to_graphs(packed_states(problem, states, policy.signature))
    with torch.inference_mode():
        before = policy(graphs).logits
        for place in ("x", "edge_raw", "graph_raw"):
            for column in range(getattr(graphs, place).shape[1]):
                changed = getattr(graphs, place).clone()
                changed[0, column] += 1.0
                after = policy(replace(graphs, **{place: changed})).logits
                assert not torch.equal(after, before), f"{place} column {column}"


def test_no_weight_depends_on_a_size() -> None:
    problem = shipped("bellman_ford")
    policy = policy_for(problem, PolicyConfig())
    for nodes in (2, 40):
        state = next(visited(problem, nodes, seed=1))
        output = run(policy, packed_states(problem, [state]))
        assert output.logits.shape == (nodes,)
        assert output.logits.isfinite().any()


# Illegal nodes


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_illegal_nodes_are_out_before_the_softmax(config: PolicyConfig) -> None:
    problem = shipped("bellman_ford")
    policy = policy_for(problem, config)
    packed = packed_states(problem, some_states(problem), policy.signature)
    output = policy(packed)
    assert (output.logits == -torch.inf).equal(torch.from_numpy(~packed.legal))
    chances = log_chances(output, packed).exp()
    for graph in range(packed.graphs):
        own = chances[packed.offsets[graph] : packed.offsets[graph + 1]]
        assert float(own.detach().sum()) == pytest.approx(1.0, abs=1e-5)
    loss = -log_chances(output, packed)[torch.from_numpy(packed.legal)].sum() + output.values.sum()
    loss.backward()
    for name, parameter in policy.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name


def test_a_graph_without_a_legal_node_gives_no_pick_and_no_nan() -> None:
    problem = shipped("bellman_ford")
    packed = packed_states(problem, some_states(problem, (4, 5)))
    legal = packed.legal.copy()
    legal[:4] = False
    packed = replace(packed, legal=legal)
    output = run(policy_for(problem, PolicyConfig(width=32)), packed)
    assert not log_chances(output, packed).isnan().any()
    for picks in (argmax(output, packed), sample(output, packed, torch.tensor([0.5, 0.5]))):
        assert picks[0] == -1
        assert legal[4 + int(picks[1])]


# Picks


def segments(sizes: list[int]) -> tuple[Tensor, Tensor]:
    offsets = torch.tensor([0, *np.cumsum(sizes)])
    return torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes)), offsets


def test_argmax_is_numbered_within_its_graph_and_takes_the_first() -> None:
    inf = torch.inf
    scores = torch.tensor([0.0, 2.0, 2.0, -inf, -5.0, -inf, -inf, 1.0])
    assert segment_argmax(scores, *segments([3, 2, 2, 1])).tolist() == [1, 1, -1, 0]


def test_samples_follow_the_softmax() -> None:
    """20,000 evenly spaced numbers hit every node as often as its probability says."""
    scores = torch.tensor([1.0, -torch.inf, 0.0, 2.0, 3.0, 3.0])
    graph, offsets = segments([4, 2])
    count = 20_000
    even = (torch.arange(count) + 0.5) / count
    picks = torch.stack([segment_sample(scores, graph, offsets, u.expand(2)) for u in even[::40]])
    for column, part in ((0, scores[:4]), (1, scores[4:])):
        share = torch.bincount(picks[:, column], minlength=len(part)) / len(picks)
        torch.testing.assert_close(share, part.softmax(0), atol=3e-3, rtol=0.0)


@pytest.mark.parametrize("u", [0.0, np.nextafter(1.0, 0.0), 1.0])
def test_samples_at_the_ends_of_the_range_are_legal(u: float) -> None:
    scores = torch.tensor([-torch.inf, 0.0, 0.3, -torch.inf] * 50)
    picks = segment_sample(scores, *segments([4] * 50), torch.full((50,), u, dtype=torch.float64))
    assert picks.tolist() == [1 if u == 0.0 else 2] * 50


def test_a_low_temperature_picks_the_best() -> None:
    problem = shipped("bellman_ford")
    packed = packed_states(problem, some_states(problem))
    output = run(policy_for(problem, PolicyConfig(width=32)), packed)
    for u in (0.1, 0.9):
        cold = sample(output, packed, torch.full((3,), u), temperature=1e-6)
        assert cold.equal(argmax(output, packed))


def test_segment_mean_and_max_of_an_empty_segment() -> None:
    values, (segment, offsets) = torch.tensor([[1.0], [3.0], [-5.0]]), segments([2, 0, 1])
    assert segment_mean(values, segment, offsets).flatten().tolist() == [2.0, 0.0, -5.0]
    assert SegmentMax.apply(values, segment, offsets).flatten().tolist() == [3.0, 0.0, -5.0]


# Both ways to compute messages, in the whole policy


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("aggregation", ["max", "sum"])
def test_fused_policy_equals_the_torch_one(name: str, aggregation: str, depth: int) -> None:
    problem = problem_of(name)
    config = PolicyConfig(aggregation=aggregation, message_depth=depth)  # type: ignore[arg-type]
    assert_kernels_agree(problem, config, 2e-5)


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("aggregation", ["max", "sum"])
def test_fused_deep_policy_equals_the_torch_one(name: str, aggregation: str, tied: bool) -> None:
    deep = PolicyConfig(
        rounds=4,
        aggregation=aggregation,  # type: ignore[arg-type]
        layer_norm=True,
        chains=True,
        firsts=3,
        whole=True,
        tied=tied,
    )
    assert_kernels_agree(problem_of(name), deep, 2e-4)  # further rounds, further rounding


def assert_kernels_agree(problem: Problem, config: PolicyConfig, tolerance: float) -> None:
    policy, states = policy_for(problem, config), some_states(problem)
    packed = packed_states(problem, states, policy.signature)
    found = {}
    for kernel in ("torch", "auto"):
        policy.use_kernel(kernel)  # type: ignore[arg-type]
        output = policy(packed)
        loss = log_chances(output, packed)[torch.from_numpy(packed.legal)].sum()
        grads = torch.autograd.grad(loss + output.values.sum(), list(policy.parameters()))
        found[kernel] = [output.logits.detach(), output.values.detach(), *grads]
    for ours, theirs in zip(found["auto"], found["torch"], strict=True):
        finite = theirs[theirs.isfinite()]
        scale = max(1e-3, float(finite.abs().max()))
        torch.testing.assert_close(ours, theirs, rtol=0.0, atol=tolerance * scale)


# Encoders


def test_encodings_are_the_sum_of_one_linear_map_per_feature() -> None:
    """Categories of a feature share a map; a linear layer may be folded in at any time."""
    problem = problem_of("zoo")
    encoder = Encoder(signature_of(problem), 32)
    graphs = to_graphs(packed_states(problem, some_states(problem, (6,))))
    encoded = encoder(graphs)
    for place, raw in (("node", graphs.x), ("edge", graphs.edge_raw), ("graph", graphs.graph_raw)):
        columns = signature_of(problem).names()[place]
        weight, bias = getattr(encoder, place).weight, getattr(encoder, place).bias
        by_hand = sum(raw[:, k, None] * weight[k] for k in range(len(columns)))
        by_hand = by_hand if bias is None else by_hand + bias
        torch.testing.assert_close(getattr(encoded, place).dense(), by_hand)
        layer = nn.Linear(32, 8)
        folded = getattr(encoded, place).then(layer.weight, layer.bias).dense()
        torch.testing.assert_close(folded, layer(by_hand), atol=1e-5, rtol=1e-5)


# Signatures


def test_a_signature_equals_itself() -> None:
    for name in SPECS:
        assert differences(signature_of(problem_of(name)), signature_of(problem_of(name))) == []


def test_differences_are_told_in_the_words_of_the_spec() -> None:
    ours, theirs = signature_of(shipped("mvc")), signature_of(shipped("mvc_rich"))
    assert differences(ours, theirs) == [
        "feature `covered` (edge mask) is only in the second",
        "feature `share` (node scalar) is only in the second",
        "feature `spent` (graph scalar) is only in the second",
    ]
    found = differences(signature_of(shipped("bfs")), signature_of(shipped("dfs")))
    assert "feature `s` (node mask_one) is only in the first" in found
    assert "graphs are undirected and directed" in found


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        ("zoo", "grey | black", "black | grey", "`hue` is node categorical(white, grey, black) in"),
        ("zoo", "mood  state    graph", "mood  state    node", "`mood` is graph categorical(0, 1)"),
        ("zoo", "phase tail(u)", "phase tale(u)", "phases are tail, head and tale, head"),
        ("flip", "hot    state ", "warm   state ", "`hot` (node mask) is only in the first"),
        ("flip", "graph undirected mutable", "graph directed mutable", "undirected and directed"),
    ],
)
def test_each_kind_of_difference_is_found(name: str, old: str, new: str, told: str) -> None:
    changed = OWN[name].replace(old, new)
    assert changed != OWN[name]
    if name == "zoo" and "mood" in old:
        changed = changed.replace("mood    := 1", "mood[v] := 1")
    if "warm" in new:
        changed = changed.replace("hot[", "warm[")
    found = differences(signature_of(gnarl.loads(OWN[name])), signature_of(gnarl.loads(changed)))
    assert any(told in line for line in found), found


def test_order_matters_and_is_told() -> None:
    text = OWN["flip"]
    hot = "  hot    state    node        mask    = false\n"
    tie = "  tie    state    node(x)     pointer = x\n"
    swapped = text.replace(hot + tie, tie + hot)
    assert swapped != text
    found = differences(signature_of(gnarl.loads(text)), signature_of(gnarl.loads(swapped)))
    assert found == ["features are in another order: hot, tie, loose and tie, hot, loose"]


# Choices


class OwnProcessor(nn.Module):  # type: ignore[misc]
    """The smallest processor there is: nodes hear nobody."""

    def forward(self, encoded: Encoded, graphs: Graphs) -> Tensor:
        return encoded.node.dense()


def test_a_processor_of_ones_own() -> None:
    problem = shipped("bfs")
    policy = Policy(problem, PolicyConfig(width=16), processor=OwnProcessor())
    packed = packed_states(problem, some_states(problem))
    assert run(policy, packed).logits.shape == (len(packed.x),)


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ({"width": 0}, "width: expected 1 to 8,192, found 0"),
        ({"rounds": 0}, "rounds: expected 1 to 1,000, found 0"),
        ({"message_depth": 4}, "message_depth: expected 2 or 3, found 4"),
        ({"aggregation": "mean"}, "aggregation: expected max or sum, found 'mean'"),
        ({"pooling": "sum"}, "pooling: expected max or mean, found 'sum'"),
        ({"actor": "cosine"}, "actor: expected distance or product, found 'cosine'"),
        ({"firsts": -1}, "firsts: expected 0 to 8,192, found -1"),
        ({"least_rounds": 1}, "least_rounds: expected 0 without tied = true, found 1"),
        ({"played_rounds": 9}, "played_rounds: expected 0 without tied = true, found 9"),
        ({"tied": True, "least_rounds": 3}, "least_rounds: .* from 0 to rounds, found 3"),
        ({"tied": True, "played_rounds": 1001}, "played_rounds: .* from 0 to 1000, found 1001"),
        ({"tied": True, "rounds": 1001}, "rounds: expected 1 to 1,000, found 1001"),
        ({"tied": True, "processor": "gatv2"}, "processor: expected mpnn, to be tied"),
        ({"whole": True, "processor": "gatv2"}, "processor: expected mpnn, to hear the whole"),
        ({"processor": "gat"}, "processor: expected mpnn or gatv2 or triplets, found 'gat'"),
    ],
)
def test_mistaken_choices(choice: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Policy(shipped("bfs"), PolicyConfig(**choice))  # type: ignore[arg-type]


def test_a_mistaken_kernel_is_told_when_a_policy_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNARL_KERNEL", "fast")
    with pytest.raises(ValueError, match="GNARL_KERNEL: expected auto or torch or fused"):
        Policy(shipped("bfs"))


def test_a_pack_with_other_columns_is_refused() -> None:
    policy = policy_for(shipped("bfs"), PolicyConfig(width=32, chains=True))
    with pytest.raises(ValueError, match=r"expected 9 columns per node, found 4.*signature"):
        policy(packed_states(shipped("bfs"), some_states(shipped("bfs"))))


# Tied rounds


def test_tied_rounds_are_as_many_as_asked_for_with_the_same_weights() -> None:
    problem = problem_of("bellman_ford")
    config = PolicyConfig(width=32, rounds=2, tied=True, layer_norm=True, played_rounds=4)
    policy, more = policy_for(problem, config), policy_for(problem, replace(config, rounds=7))
    assert {n: w.shape for n, w in policy.state_dict().items()} == {
        n: w.shape for n, w in more.state_dict().items()
    }
    packed = packed_states(problem, some_states(problem))
    four = run(policy, packed).logits
    policy.use_rounds(2)
    two = run(policy, packed).logits
    assert not torch.equal(two, four)
    policy.use_rounds(4)
    assert torch.equal(run(policy, packed).logits, four)


def test_a_message_from_the_whole_graph_reaches_every_node_at_once() -> None:
    """Nodes of another component change a node's score only if the graph as a whole is heard."""
    problem = problem_of("dfs")
    (state,) = some_states(problem, (6,))
    state = replace(state, adjacency=np.zeros_like(state.adjacency))
    for whole in (False, True):
        policy = policy_for(problem, PolicyConfig(width=32, rounds=2, whole=whole))
        graphs = to_graphs(packed_states(problem, [state]))
        with torch.inference_mode():
            encoded = policy.encoder(graphs)
            before = policy.processor(encoded, graphs)
            graphs.x[0] += 3.0
            after = policy.processor(policy.encoder(graphs), graphs)
        apart = [v for v in range(6) if v != 0 and state.features["pred"][v] != 0]
        apart = [v for v in apart if state.features["pred"][0] != v]
        assert bool((after[apart] != before[apart]).any(dim=1).all()) == whole
