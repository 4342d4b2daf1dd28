"""The reference manual, executed: docs/language.md in, a failure for every untrue example out.

The words after the three backticks of a fenced block say how it is run:

    gnarl                     a complete spec: no errors and no warnings
    gnarl error=GN401,GN403   exactly these error codes; warnings do not count
    gnarl warning=GN904       no errors, and exactly these warnings
    gnarl host                a complete spec that fragments are put into, named by its problem
    gnarl fragment host=walk  top-level blocks, checked as a variant that `extends walk`;
                              with in=features, the block is lines of `features`;
                              with in=update, statements of the host's last phase;
                              with in=formula, one formula per line, about nodes u, v and x
    python                    a doctest; each `##` section has a namespace of its own, which
                              starts with what the one block `python setup` defines
    console                   lines `$ command`, and what it prints if anything follows
    text                      shown only

A fragment may leave names unused. Complete specs are saved as PROBLEM.gnarl in the folder
where everything runs, so that a doctest can `gnarl.load("PROBLEM.gnarl")`.

What stands between `<!-- generated: NAME -->` and `<!-- end -->` comes from the code. After a
change there, `python tests/docs/test_manual.py` writes these parts of the manual anew.
"""

from __future__ import annotations

import doctest
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec as find_module
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

import pytest
from house import ROOT

from gnarl_dsl.check.cost import MAX_DEGREE
from gnarl_dsl.check.expressions import MAX_BINDERS, MAX_RANGE
from gnarl_dsl.language import registered, signatures, words
from gnarl_dsl.loading import MAX_EXTENDS, Checked, check_file, check_text
from gnarl_dsl.model import kinds
from gnarl_dsl.report.diagnostics import MAX_ERRORS
from gnarl_dsl.report.source import MAX_BYTES, MAX_LINES, MAX_NAME, MAX_WORDS
from gnarl_dsl.report.wording import load_wordings
from gnarl_dsl.specs import find_spec, specs_folder
from gnarl_dsl.syntax.layout import MAX_DEPTH
from gnarl_dsl.syntax.parse import load_grammar
from gnarl_dsl.syntax.tables import read_grammar

MANUAL = ROOT / "docs" / "language.md"
UNUSED = {"GN901", "GN906", "GN907"}
DOCTEST_FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


# Reading the manual


@dataclass(frozen=True)
class Block:
    """A fenced block: the words of its fence, its text, its line and the section around it."""

    words: tuple[str, ...]
    text: str
    line: int
    section: str

    @property
    def language(self) -> str:
        return self.words[0]

    def option(self, name: str) -> str | None:
        values = [word.partition("=")[2] for word in self.words if word.startswith(f"{name}=")]
        return values[0] if values else None

    def codes(self, name: str) -> set[str]:
        return set((self.option(name) or "").split(",")) - {""}

    @property
    def is_spec(self) -> bool:
        return self.language == "gnarl" and "fragment" not in self.words

    @property
    def problem(self) -> str:
        found = re.search(r"^problem (\w+)", self.text, re.MULTILINE)
        return found[1] if found else ""


def read_blocks(text: str) -> Iterator[Block]:
    section, words, start, body = "", None, 0, []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            if words is None:
                words, start, body = tuple(line[3:].split()) or ("",), number, []
            else:
                yield Block(words, "\n".join(body) + "\n", start, section)
                words = None
        elif words is not None:
            body.append(line)
        elif line.startswith("## "):
            section = line[3:]
    assert words is None, f"the block in line {start} has no end"


TEXT = MANUAL.read_text("utf-8")
BLOCKS = list(read_blocks(TEXT))
HOSTS = {block.problem: block for block in BLOCKS if "host" in block.words}


