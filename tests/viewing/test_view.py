"""`gnarl-view`: frames are what the interpreter says, texts stay texts, slips get messages."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoints import untrained_run
from episodes import make_instance, random_instance
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from shipped_specs import shipped
from view_cases import HOSTILE

import gnarl_dsl as gnarl
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_dsl.model import Problem
from gnarl_runtime.commands.view import main
from gnarl_runtime.viewing.choosers import expert_chooser, random_chooser
from gnarl_runtime.viewing.document import page_of
from gnarl_runtime.viewing.page import json_for_script
from gnarl_runtime.viewing.places import places_of
from gnarl_runtime.viewing.recording import Recording, record
from gnarl_runtime.viewing.strip import evenly

Capture = pytest.CaptureFixture[str]


def recorded(problem: Problem, nodes: int = 6, seed: int = 0) -> Recording:
    """Random picks, the first expert looking on."""
    game = Interpreter(problem)
    adviser = expert_chooser(game, None) if problem.experts else None
    return record(
        game, random_instance(problem, seed, 0, nodes), random_chooser(game), adviser, seed
    )


def page_data(path: Path) -> dict[str, Any]:
    """What the page's script will read."""
    found = re.search(r'<script [^>]*id="data">(.*?)</script>', path.read_text("utf-8"))
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


# Recording


def test_frames_are_what_the_interpreter_says(problem: Problem) -> None:
    recording = recorded(problem)
    game = Interpreter(problem)
    state, total = game.reset(recording.instance), 0.0
    for moment in recording.moments:
        assert moment.phase == state.phase
        assert np.array_equal(moment.legal, game.mask(state))
        assert np.array_equal(moment.adjacency, state.adjacency)
        assert moment.total == pytest.approx(total)
        for name, values in game.observation(state).items():
            assert np.array_equal(moment.features[name], values)
        if moment.decision is None:
            break
        if problem.experts:
            assert moment.advice is not None
            assert np.array_equal(moment.advice, game.expert(state))
        moved = game.step(state, moment.decision.pick)
        assert moment.decision.changes == moved.changes
        assert moment.decision.reward == moved.reward
        state, total = moved.state, total + moved.reward
    assert recording.moments[-1].decision is None
    assert recording.ended == state.ended is not None


def test_the_page_has_every_value_of_every_frame(problem: Problem) -> None:
    recording = recorded(problem)
    page = page_of(recording, places_of(problem, recording.instance, 0), "")
    assert len(page.frames) == len(recording.moments)
    for frame, moment in zip(page.frames, recording.moments, strict=True):
        for column, values in zip(page.scene.node_features, frame.nodes, strict=True):
            assert np.allclose(values, moment.features[column.name].astype(float), rtol=1e-5)
        assert list(frame.legal) == np.flatnonzero(moment.legal).tolist()
        made = moment.decision
        assert frame.pick == (made.pick if made else None)
        if made:
            barred = {node for node, _ in frame.why_not}
            assert barred == set(range(6)) - set(frame.legal)


def test_lines_that_run_are_those_of_the_spec() -> None:
    """Also where a phase takes `allow` from the spec that it extends."""
    problem = shipped("tsp_insertion")
    recording = recorded(problem)
    page = page_of(recording, places_of(problem, recording.instance, 0), "")
    texts = [source.text.splitlines() for source in page.scene.sources]
    (phase,) = page.scene.phases
    assert [texts[f][n - 1].strip()[:5] for f, n in phase.allow] == ["allow"]
    assert {f for f, _ in phase.allow} != {f for f, _ in phase.update}
    assert texts[phase.update[0][0]][phase.update[0][1] - 1].strip().startswith("let p =")
    for frame in page.frames[:-1]:
        assert frame.written
        assert set(frame.written) <= set(phase.update)


def test_a_policy_shows_its_chances_and_takes_its_best_pick(tmp_path: Path) -> None:
    from gnarl_runtime.checkpoints.checkpoint import load_checkpoint
    from gnarl_runtime.envs.engine import compile_for
    from gnarl_runtime.instances.pools import pool_of
    from gnarl_runtime.search.rollout import Keep, play
    from gnarl_runtime.viewing.learned import learned_chooser

    loaded = load_checkpoint(untrained_run(tmp_path, "bfs"))
    problem, instance = loaded.problem, random_instance(loaded.problem, 0, 0, 7)
    player = learned_chooser(loaded.policy, problem, 7)
    recording = record(Interpreter(problem), instance, player, None, 0)
    compiled = compile_for(problem)
    pool = pool_of(problem, [instance], compiled.oracles)
    outcomes = play(loaded.policy, compiled, pool, keep=Keep(picks=True))
    made = [moment.decision for moment in recording.moments if moment.decision]
    assert outcomes.picks == (tuple(decision.pick for decision in made),)
    for moment, decision in zip(recording.moments, made, strict=False):
        assert decision.chances.sum() == pytest.approx(1, abs=1e-5)
        assert decision.chances[decision.pick] == decision.chances.max()
        assert not decision.chances[~moment.legal].any()


