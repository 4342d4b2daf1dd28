"""A function that somebody brought in, the same under guard out: its answer, or one message.

It gets copies that it cannot write to, what it prints goes to standard error, it may take so many
seconds, and whatever it raises, `SystemExit` too, is a message with the line of the spec and the
line of its file. A call that runs over its time is stopped by a signal in the main thread and by
an exception between two Python instructions elsewhere; code that catches whatever would stop it
ends the process, with the same message. Neither reaches code that is not Python and does not come
back: nobody can stop that but the person who started the process.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.externs.view import GraphView, frozen
from gnarl_compiler.graphs.graph import Graph
from gnarl_dsl.externs import ExternError, told_error
from gnarl_dsl.model import Brought, Extern, Problem
from gnarl_dsl.model.kinds import EDGE, FeatureType, Place

Array = NDArray[Any]


class _Overtime(BaseException):
    """The call took too long; not an `Exception`, so that few handlers catch it."""


@dataclass(frozen=True, eq=False)
class Guarded:
    """A function that was brought, where the spec declares it, and what it has to give."""

    brought: Brought
    declared: Extern
    where: str  # the line of the spec, as messages begin
    line: str  # and what stands there

    @classmethod
    def of(cls, problem: Problem, declared: Extern, brought: Brought) -> Guarded:
        head, _, line = problem.located(declared.span, "").partition("\n")
        return cls(brought, declared, head, line)

    def fail(self, what: str, fix: str = "", at: str = "") -> ExternError:
        """What went wrong, with the line of the spec, and where in the code if that is known."""
        first = f"{self.where}`{self.declared.name}` {what}"
        return ExternError("\n".join(filter(None, [first, self.line, at, fix])))

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """The answer, unchecked; an ExternError if there is none."""
        seconds, error = self.brought.seconds, None
        try:
            with _to_stderr(), time_limit(seconds, self.stubborn):
                return self.brought.function(*args, **kwargs)
        except KeyboardInterrupt:
            raise
        except _Overtime:
            raise self.overtime() from None
        except BaseException as raised:
            error = raised
        raised_there, _, at = told_error(error, self.brought.file).partition("\n")
        fix = ""
        if isinstance(error, ValueError) and "read-only" in str(error):
            fix = "What it is given can't be changed: work on a copy, `values.copy()`."
        raise self.fail(f"raised {raised_there}", fix, at) from error

    def overtime(self) -> ExternError:
        seconds, word = self.brought.seconds, self.brought.trade.value
        return self.fail(
            f"of {self.brought.origin} took longer than {seconds:g} s and was stopped",
            f"Make it faster, or allow more: `@gnarl.{word}(seconds={6 * seconds:g})`.",
        )

    def stubborn(self) -> None:
        """End the process: the code catches whatever would stop it."""
        print(f"{self.overtime()}\nIt does not let itself be stopped.", file=sys.stderr, flush=True)
        os._exit(1)

    def function(self, graph: Graph, *args: Any, tags: NDArray[np.uint64]) -> Array:
        """The reference, as registered algorithms are called."""
        names = [param.name for param in self.declared.params]
        given = {name: _given(value) for name, value in zip(names, args, strict=True)}
        answer = self.call(GraphView(graph, tags), **given)
        return self.checked(answer, graph, self.declared.place, self.declared.type)

    def checked(self, answer: Any, graph: Graph, place: Place, kind: FeatureType) -> Array:
        """The answer as an array of the declared shape and type, every number finite."""
        shape = () if kind.single else place.shape(graph.n)
        wanted = f"{'a value' if not shape else f'an array {shape}'} of {kind.value.plural}"
        try:
            values = np.asarray(answer)
        except Exception as error:
            raise self.fail(f"gave {_told(answer)}; expected {wanted}") from error
        if values.shape != shape or values.dtype.kind not in kind.accepted + "b" * (
            kind.accepted != "b"
        ):
            raise self.fail(f"gave {_told(answer)}; expected {wanted}")
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            odd = values[~np.isfinite(values)].ravel()[0]
            raise self.fail(f"gave {odd}; expected numbers that are finite")
        values = values.astype(kind.value.array)
        limit = graph.n if kind.names_nodes else None
        if limit is not None and ((values < 0) | (values >= limit)).any():
            raise self.fail(f"gave {int(values.ravel()[0])}; expected nodes, 0 to {limit - 1}")
        if place is EDGE:
            return self._on_edges(values, graph)
        return values

    def _on_edges(self, values: Array, graph: Graph) -> Array:
        if not graph.directed and (values != values.T)[graph.adjacency].any():
            raise self.fail("gave an edge another value in each direction; edges here have none")
        return np.where(graph.adjacency, values, np.zeros((), values.dtype))


def _given(value: Any) -> Any:
    """A copy of an array that cannot be written to; single values as they are."""
    if isinstance(value, np.ndarray):
        return frozen(value) if value.ndim else value.item()
    return value


def _told(answer: Any) -> str:
    """What came back, in a few words."""
    if isinstance(answer, np.ndarray):
        return f"an array {answer.shape} of {answer.dtype}"
    with contextlib.suppress(Exception):
        text = repr(answer)
        return f"{text[:60]}{'…' if len(text) > 60 else ''}, {_a(type(answer).__name__)}"
    return _a(type(answer).__name__)


def _a(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeiouAEIOU' else 'a'} {noun}"


@contextlib.contextmanager
def _to_stderr() -> Iterator[None]:
    """What is printed does not get among a command's own output."""
    with contextlib.redirect_stdout(sys.stderr or io.StringIO()):
        yield


