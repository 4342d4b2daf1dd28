"""A long table and a small one in, their product out, added to what is there."""

from __future__ import annotations

import torch
from torch import Tensor

from gnarl_runtime.network.fused.kernel_library import Product, loaded


def add_product(
    start: Tensor, table: Tensor, weight: Tensor, out: Tensor, variant: str | None = None
) -> Tensor:
    """`out` (rows, columns) = start + table (rows, depth) @ weight (depth, columns).

    `start` is one row (columns,) or a table, perhaps `out` itself. Columns: a multiple of 32.
    By the compiled kernel or by torch, whichever is faster for the instruction set.
    """
    library = loaded(variant)
    if not library.multiplies_tables:
        return torch.addmm(start, table, weight, out=out)
    table, weight = _rows_without_gaps(table), weight.contiguous()
    library.product(
        Product(
            rows=len(table),
            depth=table.shape[1],
            columns=weight.shape[1],
            input=table.data_ptr(),
            input_stride=table.stride(0),
            weight=weight.data_ptr(),
            start=start.data_ptr(),
            start_stride=start.stride(0) if start.dim() == 2 else 0,
            out=out.data_ptr(),
            out_stride=out.stride(0),
        )
    )
    return out


def _rows_without_gaps(table: Tensor) -> Tensor:
    return table if table.stride(1) == 1 else table.contiguous()


def multiply(table: Tensor, weight: Tensor, variant: str | None = None) -> Tensor:
    """table (rows, depth) @ weight (depth, columns), as above."""  # (rows, columns)
    columns = weight.shape[1]
    out = table.new_empty(len(table), columns)
    if not loaded(variant).multiplies_tables:
        return torch.mm(table, weight, out=out)
    return add_product(table.new_zeros(columns), table, weight, out, variant)
