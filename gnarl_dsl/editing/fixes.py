"""A checked document and a stretch of it in, edits that mend what was found there out.

What a diagnostic suggests is a sentence for people. Pieces of spec in it, and what it says to
delete, to close or to move, are proposals; one is offered only if the checker, given the text with
it, no longer has the finding and has no others instead. So a sentence that is read wrongly costs a
suggestion, never a wrong one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from time import process_time

from gnarl_dsl.editing.document import Document
from gnarl_dsl.loading import Checked
from gnarl_dsl.report.diagnostics import Diagnostic
from gnarl_dsl.report.source import Source, Span
from gnarl_dsl.report.wording import fix_of, message_of

# What is tried for one finding, and the seconds of work after which no further one is looked at.
MAX_TRIED = 24
MAX_SECONDS = 1.0
_QUOTED = re.compile(r"`([^`]+)`")
_EXAMPLE = re.compile(r"(?:as in|uses? it as in) `[^`]+`")
_SIGNS = re.compile(r"[-+*/<>=~:|&!^.]+")
_WORD = re.compile(r"[^\W\d]\w*")
_OPENINGS = re.compile(r"(?:\b(?:allow|where|when|and|or|not|then|correct|valid)\b|[:(=])\s*")


@dataclass(frozen=True)
class Edit:
    """Text that goes to where other text stands (offsets into the document)."""

    span: Span
    text: str


@dataclass(frozen=True)
class Fix:
    """One way to mend a finding: what it does, in a few words, and its edits."""

    title: str
    finding: Diagnostic
    edits: tuple[Edit, ...]


def fixes(document: Document, start: int = 0, end: int | None = None) -> list[Fix]:
    """What mends the findings that touch a stretch of the text (offsets, both included)."""
    last = len(document.source.text) if end is None else end
    until = process_time() + MAX_SECONDS
    found = [
        finding
        for finding in document.checked.diagnostics
        if finding.span.file == 0 and finding.span.start <= last and finding.span.end >= start
    ]
    offered: list[Fix] = []
    for finding in found:
        if process_time() < until:
            offered += _working(document, finding)
    return offered


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made; they must not overlap."""
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def _working(document: Document, finding: Diagnostic) -> Iterator[Fix]:
    """The proposals for a finding that the checker agrees with, each once."""
    results, titles = {document.source.text}, set[str]()
    for title, edit in islice(_proposals(document.source, finding), MAX_TRIED):
        text = applied(document.source.text, [edit])
        if text in results or title in titles:
            continue
        results.add(text)
        if _mends(document.checked, document.again(text), finding):
            titles.add(title)
            yield Fix(title, finding, (edit,))


def _mends(before: Checked, after: Checked, finding: Diagnostic) -> bool:
    """Whether a finding is gone and nothing has come in its place."""
    said, then = _said(before), _said(after)
    own = finding.code, message_of(finding)
    if then.count(own) >= said.count(own):
        return False
    errors = [words for words in then if not words[0].startswith("GN9")]
    old = [words for words in said if not words[0].startswith("GN9")]
    if finding.is_error:
        # A mended line is read for the first time: what it warns of was there before.
        return len(errors) < len(old) or not set(errors) - set(old)
    return len(errors) <= len(old) and len(then) < len(said)


def _said(checked: Checked) -> list[tuple[str, str]]:
    return [(finding.code, message_of(finding)) for finding in checked.diagnostics]


# What a sentence can mean

Proposal = tuple[str, Edit]
Reader = Callable[[Source, Diagnostic, str], Iterator[Proposal]]


def _proposals(source: Source, finding: Diagnostic) -> Iterator[Proposal]:
    sentence = fix_of(finding)
    for reader in _READERS:
        yield from reader(source, finding, sentence)


def _replacements(source: Source, finding: Diagnostic, sentence: str) -> Iterator[Proposal]:
    """ "Did you mean `X`?", "Write `X`.": what stands there becomes X."""
    for code in _QUOTED.findall(_EXAMPLE.sub("", sentence)):
        if "…" in code or code == "_":
            continue
        for span in _replaceable(source, finding.span, code):
            yield f"Replace `{_shown(source, span)}` with `{code}`", Edit(span, code)


