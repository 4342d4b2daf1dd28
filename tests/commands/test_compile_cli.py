"""`gnarl-compile`: flags, exit codes, the summary, and no traceback for anyone's mistake."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import gnarl_dsl as gnarl
from gnarl_dsl.loading import check_text
from gnarl_dsl.report.wording import load_wordings
from gnarl_dsl.specs import find_spec, shipped_specs
from gnarl_runtime.commands.compile import main
from gnarl_runtime.commands.work.compile_command import explain_command

SPECS = shipped_specs()
WARNS = """gnarl 1
problem small
  "One warning: `unused` is never read."
graph undirected
features
  seen  state  node  mask  = false
let unused = 3
phase pick(v)
  allow not seen[v]
  update
    seen[v] := true
horizon n rounds
objective size = count(x in nodes where seen[x])
"""
CLEAN = WARNS.replace("let unused = 3\n", "")
WRONG = CLEAN.replace("not seen[v]", "not sen[v]").replace("n rounds", "k rounds")

Capture = pytest.CaptureFixture[str]


def write(folder: Path, text: str, name: str = "small.gnarl") -> str:
    path = folder / name
    path.write_text(text, "utf-8")
    return str(path)


def run(*args: str, capsys: Capture) -> tuple[int, str, str]:
    code = main(list(args))
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


RUN = "import sys; from gnarl_runtime.commands.compile import main; sys.exit(main())"


def command(*args: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", RUN, *args],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **variables},
    )


# The summary


def table_of(summary: str) -> dict[str, list[str]]:
    """The rows of the feature table by name; wrapped cells are joined."""
    lines = summary.split("Feature  ", 1)[1].split("\n\n", 1)[0].splitlines()
    header = "Feature  " + lines[0]
    starts = [header.index(word) for word in re.split(r"  +", header)]
    rows: dict[str, list[str]] = {}
    name = ""
    for line in lines[2:]:
        ends = [*starts[1:], len(line)]
        cells = [line[a:b].strip() for a, b in zip(starts, ends, strict=True)]
        name = cells[0] or name
        before = rows.get(name, [""] * (len(cells) - 1))
        rows[name] = [" ".join(pair).strip() for pair in zip(before, cells[1:], strict=True)]
    return rows


def test_bellman_ford_has_the_rows_of_the_paper(capsys: Capture) -> None:
    code, out, err = run("bellman_ford", capsys=capsys)
    assert (code, err) == (0, "")
    rows = table_of(out)
    assert rows == {
        "A": ["edge weight", "input", "edge", "scalar", "ratio (A)", "- (clrs_weight)"],
        "s": ["start node", "input", "node", "mask_one", "", "- (any_node)"],
        "p": ["phase (P = 2)", "state", "graph", "categorical", "", "1"],
        "ψ_1": ["node last picked in phase source", "state", "node", "categorical", "", "∅"],
        "ψ_2": ["node last picked in phase target", "state", "node", "categorical", "", "∅"],
        "pred": ["predecessor on the path", "state", "node", "pointer", "", "x ∀ x ∈ V"],
        "mask": ["has been reached", "state", "node", "mask", "", "s[x] ∀ x ∈ V"],
        "d": ["best distance so far", "state", "node", "scalar", "ratio (A)", "0 ∀ v ∈ V"],
        "dist": ["-", "oracle (hidden)", "node", "scalar", "", "shortest_path_length(A, s)"],
        "work": ["-", "oracle (hidden)", "graph", "scalar", "", "relaxation_count(A, s)"],
    }
    assert list(rows)[:8] == ["A", "s", "p", "ψ_1", "ψ_2", "pred", "mask", "d"]


def test_bellman_ford_tells_the_rest_of_the_story(capsys: Capture) -> None:
    _, out, _ = run("bellman_ford", capsys=capsys)
    problem = gnarl.load("bellman_ford")
    for text in (
        "bellman_ford: Single-source shortest paths, one edge relaxation per round.",
        "stop = reference   (reference | settled;",
        "graph        undirected connected",
        "phase        1: source(u)\n  allow      mask[u]\n  update     nothing",
        "update     d[v] := d[u] + A[u, v]\n             pred[v] := u\n             mask[v] :=",
        "horizon      2 * (n - 1) * m rounds",
        "limit        2 * work rounds",
        "terminate    when correct",
        "correct      forall x in nodes: found(x) ~= dist[x]",
        "matches: potential count(x in nodes where found(x) ~= dist[x]) / n",
        "er: train 10000 er(n = {4, 7, 11, 13, 16}, p = [0.1, 0.9])",
        "O(n^2) per step: mask O(n), update O(1), ending O(n^2)",
        "deployable   no: `limit` reads work and `terminate` reads dist",
        "observed     A, s, p, ψ_1, ψ_2, pred, mask, d\n",
        f"hash         {problem.hash}",
    ):
        assert text in out


def test_params_change_the_summary(capsys: Capture) -> None:
    code, out, _ = run("bellman_ford", "-p", "stop=settled", capsys=capsys)
    assert code == 0
    assert "stop = settled   (default reference; reference | settled;" in out
    assert "deployable   yes" in out
    assert "not exists x in nodes: useful(x)" in out


def test_blocks_in_updates_are_indented(capsys: Capture) -> None:
    _, out, _ = run("mst_prim", capsys=capsys)
    assert "update     if useful(u, v)\n               pred[v] := u\n" in out


def test_else_and_for_are_shown(tmp_path: Path, capsys: Capture) -> None:
    update = """    if seen[v]   # a comment that is not the spec's
      seen[v] := true
    else
      for x in neighbors(v)
        seen[x] := true
