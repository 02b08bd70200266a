"""anemoi-models 0.19.0: graph transformer attention over edges in compressed columns (softmax as it goes), backward by destinations and by sources."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
for p in ("anemoi", "anemoi.models", "anemoi.models.triton"):
    package(p)
from anemoi.models.triton import gt


def ptr(i, n):
    return torch.cat([torch.zeros(1, device=DEV, dtype=i64), torch.bincount(i, minlength=n).cumsum(0)])


@case((40320, 40320, 12, 16, 64, bf16), (10242, 40962, 6, 16, 64, f32), (65160, 10242, 9, 8, 32, bf16))
def attention(src, dst, degree, h, c, dtype):
    col = torch.arange(dst, device=DEV).repeat_interleave(degree)
    row = randint(0, src, dst * degree)
    perm = row.argsort(stable=True)
    q, k, v, e = randn(dst, h, c, dtype=dtype), randn(src, h, c, dtype=dtype), randn(src, h, c, dtype=dtype), randn(dst * degree, h, c, dtype=dtype)
    out, saved, m = gt.graph_transformer_attention(q, k, v, e, row, ptr(col, dst), ptr(row, src), perm, col)
    gt.graph_transformer_attention_backward(torch.randn_like(out), q, k, v, e, saved, m, row, ptr(col, dst), ptr(row, src), perm, col)
