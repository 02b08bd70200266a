"""flashslice 0.3.0: slice and deslice of physics attention (Transolver), single-tile and blocked kernels, both ways."""
from _common import *
from flashslice.kernels import slice_ops as so


@case((2, 32768, 8, 32, 32, bf16), (1, 65536, 8, 32, 64, f32), (2, 16384, 8, 64, 64, f16), (1, 32768, 4, 128, 256, bf16))
def slices(b, n, h, d, g, dt):
    x, f = randn(b, n, h, d, dtype=dt, grad=True), randn(b, n, h, d, dtype=dt, grad=True)
    w, bias = randn(g, d, dtype=f32, scale=d ** -0.5, grad=True), randn(g, dtype=f32, grad=True)
    tau = rand(h, lo=0.4, hi=1.0, grad=True)
    z, s = so.fused_slice(x, f, w, bias, tau)
    bwd((z, s))
    tok = randn(b, h, g, d, dtype=f32, grad=True)
    bwd(so.fused_deslice(x, w, bias, tau, tok.to(z.dtype)))


@case((2, 32768, 8, 32, 32, bf16))
def blocked(b, n, h, d, g, dt):
    so.set_kernel_mode("blocked")
    try:
        slices.__wrapped__ if False else slices(b, n, h, d, g, dt)
    finally:
        so.set_kernel_mode("auto")
    from flashslice.kernels import blocked as bl
    bl.compute_stats(randn(b, n, h, d, dtype=dt), randn(h, g, d, dtype=f32, scale=0.1), randn(h, g, dtype=f32), rand(h, lo=0.4))
