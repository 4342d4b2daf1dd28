"""All tables of the paper by name, in the order of `python benchmarks/paper.py all`."""

from benchmarks.paper_rows import BOUNDARY, CLRS, MVC, TSP
from benchmarks.paper_rows_more import FAMILIES, RGC, RL, SOLUTIONS

TABLES = {table.name: table for table in (CLRS, FAMILIES, BOUNDARY, SOLUTIONS, MVC, TSP, RGC, RL)}