"""
    text = CLEAN.replace("    seen[v] := true\n", update)
    _, out, _ = run(write(tmp_path, text), capsys=capsys)
    shown = out.split("update     ")[1].split("\n\n")[0]
    margin = " " * 13
    assert shown == (
        f"if seen[v]\n{margin}  seen[v] := true\n{margin}else\n"
        f"{margin}  for x in neighbors(v)\n{margin}    seen[x] := true"
    )


def test_the_graph_is_a_feature_where_no_weight_shows_it(capsys: Capture) -> None:
    _, out, _ = run("bfs", "rgc", "tsp", capsys=capsys)
    bfs, rgc, tsp = (table_of("Feature  " + part) for part in out.split("Feature  ")[1:])
    assert bfs["edge"][1] == "input"
    assert rgc["edge"][1] == "state"
    assert "edge" not in tsp


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_every_shipped_spec_compiles_within_100_columns(path: Path, capsys: Capture) -> None:
    code, out, err = run(str(path), "--werror", capsys=capsys)
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 100
    assert "\033" not in out
    assert f"hash         {gnarl.load(path).hash}\n" in out


def test_a_wide_table_is_wrapped(tmp_path: Path, capsys: Capture) -> None:
    hues = "red | green | blue | yellow | orange | violet"
    doc = "long words " * 12
    wide = f'  hue  state  node(x)  categorical({hues})  = red  "{doc}"\n'
    text = CLEAN.replace("= false\n", f"= false\n{wide}")
    text = text.replace("seen[v] := true", "seen[v] := true\n    hue[v] := blue")
    code, out, _ = run(write(tmp_path, text), capsys=capsys)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 100
    row = table_of(out)["hue"]
    assert (row[0], row[3]) == (doc.strip(), f"categorical({hues})")


def test_colour_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self) -> bool:
            return True

    def shown() -> str:
        terminal = Terminal()
        monkeypatch.setattr(sys, "stdout", terminal)
        assert main(["bfs"]) == 0
        return terminal.getvalue()

    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\033[1m" in shown()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\033" not in shown()


def test_a_narrow_encoding_gets_plain_signs() -> None:
    ran = command("bfs", PYTHONIOENCODING="ascii")
    assert ran.returncode == 0
    assert "psi_1" in ran.stdout
    assert "x for x in V" in ran.stdout


# Other things to emit


def test_emit_tree(capsys: Capture) -> None:
    code, out, _ = run("--emit", "tree", "tsp_insertion", capsys=capsys)
    assert code == 0
    assert out.startswith("Spec 1:1\n  blocks: Version 1:1\n    number: Number text='1' 1:7\n")
    assert "ProblemHead name=tsp_insertion extends=tsp" in out
    assert "Drop kind=expert names=optimal,nearest" in out


def test_emit_tree_of_a_spec_with_mistakes(tmp_path: Path, capsys: Capture) -> None:
    code, out, err = run("--emit", "tree", write(tmp_path, WRONG), capsys=capsys)
    assert code == 1
    assert "Horizon" in out
    assert "2 errors" in err


def test_emit_problem_reads_back(capsys: Capture) -> None:
    code, out, _ = run("--emit", "problem", "mvc", capsys=capsys)
    assert code == 0
    assert gnarl.Problem.model_validate_json(out) == gnarl.load("mvc")


def test_emit_nothing_else(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--emit", "fortran", "bfs"])
    assert ended.value.code == 2
    assert "choose from 'summary', 'tree', 'problem', 'ir'" in capsys.readouterr().err


def test_emit_ir_and_python(capsys: Capture) -> None:
    code, out, _ = run("mvc", "--emit", "ir", capsys=capsys)
    assert code == 0
    assert "share of in_cover" in out
    code, out, _ = run("mvc", "--emit", "python", capsys=capsys)
    assert code == 0
    assert "def step(" in out
    compile(out, "mvc.py", "exec")


def test_costs_of_a_round_are_shown(capsys: Capture) -> None:
    code, out, _ = run("mvc", "--emit", "costs", capsys=capsys)
    assert code == 0
    line = next(line for line in out.splitlines() if line.startswith("terminate"))
    assert line.split() == ["terminate", "4", "m", "2"]


def test_generated_modules_are_written(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "build"
    code, out, err = run("bfs", "mvc", "-o", str(folder), capsys=capsys)
    assert (code, out) == (0, "")
    assert sorted(path.name for path in folder.iterdir()) == ["bfs.py", "mvc.py"]
    assert f"wrote {folder / 'bfs.py'}" in err
    (tmp_path / "file").write_text("")
    code, _, err = run("bfs", "-o", str(tmp_path / "file"), capsys=capsys)
    assert code == 2
    assert "-o" in err


def test_modules_are_not_written_over_each_other_or_over_a_spec(
    tmp_path: Path, capsys: Capture
) -> None:
    text = gnarl.load("mvc").sources[0].text
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mvc.gnarl").write_text(text)
    both = [str(tmp_path / name / "mvc.gnarl") for name in ("one", "two")]
    code, _, err = run(*both, "-o", str(tmp_path / "build"), capsys=capsys)
    assert (code, (tmp_path / "build").exists()) == (2, False)
    assert "are one file" in err
    code, _, _ = run(both[0], both[0], "-o", str(tmp_path / "build"), capsys=capsys)
    assert code == 0
    (tmp_path / "mvc.py").symlink_to(both[0])
    code, _, err = run(both[0], "-o", str(tmp_path), capsys=capsys)
    assert code == 2
    assert "is what this command reads" in err
    assert Path(both[0]).read_text() == text


def test_modules_do_not_go_into_the_spec_of_a_run(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "run" / "spec"
    folder.mkdir(parents=True)
    (tmp_path / "run" / "config.json").write_text("{}")
    code, _, err = run("bfs", "-o", str(folder), capsys=capsys)
    assert (code, list(folder.iterdir())) == (2, [])
    assert "belongs to the run" in err


# Diagnostics and exit codes


def test_errors_are_listed_in_order_and_counted(tmp_path: Path, capsys: Capture) -> None:
    path = write(tmp_path, WRONG)
    code, out, err = run(path, capsys=capsys)
    assert (code, out) == (1, "")
    places = re.findall(rf"^{re.escape(path)}:(\d+):\d+: error GN\d+", err, re.MULTILINE)
    assert places == sorted(places, key=int)
    assert len(places) == 2
    assert err.splitlines()[-1] == f"2 errors in {path}"


def test_warnings_do_not_fail_unless_asked_to(tmp_path: Path, capsys: Capture) -> None:
    path = write(tmp_path, WARNS)
    code, out, err = run(path, capsys=capsys)
    assert code == 0
    assert out.startswith("small: ")
    assert err.splitlines()[-1] == f"1 warning in {path}"
    assert run("--werror", path, capsys=capsys)[:2] == (1, "")


def test_quiet_shows_diagnostics_only(tmp_path: Path, capsys: Capture) -> None:
    code, out, err = run("--quiet", write(tmp_path, WARNS), "bfs", capsys=capsys)
    assert (code, out) == (0, "")
    assert "warning GN901" in err
    assert run("--quiet", "bfs", capsys=capsys) == (0, "", "")


def test_all_files_are_checked(tmp_path: Path, capsys: Capture) -> None:
    wrong, warns = write(tmp_path, WRONG), write(tmp_path, WARNS, "warns.gnarl")
    code, out, err = run(wrong, "bfs", warns, capsys=capsys)
    assert code == 1
    assert "bfs: " in out
    assert f"2 errors in {wrong}" in err
    assert f"1 warning in {warns}" in err


def test_costly_specs_need_a_flag(tmp_path: Path, capsys: Capture) -> None:
    costly = "count(a in nodes, b in nodes, c in nodes, d in nodes where seen[a] and seen[d])"
    path = write(tmp_path, CLEAN.replace("count(x in nodes where seen[x])", costly))
    code, _, err = run(path, "--quiet", capsys=capsys)
    assert code == 1
    assert "GN601" in err
    assert run(path, "--quiet", "--allow-costly", capsys=capsys)[0] == 0


@pytest.mark.parametrize("name", ["check", "trace", "train", "eval", "solve", "view"])
def test_every_command_that_reads_a_spec_takes_the_flag(name: str) -> None:
    parser = import_module(f"gnarl_runtime.commands.{name}").build_parser()
    assert "--allow-costly" in parser.format_help()


def test_a_costly_spec_can_be_played(tmp_path: Path, capsys: Capture) -> None:
    from gnarl_runtime.commands.trace import main as trace

    costly = "count(a in nodes, b in nodes, c in nodes, d in nodes where seen[a] and seen[d])"
    text = CLEAN.replace("count(x in nodes where seen[x])", costly)
    splits = "".join(f"  {split} 1 er(n = 3, p = 0.5)\n" for split in ("train", "valid", "test"))
    path = write(tmp_path, f"{text}instances er\n{splits}")
    assert trace([path, "--nodes", "3"]) == 1
    assert "--allow-costly" in capsys.readouterr().err
    assert trace([path, "--nodes", "3", "--allow-costly"]) == 0


def test_an_unknown_param_is_the_specs_business(capsys: Capture) -> None:
    code, _, err = run("mvc", "-p", "epz=0.2", capsys=capsys)
    assert code == 1
    assert "GN127" in err
    assert "eps" in err


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def given(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    given(CLEAN.encode())
    code, out, _ = run("-", capsys=capsys)
    assert code == 0
    assert out.startswith("small: ")
    given(WRONG.encode())
    assert "2 errors in <stdin>" in run("-", capsys=capsys)[2]
    given(b"gnarl 1\n\xff\xfe")
    code, _, err = run("-", capsys=capsys)
    assert code == 2
    assert "not UTF-8" in err


def test_standard_input_extends_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    write(tmp_path, CLEAN)
    monkeypatch.chdir(tmp_path)
    variant = b'gnarl 1\nproblem variant extends small\n  "A variant."\nhorizon 2 * n rounds\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(variant)))
    code, out, _ = run("-", capsys=capsys)
    assert code == 0
    assert "2 * n rounds" in out


# JSON


def test_json_of_good_and_bad_files(tmp_path: Path, capsys: Capture) -> None:
    path = write(tmp_path, WRONG)
    code, out, err = run("--format", "json", path, "mvc", capsys=capsys)
    assert (code, err) == (1, "")
    document = json.loads(out)
    assert document["version"] == 1
    bad, good = document["files"]
    assert {key: bad[key] for key in ("file", "ok", "name", "hash", "deployable", "error")} == {
        "file": path,
        "ok": False,
        "name": None,
        "hash": None,
        "deployable": None,
        "error": None,
    }
    first = bad["diagnostics"][0]
    assert first["severity"] == "error"
    line = WRONG.splitlines()[first["range"]["start"]["line"]]
    start, end = (first["range"][side]["character"] for side in ("start", "end"))
    assert line[start:end].startswith("sen")
    assert (good["ok"], good["name"], good["deployable"]) == (True, "mvc", True)
    assert good["hash"] == gnarl.load("mvc").hash
    assert good["diagnostics"] == []


def test_json_says_what_could_not_be_read(capsys: Capture) -> None:
    code, out, err = run("--format", "json", "no/such.gnarl", capsys=capsys)
    assert code == 2
    assert "no/such.gnarl" in err
    (record,) = json.loads(out)["files"]
    assert not record["ok"]
    assert "no/such.gnarl" in record["error"]


def test_json_is_not_for_other_emissions(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--emit", "tree", "--format", "json", "bfs"])
    assert ended.value.code == 2


# Explanations


@pytest.mark.parametrize("code", list(load_wordings()))
def test_every_code_is_explained(code: str, capsys: Capture) -> None:
    assert explain_command(code) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{code} ({'warning' if code.startswith('GN9') else 'error'}): ")
    assert "For example:" in out
    assert not re.search(r"\{[a-z_]+\}", out.splitlines()[0])


def test_explain_all_lists_the_codes(capsys: Capture) -> None:
    code, out, _ = run("--explain", "all", capsys=capsys)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(load_wordings())


def test_explain_takes_small_letters(capsys: Capture) -> None:
    assert run("--explain", "gn012", capsys=capsys)[1].startswith("GN012 (error)")


def test_an_unknown_code(capsys: Capture) -> None:
    code, out, err = run("--explain", "GN4O1", capsys=capsys)
    assert (code, out) == (2, "")
    assert "GN401" in err


# Mistakes on the command line


def assert_usage_error(*args: str, saying: str, capsys: Capture) -> None:
    code, out, err = run(*args, capsys=capsys)
    assert (code, out) == (2, "")
    assert saying in err
    assert len(err.splitlines()) <= 2


def test_no_arguments(capsys: Capture) -> None:
    assert_usage_error(saying="no spec given", capsys=capsys)


def test_a_missing_file_names_the_nearest(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path, CLEAN)
    missing = str(tmp_path / "smal.gnarl")
    assert_usage_error(missing, saying=str(tmp_path / "small.gnarl"), capsys=capsys)
    assert_usage_error("bellmann_ford", saying="bellman_ford", capsys=capsys)
    assert_usage_error("qqqqqqqq", saying="qqqqqqqq", capsys=capsys)


def test_a_folder(tmp_path: Path, capsys: Capture) -> None:
    assert_usage_error(str(tmp_path), saying="is a folder", capsys=capsys)


def test_a_file_that_may_not_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    path = write(tmp_path, CLEAN)
    usual = Path.open

    def refuse(self: Path, *args: Any, **options: Any) -> Any:
        if str(self) == path:
            raise PermissionError(13, "Permission denied")
        return usual(self, *args, **options)

    monkeypatch.setattr(Path, "open", refuse)
    assert_usage_error(path, saying="Permission denied", capsys=capsys)


def test_a_name_that_no_file_can_have(capsys: Capture) -> None:
    assert_usage_error("a" * 5000, saying="too long", capsys=capsys)


def test_a_malformed_param(capsys: Capture) -> None:
    for given in ("tau", "=3", "tau="):
        assert_usage_error("rgc", "-p", given, saying="NAME=VALUE", capsys=capsys)


def test_a_file_that_is_not_text(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "picture.gnarl"
    path.write_bytes(b"gnarl 1\nproblem \xff\n")
    code, out, err = run(str(path), capsys=capsys)
    assert (code, out) == (2, "")
    assert "GN001" in err
    assert "0xff" in err


def test_one_missing_file_does_not_hide_the_others(capsys: Capture) -> None:
    code, out, err = run("no/such.gnarl", "bfs", capsys=capsys)
    assert code == 2
    assert "bfs: " in out
    assert "no/such.gnarl" in err


def test_interruption(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gnarl_runtime.commands.work.compile_command.compile_argument", interrupt)
    assert main(["bfs"]) == 130


def test_help_and_version(capsys: Capture) -> None:
    for flag, text in (("--help", "examples:"), ("--version", gnarl.__version__)):
        with pytest.raises(SystemExit) as ended:
            main([flag])
        assert ended.value.code == 0
        assert text in capsys.readouterr().out


# As a process


def test_a_reader_that_leaves_early_is_no_error() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, *(str(path) for path in SPECS), "--emit", "tree"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait() == 0
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_disk_is_reported() -> None:
    with open("/dev/full", "w") as full:
        ran = subprocess.run(
            [sys.executable, "-c", RUN, "bfs"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert ran.returncode == 2
    assert ran.stderr.startswith("gnarl-compile: ")
    assert len(ran.stderr.splitlines()) == 1


def test_compiling_loads_no_numerical_library() -> None:
    code = (
        "import sys; from gnarl_runtime.commands.compile import main\n"
        "assert main(['bellman_ford']) == 0\n"
        "heavy = {'torch', 'numpy', 'scipy', 'networkx', 'lark'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


# The hash


def test_the_hash_is_about_behaviour_only() -> None:
    def hash_of(text: str, **params: str) -> str:
        problem = check_text(text, params=params).problem
        assert problem is not None
        return problem.hash

    spec = find_spec("bellman_ford")
    assert spec is not None
    text = spec.read_text("utf-8")
    same = "# a comment\n" + text.replace('"edge weight"', '"the length of an edge"')
    assert hash_of(same) == hash_of(text)
    assert hash_of(text.replace("2 * work", "3 * work")) != hash_of(text)
    assert hash_of(text.replace("er(n = 64", "er(n = 65")) != hash_of(text)
    assert hash_of(text, stop="settled") != hash_of(text)


def test_the_hash_survives_a_round_trip_and_another_process() -> None:
    problem = gnarl.load("tsp")
    assert gnarl.Problem.model_validate_json(problem.model_dump_json()).hash == problem.hash
    for seed in ("1", "2"):
        ran = command("--format", "json", "tsp", PYTHONHASHSEED=seed)
        assert json.loads(ran.stdout)["files"][0]["hash"] == problem.hash


def test_different_problems_have_different_hashes() -> None:
    hashes = {gnarl.load(path).hash for path in SPECS}
    assert len(hashes) == len(SPECS)
