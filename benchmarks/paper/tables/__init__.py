"""All tables of the paper by name, a file each, in the order of `python -m benchmarks.paper all`.

Figures are those of Schutz, Darvariu et al., *Tackling GNARLy Problems*; training times are its
Table of training times.
"""

from benchmarks.paper.tables.boundary import BOUNDARY
from benchmarks.paper.tables.clrs import CLRS
from benchmarks.paper.tables.covers import MVC
from benchmarks.paper.tables.families import FAMILIES
from benchmarks.paper.tables.rl import RL
from benchmarks.paper.tables.robust_graphs import RGC
from benchmarks.paper.tables.salesperson import TSP
from benchmarks.paper.tables.solutions import SOLUTIONS

TABLES = {table.name: table for table in (CLRS, FAMILIES, BOUNDARY, SOLUTIONS, MVC, TSP, RGC, RL)}
