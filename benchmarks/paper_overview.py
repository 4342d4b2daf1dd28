"""What the tables have in, one page out that compares all of it with the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.paper_record import outcomes_of
from benchmarks.paper_rows import Row, Table
from benchmarks.paper_runs import Places
from benchmarks.paper_summary import NOTE, compared_methods, short_table
from gnarl_compiler.build.files import write_whole


def write_overview(tables: Sequence[Table], places: Places) -> None:
    """Only tables that compare something with the paper, and none without a file of its own."""
    written = [table for table in tables if (places.output / f"paper_{table.name}.json").is_file()]
    if written:
        text = "\n".join(overview_lines(written, places)) + "\n"
        write_whole(places.output / "paper.md", text.encode())


def overview_lines(tables: Sequence[Table], places: Places) -> Iterator[str]:
    yield "# The paper's tables at a glance"
    yield ""
    yield "    python benchmarks/paper.py all --report"
    yield ""
    yield f"{NOTE} How each was made stands in the table that a heading leads to."
    earlier: list[Row] = []
    for table in tables:
        new = [row for row in table.rows if not any(same_runs(row, other) for other in earlier)]
        methods = list(compared_methods(new, outcomes_of(table, places)))
        if methods:
            yield from ("", f"## [{table.title}](paper_{table.name}.md)", "")
            yield from short_table(methods)
        earlier += new


def same_runs(row: Row, other: Row) -> bool:
    """Whether a later table shows again what an earlier one has."""
    return (row.name, row.figure) == (other.name, other.figure)
