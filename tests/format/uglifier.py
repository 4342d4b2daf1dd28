"""A spec in good style in, the same spec in bad style out, for the formatter's tests."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from gnarl_dsl.report.diagnostics import Collector
from gnarl_dsl.report.source import Source
from gnarl_dsl.syntax.layout import LogicalLine, split_blocks
from gnarl_dsl.syntax.parse import Parsed, parse_spec


def parsed(text: str) -> Parsed:
    found = Collector()
    result = parse_spec(Source("test", text), 0, found)
    assert not list(found), list(found)
    return result


def comments_of(text: str) -> list[str]:
    return [comment.text for comment in parsed(text).scanned.comments]


def without_comments(text: str) -> str:
    for comment in reversed(parsed(text).scanned.comments):
        text = text[: comment.span.start] + text[comment.span.end :]
    return text


class Uglifier:
    """Says the same in bad style: spaces, indentation and blank lines at random.

    Where spaces carry a choice of the author's (a continuation line that is lined up with
    something), the line keeps its inner spaces and is only moved as a whole.
    """

    def __init__(self, text: str, seed: int, *, comments: bool = False, breaks: bool = False):
        self.source, self.rng = Source("ugly", text), random.Random(seed)
        self.comments, self.breaks = comments, breaks
        self.out: list[str] = []

    def run(self) -> str:
        self.blanks()
        last = 0
        for block in split_blocks(parsed(self.source.text).scanned.lines, Collector()):
            levels = [0]
            for line in block.lines:
                opened = line.depth >= len(levels)
                del levels[line.depth + 1 :]
                levels += [levels[-1] + self.rng.randint(1, 6)] * opened
                apart = self.source.line_of(line.words[0].span.start) > last + 1
                self.out += [""] * apart
                if opened or apart or self.comments:
                    self.blanks()
                self.out += self.line(line, block.head.text, levels[line.depth])
                last = self.source.line_of(line.words[-1].span.end - 1)
        self.blanks()
        return "\n".join(self.out)

    def blanks(self) -> None:
        self.out += [" " * self.rng.randint(0, 4) for _ in range(self.rng.choice([0, 0, 1, 3]))]
        if self.comments and self.rng.random() < 0.3:
            self.out.append(" " * self.rng.randint(0, 9) + f"# own {self.rng.random()}")

    def line(self, line: LogicalLine, block: str, indent: int) -> list[str]:
        if self.is_arranged(line, block):
            start = line.words[0].span.start
            text = self.source.text[start : line.words[-1].span.end]
            pad = " " * indent
            return (pad + text).replace("\n" + " " * line.indent, "\n" + pad).split("\n")
        return self.respaced(line, indent)

    def is_arranged(self, line: LogicalLine, block: str) -> bool:
        rows = {self.source.line_of(word.span.start) for word in line.words}
        in_bracket = any("\n" in piece for piece in self.bracketed(line))
        is_table = block in ("features", "expert") and line.depth == 1
        return len(rows) > 1 and not (is_table and not in_bracket)

    def bracketed(self, line: LogicalLine) -> Iterator[str]:
        opened: list[int] = []
        for word in line.words:
            if word.text in ("(", "[", "{"):
                opened.append(word.span.start)
            elif word.text in (")", "]", "}"):
                yield self.source.text[opened.pop() : word.span.start]

    def respaced(self, line: LogicalLine, indent: int) -> list[str]:
        text, depth = " " * indent, 0
        for before, word in zip((None, *line.words), line.words, strict=False):
            if before is not None:
                gap = self.source.text[before.span.end : word.span.start]
                may_break = "\n" in gap or (self.breaks and depth > 0 and self.rng.random() < 0.2)
                text += self.row_end(indent) if may_break else self.gap(before.text, word.text)
            depth += (word.text in ("(", "[", "{")) - (word.text in (")", "]", "}"))
            text += re.sub(r"\n *", lambda _: "\n" + " " * self.rng.randint(1, 40), word.text)
        return [text + self.behind() + " " * self.rng.randint(0, 2)]

    def row_end(self, indent: int) -> str:
        column = indent + self.rng.randint(1, 40)
        return self.behind() + "\n" * self.rng.randint(1, 3) + " " * column

    def behind(self) -> str:
        is_noted = self.comments and self.rng.random() < 0.2
        return " " * self.rng.randint(0, 3) + f"# behind {self.rng.random()}" if is_noted else ""

    def gap(self, before: str, word: str) -> str:
        loose = before[-1] in "()[]{},-" or word[0] in "()[]{},-"
        return self.rng.choice(["", " ", "   "] if loose else [" ", "  ", "\t", "     "])
