"""flash-linear-attention (fla-core) 0.6.0: helpers: triangular inverse, cumulative sums, pooling, packing, softmax, Sinkhorn, matmul, moba chunks."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import _fla
import torch.nn.functional as F
from fla.ops.utils import chunk_global_cumsum, chunk_local_cumsum, mean_pooling
from fla.ops.utils.matmul import addmm, matmul
from fla.ops.utils.pack import pack_sequence, unpack_sequence
from fla.ops.utils.sinkhorn import sinkhorn
from fla.ops.utils.softmax import softmax_bwd, softmax_fwd
from fla.ops.utils.solve_tril import solve_tril


@case((2, 8192, 16, 64), (2, 8192, 16, 32))
def tril(B, T, H, BT):
    A = torch.randn(B, T // BT, BT, H, BT, device=DEV) * 0.05
    A = A * torch.ones(BT, BT, device=DEV).tril(-1)[:, None, :]
    solve_tril(A.reshape(B, T, H, BT), output_dtype=bf16)


@case((2, 8192, 32, 128))
def cumsums(B, T, H, D):
    g = F.logsigmoid(torch.randn(B, T, H, D, device=DEV))
    chunk_local_cumsum(g, 64)
    chunk_local_cumsum(g, 64, reverse=True)
    chunk_local_cumsum(g[..., 0].contiguous(), 64)
    chunk_global_cumsum(g)
    chunk_global_cumsum(g[..., 0].contiguous(), reverse=True)


@case((2, 8192, 16, 128))
def pool(B, T, H, D):
    bwd(mean_pooling(randn(B, T, H, D, grad=True), 64))


@case((16, 1024, 2048))
def pack(B, T, D):
    lens = torch.arange(B, device=DEV, dtype=i64) * 40 + 300
    cu = F.pad(lens.cumsum(0), (1, 0)).to(i32)
    x = randn(B, int(lens.max()), D)
    y = pack_sequence(x, cu, padding_side="left")
    unpack_sequence(y, cu, padding_side="left", desired_shape=x.shape)


@case((8192, 16, 1024))
def softmax(T, H, D):
    p = softmax_fwd(randn(1, T, H, D))
    softmax_bwd(torch.softmax(randn(1, T, H, D, dtype=f32), -1).to(bf16), randn(1, T, H, D))


@case((4096, 4096, 4096))
def mm(M, N, K):
    matmul(randn(M, K), randn(K, N), activation="leaky_relu")
    addmm(randn(M, N), randn(M, K), randn(K, N), alpha=tensor([0.5], f32), beta=tensor([2.0], f32))


@case((2, 4096, 4), (65536, 1, 4))
def sink(B, T, N):
    bwd(sinkhorn(randn(B, T, N, N, dtype=f32, grad=True)))
