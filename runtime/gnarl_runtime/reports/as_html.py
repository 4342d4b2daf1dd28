"""A Report in, one HTML file that needs nothing else out.

What it says comes from specs and runs, which are data: everything is escaped, and the page forbids
itself every script but that of the episodes, which is named by its hash, and every request.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterator
from importlib.resources import files

from gnarl_dsl import __version__
from gnarl_runtime.reports.contents import Report, Sheet, Watched
from gnarl_runtime.reports.svg_charts import svg_of

_HASHES = re.compile(r"'sha256-[A-Za-z0-9+/=]+'")
_CODE = re.compile(r"`([^`]*)`")


def html_of(report: Report) -> str:
    """The whole file."""
    style = files("gnarl_runtime.reports").joinpath("report.css").read_text("utf-8")
    body = "\n".join(part for part in _body(report) if part)
    title = html.escape(report.title)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_policy(style, report)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="gnarl-report {html.escape(__version__)}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def _policy(style: str, report: Report) -> str:
    """Episodes stand in frames, which must do what this page must do, too."""
    own = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    shown = {found for watched in report.episodes for found in _HASHES.findall(watched.page[:4000])}
    hashes = " ".join(sorted(shown))
    scripts = hashes or "'none'"
    return (
        f"default-src 'none'; style-src 'sha256-{own}' {hashes}; script-src {scripts}; "
        "base-uri 'none'; form-action 'none'"
    ).replace(" ;", ";")


def _body(report: Report) -> Iterator[str]:
    yield f"<header><h1>{html.escape(report.title)}</h1><p>{_words(report.doc)}</p></header>"
    yield "<main>"
    yield _section("What was trained", _table(report.facts) + _items(report.verdict))
    charts = "".join(map(svg_of, report.curves))
    yield _section("How it was learned", f'<div class="charts">{charts}</div>' if charts else "")
    yield _section("How good it is", _table(report.results))
    searched = _table(report.searches) if report.searches else ""
    chart = f'<div class="charts">{svg_of(report.over_time)}</div>' if report.over_time else ""
    yield _section("What a search adds", searched + chart)
    lost = _table(report.failures) if report.failures else ""
    yield _section("Where it fails", f"<p>{_words(report.told)}</p>{lost}")
    frames = "".join(_frame(own, k == 0) for k, own in enumerate(report.episodes))
    yield _section("Episodes to step through", frames)
    texts = [*report.specs, ("recipe", report.recipe)]
    folded = "".join(
        f"<details><summary>{html.escape(name)}</summary><pre>{html.escape(text)}</pre></details>"
        for name, text in texts
    )
    yield _section("The spec and the recipe", folded)
    left = f"Left out for lack of time: {', '.join(report.left_out)}. " if report.left_out else ""
    yield f"</main>\n<footer><p>{_words(left)}{_words(report.made)}</p>"
    yield f"<pre>{html.escape(report.command)}</pre></footer>"


def _section(title: str, content: str) -> str:
    return f"<section><h2>{title}</h2>{content}</section>" if content else ""


def _table(sheet: Sheet) -> str:
    def cells(row: tuple[str, ...], tag: str) -> str:
        kinds = ("", ' class="n"')
        return "".join(
            f"<{tag}{kinds[k >= sheet.words]}>{_words(text)}</{tag}>" for k, text in enumerate(row)
        )

    head = f"<thead><tr>{cells(sheet.head, 'th')}</tr></thead>" if any(sheet.head) else ""
    rows = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in sheet.rows)
    return (
        f'<div class="wide"><table>{head}<tbody>{rows}</tbody></table></div>{_items(sheet.notes)}'
    )


def _items(lines: tuple[str, ...]) -> str:
    return f"<ul>{''.join(f'<li>{_words(line)}</li>' for line in lines)}</ul>" if lines else ""


def _frame(watched: Watched, opened: bool) -> str:
    title, page = html.escape(watched.title), html.escape(watched.page)
    return (
        f"<details{' open' * opened}><summary>{title}</summary>"
        f'<iframe title="{title}" sandbox="allow-scripts" loading="lazy" srcdoc="{page}"></iframe>'
        "</details>"
    )


def _words(text: str) -> str:
    """Escaped, with code between backquotes."""
    return _CODE.sub(r"<code>\1</code>", html.escape(text))
