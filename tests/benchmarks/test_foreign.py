"""Contestants in other processes: what they are asked and what they tell."""

from __future__ import annotations

import io
import json
import sys

import pytest

from benchmarks.foreign.answering import serve
from benchmarks.speed.peers import measure_case, parse_options, report_text


class Counting:
    """Four steps a turn, an eighth of a second on the clock."""

    def __init__(self, problem: str, nodes: int, batch: int) -> None:
        if problem != "known":
            raise LookupError("no such environment")

    def turn(self) -> tuple[int, float]:
        return 4, 0.125


def told(monkeypatch: pytest.MonkeyPatch, *lines: dict[str, object]) -> list[dict[str, object]]:
    answers = io.StringIO()
    monkeypatch.setattr(
        sys, "stdin", io.StringIO("".join(json.dumps(line) + "\n" for line in lines))
    )
    monkeypatch.setattr(sys, "stdout", answers)
    serve(Counting, {"double": lambda asked: {"is": 2 * int(asked["of"])}})
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def test_a_contestant_answers_every_line(monkeypatch: pytest.MonkeyPatch) -> None:
    prepare = {"do": "prepare", "problem": "known", "nodes": 5, "batch": 2}
    asked = [{**prepare, "problem": "other"}, prepare, {"do": "run", "seconds": 0.01}]
    wrong, ready, ran, doubled, unknown = told(
        monkeypatch, *asked, {"do": "double", "of": 21}, {"do": "nothing"}
    )
    assert wrong == {"failed": "LookupError: no such environment"}
    assert ready == {}
    assert ran["steps"] % 4 == 0  # type: ignore[operator]
    assert ran["seconds"] == ran["steps"] / 32  # type: ignore[operator]
    assert doubled == {"is": 42}
    assert "failed" in unknown


class Silent:
    """A process that cannot."""

    def ask(self, do: str, **what: object) -> dict[str, object]:
        from benchmarks.foreign.talk import Failed

        raise Failed("it cannot")


def test_a_case_tells_rates_and_why_there_are_none() -> None:
    options = parse_options(["--repetitions", "1", "--seconds", "0.05"])
    figure = measure_case("tsp", 5, 1, {"RL4CO": Silent()}, options)  # type: ignore[dict-item]
    assert set(figure["rates"]) == {"ours", "by hand"}
    assert figure["missing"] == {"RL4CO": "it cannot"}
    full = measure_case("tsp", 1000, 4096, {}, options)
    assert full["missing"]["ours"] == "more than 1500 MB"
    source = {"cpu": "some CPU", "core": 1, "cores": 2, "commit": "abc", "load": [[0], [0]]}
    record = {"provenance": source, "others": {"rl4co": "1"}, "repetitions": 1, "seconds": 0.05}
    text = report_text({**record, "figures": [figure, full]})
    assert "tsp 5x1, RL4CO: it cannot" in text
    assert "(1" in text or "x)" in text
