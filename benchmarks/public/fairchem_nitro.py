"""fairchem-core 2.24.0 (UMA Nitro): equivariant RMS norm, layer norm with SiLU, edge embedding, Wigner matrices from vectors, sorted segment sums."""
from _common import *
import sys
from unittest.mock import MagicMock

for name in ("cuda", "cuda.bindings", "cuda.bindings.driver", "cutlass", "cutlass.cute", "cutlass.cute.runtime", "cutlass.pipeline", "cutlass.utils", "cutlass.utils.hopper_helpers"):
    sys.modules.setdefault(name, MagicMock())   # its other half, written in CuTe, is not run here
from fairchem.core.models.uma.uma_nitro import _inference as u

EXPAND = [0, 1, 1, 1, 2, 2, 2, 2, 2]


@case((4000, 128), (20000, 128))
def norm(n, c):
    x = randn(n, 9, c, dtype=f32, grad=True)
    w = tensor([1 / 3, 1 / 9, 1 / 9, 1 / 9] + [1 / 15] * 5, f32)
    bwd(u._eq_norm(x, w, rand(3, c), randn(c, dtype=f32), tensor(EXPAND, i64), 1e-5)[0])


@case((60000, 128), (60000, 64))
def ln_silu(r, c):
    bwd(u.ln_silu(randn(r, c, dtype=f32, grad=True), randn(c, dtype=f32, grad=True), randn(c, dtype=f32), 1e-5))
    bwd(u.ln_silu(randn(r, c, dtype=f32, grad=True), randn(c, dtype=f32), randn(c, dtype=f32), 1e-5))


@case((200000, 4000, 32))
def offsets(e, n, systems):
    bwd(u.cell_offset_product(randint(-1, 2, e, 3).float(), randint(0, systems, n).sort().values, randint(0, n, e), randn(systems, 3, 3, dtype=f32, grad=True)))


@case((100000, 4000, 64, 64))
def embedding(e, n, gaussians, c):
    a = [rand(e, lo=0.5, hi=6.0, grad=True), torch.linspace(0, 6, gaussians, device=DEV), randint(1, 90, n), torch.stack([randint(0, n, e) for _ in range(2)]),
         randn(100, c, dtype=f32), randn(100, c, dtype=f32)]
    bwd(u.edge_embedding(*a, -50.0, 6.0, -21.0, 35.0, -15.0))


@case(40000, 150000)
def wigner(e):
    v = randn(e, 3, dtype=f32, grad=True)
    quad = [a * 4 + b for a in range(4) for b in range(a, 4)]
    c = torch.zeros(25, 16, 16)   # coefficients where the kernel expects some
    for n, (i, j) in enumerate((i, j) for a, i in enumerate(quad) for j in quad[a:]):
        for k in range(25):
            c[k, i, j] = 0.1 + 0.01 * k if u._D55_NZ[n * 32 + k] == "1" else 0.0
    bwd(u.wigner_from_vec(v, rand(e, hi=6.28), c.reshape(25, 256).to(DEV), 1e-7, rand(e, grad=True)))


@case((40000, 2000, 128))
def degree(e, n, c):
    t = randint(0, n, e).sort().values
    off = torch.searchsorted(t, torch.arange(n + 1, device=DEV)).to(i32)
    bwd(u.fused_m0_edge_to_node(randn(e, 9, 9, dtype=f32, grad=True), randn(e, 3, c, dtype=f32, grad=True), off, randn(n, 9, c, dtype=f32, grad=True), t, 5.0))


@case((40000, 2000, 128))
def segments(e, n, c):
    t = randint(0, n, e).sort().values
    off = torch.searchsorted(t, torch.arange(n + 1, device=DEV)).to(i32)
    g = randn(e, 9, c, dtype=f16)
    u.segreduce_tgt_fp16(g, rand(e), off, n, c)
