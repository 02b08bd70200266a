"""mase-triton 0.0.7: minifloat and MX formats (extract, compose), random bit flips (forward, backward), products of the optical transformer."""
from _common import *
import importlib
M = lambda n: importlib.import_module("mase_triton." + n)


@case("FP8_E4M3_fn", "FP6_E3M2_fn", "FP4_E2M1_fn")
def minifloat(name):
    k, m = M("minifloat.kernels.cast"), M("minifloat.meta")
    meta = getattr(m, name)
    x = randn(4096, 8192)
    e = k.extract_minifloat_component(x, meta)
    k.compose_minifloat_component(e, meta, bf16)


@case("MXFP8_E5M2", "MXFP6_E2M3", "MXFP4_E2M1")
def mxfp(name):
    k, m = M("mxfp.kernels.cast"), M("mxfp.meta")
    k2 = M("_mxfp_simple.kernels.cast")
    meta = getattr(m, "OCP_" + name, None) or getattr(m, name + "_fn")
    x = randn(4096 * 8192)
    s, e = k.extract_mxfp_components(x, meta)
    k.compose_mxfp_tensor(s, e, meta, bf16)
    meta = getattr(M("_mxfp_simple.meta"), "OCP_" + name)
    s, e = k2.extract_mxfp_components(x, meta)
    k2.compose_mxfp_tensor(s, e, meta)


@case((bf16, 8, 4, None), (f32, 10, 6, 8.0), (f16, 8, None, None))
def bitflip(t, exp, frac, zero):
    x = randn(4096, 8192, dtype=t, grad=True)
    y = M("random_bitflip.core").random_bitflip_fn(x, exp, frac, 12, 34, zero)[0]
    bwd(torch.nan_to_num(y) if zero is None else y)


@case((2048, 4096, 4096), (512, 1024, 8192))
def optical(m, k, n):
    f = M("optical_compute.functional")
    a, w = randn(m, k, dtype=f32, grad=True), randn(n, k, dtype=f32, grad=True)
    f.ot_qlinear_fn(a.detach(), w.detach(), randn(n, dtype=f32), -4.0, 4.0, -4.0, 4.0, 0.02, -300.0, 300.0, 256, 7)
    f.ot_qmatmul_fn(randn(16, 1024, 128, dtype=f32), randn(16, 128, 1024, dtype=f32), -4.0, 4.0, -4.0, 4.0, 0.02, -50.0, 50.0, 256, 7)
    f.ot_quantize_fn(a.detach(), 3, 256, -4.0, 4.0, 0.02)
    f.ot_quantize_fn(a.detach(), 3, 256, -4.0, 4.0, None, "rand")
