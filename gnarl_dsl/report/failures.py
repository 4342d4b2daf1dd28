"""What can go wrong for a person, besides mistakes in a spec: a message and how to end."""

from __future__ import annotations


class GnarlError(Exception):
    """What a user can mend, or at least understand: every mistake of theirs is one of these.

    Commands print its text and end; from Python it is raised. Mistakes of GNARL itself are an
    `InternalError`, which is none.
    """


class UsageError(GnarlError, ValueError):
    """A mistake in what was asked for: what was found and what would work."""


class Failure(GnarlError):
    """Something that went wrong for a reason the user can understand: a message, exit code 1."""


class Notice(UserWarning):
    """Something that a person should know of, though the work goes on: `note: ...` in commands.

    What has an `about` is told once in a command, however often it comes up.
    """

    def __init__(self, text: str, about: str = "") -> None:
        super().__init__(text)
        self.about = about


class SpecRejected(GnarlError):
    """A spec whose mistakes were shown already."""
