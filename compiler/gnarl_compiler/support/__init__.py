"""Arrays of a batch in, answers out: what generated kernels call, compiled by Numba."""

from __future__ import annotations

from gnarl_compiler.support.edges import (
    complete_number as complete_number,
)
from gnarl_compiler.support.edges import (
    edge_category as edge_category,
)
from gnarl_compiler.support.edges import (
    edge_number as edge_number,
)
from gnarl_compiler.support.edges import (
    edge_truth as edge_truth,
)
from gnarl_compiler.support.edges import (
    joined as joined,
)
from gnarl_compiler.support.edges import (
    out_degree as out_degree,
)
from gnarl_compiler.support.edges import (
    set_edge as set_edge,
)
from gnarl_compiler.support.edges import (
    set_numbered_edge as set_numbered_edge,
)
from gnarl_compiler.support.endings import (
    DEAD_END as DEAD_END,
)
from gnarl_compiler.support.endings import (
    ILLEGAL as ILLEGAL,
)
from gnarl_compiler.support.endings import (
    RUNNING as RUNNING,
)
from gnarl_compiler.support.endings import (
    TERMINATED as TERMINATED,
)
from gnarl_compiler.support.endings import (
    TRUNCATED as TRUNCATED,
)
from gnarl_compiler.support.endings import (
    SpecFault as SpecFault,
)
from gnarl_compiler.support.jit import (
    njit as njit,
)
from gnarl_compiler.support.numbers import (
    INF as INF,
)
from gnarl_compiler.support.numbers import (
    ceiling as ceiling,
)
from gnarl_compiler.support.numbers import (
    divide as divide,
)
from gnarl_compiler.support.numbers import (
    flooring as flooring,
)
from gnarl_compiler.support.numbers import (
    minus as minus,
)
from gnarl_compiler.support.numbers import (
    nearly as nearly,
)
from gnarl_compiler.support.numbers import (
    plus as plus,
)
from gnarl_compiler.support.numbers import (
    times as times,
)
from gnarl_compiler.support.twins import (
    critical_fraction as critical_fraction,
)
from gnarl_compiler.support.twins import (
    is_dfs_forest as is_dfs_forest,
)
