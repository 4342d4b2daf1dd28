"""What the panels Check, Train and Solve ask in, tasks of their own out, and how far they are."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from gnarl_runtime.checkpoints.pretrained import find_pretrained
from gnarl_runtime.play.background.jobs import Job, Jobs
from gnarl_runtime.play.editing_answers import Editing, SpecText
from gnarl_runtime.play.graphs_asked import GraphAsked
from gnarl_runtime.play.player_names import RUN, SHIPPED
from gnarl_runtime.play.run_list import Runs
from gnarl_runtime.search.strategy import parse_search
from gnarl_runtime.web.replies import Question, Refused

MOST_MINUTES = 24 * 60.0


class CheckAsked(Question):
    spec: SpecText
    fast: bool
    seed: int = 0


class TrainAsked(Question):
    spec: SpecText
    minutes: float | None = None
    seed: int = 0


class SolveAsked(Question):
    spec: SpecText
    graph: GraphAsked
    name: str = "the graph"
    player: str = ""  # empty: experts and chance by themselves
    search: str
    seed: int = 0


class RunAsked(Question):
    run: str
    since: int = 0


class JobAsked(Question):
    id: str
    since: int = 0


class Nothing(Question):
    pass


class Tasks:
    """Starts what takes long, and tells of it."""

    def __init__(self, editing: Editing, runs: Runs, extern: tuple[str, ...]) -> None:
        self.editing = editing
        self.runs = runs
        self.jobs = Jobs()
        self.extern = [str(Path(file).resolve()) for file in extern]

    def check(self, asked: CheckAsked) -> dict[str, Any]:
        problem = self.editing.problem(asked.spec)
        task = {"fast": asked.fast, "seed": asked.seed}
        return self._start("check", f"checking {problem.name}", asked.spec, task)

    def train(self, asked: TrainAsked) -> dict[str, Any]:
        problem = self.editing.problem(asked.spec)
        if asked.minutes is not None and not 0 < asked.minutes <= MOST_MINUTES:
            raise Refused(f"{asked.minutes:g} minutes: expected more than 0, at most a day")
        name = self.runs.fresh_name(problem.name)
        task = {"minutes": asked.minutes, "seed": asked.seed, "out": str(self.runs.path(name))}
        return self._start("train", f"training {name}", asked.spec, task) | {"run": name}

    def resume(self, asked: RunAsked) -> dict[str, Any]:
        out = self.runs.path(asked.run)
        if not out.is_dir():
            raise Refused(f"there is no run {asked.run}")
        if any(job["title"] == f"training {asked.run}" for job in self._running()):
            raise Refused(f"{asked.run} is being trained already")
        task = {"out": str(out)}
        return self._start("resume", f"training {asked.run}", None, task) | {"run": asked.run}

    def solve(self, asked: SolveAsked) -> dict[str, Any]:
        parse_search(asked.search)
        self.editing.problem(asked.spec)
        kind, _, name = asked.player.partition(" ")
        policy = None
        if kind == SHIPPED:
            policy = str(find_pretrained(name))
        elif kind == RUN:
            policy = str(self.runs.weights(name))
        graph = asked.graph.model_dump(mode="json")
        task = {
            "graph": graph,
            "name": asked.name[:80],
            "policy": policy,
            "search": asked.search,
            "seed": asked.seed,
        }
        return self._start("solve", f"solving {asked.name[:80]}", asked.spec, task)

    def stop(self, asked: JobAsked) -> dict[str, Any]:
        self.jobs.stop(asked.id)
        return {}

    def listed(self, asked: Nothing) -> list[dict[str, Any]]:
        return self.jobs.summaries()

    def job(self, asked: JobAsked) -> dict[str, Any]:
        """One task whole, without the events that the page has already."""
        job = self.jobs.job(asked.id)
        return {**job.summary(), "result": job.result, "events": job.events[asked.since :]}

    def all_runs(self, asked: Nothing) -> list[dict[str, Any]]:
        """Every run of the folder; those that are being trained name their task."""
        training = {job["title"].removeprefix("training "): job["id"] for job in self._running()}
        return [{**asdict(run), "job": training.get(run.name)} for run in self.runs.listed()]

    def run(self, asked: RunAsked) -> list[dict[str, float]]:
        """The curves of a run, from a point on."""
        return self.runs.points(asked.run, asked.since)

    def _running(self) -> list[dict[str, Any]]:
        return [job for job in self.jobs.summaries() if job["state"] == "running"]

    def _start(
        self, kind: str, title: str, spec: SpecText | None, task: dict[str, Any]
    ) -> dict[str, Any]:
        own = None if spec is None else spec.model_dump(mode="json")
        root = str(self.editing.folder.root)
        job: Job = self.jobs.start(
            kind, title, {"spec": own, "root": root, "extern": self.extern, **task}
        )
        return job.summary()
