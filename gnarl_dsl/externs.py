"""Decorated Python functions, files of them or installed packages in, code for a spec out.

Nothing is searched for: a file is run because the person who runs a command named it, and a
package is asked because it is installed and says that it has a function of that name.

>>> import gnarl_dsl as gnarl
>>> @gnarl.extern
... def number_of_edges(graph):
...     return graph.m
>>> number_of_edges.name
'number_of_edges'
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

from gnarl_dsl.brought_names import PREFIX
from gnarl_dsl.model import Extern, Problem
from gnarl_dsl.model.brought import SECONDS, Brought, Code, Trade
from gnarl_dsl.report.failures import Failure, UsageError

Given = str | Path | Brought | ModuleType  # what stands for code: a file, a module, a function
F = TypeVar("F", bound=Callable[..., Any])
GROUPS: Mapping[Trade, str] = {
    Trade.FUNCTION: "gnarl.functions",
    Trade.GENERATOR: "gnarl.generators",
    Trade.SOURCE: "gnarl.sources",
    Trade.PROCESSOR: "gnarl.processors",
    Trade.TRAINER: "gnarl.trainers",
    Trade.STRATEGY: "gnarl.strategies",
}


class ExternError(Failure):
    """Code that was brought and does not do what the spec declares, or does it wrongly."""


# Decorators


def extern(
    function: Callable[..., Any] | None = None,
    *,
    name: str = "",
    seconds: float = SECONDS,
    twin: Callable[..., Any] | None = None,
    arrays: Sequence[str] = (),
) -> Any:
    """Make the function below one that a spec's `extern NAME(…)` means.

    It is called with the current graph and then, by their names, what the spec says it is given.
    name     what the spec calls it; the function's own name if it is left out
    seconds  how long a call may take
    twin     a function for the kernels: of the slot, the arguments, and the `arrays` of the batch
    """

    def made(function: Callable[..., Any]) -> Brought:
        own = name or function.__name__
        return Brought(Trade.FUNCTION, own, function, twin, tuple(arrays), seconds)

    return made if function is None else made(function)


def _plain(trade: Trade, doc: str) -> Callable[..., Any]:
    def decorator(function: Callable[..., Any] | None = None, *, name: str = "") -> Any:
        def made(function: Callable[..., Any]) -> Brought:
            return Brought(trade, name or function.__name__, function)

        return made if function is None else made(function)

    decorator.__name__ = decorator.__qualname__ = trade.value
    decorator.__doc__ = doc
    return decorator


generator = _plain(
    Trade.GENERATOR,
    "Make the function below a family of graphs: `f(n, rng, **args)` gives an adjacency (n, n).",
)
source = _plain(
    Trade.SOURCE,
    "Make the function below a law of inputs: `f(graph, rng, **args)` gives the values.",
)
processor = _plain(
    Trade.PROCESSOR,
    "Make the class below a processor that `policy.processor` of a recipe can name.",
)
trainer = _plain(
    Trade.TRAINER, "Make the function below a trainer that `trainer` of a recipe can name."
)
strategy = _plain(
    Trade.STRATEGY, "Make the function below a search that `--search NAME` can ask for."
)


# What was given


def read_code(given: Given | Iterable[Given]) -> Code:
    """All that these files, modules and functions bring; two of one name are a mistake."""
    one = isinstance(given, str | Path | Brought | ModuleType)
    items = cast("Iterable[Given]", [given] if one else given)
    found: dict[tuple[Trade, str], Brought] = {}
    for item in items:
        for brought in _brought_by(item):
            key = (brought.trade, brought.name)
            if key in found and not _same(found[key], brought):
                raise UsageError(
                    f"--extern: two {brought.trade.value}s are called {brought.name}, one of "
                    f"{found[key].origin} and one of {brought.origin}; give one of them"
                )
            found[key] = brought
    return Code(found)


def _same(one: Brought, other: Brought) -> bool:
    return one == other or (bool(one.hash) and (one.file, one.hash) == (other.file, other.hash))


def _brought_by(item: Given) -> list[Brought]:
    match item:
        case Brought():
            return [_with_source(item)]
        case ModuleType():
            return [_with_source(it) for it in _in_module(item)]
        case str() | Path():
            return _in_file(Path(item))
    told = "a file, a module, or a function under @gnarl.extern"
    raise UsageError(f"extern={item!r}: expected {told}, found a {type(item).__name__}")


def _in_module(module: ModuleType) -> list[Brought]:
    return list(dict.fromkeys(v for v in vars(module).values() if isinstance(v, Brought)))


def _with_source(brought: Brought) -> Brought:
    """With the file that the function stands in, if it stands in one."""
    if brought.file:
        return brought
    with contextlib.suppress(OSError, TypeError):
        path = inspect.getsourcefile(brought.function)
        if path is not None:
            return replace(brought, file=path, hash=hash_of(Path(path).read_bytes()))
    return brought


def hash_of(content: bytes) -> str:
    """What a file is recognised by."""
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def _in_file(path: Path) -> list[Brought]:
    """Run a file that a person named, and take what it registers."""
    try:
        content = path.read_bytes()
    except OSError as error:
        told = error.strerror or str(error)
        raise UsageError(f"--extern {path}: {told}; expected a Python file") from error
    digest = hash_of(content)
    module = _run(path, content, f"gnarl_extern_{digest}")
    found = [replace(it, file=str(path), hash=digest) for it in _in_module(module)]
    if not found:
        raise UsageError(
            f"--extern {path}: the file registers nothing; put `@gnarl.extern` above a function"
        )
    return found


def _run(path: Path, content: bytes, name: str) -> ModuleType:
    """The module of a file; nothing is kept beside it, and what it prints goes to stderr."""
    module = ModuleType(name)
    module.__file__ = str(path)
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        with contextlib.redirect_stdout(sys.stderr):
            exec(compile(content, str(path), "exec"), vars(module))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise ExternError(f"--extern {path}: {told_error(error, str(path))}") from error
    finally:
        if before is not None:
            sys.modules[name] = before
    return module


def told_error(error: BaseException, file: str) -> str:
    """What somebody else's code raised, and where in their file."""
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == file]
    shown = own or list(frames)
    text = str(error).split("\n")[0][:200]
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if not shown:
        return what
    return f"{what}\n  {shown[-1].filename}:{shown[-1].lineno}: {shown[-1].line}"


