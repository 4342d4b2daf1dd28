"""A command's body in, an exit code out; text in, standard output out.

Every foreseeable failure becomes a message, and every sign one that the terminal can show.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

from gnarl_dsl.report.diagnostics import InternalError
from gnarl_dsl.report.failures import Failure, Notice, SpecRejected, UsageError
from gnarl_runtime.commands.options import BUG, FAILED, INTERRUPTED, OK, USAGE

_PLAIN_SIGNS = str.maketrans({"ψ": "psi", "∅": "none", "∀": "for", "∈": "in", "²": "^2", "─": "-"})


def run_command(name: str, command: Callable[[], int]) -> int:
    """Run a command's body; every foreseeable failure becomes a message and an exit code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", Notice)
            warnings.showwarning = _show_notice(warnings.showwarning)
            return command()
    except SpecRejected:
        return FAILED
    except UsageError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return USAGE
    except Failure as error:
        print(f"{name}: {error}", file=sys.stderr)
        return FAILED
    except InternalError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return BUG
    except BrokenPipeError:  # the reader went away (`| head`)
        _drop_output()
        return OK
    except OSError as error:  # a full disk, say
        _drop_output()
        print(f"{name}: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED


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


def _drop_output() -> None:
    """What is still to be written cannot be; end quietly, also at interpreter exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write(text: str) -> None:
    """Write to standard output and flush, here where a closed pipe is expected.

    Where a sign has no code in the terminal's encoding, a plainer one is written.
    """
    if sys.stdout is None:  # closed by whoever started us
        return
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(_PLAIN_SIGNS).encode(encoding, "replace").decode(encoding)
    sys.stdout.write(text)
    sys.stdout.flush()