def _replaceable(source: Source, span: Span, code: str) -> Iterator[Span]:
    """What a piece of spec can stand for: what was found, a sign or a word around it, its line."""
    if _alike(source.text[span.start : span.end], code):
        yield span
    if not code.startswith("("):
        yield from _token_at(source, span, _SIGNS)
    if code.isidentifier():
        yield from _token_at(source, span, _WORD)
    line = _of_line(source, span)
    first, wanted = _WORD.match(source.text, line.start), _WORD.match(code)
    if first and wanted and " " in code and first[0] == wanted[0]:
        yield line


def _alike(old: str, new: str) -> bool:
    """Two words or two signs, or formulas that share a word."""
    if not _WORD.search(old) or _WORD.fullmatch(old):
        return _WORD.fullmatch(new) is not None or not _WORD.search(old) or old in new
    return bool(set(re.findall(r"\w+", old)) & set(re.findall(r"\w+", new))) and old != new


def _token_at(source: Source, span: Span, pattern: re.Pattern[str]) -> Iterator[Span]:
    line = source.line_of(span.start)
    at = source.line_start(line)
    for match in pattern.finditer(source.line_text(line)):
        if at + match.start() <= span.start < at + match.end():
            yield Span(at + match.start(), at + match.end())


def _shown(source: Source, span: Span) -> str:
    text = source.snippet(span)
    return text if len(text) <= 40 else f"{text[:39]}…"


def _joined(source: Source, finding: Diagnostic, sentence: str) -> Iterator[Proposal]:
    """A piece such as `2 * n` or `my_problem` for words that stand side by side."""
    line = _of_line(source, finding.span)
    text = source.text[line.start : line.end]
    for code in _QUOTED.findall(_EXAMPLE.sub("", sentence)):
        words = [re.escape(word) for word in re.findall(r"\w+", code.replace("_", " "))]
        if len(words) < 2:
            continue
        for match in re.finditer(r"[\s\-]*".join(words), text):
            span = Span(line.start + match.start(), line.start + match.end())
            if span.start <= finding.span.start <= span.end:
                yield f"Replace `{match[0]}` with `{code}`", Edit(span, code)


def _guards(source: Source, finding: Diagnostic, sentence: str) -> Iterator[Proposal]:
    """ "`edge(u, v) and …`" in front of the formula, "`… otherwise s`" behind what was found."""
    line = _of_line(source, finding.span)
    for code in _QUOTED.findall(sentence):
        if code.startswith("… ") and "…" not in code[2:]:
            yield f"Add `{code[2:]}`", _behind(finding.span, f" {code[2:]}")
        if code.endswith(" and …") and "…" not in code[:-1]:
            openings = _OPENINGS.finditer(source.text, line.start, finding.span.start + 1)
            for match in reversed(list(openings)):
                yield (
                    f"Guard it with `{code[:-6]}`",
                    Edit(Span(match.end(), match.end()), code[:-1]),
                )


def _deletions(source: Source, finding: Diagnostic, sentence: str) -> Iterator[Proposal]:
    """ "Delete it", "Leave it out", "No `:` here": what stands there goes, or its line does."""
    if not re.match(r"(?:Delete|Leave|No `|Keep one|Indent what)", sentence):
        return
    line, span = _of_line(source, finding.span), finding.span
    for code in _QUOTED.findall(sentence.split(",")[0]):
        for match in re.finditer(
            re.escape(code.removesuffix(" …")), source.text[line.start : line.end]
        ):
            at = line.start + match.start()
            stop = line.end if code.endswith("…") else line.start + match.end()
            yield f"Delete `{match[0]}`", _without(source, Span(at, stop))
    if not sentence.startswith("No `"):
        yield f"Delete `{_shown(source, span)}`", _without(source, span)
        first, last = source.line_of(span.start), source.line_of(max(span.start, span.end - 1))
        stop = source.line_start(last) + len(source.line_text(last)) + 1
        whole = Span(source.line_start(first), min(stop, len(source.text)))
        what = "line" if first == last else "lines"
        yield f"Delete the {what} `{_shown(source, line)}`", Edit(whole, "")
    yield f"Delete `{_shown(source, span)}`", Edit(span, "")


