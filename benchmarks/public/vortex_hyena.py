"""vtx 1.1.0 (Evo 2's vortex): Hyena operators: filters from poles, complex products of spectra, biases with gates, short convolutions, gated convolution as products with Toeplitz factors (two passes), states of packed sequences."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from _cut import cut
for p in ("vortex", "vortex.ops", "vortex.ops.hyena_se", "vortex.ops.conv", "vortex.ops.conv.local_causal_conv1d", "vortex.ops.hyena_x", "vortex.ops.embedding"):
    package(p)
from vortex.ops import hcl_interface as hl, hcm_interface as hm, hcs_interface as hs
from vortex.ops.conv.local_causal_conv1d.causal_conv1d_varlen import causal_conv1d_varlen_states
from vortex.ops.hyena_se import fwd as hf
cut("vortex.")


@case((4096, 16, 8192), (1024, 16, 65536))
def long_filter(d, s, n):
    hl._hcl_compute_filter(randn(d, s, dtype=f32), -rand(d, s), torch.arange(n, device=DEV, dtype=f32))


@case((1, 4096, 8192), (2, 1024, 16384))
def spectra(b, d, n):
    u, h = randn(b, d, n, dtype=f32), randn(d, 1, n, dtype=f32)
    hm.hcm_fft_conv(u, h, randn(d, dtype=f32), None)
    hl._hcl_bias_residual_gate(u.bfloat16(), randn(b, d, n), randn(d), randn(b, d, n))


@case((1, 4096, 8192, 7), (4, 4096, 2048, 3))
def short(b, d, n, k):
    hs.hcs_depthwise_conv(randn(b, d, n, dtype=f32), randn(d, 1, k, dtype=f32))


for name in ("_two_pass_fwd_grouped_kernel_v1", "_two_pass_fwd_grouped_kernel_v2"):  # their wrapper gives the tile sizes
    setattr(hf, name, getattr(hf, name).fn)


@case((2, 4096, 16, 256, 7, "v1"), (2, 4096, 32, 128, 7, "v2"), (1, 8192, 16, 256, 4, "v1"))
def gated(b, n, g, dg, k, v):
    x, s, c = (randn(b, n, g, dg, dtype=f16) for _ in range(3))
    h = randn(g, 1, k, dtype=f16)
    kw = dict(autotune=False, version=v, CHUNK_SIZE=128, BLOCK_D=32, CHUNK_TILES_PER_PROGRAM=1, NUM_PIPELINE_STAGES=0, THREADBLOCK_SWIZZLE="row", num_warps=4, num_stages=2)
    hf.two_pass_fwd_grouped(x, s, c, h, return_y2=True, return_toeplitz=True, **kw)
    hf.two_pass_fwd_grouped(x, s, c, h, return_y2=True, **kw)


@case((16384, 4096, 16, 4))
def states(total, d, b, k):
    causal_conv1d_varlen_states(randn(total, d), (torch.arange(b + 1, device=DEV) * (total // b)).to(i32), k)