def test_scores_that_are_no_numbers_are_not_shown(tmp_path: Path) -> None:
    import torch

    from gnarl_runtime.checkpoints.checkpoint import load_checkpoint
    from gnarl_runtime.network.policy import NotANumber
    from gnarl_runtime.viewing.learned import learned_chooser

    loaded = load_checkpoint(untrained_run(tmp_path, "bfs"))
    with torch.no_grad():
        next(loaded.policy.parameters()).fill_(float("nan"))
    player = learned_chooser(loaded.policy, loaded.problem, 5)
    instance = random_instance(loaded.problem, 0, 0, 5)
    with pytest.raises(NotANumber, match="not numbers"):
        record(Interpreter(loaded.problem), instance, player, None, 0)


# Places


def test_points_of_a_plane_are_found_again() -> None:
    problem = shipped("tsp")
    instance = random_instance(problem, 0, 0, 9)
    places = places_of(problem, instance, 0) * (1.6, 1.0)
    gaps = np.hypot(*(places[:, None] - places[None, :]).transpose(2, 0, 1))
    far = np.asarray(instance.inputs["A"], np.float64)
    pairs = np.triu_indices(9, 1)
    # Nodes that would cover each other have moved a little.
    assert np.corrcoef(gaps[pairs], far[pairs])[0, 1] > 0.97


@settings(max_examples=40)
@given(st.integers(1, 20), st.integers(0, 5), st.booleans(), st.floats(0, 1))
def test_every_node_has_a_place_of_its_own(
    nodes: int, seed: int, directed: bool, density: float
) -> None:
    problem = shipped("dfs" if directed else "mvc")
    adjacency = np.triu(np.random.default_rng(seed).random((nodes, nodes)) < density, 1)
    instance = make_instance(Graph(directed, adjacency if directed else adjacency | adjacency.T))
    places = places_of(problem, instance, seed)
    assert np.array_equal(places, places_of(problem, instance, seed))
    assert places.shape == (nodes, 2)
    assert (places >= -1e-6).all()
    assert (places <= 1 + 1e-6).all()
    gaps = np.hypot(*(places[:, None] - places[None, :]).transpose(2, 0, 1))
    assert (gaps[np.triu_indices(nodes, 1)] > 0.02).all()


# Texts


@given(st.text())
def test_no_text_leaves_its_script_element(text: str) -> None:
    safe = json_for_script([text])
    assert json.loads(safe) == [text]
    assert not set("<>&\u2028\u2029") & set(safe)


