"""stanford-stk 0.7.1: block-sparse products (sdd, dsd, dds and their transposes), forward and backward."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import numpy as np
import stk

np.random.seed(0)


def topo(m, n, sparsity, dt=f16):
    keep = rand(m // 128, n // 128) >= sparsity
    keep[:, 0] = True
    keep[0, :] = True
    rows, cols = keep.nonzero(as_tuple=True)
    offs = torch.cat([zeros(1, dtype=i64), keep.sum(1).cumsum(0)])
    data = torch.randn(len(rows), 128, 128, device=DEV, dtype=dt) * 0.1
    order = torch.argsort(cols * keep.shape[0] + rows)
    offs_t = torch.cat([zeros(1, dtype=i64), keep.sum(0).cumsum(0)])
    return stk.Matrix((m, n), data.requires_grad_(), rows.to(torch.int16), cols.to(torch.int16), offs.to(i32),
                      cols[order].to(torch.int16) * 0 + rows[order].to(torch.int16), offs_t.to(i32), order.to(i32))


@case((2048, 4096, 1024, 0.75, f16), (8192, 4096, 2048, 0.9, bf16))
def products(m, n, k, sp, dt):
    s = topo(m, n, sp, dt)
    d1 = randn(n, k, dtype=dt, grad=True)
    d2 = randn(k, m, dtype=dt, grad=True)
    y = stk.ops.dsd(s, d1)
    y.backward(torch.randn_like(y))
    y = stk.ops.dds(d2, s)
    y.backward(torch.randn_like(y))
    a, b = randn(m, k, dtype=dt, grad=True), randn(k, n, dtype=dt, grad=True)
    z = stk.ops.sdd(a, b, s)
    z.data.backward(torch.randn_like(z.data))
    st = topo(n, m, sp, dt).t()
    y = stk.ops.dsd(st, d1)
    y.backward(torch.randn_like(y))


@case((8192, 8192, 0.95))
def indices(m, n, sp):
    s = topo(m, n, sp)
    r = torch.zeros_like(s.row_indices)
    from stk.backend.triton_kernels import row_indices
    row_indices(s.shape, s.data, s.offsets, s.column_indices, r)