def _endings(source: Source, finding: Diagnostic, sentence: str) -> Iterator[Proposal]:
    """ "Close it with `)`", "End the line with `rounds`": behind what was found, or its line."""
    match = re.match(r"(?:Close it|End the line) with `([^`]+)`", sentence)
    if match is None:
        return
    code = match[1]
    text = f" {code}" if code[:1].isalnum() else code
    line = _of_line(source, finding.span)
    yield f"Add `{code}`", _behind(line, text)
    yield f"Add `{code}`", _behind(finding.span, text)


def _moves(source: Source, finding: Diagnostic, sentence: str) -> Iterator[Proposal]:
    """First lines that are missing, lines that are indented, ends that are swapped."""
    first = re.match(r"Make `([^`]+)` the first line", sentence)
    if first is not None:
        yield f"Add the line `{first[1]}`", Edit(Span(0, 0), f"{first[1]}\n")
    line = source.line_of(finding.span.start)
    start, text = source.line_start(line), source.line_text(line)
    if "left margin" in sentence or "left margin" in message_of(finding):
        margin = Span(start, start + len(text) - len(text.lstrip()))
        yield "Move it to the left margin", Edit(margin, "")
    if sentence.startswith("Indent with spaces"):
        margin = Span(start, start + len(text) - len(text.lstrip()))
        spaces = source.text[margin.start : margin.end].replace("\t", "  ")
        yield "Indent with spaces", Edit(margin, spaces)
        yield "Replace the tab with spaces", Edit(finding.span, "  ")
    if sentence.startswith("Swap the two ends"):
        ends = re.match(r"(\w*\()([^,]+),\s*([^)]+)\)", source.text[finding.span.start :])
        if ends is not None:
            span = Span(finding.span.start, finding.span.start + ends.end())
            yield "Swap the two ends", Edit(span, f"{ends[1]}{ends[3]}, {ends[2]})")


def _blocks(source: Source, finding: Diagnostic, sentence: str) -> Iterator[Proposal]:
    """The example that stands beside a missing part, as a block of its own."""
    if finding.code == "GN102" and finding.example:
        end, gap = len(source.text), "" if source.text.endswith("\n") else "\n"
        word = finding.example.split()[0]
        yield f"Add a `{word}`", Edit(Span(end, end), f"{gap}\n{finding.example}\n")


def _names(source: Source, finding: Diagnostic, sentence: str) -> Iterator[Proposal]:
    """ "Use it, or start its name with `_`"."""
    if "start its name with `_`" in sentence:
        for span in _token_at(source, finding.span, _WORD):
            yield "Start its name with `_`", Edit(Span(span.start, span.start), "_")


_READERS: tuple[Reader, ...] = (
    *(_replacements, _joined, _guards, _endings, _moves, _names, _deletions, _blocks),
)


def _of_line(source: Source, span: Span) -> Span:
    """The words of the line that a span starts in, without indentation and comment."""
    line = source.line_of(span.start)
    start, text = source.line_start(line), source.line_text(line)
    code = re.sub(r'\s*#[^"]*$', "", text).rstrip()
    return Span(start + len(code) - len(code.lstrip()), start + len(code))


def _behind(span: Span, text: str) -> Edit:
    return Edit(Span(span.end, span.end), text)


def _without(source: Source, span: Span) -> Edit:
    """A deletion that takes the spaces in front of what goes along."""
    line = source.line_start(source.line_of(span.start))
    before = source.text[line : span.start]
    spaces = len(before) - len(before.rstrip())
    return Edit(Span(span.start - (spaces if before.strip() else 0), span.end), "")