class _Elements(HTMLParser):
    """Which elements a page has."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)


def test_words_of_a_spec_make_no_elements(tmp_path: Path) -> None:
    pages = []
    for name, text in (("hostile", HOSTILE), ("tame", re.sub(r'".*"', '"words"', HOSTILE))):
        (tmp_path / f"{name}.gnarl").write_text(text, "utf-8")
        page = tmp_path / f"{name}.html"
        assert main([str(tmp_path / f"{name}.gnarl"), "--nodes", "3", "-o", str(page)]) == 0
        elements = _Elements()
        elements.feed(page.read_text("utf-8"))
        pages.append(elements.names)
    assert pages[0] == pages[1]
    assert (
        page_data(tmp_path / "hostile.html")["scene"]["doc"]
        == gnarl.load(tmp_path / "hostile.gnarl").doc
    )


def test_the_page_names_nothing_to_fetch(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["bfs", "--nodes", "4", "-o", str(page)]) == 0
    text = page.read_text("utf-8")
    found = re.findall(r"https?://[^\"' ]*|(?:src|href)=|@import|url\((?!#)", text)
    assert found == ["http://www.w3.org/2000/svg"]  # the name of a kind of element
    assert "default-src 'none'" in text


# The command


def test_same_arguments_same_file(tmp_path: Path) -> None:
    texts = []
    for seed in ("3", "3", "4"):
        args = ["mvc", "--policy", "random", "--nodes", "5", "--seed", seed]
        assert main([*args, "-o", str(tmp_path / "a.html"), "--png", str(tmp_path / "a.png")]) == 0
        texts.append([(tmp_path / name).read_bytes() for name in ("a.html", "a.png")])
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]


def test_names_from_a_file_are_shown(tmp_path: Path, capsys: Capture) -> None:
    data, page = tmp_path / "animals.edges", tmp_path / "page.html"
    data.write_text("ant bee\nbee cat\n", "utf-8")
    assert main(["mvc", "--data", str(data), "-o", str(page)]) == 0
    assert "note: `w` was drawn" in capsys.readouterr().err
    found = page_data(page)
    assert found["scene"]["labels"] == ["ant", "bee", "cat"]
    assert found["frames"][0]["changes"] == ["in_cover[bee] false → true (line 17)"]


def test_a_strip_has_as_many_pictures_as_asked(tmp_path: Path) -> None:
    sizes = []
    for steps in ("1", "3", "6"):
        path = tmp_path / "strip.png"
        assert main(["bfs", "--nodes", "5", "--png", str(path), "--steps", steps]) == 0
        picture = Image.open(BytesIO(path.read_bytes()))
        assert picture.format == "PNG"
        assert len(picture.convert("RGB").getcolors(1 << 24) or []) > 20
        sizes.append(picture.size)
    assert not (tmp_path / "rollout.html").exists()
    (one, one_high), (three, three_high), (six, six_high) = sizes
    assert one < three == six
    assert one_high == three_high < six_high


@given(st.integers(1, 300), st.integers(1, 20))
def test_steps_are_chosen_evenly(count: int, most: int) -> None:
    chosen = evenly(count, most)
    assert len(chosen) == min(count, most)
    assert chosen == sorted(set(chosen))
    assert chosen[-1] == count - 1
    if len(chosen) > 1:
        assert chosen[0] == 0
        assert np.ptp(np.diff(chosen)) <= 1


def test_a_spec_without_an_expert_is_played_at_random(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "alone.gnarl").write_text(HOSTILE, "utf-8")
    page = tmp_path / "page.html"
    assert main([str(tmp_path / "alone.gnarl"), "-o", str(page), "--nodes", "3"]) == 0
    assert "random picks on 3 nodes" in capsys.readouterr().out
    assert page_data(page)["adviser"] is None


def test_a_run_is_played_by_its_policy_beside_the_expert(tmp_path: Path, capsys: Capture) -> None:
    run, page = untrained_run(tmp_path, "mvc"), tmp_path / "page.html"
    assert main([str(run), "--nodes", "5", "-o", str(page)]) == 0
    assert "trained policy on 5 nodes" in capsys.readouterr().out
    found = page_data(page)
    assert found["adviser"] == "optimal"
    assert all(frame["advice"] for frame in found["frames"][:-1])
    assert main([str(run), "--nodes", "5", "--policy", "random", "-o", str(page)]) == 0
    assert "random picks" in capsys.readouterr().out


def test_a_spec_is_viewed_without_torch(tmp_path: Path) -> None:
    code = (
        "import sys; from gnarl_runtime.commands.view import main; "
        "main(['bfs', '--nodes', '4', '-o', 'a.html', '--png', 'a.png']); "
        "raise SystemExit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path, capture_output=True)


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["bsf"], 2, "Did you mean bfs?"),
        (["runs/nothing"], 2, "A run folder or a checkpoint in it would do"),
        (["gone.safetensors"], 2, "there is no gone.safetensors"),
        (["."], 1, "is no run folder"),
        (["torn.safetensors"], 1, "torn.safetensors is damaged or no checkpoint"),
        (["bfs", "--policy", "learned"], 2, "a spec, which nobody has trained"),
        (["alone.gnarl", "--policy", "expert"], 2, "declares no expert"),
        (["bfs", "--policy", "expert", "--expert", "none"], 2, "leaves nobody to pick"),
        (["bfs", "--expert", "shalowest"], 2, "shallowest"),
        (["bfs", "--reward", "luck"], 2, "the spec has: matches"),
        (["bfs", "--nodes", "201"], 2, "expected a number from 1 to 200"),
        (["bfs", "--nodes", "1"], 1, "gave no instance of bfs"),
        (["bfs", "--nodes", "3", "--data", "path.edges"], 2, "has its own size"),
        (["bfs", "--data", "none.edges"], 2, "there is no such file"),
        (["tsp", "--data", "path.edges"], 1, "expected all of them (a complete graph)"),
        (["mvc", "--data", "long.edges"], 1, "the graph has 250 nodes; expected at most 200"),
        (["bfs", "--steps", "3"], 2, "--steps is about the strip"),
        (["bfs", "--png", "a.jpg"], 2, "expected a name that ends in .png"),
        (["bfs", "-o", "nowhere/a.html"], 2, "there is no folder nowhere"),
        (["bfs", "-p", "stop"], 2, "expected NAME=VALUE"),
        (["bfs", "--seed", "-1"], 2, "expected 0 or more"),
    ],
)
def test_slips_get_a_message(
    args: list[str], code: int, said: str, tmp_path: Path, capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "alone.gnarl").write_text(HOSTILE, "utf-8")
    (tmp_path / "torn.safetensors").write_bytes(b"torn")
    (tmp_path / "path.edges").write_text("0 1\n1 2\n2 3\n", "utf-8")
    (tmp_path / "long.edges").write_text("".join(f"{k} {k + 1}\n" for k in range(249)), "utf-8")
    assert main(args) == code
    err = capsys.readouterr().err
    assert said in err
    assert "Traceback" not in err
    assert not list(tmp_path.glob("*.html"))