# Time

_AGAIN = 0.5  # seconds until code that goes on after it was stopped is stopped again
_TIMES = 20  # that this is tried


@contextlib.contextmanager
def time_limit(seconds: float, stubborn: Callable[[], None]) -> Iterator[None]:
    """Raise `_Overtime` inside, in whatever thread this is, after so many seconds.

    `stubborn` is called where it is caught there, again and again.
    """
    main = threading.current_thread() is threading.main_thread()
    if main and hasattr(signal, "setitimer"):
        with _by_signal(seconds, stubborn):
            yield
    else:
        with _by_thread(seconds):
            yield


@contextlib.contextmanager
def _by_signal(seconds: float, stubborn: Callable[[], None]) -> Iterator[None]:
    rings = 0

    def ring(number: int, frame: object) -> None:
        nonlocal rings
        rings += 1
        if rings > _TIMES:
            stubborn()
        raise _Overtime

    before = signal.signal(signal.SIGALRM, ring)
    rest, again = signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, rest, again)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def _by_thread(seconds: float) -> Iterator[None]:
    ident = threading.get_ident()
    timer = threading.Timer(seconds, _raise_in, [ident])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _raise_in(ident: int) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(_Overtime))


# Graphs and inputs


def drawn_graph(
    guarded: Guarded, n: int, args: dict[str, float], rng: np.random.Generator
) -> Array:
    """An adjacency (n, n) from a generator that was brought."""
    answer = guarded.call(n, rng, **args)
    try:
        adjacency = np.array(answer)
    except Exception as error:
        raise guarded.fail(f"gave {_told(answer)}; expected an adjacency {(n, n)}") from error
    if adjacency.shape != (n, n) or adjacency.dtype.kind not in "biu":
        raise guarded.fail(f"gave {_told(answer)}; expected an array {(n, n)} of truth values")
    if adjacency.diagonal().any():
        loop = int(np.flatnonzero(adjacency.diagonal())[0])
        raise guarded.fail(f"joined node {loop} to itself; an edge joins two different nodes")
    return adjacency.astype(np.bool_)


def drawn_values(
    guarded: Guarded, args: Sequence[float], graph: Graph, rng: np.random.Generator
) -> Array:
    """Values of an input from a source that was brought."""
    declared = guarded.declared
    names = [param.name for param in declared.params]
    view = GraphView(graph, np.zeros(0, np.uint64))
    answer = guarded.call(view, rng, **dict(zip(names, args, strict=True)))
    values = guarded.checked(answer, graph, declared.place, declared.type)
    if values.dtype == np.float64:
        return values.astype(np.float32).astype(np.float64)
    return values
