"""Source text in, tokens out: words, numbers, strings and signs, with their places."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gnarl_dsl.report.diagnostics import Collector
from gnarl_dsl.report.source import MAX_NAME, MAX_WORDS, Source, Span

# What a word or sign may look like. Which words are keywords is the grammar's business.
_TOKEN = re.compile(
    r"""
      (?P<space>   [ ]+ )
    | (?P<newline> \n )
    | (?P<tab>     \t )
    | (?P<comment> \#[^\n]* )
    | (?P<name>    [^\W\d]\w* )
    | (?P<loose>   \.[0-9]+ | [0-9]+\.(?![.0-9]) )
    | (?P<number>  [0-9]+ (?:\.[0-9]+)? (?:[eE][+-]?[0-9]+)? )
    | (?P<string>  "(?: \\. | [^"\\\n] | \n(?=[ \t\n]) )*" )
    | (?P<open_string> " )
    | (?P<sign>    := | == | != | <= | >= | ~= | \.\. | [-+*/<>=~:|,(){}\[\]] )
    """,
    re.VERBOSE,
)
# Every opening bracket with the one that closes it.
BRACKETS: Mapping[str, str] = {"(": ")", "[": "]", "{": "}"}
OPENING, CLOSING = frozenset(BRACKETS), frozenset(BRACKETS.values())
# Characters that steer a terminal or hide text: refused even in comments and texts.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# Texts in other quotes, which are read as texts after the report.
_OTHER_TEXT = re.compile("'[^'\n]*'|“[^”\n]*”")


@dataclass(frozen=True, slots=True)
class Word:
    """One token before layout; `kind` is name, number, string, sign or bad.

    `reported` if it is a guess at something that was reported.
    """

    kind: str
    text: str
    span: Span
    reported: bool = False


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment, kept for the formatter; `own_line` if nothing stands before it."""

    text: str
    span: Span
    own_line: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One physical line with at least one word: its indentation and its words."""

    indent: int
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Scan:
    lines: tuple[Line, ...]
    comments: tuple[Comment, ...]


@dataclass(frozen=True, slots=True)
class _Stray:
    """What to say about a character that starts no token, and how to read on."""

    fix: str
    kind: str = "bad"
    text: str = ""


class _Scanner:
    def __init__(self, source: Source, file: int, found: Collector) -> None:
        self.source, self.text, self.file, self.found = source, source.text, file, found
        self.lines: list[Line] = []
        self.comments: list[Comment] = []
        self.words: list[Word] = []
        self.count = 0
        self.long_string: Span | None = None
        self.reported: set[str] = set()

    def run(self) -> Scan:
        self.control_characters()
        offset = 0
        while offset < len(self.text) and self.count <= MAX_WORDS:
            match = _TOKEN.match(self.text, offset)
            offset = self.stray_character(offset) if match is None else self.take(match)
        self.end_line()
        if self.count > MAX_WORDS:
            limit = f"{MAX_WORDS:,} words and signs"
            self.found.add("GN010", Span(0, 0, self.file), size="more", limit=limit)
            return Scan((), ())
        return Scan(tuple(self.lines), tuple(self.comments))

    def once(self, what: str) -> bool:
        """True the first time only: some findings are reported once per file."""
        fresh = what not in self.reported
        self.reported.add(what)
        return fresh

    def control_characters(self) -> None:
        for match in _CONTROL.finditer(self.text):
            if self.once(match.group()):
                span = Span(match.start(), match.end(), self.file)
                shown = _invisible(match.group())
                self.found.add("GN002", span, char=shown, fix="Delete it.")

    def take(self, match: re.Match[str]) -> int:
        kind = str(match.lastgroup)
        span = Span(match.start(), match.end(), self.file)
        if kind == "newline":
            self.end_line()
        elif kind == "comment":
            self.comments.append(Comment(match.group().rstrip(), span, not self.words))
        elif kind == "tab":
            self.tab(span)
        elif kind == "open_string":
            return self.open_string(match.start())
        elif kind == "loose":
            self.loose_number(match.group(), span)
        elif kind != "space":
            self.word(kind, match.group(), span)
        return match.end()

    def word(self, kind: str, text: str, span: Span, reported: bool = False) -> None:
        if kind == "name" and len(text) > MAX_NAME:
            self.found.add("GN025", span, limit=MAX_NAME, found=f"{len(text):,}")
            kind = "bad"
        elif kind == "name" and not text.isascii() and self.once(text):
            self.found.add("GN019", span, text=text)
        if kind == "string" and "\n" in text:
            self.long_string = self.long_string or span
        self.words.append(Word(kind, text, span, reported))
        self.count += 1

    def end_line(self) -> None:
        if self.words:
            start = self.words[0].span.start
            before = self.text[start - self.source.column_of(start) : start]
            # A reported tab counts as one level, so that it causes no further findings.
            indent = len(before.replace("\t", "  "))
            self.lines.append(Line(indent, tuple(self.words)))
            self.words = []
            if indent == 0:
                self.long_string = None

    def tab(self, span: Span) -> None:
        """A tab between words is a space; in front of a line its width is anyone's guess."""
        if not self.words and self.line_has_words(span.start) and self.once("\t"):
            self.found.add("GN003", span)

    def line_has_words(self, offset: int) -> bool:
        rest = self.source.line_text(self.source.line_of(offset)).lstrip()
        return bool(rest) and not rest.startswith("#")

    def open_string(self, start: int) -> int:
        """An odd quote; if a text above spans lines, the missing quote is probably there."""
        end = self.text.find("\n", start)
        end = len(self.text) if end < 0 else end
        span = Span(start, end, self.file)
        self.found.add("GN005", self.long_string or span)
        if self.long_string:
            self.word("bad", self.text[start:end], span)
        else:
            self.word("string", f'{self.text[start:end]}"', span, reported=True)
        return end

    def loose_number(self, text: str, span: Span) -> None:
        whole = f"0{text}" if text.startswith(".") else f"{text}0"
        self.found.add("GN002", span, char=f"`{text}`", fix=f"Write `{whole}`.")
        self.word("number", whole, span, reported=True)

    def stray_character(self, offset: int) -> int:
        """Report characters that no token can start with, once per run of one character."""
        char = self.text[offset]
        text = _OTHER_TEXT.match(self.text, offset)
        end = text.end() if text else offset + 1
        while not text and end < len(self.text) and self.text[end] == char:
            end += 1
        span = Span(offset, end, self.file)
        stray = _STRAYS.get(char, _Stray(""))
        if not _CONTROL.match(char):
            shown = f"`{char}`" if char.isprintable() else _invisible(char)
            self.found.add("GN002", span, char=shown, fix=self.stray_fix(stray, end))
        if text:
            self.word("string", f'"{text.group()[1:-1]}"', span, reported=True)
        elif stray.text or stray.kind == "bad":
            self.word(stray.kind, stray.text or self.text[offset:end], span, reported=True)
        return end

    def stray_fix(self, stray: _Stray, end: int) -> str | None:
        ends_sentence = self.text[end - 1] == "." and not self.text[end : end + 1].isalnum()
        return 'Texts stand in double quotes: "like this".' if ends_sentence else stray.fix or None


def _invisible(char: str) -> str:
    return f"the invisible character U+{ord(char):04X}"


def _spelt(text: str, kind: str = "sign") -> _Stray:
    return _Stray(f"Write `{text}`.", kind, text)


_STRAYS = {
    "'": _Stray('Texts use double quotes: "like this".'),
    "“": _Stray('These are typographic quotes; write plain ones: "like this".'),
    "”": _Stray('These are typographic quotes; write plain ones: "like this".'),
    ";": _Stray("A line end is enough; no `;` is needed.", "skip"),
    "&": _spelt("and", "name"),
    "!": _Stray("Write `not`, or `!=` for `is different from`.", "name", "not"),
    "%": _Stray("There is no remainder operator; write `a - b * floor(a / b)`."),
    "^": _Stray("There is no power operator; multiply instead."),
    ".": _Stray("Write a range as `1..3`; a feature is read with brackets, as in `d[v]`."),
    "≤": _spelt("<="),
    "≥": _spelt(">="),
    "≠": _spelt("!="),
    "≈": _spelt("~="),
    "←": _spelt(":="),
    "∈": _spelt("in", "name"),
    "∃": _spelt("exists", "name"),
    "∀": _spelt("forall", "name"),
    "∧": _spelt("and", "name"),
    "∨": _spelt("or", "name"),
    "¬": _spelt("not", "name"),
    "∞": _spelt("inf", "name"),
    "×": _spelt("*"),
    "·": _spelt("*"),
    "−": _Stray("This is a Unicode minus sign; write `-`.", "sign", "-"),
    "–": _Stray("This is a dash; write `-`.", "sign", "-"),
    "\u00a0": _Stray("This is a non-breaking space; use an ordinary one.", "skip"),
    **{chr(code): _Stray("", "skip") for code in (*range(32), *range(127, 160))},
    **{char: _Stray("", "skip") for char in "\u200e\u200f\u202a\u202b\u202c\u202d\u202e"},
    **{char: _Stray("", "skip") for char in "\u2066\u2067\u2068\u2069"},
}


def scan(source: Source, file: int, found: Collector) -> Scan:
    """Split `source` into lines of words; what cannot be a token is reported and kept as bad."""
    return _Scanner(source, file, found).run()
