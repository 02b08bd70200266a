"""liger-kernel 0.8.5: group, layer, RMS, poly norms, DyT, fused add and modulated norms, sparsemax, softmax, both ways."""
from _common import *
import liger_kernel.ops as L


@case((8, 512, 64 * 64, 32, f32), (4, 320, 128 * 128, 32, bf16))
def group(n, c, s, g, dt):
    bwd(L.LigerGroupNormFunction.apply(randn(n, c, s, dtype=dt, grad=True), randn(c, dtype=dt, grad=True), randn(c, dtype=dt, grad=True), c, g, 1e-5))


@case((8192, 4096, bf16), (4096, 8192, f32))
def token(t, d, dt):
    def x():
        return randn(t, d, dtype=dt, grad=True)
    def one(*a):
        try:
            bwd(a[0](*a[1:]))
        except Exception:
            traceback.print_exc()
    w, b = randn(d, dtype=dt, grad=True), randn(d, dtype=dt, grad=True)
    one(L.LigerLayerNormFunction.apply, x(), w, b, 1e-5)
    for mode, off in (("llama", 0.0), ("gemma", 1.0), ("none", 0.0)):
        one(L.LigerRMSNormFunction.apply, x(), w, 1e-6, off, mode, False)
    one(L.LigerRMSNormFunction.apply, x(), w, 1e-6, 0.0, "llama", False, True)
    one(L.LigerFusedAddRMSNormFunction.apply, x(), x(), w, 1e-6)
    one(L.LigerPolyNormFunction.apply, x(), randn(3, dtype=dt, grad=True), torch.tensor(0.1, device=DEV, dtype=dt, requires_grad=True), 1e-6, False)
    one(L.LigerDyTFunction.apply, x(), torch.tensor([0.5], device=DEV, dtype=dt, requires_grad=True), w, b)
    one(L.LigerSoftmaxFunction.apply, x())
    one(L.LigerSparsemaxFunction.apply, x(), -1)
    one(L.LigerReLUSquaredFunction.apply, x())
    one(L.LigerGELUMulFunction.apply, x(), x())
    one(L.LigerSiLUMulFunction.apply, x(), x())
    one(L.LigerFusedGateUpSiLUMulFunction.apply, x())


@case((4, 2048, 2048, bf16))
def modulated(b, t, d, dt):
    bwd(L.LigerModulatedRMSNormFunction.apply(randn(b, t, d, dtype=dt, grad=True), randn(d, dtype=dt, grad=True),
                                              randn(b, d, dtype=dt, grad=True), randn(b, d, dtype=dt, grad=True), 1e-6, 0.0, "llama", False))


@case((8, 4096, 2048, bf16))
def attnres(n, t, d, dt):
    bwd(L.LigerAttnResFunction.apply(randn(n, 2, t // 2, d, dtype=dt, grad=True), randn(d, dtype=dt, scale=0.05, grad=True), randn(d, dtype=dt, grad=True), 1e-6))
