"""A path or a text in, a checked `Problem` out: the front end in one call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from errno import EINVAL
from itertools import islice
from pathlib import Path
from typing import Any

from gnarl_dsl.check.extend import merge_specs
from gnarl_dsl.check.spec import CheckedNames, CheckInput, check_spec
from gnarl_dsl.externs import Given, with_code
from gnarl_dsl.model import Code, Problem
from gnarl_dsl.report.diagnostics import Collector, Diagnostic, EnoughErrors, SpecError
from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.report.source import MAX_BYTES, MAX_NAME, Source, Span, normalise_text
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_dsl.spec_arguments import resolve_spec
from gnarl_dsl.specs import find_spec, gallery_specs, paper_specs, shipped_specs
from gnarl_dsl.syntax import ast
from gnarl_dsl.syntax.parse import Parsed, parse_spec

_SAFE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
MAX_EXTENDS = 8
# What a variant may leave to its base; while the base is missing, none of it is missed.
_INHERITED = frozenset({"graph", "features", "phase", "horizon", "objective", "correct"})
_START = Span(0, 0)
Spec = str | Path | Problem  # a file, the name of a shipped spec, or a problem checked before


@dataclass(frozen=True)
class Checked:
    """The result for one spec: a problem, unless the diagnostics hold an error."""

    problem: Problem | None
    diagnostics: tuple[Diagnostic, ...]
    sources: tuple[Source, ...]
    tree: ast.Spec
    names: CheckedNames | None = None


@dataclass
class _Files:
    """The file itself and everything it extends, in order."""

    found: Collector
    folder: Path | None
    opened: Mapping[Path, str] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)
    lost_names: frozenset[str] = frozenset()
    lost_blocks: frozenset[str] = frozenset()
    lost_base: bool = False
    own_extends: Span | None = None

    def parse(self, source: Source) -> Parsed:
        self.sources.append(source)
        parsed = parse_spec(source, len(self.sources) - 1, self.found)
        self.lost_names |= parsed.lost_names
        self.lost_blocks |= parsed.lost_blocks
        # Without the line that names it, nobody knows what the base would have declared.
        if "problem" in parsed.lost_blocks and "extends" in parsed.lost_names:
            self.lose_base()
        return parsed

    def lose_base(self) -> None:
        self.lost_base = True
        self.lost_blocks |= _INHERITED

    def expand(self, tree: ast.Spec, chain: tuple[str, ...]) -> ast.Spec:
        """Merge in what the spec extends, and what that extends."""
        head = next((b for b in tree.blocks if isinstance(b, ast.ProblemHead)), None)
        if head is None or head.extends is None:
            if not self.lost_base:
                self._forbid_drop(tree)
            return tree
        self.own_extends = self.own_extends or head.extends.span
        base = self._base(head.extends, (*chain, head.name.text))
        if base is None:
            self.lose_base()
            return tree
        return merge_specs(base, tree, self.found)

    def _forbid_drop(self, tree: ast.Spec) -> None:
        for block in tree.blocks:
            if isinstance(block, ast.Drop):
                self.found.add("GN136", block.span)

    def _base(self, name: ast.Ident, chain: tuple[str, ...]) -> ast.Spec | None:
        if name.text in chain or len(chain) > MAX_EXTENDS:
            path = " → ".join(f"`{item}`" for item in (*chain, name.text))
            fix = "Give this problem another name." if chain == (name.text,) else None
            self.found.add("GN117", self.own_extends or name.span, path=path, fix=fix)
            return None
        file = self._base_path(name.text)
        if file is None:
            self._report_no_base(name)
            return None
        try:
            source = self._read(file, name.span)
        except OSError as error:
            self._report_no_base(name, f"`{file}` can't be opened: {error.strerror}.")
            return None
        return None if source is None else self.expand(self.parse(source).tree, chain)

    def _base_path(self, name: str) -> Path | None:
        """`NAME.gnarl` beside the file, or among the specs that come with GNARL."""
        if len(name) > MAX_NAME or not _SAFE_NAME.match(name):
            return None
        beside = (self.folder or Path()) / f"{name}.gnarl"
        return beside if beside in self.opened or beside.is_file() else find_spec(name)

    def _read(self, file: Path, span: Span) -> Source | None:
        text = self.opened.get(file)
        if text is None or len(text) > MAX_BYTES:
            return read_source(file, self.found, span)
        return Source(str(file), normalise_text(text))

    def _report_no_base(self, name: ast.Ident, fix: str | None = None) -> None:
        folder = self.folder or Path()
        where = "this folder" if folder == Path() else f"`{folder}`"
        beside = [path.stem for path in islice(folder.glob("*.gnarl"), 1000)]
        known = [path.stem for path in shipped_specs()]
        fix = fix or did_you_mean(name.text, [*beside, *known])
        shipped = ", ".join(path.stem for path in [*paper_specs(), *gallery_specs()])
        self.found.add("GN116", name.span, name=name.text, where=where, known=shipped, fix=fix)


def read_source(path: Path, found: Collector, span: Span = _START) -> Source | None:
    """The text of a file; what makes it unreadable as a spec is reported at `span`."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        # A pipe or device could keep us waiting; a folder says itself that it is none.
        raise OSError(EINVAL, "not a regular file", str(path))
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    of = "" if span == _START else f" of `{path}`"
    if len(data) > MAX_BYTES:
        size = f"{path.stat().st_size:,}"
        found.add("GN010", span, size=size, limit=f"{MAX_BYTES:,} bytes")
        return None
    try:
        return Source(str(path), normalise_text(data.decode("utf-8")))
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        found.add("GN001", span, line=line, of=of, byte=f"0x{data[error.start]:02x}")
        return None


