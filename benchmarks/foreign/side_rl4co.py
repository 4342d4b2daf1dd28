"""RL4CO's environments and its attention model, as serve.py asks for them."""

from __future__ import annotations

import sys
from time import process_time
from typing import Any

import torch
from rl4co.envs import CVRPEnv, MCPEnv, TSPEnv
from rl4co.models import AttentionModelPolicy
from tensordict import TensorDict

from benchmarks.foreign.answering import serve
from benchmarks.foreign.train_attention import SAMPLES, update

LEARNED = 64  # instances per update, as in train_attention.py
SETS_OF = 5  # items in a set, and 4 sets are chosen, as in ours


class Playing:
    """A batch; instances are drawn beforehand, and all episodes start again together."""

    def __init__(self, problem: str, nodes: int, batch: int) -> None:
        self.env = environment(problem, nodes)
        self.drawn = [self.env.generator([batch]) for _ in range(4)]
        self.at = 0
        self.restart()

    def restart(self) -> None:
        self.at = (self.at + 1) % len(self.drawn)
        self.state = self.env.reset(self.drawn[self.at].clone())

    def turn(self) -> tuple[int, float]:
        """One step; graphs whose episode is over wait for the others, and are not counted."""
        over = self.state["done"].reshape(len(self.state), -1)[:, 0]
        legal = self.state["action_mask"]
        self.state.set("action", torch.multinomial(legal.float(), 1).squeeze(1))
        count = int((~over).sum())
        start = process_time()
        self.state = self.env.step(self.state)["next"]
        if bool(self.state["done"].all()):
            self.restart()
        return count, process_time() - start


def environment(problem: str, nodes: int) -> Any:
    """The environment for a problem of ours at a number of nodes."""
    if problem == "tsp":
        return TSPEnv(generator_params={"num_loc": nodes}, check_solution=False)
    if problem == "cvrp":
        sizes = {"num_loc": nodes - 1, "capacity": 30.0}
        return CVRPEnv(generator_params=sizes, check_solution=False)
    if problem == "coverage":
        side = {"num_items": nodes // 2, "num_sets": nodes // 2, "n_sets_to_choose": 4}
        sizes = {**side, "min_size": SETS_OF, "max_size": SETS_OF}
        return MCPEnv(generator_params=sizes)
    raise LookupError("RL4CO has no such environment")


class Trained:
    """The attention model with weights of train_attention.py."""

    def __init__(self) -> None:
        self.known: dict[str | None, Any] = {}

    def play(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Best picks on given places (graphs, n, 2): lengths, and CPU milliseconds per tour."""
        policy = self.policy(asked["weights"])
        places = torch.tensor(asked["places"])
        env = TSPEnv(generator_params={"num_loc": places.shape[1]}, check_solution=False)
        start = process_time()
        with torch.inference_mode():
            state = env.reset(TensorDict({"locs": places}, batch_size=[len(places)]))
            out = policy(state, env, phase="test", decode_type="greedy", return_actions=True)
        spent = process_time() - start
        return {"tours": out["actions"].tolist(), "ms": 1e3 * spent / len(places)}

    def learn(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Some updates of train_attention.py on fresh weights: decisions per CPU second."""
        env = TSPEnv(generator_params={"num_loc": asked["nodes"]}, check_solution=False)
        policy = AttentionModelPolicy(env_name="tsp")
        optimiser = torch.optim.Adam(policy.parameters(), lr=1e-4)
        start = process_time()
        for _ in range(asked["updates"]):
            update(env, policy, optimiser, LEARNED)
        decisions = asked["updates"] * LEARNED * SAMPLES * asked["nodes"]
        return {"rate": decisions / (process_time() - start)}

    def policy(self, weights: str | None) -> Any:
        """Without weights, as it is at first."""
        if weights not in self.known:
            policy = AttentionModelPolicy(env_name="tsp")
            if weights is not None:
                policy.load_state_dict(torch.load(weights, weights_only=True))
            self.known[weights] = policy.eval()
        return self.known[weights]


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    trained = Trained()
    serve(Playing, {"tours": trained.play, "learn": trained.learn})
    sys.exit(0)
