"""Parser callbacks: pieces of one grammar rule in, one syntax node out.

The parser calls these bottom-up while it parses, so no depth of nesting can overflow
the stack. Every piece is kept (punctuation too): a node spans its first to last piece.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gnarl_dsl.report.source import Span
from gnarl_dsl.syntax import ast
from gnarl_dsl.syntax.layout import Lexeme

Pieces = list[Any]


def span_of(pieces: Pieces) -> Span:
    """From the first to the last piece with text; layout tokens at the end do not count."""
    present = [piece for piece in pieces if piece is not None and not _is_layout(piece)]
    if not present:
        present = [piece for piece in pieces if piece is not None]
    return _span(present[0]).to(_span(present[-1]))


def _span(piece: Any) -> Span:
    if isinstance(piece, list):
        return span_of(piece)
    return piece.span  # type: ignore[no-any-return]


def _is_layout(piece: Any) -> bool:
    return isinstance(piece, Lexeme) and piece.type in ("NEWLINE", "INDENT", "DEDENT")


def ident(word: Lexeme) -> ast.Ident:
    return ast.Ident(word.span, str(word))


def text_of(word: Lexeme | None) -> str:
    """The content of a string token: quotes off, escapes resolved, lines joined."""
    if word is None:
        return ""
    body = str(word)[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return " ".join(body.split())


def items(pieces: Pieces, *kinds: type) -> tuple[Any, ...]:
    return tuple(piece for piece in pieces if isinstance(piece, kinds))


def names(pieces: Pieces) -> tuple[ast.Ident, ...]:
    return tuple(ident(p) for p in pieces if isinstance(p, Lexeme) and p.type == "NAME")


class TreeBuilder:
    """One method per rule of grammar.lark."""

    # Blocks

    def version(self, p: Pieces) -> ast.Version:
        return ast.Version(span_of(p), ast.Number(p[1].span, str(p[1])))

    def problem(self, p: Pieces) -> ast.ProblemHead:
        return ast.ProblemHead(span_of(p[:3]), ident(p[1]), p[2], text_of(p[4]))

    def extends(self, p: Pieces) -> ast.Ident:
        return ident(p[1])

    def problem_doc(self, p: Pieces) -> Lexeme:
        doc: Lexeme = p[1]
        return doc

    def param(self, p: Pieces) -> ast.Param:
        return ast.Param(span_of(p), ident(p[1]), p[2], p[3] or (), p[5], text_of(p[6]))

    def param_unit(self, p: Pieces) -> ast.Ident:
        return ident(p[1])

    def param_choices(self, p: Pieces) -> tuple[ast.Ident, ...]:
        return names(p)

    def graph(self, p: Pieces) -> ast.GraphDecl:
        return ast.GraphDecl(span_of(p), names(p))

    def features(self, p: Pieces) -> ast.Features:
        return ast.Features(span_of(p), items(p, ast.Feature))

    def feature(self, p: Pieces) -> ast.Feature:
        source = next(iter(items(p, ast.SourceOf)), None)
        value = next((piece for piece in p if isinstance(piece, list)), None)
        doc = next((piece for piece in p[1:] if getattr(piece, "type", "") == "STRING"), None)
        return ast.Feature(
            span_of(p),
            ident(p[0]),
            items(p, ast.Column),
            value[1] if value else None,
            source,
            text_of(doc),
        )

    def column(self, p: Pieces) -> ast.Column:
        return ast.Column(span_of(p), ident(p[0]), p[2] or ())

    def column_args(self, p: Pieces) -> tuple[ast.Tree, ...]:
        return items(p, ast.Ident, ast.Number, ast.Unary)

    def identifier(self, p: Pieces) -> ast.Ident:
        return ident(p[0])

    def initial_value(self, p: Pieces) -> Pieces:
        return p

    def input_source(self, p: Pieces) -> ast.SourceOf:
        laws: tuple[ast.SourceOf, ...] = items(p, ast.SourceOf)
        first, *others = laws
        return replace(first, span=span_of(p[1:]), others=tuple(others)) if others else first

    def law(self, p: Pieces) -> ast.SourceOf:
        return ast.SourceOf(span_of(p), ident(p[0]), p[2] or ())

    def let(self, p: Pieces) -> ast.Let:
        return ast.Let(span_of(p), ident(p[1]), p[3] or (), p[6])

    def let_params(self, p: Pieces) -> tuple[ast.LetParam, ...]:
        return items(p, ast.LetParam)

    def let_param(self, p: Pieces) -> ast.LetParam:
        return ast.LetParam(span_of(p), ident(p[0]), p[1])

    def let_param_type(self, p: Pieces) -> ast.Ident:
        return ident(p[1])

    def phase(self, p: Pieces) -> ast.Phase:
        return ast.Phase(span_of(p[:6]), ident(p[1]), ident(p[3]), p[5], p[7] or ())

    def only_when(self, p: Pieces) -> ast.Tree:
        condition: ast.Tree = p[1]
        return condition

    def phase_body(self, p: Pieces) -> tuple[ast.Tree, ...]:
        return items(p, ast.Allow, ast.Update)

    def allow(self, p: Pieces) -> ast.Allow:
        return ast.Allow(span_of(p), p[1])

    def update(self, p: Pieces) -> ast.Update:
        return ast.Update(span_of(p[:1]), p[2])

    def statements(self, p: Pieces) -> tuple[ast.Tree, ...]:
        return items(p, ast.Assign, ast.LocalLet, ast.When, ast.ForEach)

    def assign(self, p: Pieces) -> ast.Assign:
        return ast.Assign(span_of(p), p[0], p[2])

    def local_let(self, p: Pieces) -> ast.LocalLet:
        return ast.LocalLet(span_of(p), ident(p[1]), p[3])

    def when(self, p: Pieces) -> ast.When:
        return ast.When(span_of(p[:2]), p[1], p[3], p[4] or ())

    def else_when(self, p: Pieces) -> tuple[ast.Tree, ...]:
        return (p[1],)

    def else_block(self, p: Pieces) -> tuple[ast.Tree, ...]:
        statements: tuple[ast.Tree, ...] = p[2]
        return statements

    def for_each(self, p: Pieces) -> ast.ForEach:
        where = p[2][1] if p[2] else None
        return ast.ForEach(span_of([p[0], *p[1], p[2]]), p[1], where, p[4])

    def horizon(self, p: Pieces) -> ast.Horizon:
        return ast.Horizon(span_of(p), p[1])

    def limit(self, p: Pieces) -> ast.Limit:
        return ast.Limit(span_of(p), p[1])

    def terminate(self, p: Pieces) -> ast.Terminate:
        return ast.Terminate(span_of(p), p[2])

    def stop(self, p: Pieces) -> ast.Stop:
        return ast.Stop(span_of(p[:3]), p[2])

    def valid(self, p: Pieces) -> ast.Valid:
        return ast.Valid(span_of(p), p[1])

    def correct(self, p: Pieces) -> ast.Correct:
        return ast.Correct(span_of(p), p[1])

    def objective(self, p: Pieces) -> ast.Objective:
        return ast.Objective(span_of(p), ident(p[1]), p[3])

    def reward(self, p: Pieces) -> ast.Reward:
        return ast.Reward(span_of(p), ident(p[1]), ident(p[2]), p[4])

    def metric(self, p: Pieces) -> ast.Metric:
        return ast.Metric(span_of(p), ident(p[1]), p[3])

    def expert(self, p: Pieces) -> ast.Expert:
        return ast.Expert(span_of(p[:2]), ident(p[1]), items(p, ast.ExpertPhase))

    def expert_phase(self, p: Pieces) -> ast.ExpertPhase:
        return ast.ExpertPhase(span_of(p), ident(p[0]), items(p, ast.Choice))

    def choice(self, p: Pieces) -> ast.Choice:
        where = p[2][1] if p[2] else None
        return ast.Choice(span_of(p), ident(p[1]), where, items(p, ast.Criterion))

    def criterion(self, p: Pieces) -> ast.Criterion:
        return ast.Criterion(span_of([p[0], *p[1]]), str(p[0]), p[1])

    def made_expert(self, p: Pieces) -> ast.MadeExpert:
        budget = next(iter(items(p, ast.Budget)), None)
        members: tuple[ast.Ident, ...] = next((part for part in p if isinstance(part, tuple)), ())
        whole = span_of([*p[:5], budget, *members])
        return ast.MadeExpert(whole, ident(p[1]), ident(p[3]), ident(p[4]), budget, members)

    def budget(self, p: Pieces) -> ast.Budget:
        return ast.Budget(span_of(p), ident(p[0]), p[1])

    def instances(self, p: Pieces) -> ast.Instances:
        splits, laws = items(p, ast.Split), items(p, ast.InputLaw)
        return ast.Instances(span_of(p[:2]), ident(p[1]), splits, laws)

    def input_law(self, p: Pieces) -> ast.InputLaw:
        return ast.InputLaw(span_of(p), ident(p[0]), p[1])

    def split(self, p: Pieces) -> ast.Split:
        count = ast.Number(p[1].span, str(p[1]))
        return ast.Split(span_of([*p[:4], p[5]]), ident(p[0]), count, ident(p[2]), p[4] or ())

    def generator_args(self, p: Pieces) -> tuple[ast.GeneratorArg, ...]:
        return items(p, ast.GeneratorArg)

    def generator_arg(self, p: Pieces) -> ast.GeneratorArg:
        return ast.GeneratorArg(span_of(p), ident(p[0]), p[2])

    def one(self, p: Pieces) -> ast.OneOf:
        return ast.OneOf(span_of(p), ((p[0], p[0]),))

    def one_of(self, p: Pieces) -> ast.OneOf:
        return ast.OneOf(span_of([p[0], p[-1]]), tuple(i for i in p if isinstance(i, tuple)))

    def item(self, p: Pieces) -> tuple[ast.Number, ast.Number]:
        return (p[0], p[1] or p[0])

    def item_end(self, p: Pieces) -> ast.Number:
        end: ast.Number = p[1]
        return end

    def between(self, p: Pieces) -> ast.Between:
        return ast.Between(span_of(p), p[1], p[3])

    def extern(self, p: Pieces) -> ast.Extern:
        doc = next((piece for piece in p[1:] if getattr(piece, "type", "") == "STRING"), None)
        words = items(p, ast.ExternWord)
        return ast.Extern(span_of(p), ident(p[1]), p[3] or (), words, text_of(doc))

    def extern_params(self, p: Pieces) -> tuple[ast.ExternParam, ...]:
        return items(p, ast.ExternParam)

    def extern_param(self, p: Pieces) -> ast.ExternParam:
        return ast.ExternParam(span_of([p[0], *(p[1] or ())]), ident(p[0]), p[1] or ())

    def extern_type(self, p: Pieces) -> tuple[ast.ExternWord, ...]:
        return items(p, ast.ExternWord)

    def extern_word(self, p: Pieces) -> ast.ExternWord:
        return ast.ExternWord(span_of([p[0], p[3]]), ident(p[0]), p[2] or ())

    def window(self, p: Pieces) -> ast.Observe | ast.Messages:
        where = p[2][1] if p[2] else None
        kind = ast.Messages if p[0] == "messages" else ast.Observe
        return kind(span_of([p[0], p[1], p[2], p[3]]), p[1], where, p[3])

    def nearest(self, p: Pieces) -> ast.Nearest:
        return ast.Nearest(span_of(p), str(p[0]), p[1], ast.Number(p[3].span, str(p[3])))

    def drop(self, p: Pieces) -> ast.Drop:
        return ast.Drop(span_of([p[0], p[1], *(p[2] or ())]), p[1], p[2] or ())

    def drop_kind(self, p: Pieces) -> ast.Ident:
        return ident(p[0])

    def name_list(self, p: Pieces) -> tuple[ast.Ident, ...]:
        return names(p)

    # Expressions

    def if_else(self, p: Pieces) -> ast.IfElse:
        return ast.IfElse(span_of(p), p[1], p[3], p[5])

    def logic(self, p: Pieces) -> ast.Logic:
        return ast.Logic(span_of(p), str(p[1]), tuple(p[::2]))

    def unary(self, p: Pieces) -> ast.Unary:
        return ast.Unary(span_of(p), str(p[0]), p[1])

    def quantified(self, p: Pieces) -> ast.Quantifier:
        where = p[2][1] if p[2] else None
        return ast.Quantifier(span_of([p[0], p[4]]), str(p[0]), p[1], where, p[4])

    def compare(self, p: Pieces) -> ast.Compare:
        return ast.Compare(span_of(p), str(p[1]), p[0], p[2])

    def otherwise(self, p: Pieces) -> ast.Otherwise:
        return ast.Otherwise(span_of(p), p[0], p[2])

    def binary(self, p: Pieces) -> ast.Binary:
        return ast.Binary(span_of(p), str(p[1]), p[0], p[2])

    def number(self, p: Pieces) -> ast.Number:
        return ast.Number(span_of(p), str(p[0]))

    def negative(self, p: Pieces) -> ast.Number:
        return ast.Number(span_of(p), "-" + str(p[1]))

    def boolean(self, p: Pieces) -> ast.Boolean:
        return ast.Boolean(span_of(p), str(p[0]) == "true")

    def infinity(self, p: Pieces) -> ast.Infinity:
        return ast.Infinity(span_of(p))

    def name(self, p: Pieces) -> ast.Name:
        return ast.Name(span_of(p), str(p[0]))

    def index(self, p: Pieces) -> ast.Index:
        return ast.Index(span_of([p[0], p[3]]), ident(p[0]), p[2])

    def call(self, p: Pieces) -> ast.Call:
        return ast.Call(span_of([p[0], p[3]]), ident(p[0]), p[2] or ())

    def last(self, p: Pieces) -> ast.Last:
        return ast.Last(span_of(p), ident(p[2]))

    def group(self, p: Pieces) -> ast.Tree:
        inner: ast.Tree = replace(p[1], span=span_of(p))
        return inner

    def folded(self, p: Pieces) -> ast.Quantifier:
        where = p[3][1] if p[3] else None
        body = p[4][1] if p[4] else None
        return ast.Quantifier(span_of([p[0], p[5]]), str(p[0]), p[2], where, body)

    def any_folded(self, p: Pieces) -> ast.Quantifier:
        where = p[4][1] if p[4] else None
        body = p[5][1] if p[5] else None
        kind = str(p[1]) if p[1] else "any"
        return ast.Quantifier(span_of([p[0], p[6]]), kind, p[3], where, body, is_any=True)

    def partial(self, p: Pieces) -> ast.Partial:
        where = p[3][1] if p[3] else None
        return ast.Partial(span_of([p[0], p[-1]]), ident(p[0]), p[2], where, p[5] or ())

    def fold_body(self, p: Pieces) -> Pieces:
        return p

    def expr_list(self, p: Pieces) -> tuple[ast.Tree, ...]:
        return tuple(p[::2])

    def binders(self, p: Pieces) -> tuple[ast.Binder, ...]:
        return items(p, ast.Binder)

    def binder(self, p: Pieces) -> ast.Binder:
        bound = p[0] if isinstance(p[0], tuple) else (ident(p[0]),)
        return ast.Binder(span_of([*bound, p[2]]), bound, p[2])

    def binder_pair(self, p: Pieces) -> tuple[ast.Ident, ...]:
        return names(p)

    def named_domain(self, p: Pieces) -> ast.NamedDomain:
        return ast.NamedDomain(span_of([p[0], p[3]]), ident(p[0]), p[2] or ())

    def range_domain(self, p: Pieces) -> ast.RangeDomain:
        return ast.RangeDomain(span_of(p), p[0], p[2])

    def where(self, p: Pieces) -> Pieces:
        return p
