"""The number of an input in, that input and what became of it out: everything that reads files.

A target draws an input with `make` and tries it with `run`, which returns in a word how it was
answered. An exception that comes out of it is a finding; so is an answer that takes too long.
"""

from __future__ import annotations

import json
import random
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import odd

import gnarl_dsl as gnarl
from gnarl_dsl.loading import check_text
from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import GnarlError
from gnarl_dsl.report.render import render_all, to_record
from gnarl_dsl.specs import shipped_specs
from tests.instances.bad_graphs import GRAPHML, LINKED, MATRIX, TSP, VRP


@dataclass(frozen=True)
class Target:
    """What is attacked: inputs are bytes, so that they can be kept in a corpus."""

    name: str
    make: Callable[[random.Random], bytes]
    run: Callable[[bytes], str]


# Specs


def make_spec(rng: random.Random) -> bytes:
    text = rng.choice(_spec_texts())
    changed = odd.changed_text(rng, text)
    if rng.random() < 0.1:
        return odd.changed_bytes(rng, changed.encode("utf-8", "replace"))
    return changed.encode("utf-8", "surrogatepass")


@cache
def _spec_texts() -> tuple[str, ...]:
    return tuple(path.read_text("utf-8") for path in shipped_specs())


def run_spec(content: bytes) -> str:
    """Check and report; a sound one in sixteen is made into code, too."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return "no text"
    checked = check_text(text, folder=Path())
    render_all(checked.diagnostics, checked.sources)
    for finding in checked.diagnostics:
        to_record(finding, checked.sources)
    if checked.problem is None:
        return "refused"
    if hash(text) % 16 == 0:
        _emit(checked.problem)
    return "accepted"


def _emit(problem: Problem) -> None:
    from gnarl_compiler.build.generate import Unsupported, generate

    with suppress(Unsupported):
        generate(problem)


# Graphs

LINES = "# a comment\na b 0.5\nb c 1.5\nc d 2\n"
TABLE = "source,target,weight\na,b,0.5\nb,c,1.5\n"
POINTS = "id\tx\ty\na\t0\t0\nb\t0.5\t1\nc\t1\t0.25\n"
DIMACS = "c a comment\np sp 3 2\na 1 2 5\na 2 3 7\n"
COLOURED = "c a comment\np edge 3 2\ne 1 2\ne 2 3\n"
METIS = "3 2 001\n2 5\n1 5 3 7\n2 7\n"
ROWS = MATRIX.format(form="FULL_MATRIX", numbers="0 1 2\n1 0 3\n2 3 0")
FILES = {
    ".json": json.dumps(LINKED), ".edges": LINES, ".txt": LINES, ".csv": TABLE, ".tsv": POINTS,
    ".graphml": GRAPHML, ".tsp": TSP, ".atsp": ROWS, ".vrp": VRP, ".graph": METIS,
    ".metis": METIS, ".gr": DIMACS, ".col": COLOURED, ".dimacs": DIMACS,
}  # fmt: skip
LONGEST = 20_000  # characters that somebody may have to read
PROBLEMS = ("mvc", "tsp", "bellman_ford", "bfs", "tsp_points")


def make_graph(rng: random.Random) -> bytes:
    """The first line says what the file is called and for which problem it is read."""
    ending = rng.choice([*FILES, ".gnarl.npz"])
    name = rng.choice(PROBLEMS)
    if ending == ".gnarl.npz":
        content = odd.changed_bytes(rng, _instance_set(name))
    elif ending == ".json" and rng.random() < 0.7:
        content = odd.to_json(rng, odd.changed_json(rng, LINKED)).encode("utf-8", "surrogatepass")
    elif rng.random() < 0.2:
        content = odd.changed_bytes(rng, FILES[ending].encode())
    else:
        content = odd.changed_text(rng, FILES[ending]).encode("utf-8", "surrogatepass")
    return f"{name} {ending}\n".encode() + content


@cache
def _instance_set(name: str) -> bytes:
    from gnarl_runtime.instances.instance_files import write_instances

    problem = gnarl.load(name)
    drawn = gnarl.draw(problem, count=3, nodes=5)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "set.gnarl.npz")
        write_instances(path, problem, drawn)
        return path.read_bytes()


@cache
def _problem(name: str) -> Problem:
    return gnarl.load(name)


def run_graph(content: bytes) -> str:
    from gnarl_runtime.readers.read import read_graphs

    head, _, body = content.partition(b"\n")
    name, _, ending = head.decode("ascii", "replace").partition(" ")
    with _file(f"graph{ending}", body) as path:
        read_graphs(path, _problem(name), repair=len(body) % 2 == 0)
    return "accepted"


# Checkpoints and configs


@cache
def _policy() -> tuple[bytes, dict[str, Any], dict[str, Any]]:
    """A shipped checkpoint: its bytes, its arrays, its description."""
    from gnarl_runtime.checkpoints.arrays import read_arrays
    from gnarl_runtime.checkpoints.pretrained import chosen_checkpoint

    path = Path(chosen_checkpoint(None, "bfs", ""))
    arrays, text = read_arrays(path)
    return path.read_bytes(), dict(arrays), json.loads(text)


def make_checkpoint(rng: random.Random) -> bytes:
    """Damaged bytes, or others with a digest that fits them."""
    from safetensors.numpy import save

    from gnarl_runtime.checkpoints.arrays import digest_of

    content, arrays, told = _policy()
    if rng.random() < 0.4:
        return odd.changed_bytes(rng, content)
    arrays = dict(arrays)
    if rng.random() < 0.3:
        name = rng.choice(sorted(arrays))
        arrays[rng.choice((name, rng.choice(odd.TEXTS) or "x"))] = _other_array(rng, arrays[name])
    text = odd.to_json(rng, odd.changed_json(rng, told)).encode("utf-8", "replace").decode()
    return bytes(save(arrays, {"gnarl": text, "sha256": digest_of(arrays, text)}))


def _other_array(rng: random.Random, array: Any) -> Any:
    match rng.randrange(5):
        case 0:
            return array.astype("float64")
        case 1:
            return array.reshape(-1)[:1].copy()
        case 2:
            return array * float("nan")
        case 3:
            return array.astype("int8")
        case _:
            return array[:0].copy()


def run_checkpoint(content: bytes) -> str:
    from gnarl_runtime.checkpoints.checkpoint import load_checkpoint

    with _file("best.safetensors", content) as path:
        load_checkpoint(path)
    return "accepted"


@cache
def _config() -> dict[str, Any]:
    from gnarl_runtime.checkpoints.provenance import provenance
    from gnarl_runtime.checkpoints.recipe import Recipe
    from gnarl_runtime.training.run_folder import _signed
    from gnarl_runtime.training.run_folder import make_config as config_of

    made = config_of(_problem("bfs"), Recipe(), "bfs", 0, 1, "cpu", None, provenance())
    found: dict[str, Any] = json.loads(_signed(made))
    return found


def make_config(rng: random.Random) -> bytes:
    from gnarl_runtime.training.run_folder import _digest

    changed = odd.changed_json(rng, _config())
    if isinstance(changed, dict) and rng.random() < 0.7:
        changed["digest"] = _digest(changed)
    text = odd.to_json(rng, changed)
    if rng.random() < 0.1:
        text = odd.changed_text(rng, text)
    return text.encode("utf-8", "surrogatepass")


def run_config(content: bytes) -> str:
    from gnarl_runtime.training.run_folder import RunFolder

    with _file("config.json", content) as path:
        RunFolder(path.parent).config().problem()
    return "accepted"


@contextmanager
def _file(name: str, content: bytes) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        yield path


# What is refused in words is answered


def answered(run: Callable[[bytes], str]) -> Callable[[bytes], str]:
    def tried(content: bytes) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return run(content)
            except GnarlError as error:
                length, name = len(str(error)), type(error).__name__
        assert 0 < length < LONGEST, f"a message of {length:,} characters"
        return f"refused: {name}"

    return tried


def targets() -> dict[str, Target]:
    """All of them by name."""
    from command_lines import make_line, run_line
    from messages import make_session, run_session

    found = [
        Target("spec", make_spec, answered(run_spec)),
        Target("graph", make_graph, answered(run_graph)),
        Target("checkpoint", make_checkpoint, answered(run_checkpoint)),
        Target("config", make_config, answered(run_config)),
        Target("lsp", make_session, run_session),
        Target("line", make_line, run_line),
    ]
    return {target.name: target for target in found}
