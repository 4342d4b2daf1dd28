"""Seconds in, weights of RL4CO's attention model for the TSP out; run by the others' interpreter.

    python -m benchmarks.foreign.train_attention --nodes 20 --minutes 5 --out build/peers/am.pt

RL4CO ships no weights. This is a plain loop over its policy and its environment: REINFORCE, eight
sampled tours per instance, whose mean is the baseline, as in its POMO; one pass over what was
sampled. What it prints last is the number of decisions per second that it learned from.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import torch
from rl4co.envs import TSPEnv
from rl4co.models import AttentionModelPolicy
from rl4co.utils.ops import batchify

SAMPLES = 8  # tours per instance


def main() -> None:
    """Train, write the weights, print what it took as JSON."""
    options = parse_options()
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    env = TSPEnv(generator_params={"num_loc": options.nodes}, seed=options.seed)
    policy = AttentionModelPolicy(env_name="tsp")
    steps, spent = train(env, policy, options)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    torch.save(policy.state_dict(), options.out)
    decisions = steps * options.instances * SAMPLES * options.nodes
    told = {"updates": steps, "cpu_s": spent, "decisions_per_s": decisions / spent}
    options.out.with_suffix(".json").write_text(json.dumps(told) + "\n")
    print(json.dumps(told))


def train(env: Any, policy: Any, options: argparse.Namespace) -> tuple[int, float]:
    """Updates until the CPU time is used up; their number and that time."""
    optimiser = torch.optim.Adam(policy.parameters(), lr=options.rate)
    start, steps = time.process_time(), 0
    while time.process_time() - start < 60 * options.minutes:
        length = update(env, policy, optimiser, options.instances)
        steps += 1
        if steps % 50 == 0:
            spent = time.process_time() - start
            print(f"{steps:>6} updates {spent:7.0f} CPU s  mean length {length:.3f}", flush=True)
    return steps, time.process_time() - start


def update(env: Any, policy: Any, optimiser: torch.optim.Optimizer, instances: int) -> float:
    """One pass of REINFORCE; the mean length of the tours."""
    drawn = env.reset(batch_size=[instances])
    out = policy(batchify(drawn, SAMPLES), env, phase="train", decode_type="sampling")
    reward = out["reward"].view(SAMPLES, instances)
    likelihood = out["log_likelihood"].view(SAMPLES, instances)
    loss = -((reward - reward.mean(dim=0)) * likelihood).mean()
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimiser.step()
    return -float(reward.mean())


def parse_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=5.0, help="of CPU time")
    parser.add_argument("--instances", type=int, default=64, help="per update")
    parser.add_argument("--rate", type=float, default=3e-4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
