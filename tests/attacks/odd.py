"""A generator of chance and something valid in, something that is nearly valid out."""

from __future__ import annotations

import copy
import json
import random
import re
from typing import Any

# Names and texts that programs stumble over: steering, direction, halves, absolute and long ones.
TEXTS = (
    *("", " ", "\0", "\x1b[31m", "\x1b]0;x\x07", "\x9b2J", "\u202e", "\ud800", "\ufeff", "\u200b"),
    *("..", "../../etc/passwd", "/dev/zero", "/dev/null", "con", "-", "--", "-rf", "*", "~", "."),
    *("a" * 5_000, "🦉", "é", "e\u0301", "ﬀ", "%s%n", "{0}", "$(id)", "`id`", "'; --", "\\", '"'),
    *("__class__", "__init__", "import os", "nan", "NaN", "inf", "-inf", "None", "null", "true"),
    *("0", "-0", "1e999", "-1e999", "1e-999", "0x10", "1_000", "٣", "1,5", "9" * 400, "1.", ".5"),
)
NUMBERS: tuple[Any, ...] = (
    *(0, -1, 1, 2, 7, 10**6, 10**9, 2**31, 2**32, 2**53, 2**63, 2**64, 10**30, -(10**18)),
    *(0.5, -0.5, 1e-300, 1e300, 1e308, float("inf"), float("-inf"), float("nan")),
)
VALUES: tuple[Any, ...] = (*TEXTS, *NUMBERS, None, True, False, [], {}, [[]], {"a": {}}, [0] * 50)
_TOKEN = re.compile(r"\n|\w+|[^\w\s]|[ \t]+")


def changed_text(rng: random.Random, text: str) -> str:
    """Some tokens dropped, doubled, swapped, or replaced by odd ones."""
    tokens = _TOKEN.findall(text) or [""]
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        k, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        match rng.randrange(6):
            case 0:
                tokens[k] = ""
            case 1:
                tokens[k] *= 2
            case 2:
                tokens[k], tokens[other] = tokens[other], tokens[k]
            case 3:
                tokens[k] = rng.choice(TEXTS)
            case 4:
                tokens[k] = str(rng.choice(NUMBERS))
            case _:
                tokens[k] = tokens[other]
    return "".join(tokens)


def changed_bytes(rng: random.Random, content: bytes) -> bytes:
    """Some bits flipped, pieces cut out, repeated, or put in."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(data) + 1)
        length = rng.choice((1, 1, 4, 64, len(data)))
        match rng.randrange(5):
            case 0 if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                del data[at : at + length]
            case 2:
                data[at:at] = data[at : at + length]
            case 3:
                data[at:at] = rng.randbytes(min(length, 64))
            case _:
                data[at : at + 4] = rng.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\0\0\0"))
    return bytes(data)


def changed_json(rng: random.Random, value: Any) -> Any:
    """A tree in which some leaf or branch is another value, is gone, or is somewhere else."""
    value = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 2, 4))):
        value = _changed_once(rng, value)
    return value


def _changed_once(rng: random.Random, tree: Any) -> Any:
    places = list(_places(tree))
    if not places:
        return rng.choice(VALUES)
    holder, key = rng.choice(places)
    match rng.randrange(7):
        case 0:
            del holder[key]
        case 1:
            other, name = rng.choice(places)
            holder[key] = copy.deepcopy(other.get(name) if isinstance(other, dict) else other[name])
        case 2 if isinstance(holder, dict):
            holder[rng.choice(TEXTS)] = holder.pop(key)
        case 3 if isinstance(holder[key], str):
            holder[key] = changed_text(rng, holder[key])
        case 4 if isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        case 5:
            holder[key] = [holder[key]]
        case _:
            holder[key] = rng.choice(VALUES)
    return tree


def _places(tree: Any) -> Any:
    """Every (holder, key) of a tree."""
    own = tree.items() if isinstance(tree, dict) else enumerate(tree) if _is_list(tree) else ()
    for key, value in own:
        yield tree, key
        yield from _places(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def to_json(rng: random.Random, value: Any) -> str:
    """The text of a tree; now and then with what JSON has no word for, or cut off."""
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5)
    if rng.random() < 0.1:
        text = text[: rng.randrange(len(text) + 1)]
    return "[" * 3_000 + text if rng.random() < 0.01 else text