# Code for a spec


def with_code(problem: Problem, given: Given | Sequence[Given] | Code | None) -> Problem:
    """The problem with the code that it is to be played with, where it fits what is declared."""
    if not given:
        return problem
    code = given if isinstance(given, Code) else read_code(given)
    for declared in problem.externs:
        brought = code.get(declared.trade, declared.name)
        if brought is not None:
            verify_parameters(problem, declared, brought)
    return problem.model_copy(update={"code": code})


_FIRST: Mapping[Trade, tuple[str, ...]] = {
    Trade.FUNCTION: ("graph",),
    Trade.GENERATOR: ("n", "rng"),
    Trade.SOURCE: ("graph", "rng"),
}


def form_of(declared: Extern) -> str:
    """How the Python function for an extern starts."""
    names = [*_FIRST[declared.trade], *(param.name for param in declared.params)]
    return f"def {declared.name}({', '.join(names)})"


def verify_parameters(problem: Problem, declared: Extern, brought: Brought) -> None:
    """Raise an ExternError unless the function takes what the spec says it is given."""
    names = [param.name for param in declared.params]
    first = _FIRST[declared.trade]
    try:
        inspect.signature(brought.function).bind(*first, **dict.fromkeys(names))
    except TypeError as error:
        what = f"{brought.origin} has another `{declared.name}`: {error}"
        fix = f"\nWrite it as `{form_of(declared)}`."
        raise ExternError(problem.located(declared.span, what) + fix) from error
    except ValueError:  # a function that does not tell what it takes
        pass


def code_for(problem: Problem, declared: Extern) -> Brought:
    """The code of an extern: what was given, else what an installed package has."""
    brought = problem.code.get(declared.trade, declared.name) or installed(
        declared.trade, declared.name
    )
    if brought is None:
        what = f"nobody brought the {declared.trade.value} `{declared.name}`"
        fix = (
            f"\nGive its code with `--extern FILE.py` (in Python `extern=[…]`): a file with\n"
            f"  @gnarl.{declared.trade.value}\n  {form_of(declared)}: …"
        )
        raise ExternError(problem.located(declared.span, what) + fix)
    return brought


def installed(trade: Trade, name: str) -> Brought | None:
    """What an installed package has under a name, imported now."""
    for point in points(trade):
        if point.name == name:
            return _loaded(trade, point)
    return None


def points(trade: Trade) -> Iterator[EntryPoint]:
    """What installed packages say they have; none of it is imported."""
    yield from entry_points(group=GROUPS[trade])


def _loaded(trade: Trade, point: EntryPoint) -> Brought:
    package = point.dist.name if point.dist is not None else point.value
    try:
        found = point.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise ExternError(
            f"{package}, {GROUPS[trade]} {point.name}: {told_error(error, '')}"
        ) from error
    brought = found if isinstance(found, Brought) else Brought(trade, point.name, found)
    return replace(_with_source(brought), name=point.name, package=package)


def with_installed(problem: Problem) -> Problem:
    """The problem with what installed packages have for externs that nobody brought."""
    if not problem.externs:
        return problem
    found = dict(problem.code.found)
    for declared in problem.externs:
        brought = problem.code.get(declared.trade, declared.name)
        brought = brought or installed(declared.trade, declared.name)
        if brought is not None:
            verify_parameters(problem, declared, brought)
            found[declared.trade, declared.name] = brought
    return problem.model_copy(update={"code": Code(found)})


# What a recipe names


def brought_as(trade: Trade, name: str, code: Code) -> Brought:
    """What a recipe means by `extern:NAME`."""
    own = name.removeprefix(PREFIX)
    brought = code.get(trade, own) or installed(trade, own)
    if brought is None:
        raise ExternError(
            f"nobody brought the {trade.value} `{own}` that the recipe names\nGive its code with "
            f"`--extern FILE.py` (in Python `extern=[…]`): a file with @gnarl.{trade.value}"
        )
    return brought
