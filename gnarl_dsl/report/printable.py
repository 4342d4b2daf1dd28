"""Text from anywhere in, text that cannot steer a terminal out.

Names of nodes, files and features are chosen by whoever wrote them. A sign that moves the cursor,
colours or hides what follows, or turns the direction of writing, is shown as a replacement sign.
"""

from __future__ import annotations

UNPRINTABLE = "\ufffd"
_LAYOUT = "\n\t"


def printable(text: str) -> str:
    """The text with everything that could steer a terminal replaced, one for one.

    A space that is none of ours is shown as such a sign, too: a spec may be wrong because of it.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else UNPRINTABLE for char in text)


def printable_lines(text: str) -> str:
    """The same where line ends and tabs are meant."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(char if char in _LAYOUT or char.isprintable() else _shown(char) for char in text)


def _shown(char: str) -> str:
    return " " if char.isspace() and ord(char) > 0x9F else UNPRINTABLE