def chosen(*languages: str) -> list[object]:
    """Test parameters for the blocks in these languages, named after their lines."""
    return [pytest.param(b, id=f"line{b.line}") for b in BLOCKS if b.language in languages]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every complete spec of the manual in a file of its own."""
    path = tmp_path_factory.mktemp("manual")
    for block in BLOCKS:
        if block.is_spec and not block.codes("error"):
            (path / f"{block.problem}.gnarl").write_text(block.text, "utf-8")
    return path


# Specs and fragments


def completed(block: Block) -> str:
    """The spec that a fragment stands for: a variant of its host."""
    host = HOSTS[block.option("host") or ""]
    head = f"gnarl 1\nproblem fragment extends {host.problem}\n"
    match block.option("in"):
        case None:
            return head + block.text
        case "features":
            return head + "features\n" + indented(block.text, 2)
        case "update":
            phase = re.findall(r"^phase .*$", host.text, re.MULTILINE)[-1]
            return head + f"{phase}\n  update\n" + indented(block.text, 4)
        case "formula":
            return head + "".join(formula_lets(block.text))
        case other:
            raise ValueError(f"line {block.line}: in={other} is not known")


def indented(text: str, depth: int) -> str:
    return "".join(" " * depth + line for line in text.splitlines(keepends=True))


def formula_lets(text: str) -> Iterator[str]:
    lines = [line for line in text.splitlines() if line.strip()]
    for number, line in enumerate(lines):
        yield f"let formula_{number}(u, v, x) = {line}\n"


def verify_codes(block: Block, checked: Checked, ignored: set[str]) -> None:
    errors = {finding.code for finding in checked.diagnostics if finding.is_error}
    warnings = {finding.code for finding in checked.diagnostics} - errors - ignored
    assert errors == block.codes("error")
    if not errors:
        assert warnings == block.codes("warning")
        assert checked.problem is not None


@pytest.mark.parametrize("block", chosen("gnarl"))
def test_spec(block: Block, folder: Path) -> None:
    if block.is_spec:
        assert block.text.startswith("gnarl 1\n") or block.codes("error")
        verify_codes(block, check_text(block.text, folder=folder), set())
    else:
        verify_codes(block, check_text(completed(block), folder=folder), UNUSED)


def test_shipped_specs_are_shown_as_shipped() -> None:
    for block in BLOCKS:
        shipped = find_spec(block.problem) if block.is_spec else None
        if shipped is not None:
            problem, known = check_text(block.text).problem, check_file(shipped).problem
            assert problem is not None
            assert known is not None
            assert problem.hash == known.hash


def test_every_block_is_of_a_known_kind() -> None:
    known = {"gnarl", "python", "console", "text"}
    assert {block.language for block in BLOCKS} <= known
    names = [block.problem for block in BLOCKS if block.is_spec and not block.codes("error")]
    assert len(names) == len(set(names))


# Python and commands

SETUP = next(block for block in BLOCKS if block.words == ("python", "setup"))
SECTIONS = list(dict.fromkeys(b.section for b in BLOCKS if b.language == "python"))


def run_doctest(block: Block, names: dict[str, object]) -> str:
    """What went wrong in a block, or nothing."""
    test = doctest.DocTestParser().get_doctest(block.text, names, "manual", None, block.line)
    test.globs = names
    said: list[str] = []
    doctest.DocTestRunner(optionflags=DOCTEST_FLAGS).run(test, out=said.append, clear_globs=False)
    return "".join(said)


@pytest.mark.parametrize("section", SECTIONS)
def test_python(section: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    own = [b for b in BLOCKS if b.language == "python" and b.section == section and b != SETUP]
    for block in [SETUP, *own]:
        assert run_doctest(block, names) == ""


def commands(block: Block) -> list[tuple[str, str]]:
    """Command lines and what is shown below each."""
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert parts[0] == ""
    return [(command, shown) for command, _, shown in (p.partition("\n") for p in parts[1:])]


@pytest.mark.parametrize("block", chosen("console"))
def test_console(
    block: Block,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    for command, shown in commands(block):
        program, *arguments = shlex.split(command)
        module, _, function = scripts[program].partition(":")
        if find_module(module) is None:
            pytest.skip(f"{module} is not there")
        assert getattr(import_module(module), function)(arguments) == 0
        printed = capsys.readouterr().out
        assert not shown.strip() or printed.split() == shown.split()


# Parts that come from the code


def table(head: str, rows: list[str]) -> str:
    line = "|".join("---" for _ in head.strip("|").split("|"))
    return "\n".join([head, f"|{line}|", *rows])


def cost_of(signature: signatures.FunctionSignature) -> str:
    def power(name: str, exponent: int) -> str:
        return "" if exponent == 0 else name if exponent == 1 else f"{name}^{exponent}"

    terms = [" ".join(filter(None, (power("n", n), power("m", m)))) for n, m in signature.cost]
    return " + ".join(terms)


def functions() -> str:
    rows = []
    for name, known in registered.FUNCTIONS.items():
        args = ", ".join(
            " or ".join(known.choices) if a is signatures.CHOICE else a.name for a in known.args
        )
        graphs = {None: "any", True: "directed", False: "undirected"}[known.directed]
        kind = f"whole {known.type}" if known.whole else str(known.type)
        label = "yes" if known.oracle else "no"
        rows.append(
            f"| `{name}` | {args} | {known.place} {kind} | {graphs} | {label} | {cost_of(known)} |"
        )
    return table("| function | arguments | result | graphs | counts as oracle | cost |", rows)


def sources() -> str:
    rows = []
    for name, known in registered.SOURCES.items():
        forms = [name] * bool(known.defaults) + [known.called(name)]
        form = ", ".join(f"`{form}`" for form in forms)
        places, types = (", ".join(map(str, kinds)) for kinds in (known.places, known.types))
        rows.append(f"| {form} | {places} | {types} | {known.doc} |")
    return table("| source | locations | types | draws |", rows)


def generators() -> str:
    rows = [
        f"| {', '.join(call(name, form) for form in known.forms)} | {known.doc} |"
        for name, known in registered.GENERATORS.items()
    ]
    return table("| generator | graphs |", rows)


def call(name: str, args: tuple[str, ...]) -> str:
    return f"`{name}({', '.join(['n', *args])})`"


def wrapped(words: list[str]) -> str:
    lines, line = [], ""
    for word in words:
        if len(line) + len(word) > 90:
            lines.append(line.rstrip())
            line = ""
        line += f"`{word}` "
    return "\n".join([*lines, line.rstrip()])


def keywords() -> str:
    return wrapped(sorted(load_grammar().keywords))


def builtin_names() -> str:
    return wrapped(sorted(words.RESERVED))


def errors() -> str:
    rows = []
    for code, wording in load_wordings().items():
        kind = "warning" if code.startswith("GN9") else "error"
        title = re.sub(r"\{(\w+)\}", "…", wording.title)
        rows.append(f"| {code} | {kind} | {title} |")
    return table("| code | kind | title |", rows)


def grammar() -> str:
    lines = read_grammar().splitlines()
    rules = "\n".join(line for line in lines if not line.startswith(("//", "%")))
    return f"```text\n{rules.strip()}\n```"


def limits() -> str:
    rows = [
        f"| size of a file | {MAX_BYTES:,} bytes, {MAX_LINES:,} lines | GN010 |",
        f"| words and signs in a file | {MAX_WORDS:,} | GN010 |",
        f"| nesting of formulas, brackets and blocks | {MAX_DEPTH} levels | GN009 |",
        f"| length of a name | {MAX_NAME} characters | GN025 |",
        f"| phases, parameters of a let, sets of a quantifier | {MAX_BINDERS} each | GN138 |",
        f"| chain of `extends` | {MAX_EXTENDS} specs | GN117 |",
        f"| numbers in a range, or in nested ones together | {MAX_RANGE:,} | GN233 |",
        f"| cost of a part of a step | n^{MAX_DEGREE}, unless allowed | GN601 |",
        f"| errors that are reported | {MAX_ERRORS} | GN023 |",
    ]
    return table("| limit | value | code |", rows)


def shipped() -> str:
    rows = []
    for path in sorted(specs_folder().glob("*.gnarl")):
        problem = check_file(path).problem
        assert problem is not None
        rows.append(f"| `{problem.name}` | {problem.doc} |")
    return table("| spec | problem |", rows)


GENERATED = {
    "functions": functions,
    "sources": sources,
    "generators": generators,
    "keywords": keywords,
    "built-in names": builtin_names,
    "errors": errors,
    "grammar": grammar,
    "limits": limits,
    "shipped specs": shipped,
}
REGION = re.compile(r"(<!-- generated: ([\w -]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def regenerated(text: str) -> str:
    def fill(found: re.Match[str]) -> str:
        return f"{found[1]}\n{GENERATED[found[2]]()}\n\n{found[4]}"

    return REGION.sub(fill, text)


@pytest.mark.parametrize("name", GENERATED)
def test_generated_part(name: str) -> None:
    shown: Mapping[str, str] = {found[2]: found[3] for found in REGION.finditer(TEXT)}
    assert shown[name].strip() == GENERATED[name](), "run `python tests/docs/test_manual.py`"


# Each of these is explained by hand, in a list item or table row that starts with its name.
EXPLAINED = [
    *registered.FUNCTIONS,
    *registered.SOURCES,
    *registered.GENERATORS,
    *kinds.STAGES,
    *kinds.PLACES,
    *kinds.TYPES,
    *words.GRAPH_WORDS,
    *words.REWARD_KINDS,
    *words.SPLITS,
    *words.MATH,
    *words.NEAR,
    *words.DEGREES,
    *words.CHASES,
]


@pytest.mark.parametrize("name", EXPLAINED)
def test_everything_is_explained(name: str) -> None:
    by_hand = REGION.sub("", TEXT)
    assert re.search(rf"^(?:\| |- )(?:`[^`]*`, )*`{name}\b", by_hand, re.MULTILINE)


# Links


def anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_links_lead_somewhere() -> None:
    prose = re.sub(r"^```.*?^```", "", TEXT, flags=re.MULTILINE | re.DOTALL)
    headings = {anchor(title) for title in re.findall(r"^#+ (.*)$", prose, re.MULTILINE)}
    assert set(re.findall(r"\]\(#([^)]*)\)", prose)) <= headings


def test_mentioned_codes_exist() -> None:
    assert set(re.findall(r"\bGN\d{3}\b", TEXT)) <= set(load_wordings())


if __name__ == "__main__":
    MANUAL.write_text(regenerated(TEXT), "utf-8")
