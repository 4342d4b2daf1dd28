"""The work of `gnarl-view`: parsed arguments in, a page or a picture on disk, exit code out."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gnarl_compiler.build.files import write_whole
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.instances.draw import Family, choose_split, draw_instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_dsl.model import Problem, SearchExpert
from gnarl_dsl.report.failures import Failure, UsageError
from gnarl_dsl.spec_arguments import parse_params
from gnarl_runtime.commands.options import OK
from gnarl_runtime.commands.trace import verify_name
from gnarl_runtime.commands.view import MOST_NODES, NOBODY, NODES, STEPS
from gnarl_runtime.commands.work.progress import Progress
from gnarl_runtime.commands.work.subjects import Subject, load_subject
from gnarl_runtime.readers.read import read_graphs
from gnarl_runtime.viewing.choosers import Chooser, expert_chooser, random_chooser
from gnarl_runtime.viewing.document import page_of
from gnarl_runtime.viewing.page import page_text
from gnarl_runtime.viewing.places import places_of
from gnarl_runtime.viewing.recording import Recording, record
from gnarl_runtime.viewing.strip import strip_picture


def view_command(args: argparse.Namespace) -> int:
    """Load, play, write, say what was written."""
    subject = load_subject(
        args.subject,
        parse_params(args.param),
        args.extern,
        args.accept_extern,
        args.allow_costly,
    )
    verify_choices(subject, args)
    instance = choose_instance(subject, args)
    recording = play(subject, instance, args)
    places = places_of(subject.problem, instance, args.seed)
    subtitle = describe(recording, args)
    if args.out:
        page = page_text(page_of(recording, places, subtitle))
        write_whole(Path(args.out), page.encode())
        print(f"{args.out}: {subtitle}, {recording.steps} steps")
    if args.png:
        write_whole(Path(args.png), strip_picture(recording, places, args.steps or STEPS))
        print(f"{args.png}: {subtitle}, {min(recording.steps, args.steps or STEPS)} steps")
    return OK


def verify_choices(subject: Subject, args: argparse.Namespace) -> None:
    """Fill in who picks; raise a UsageError for names and players that are not there."""
    problem = subject.problem
    if args.policy is None:
        known = "expert" if problem.experts and args.expert != NOBODY else "random"
        args.policy = known if subject.policy is None else "learned"
    if args.policy == "learned" and subject.policy is None:
        raise UsageError(
            f"--policy learned: {args.subject} is a spec, which nobody has trained; expected a "
            f"run folder or a checkpoint, such as gnarl-train --spec {args.subject} makes"
        )
    if args.policy == "expert" and not problem.experts:
        raise UsageError(f"{problem.name} declares no expert; try --policy random")
    if args.expert != NOBODY:
        verify_name("--expert", args.expert, [entry.name for entry in problem.experts])
    rewards = [e.name for e in problem.objectives] + [e.name for e in problem.rewards]
    verify_name("--reward", args.reward, rewards)
    verify_name("--instances", args.instances, [entry.name for entry in problem.instances])
    if not problem.instances and args.data is None:
        raise UsageError(f"{problem.name} declares no instances to draw a graph from; try --data")


def choose_instance(subject: Subject, args: argparse.Namespace) -> Instance:
    """The first graph of a file, or one drawn: for a policy from what it was not trained on."""
    problem: Problem = subject.problem
    if args.data is not None:
        return _from_file(problem, args)
    split = choose_split(problem, "train" if subject.policy is None else "test", args.instances)
    # One family that draws from its sets, also where evaluation would go through them.
    line, _ = split.line_of(args.seed)
    family = Family(split.name, line.generator, line.args, split.laws)
    return draw_instance(problem, family, args.seed, 0, nodes=args.nodes or NODES)


def _from_file(problem: Problem, args: argparse.Namespace) -> Instance:
    graphs = read_graphs(args.data, problem, seed=args.seed)
    if not graphs:
        raise Failure(f"{args.data}: found no graphs; expected at least one")
    first, notes = graphs[0], [*graphs[0].notes]
    if len(graphs) > 1:
        notes.append(f"{args.data} has {len(graphs)} graphs; this is the first")
    if first.graph.n > MOST_NODES:
        raise Failure(
            f"{args.data}: the graph has {first.graph.n} nodes; expected at most {MOST_NODES}, "
            "more cannot be told apart in a picture"
        )
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    return first


def play(subject: Subject, instance: Instance, args: argparse.Namespace) -> Recording:
    """The episode; an expert is asked in every state, whoever picks."""
    game = Interpreter(subject.problem, args.reward)
    asked = args.expert != NOBODY and bool(subject.problem.experts)
    adviser = expert_chooser(game, args.expert) if asked else None
    if adviser is not None and adviser.expert is not None:
        instance = with_plan(subject.problem, instance, adviser.expert)
    with Progress(subject.problem.name) as progress:
        player = choose_player(subject, game, adviser, instance.graph.n, args.policy)
        return record(game, instance, player, adviser, args.seed, progress)


def with_plan(problem: Problem, instance: Instance, expert: str) -> Instance:
    """The instance, with the episode that an expert by search follows on it."""
    if not isinstance(problem.expert(expert), SearchExpert):
        return instance
    from gnarl_runtime.search.planned.planning import plan_instance

    return plan_instance(problem, instance, expert)


def choose_player(
    subject: Subject, game: Interpreter, adviser: Chooser | None, nodes: int, policy: str
) -> Chooser:
    """Who picks."""
    if policy == "expert" and adviser is not None:
        return adviser
    if policy == "learned" and subject.policy is not None:
        from gnarl_runtime.network.policy import prepare_torch
        from gnarl_runtime.viewing.learned import learned_chooser

        prepare_torch(1)
        return learned_chooser(subject.policy, subject.problem, nodes)
    return random_chooser(game)


def describe(recording: Recording, args: argparse.Namespace) -> str:
    """`trained policy on 12 nodes and 30 edges, seed 0`."""
    graph = recording.instance.graph
    nodes = f"{graph.n} node{'s' * (graph.n != 1)}"
    edges = f"{graph.m} edge{'s' * (graph.m != 1)}"
    source = args.data or f"seed {args.seed}"
    return f"{recording.player} on {nodes} and {edges}, {source}"
