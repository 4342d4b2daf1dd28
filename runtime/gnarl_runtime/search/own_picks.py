"""`picks`: the policy plays every instance once, by its best picks or at its temperature."""

from __future__ import annotations

from gnarl_runtime.search.outcomes import Keep
from gnarl_runtime.search.players import PolicyPlayer
from gnarl_runtime.search.rollout import play_with
from gnarl_runtime.search.task import Answers, Task, unproven


def search_picks(task: Task, amount: float | None) -> Answers:
    """One episode is all there is to choose from."""
    assert task.drivers.policy is not None
    outcomes = play_with(
        PolicyPlayer(task.drivers.policy, task.temperature, task.seed),
        task.compiled,
        task.pool,
        slots=task.slots,
        max_rounds=task.max_rounds,
        keep=Keep(picks=True),
        progress=task.progress,
    )
    assert outcomes.picks is not None
    return Answers(outcomes.picks, outcomes.steps, unproven(task))