def check_text(
    text: str,
    name: str = "<text>",
    params: Mapping[str, str] | None = None,
    folder: Path | None = None,
    allow_costly: bool = False,
    opened: Mapping[Path, str] | None = None,
) -> Checked:
    """Check a spec given as text; `folder` is where `extends` looks first.

    `opened` has the text of files that are not to be read from disk: those open in an editor.
    """
    if len(text) > MAX_BYTES:
        found = Collector()
        limit = f"{MAX_BYTES:,} characters"
        found.add("GN010", Span(0, 0), size=f"{len(text):,}", limit=limit)
        empty = Source(name, "")
        return Checked(None, tuple(found), (empty,), ast.Spec(Span(0, 0), ()))
    source = Source(name, normalise_text(text))
    return _check(source, Collector(), params or {}, folder, allow_costly, opened)


def check_file(
    path: str | Path, params: Mapping[str, str] | None = None, allow_costly: bool = False
) -> Checked:
    """Check a spec file. A file that cannot be opened is an OSError of the caller's."""
    path = Path(path)
    found = Collector()
    source = read_source(path, found)
    if source is None:
        return Checked(None, tuple(found), (Source(str(path), ""),), ast.Spec(Span(0, 0), ()))
    return _check(source, found, params or {}, path.parent, allow_costly)


def _check(
    source: Source,
    found: Collector,
    params: Mapping[str, str],
    folder: Path | None,
    allow_costly: bool,
    opened: Mapping[Path, str] | None = None,
) -> Checked:
    files = _Files(found, folder, opened or {})
    own = ast.Spec(_START, ())
    problem, names = None, None
    with suppress(EnoughErrors):
        own = files.parse(source).tree
        problem, names = _problem(own, files, params, allow_costly)
    return Checked(problem, only_newer_version(tuple(found)), tuple(files.sources), own, names)


def _problem(
    own: ast.Spec, files: _Files, params: Mapping[str, str], allow_costly: bool
) -> tuple[Problem | None, CheckedNames | None]:
    tree = files.expand(own, ())
    if not own.blocks:
        if not files.found.has_errors():
            files.found.add("GN012", _START)
        return None, None
    given = CheckInput(files.lost_names, files.lost_blocks, files.lost_base, params, allow_costly)
    return check_spec(tree, files.sources, given, files.found)


def only_newer_version(found: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """In a newer language everything may mean something else, so nothing else is said."""
    return tuple(finding for finding in found if finding.code == "GN013") or found


# `extern` is code as `with_code` takes it, `allow_costly` yes or no; so typed, `**params` can still
# be of one type.
def load(
    path: str | Path, *, extern: Any = (), allow_costly: Any = False, **params: str | float
) -> Problem:
    """Read and check a spec: a file, or a shipped spec by its name.

    `params` are values for the params of the spec; `extern` is code for what it declares as
    `extern`: Python files, which are run, modules, or functions under `@gnarl.extern`;
    `allow_costly` accepts steps of more than n^3. Mistakes in the spec raise a SpecError that has
    all of them; a file that is not there or cannot be read raises a UsageError.
    """
    found = find_spec(str(path)) if _SAFE_NAME.match(str(path)) else None
    shipped = found is not None and not Path(path).is_file()
    target = found if found is not None and shipped else resolve_spec(str(path))
    try:
        checked = check_file(target, _texts(params), allow_costly)
    except OSError as error:
        raise UsageError(f"{str(path)[:80]}: {error.strerror or error}") from error
    return with_code(require_problem(checked), extern)


def loads(
    text: str, *, extern: Any = (), allow_costly: Any = False, **params: str | float
) -> Problem:
    """Check the text of a spec; mistakes raise a SpecError that has all of them."""
    checked = check_text(text, params=_texts(params), allow_costly=allow_costly)
    return with_code(require_problem(checked), extern)


def problem_of(
    spec: Spec,
    params: Mapping[str, str | float] | None = None,
    extern: Sequence[Given] | Code = (),
) -> Problem:
    """What a user gives for a problem: the path or name of a spec, or a problem checked before."""
    if not isinstance(spec, Problem):
        return load(spec, extern=extern, **(params or {}))
    spec = with_code(spec, extern)
    if params:
        names = ", ".join(params)
        raise UsageError(f"{names}: a checked problem has its params already; give them to load()")
    return spec


def _texts(params: Mapping[str, str | float]) -> dict[str, str]:
    """Params as `-p` would give them."""
    return {name: str(value) for name, value in params.items()}


def require_problem(checked: Checked) -> Problem:
    if checked.problem is None:
        raise SpecError(errors_of(checked.diagnostics), checked.sources)
    return checked.problem


def errors_of(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    return [finding for finding in diagnostics if finding.is_error]
