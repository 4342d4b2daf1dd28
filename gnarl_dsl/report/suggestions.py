"""A misspelt name and the names in reach in, the likeliest intended name out."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

_MAX_CANDIDATES = 500


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate with the fewest edits to `name`, if few enough to be a slip."""
    best: tuple[int, str] | None = None
    allowed = max(1, len(name) // 3)
    known = sorted(set(islice(candidates, _MAX_CANDIDATES)))
    for candidate in (word for word in known if _could_be(name, word, allowed)):
        distance = edit_distance(name.lower(), candidate.lower())
        if distance <= allowed and (best is None or distance < best[0]):
            best = (distance, candidate)
    return best[1] if best else None


def _could_be(name: str, candidate: str, allowed: int) -> bool:
    """A quick look before the slow one: `allowed` edits change few letters."""
    if candidate.startswith("_") or abs(len(candidate) - len(name)) > allowed:
        return False
    if max(len(name), len(candidate)) <= 1:
        return name.lower() == candidate.lower()  # any letter is one edit from any other
    return len(set(name.lower()) ^ set(candidate.lower())) <= 2 * allowed


def edit_distance(left: str, right: str) -> int:
    """Insertions, deletions, replacements and swaps of neighbours between two words."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """A ready sentence for a diagnostic, or None if nothing is close."""
    close = nearest(name[:64], candidates)
    return f"Did you mean `{close}`?" if close else None


def count_of(number: int, thing: str = "") -> str:
    """`two arguments`, or `two` alone, for a sentence."""
    words = ["no", "one", "two", "three", "four"]
    word = words[number] if number < len(words) else str(number)
    if not thing:
        return "none" if number == 0 else word
    return f"{word} {thing}" if number == 1 else f"{word} {thing}s"
