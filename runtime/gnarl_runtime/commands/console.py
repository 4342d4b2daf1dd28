"""A command's body in, an exit code out; text in, standard output out.

Every foreseeable failure becomes a message; what nobody foresaw is our mistake, and its traceback
is kept for whoever mends it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from gnarl_dsl.report.diagnostics import InternalError
from gnarl_dsl.report.failures import Failure, Notice, SpecRejected, UsageError
from gnarl_dsl.report.missing import missing_extra
from gnarl_runtime.commands.options import BUG, FAILED, INTERRUPTED, OK, USAGE
from gnarl_runtime.commands.shell.terminal import Shown, shown_streams

_NO_MEMORY = "{}: there is not enough memory for this; expected less at once"
_IMPORTS = "<frozen importlib._bootstrap>"


def run_command(name: str, command: Callable[[], int]) -> int:
    """Run a command's body; whatever goes wrong becomes a message and an exit code."""
    with shown_streams(), _interruptible():
        return _ended(name, command)


def _ended(name: str, command: Callable[[], int]) -> int:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", Notice)
            warnings.showwarning = _show_notice(warnings.showwarning)
            return command()
    except SpecRejected:
        return FAILED
    except UsageError as error:
        return _say(f"{name}: {error}", USAGE)
    except Failure as error:
        return _say(f"{name}: {error}", FAILED)
    except ModuleNotFoundError as error:
        missing = missing_extra(error)
        return _say(f"{name}: {missing}", USAGE) if missing else _report_bug(name, error)
    except BrokenPipeError:  # the reader went away (`| head`)
        drop_output()
        return OK
    except OSError as error:  # a full disk, say
        if error.filename is None:
            drop_output()
        return _say(f"{name}: {_told(error)}", USAGE)
    except MemoryError:
        return _say(_NO_MEMORY.format(name), FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if _was_interrupted(error):
            return INTERRUPTED
        if isinstance(error, RuntimeError) and "can't allocate memory" in str(error):  # torch's way
            return _say(_NO_MEMORY.format(name), FAILED)
        return _report_bug(name, error)


def _say(text: str, code: int) -> int:
    with suppress(OSError):  # nobody listens
        print(text, file=sys.stderr)
    return code


def _told(error: OSError) -> str:
    told = error.strerror or str(error)
    return told if error.filename is None else f"{error.filename}: {told}"


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind it: some libraries turn it into an error of their own."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _report_bug(name: str, error: Exception) -> int:
    """One line about what to report, and where the rest is."""
    from gnarl_runtime.commands.shell.bug_report import keep_traceback

    what = str(error) if isinstance(error, InternalError) else f"a bug in GNARL: {error!r:.200}"
    kept = keep_traceback(name, error)
    where = f"with {kept}" if kept else "with what was asked"
    return _say(f"{name}: {what}; please report it {where}", BUG)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C is raised within; before and after, where nothing would be lost, it just ends us."""
    own = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if own else None
    if before is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raise what Ctrl-C raises, but not into an import: large libraries crash on it."""
    while frame is not None:
        if frame.f_code.co_filename == _IMPORTS:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        frame = frame.f_back
    raise KeyboardInterrupt


def _show_notice(others: Callable[..., None]) -> Callable[..., None]:
    """Notices as lines for people; other warnings as Python shows them."""
    told: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if isinstance(message, Notice) and message.about:
            if message.about in told:
                return
            told.add(message.about)
        if issubclass(category, Notice):
            print(f"note: {message}", file=sys.stderr)
        else:
            others(message, category, *where, **more)

    return show


def drop_output() -> None:
    """What is still to be written cannot be; end quietly, also at interpreter exit."""
    with suppress(OSError, ValueError, AttributeError):  # it is no file, or closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write(text: str, styled: bool = False) -> None:
    """Write to standard output and flush, here where a closed pipe is expected.

    What is `styled` has colours of our own in it.
    """
    out: object = sys.stdout
    if styled and isinstance(out, Shown):
        out.styled(text)
    elif sys.stdout is not None:
        sys.stdout.write(text)
    if sys.stdout is not None:
        sys.stdout.flush()
