"""What can go wrong for a person, besides mistakes in a spec: a message and how to end."""

from __future__ import annotations


class UsageError(Exception):
    """A mistake on the command line: what was found and what would work."""


class Failure(Exception):
    """Something that went wrong for a reason the user can understand: a message, exit code 1."""


class Notice(UserWarning):
    """Something that a person should know of, though the work goes on: `note: ...` in commands."""


class SpecRejected(Exception):
    """A spec whose mistakes were shown already."""
