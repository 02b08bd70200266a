"""saga-activation 0.2.0, crossentropy-triton 0.1.2, torchnorm 0.1.2, triton-muon-adamw 1.0.0: small packages, both ways."""
from _common import *


@case((16, 64, 112, 112), (8, 256, 56, 56))
def saga(n, c, h, w):
    from saga.activation import SAGA
    m = SAGA(c).to(DEV)
    bwd(m(randn(n, c, h, w, dtype=f32, grad=True)))


@case((4096, 32000, bf16), (2048, 128256, f32))
def ce(t, v, dt):
    from crossentropy_triton import crossentropy_tl as ct
    x = randn(t, v, dtype=dt, grad=True)
    ct.CrossEntropyFunction.apply(x * 1.0, randint(0, v, t)).backward()


@case((8192, 4096, bf16), (16384, 1024, f32))
def norms(t, d, dt):
    from torchnorm import _triton as tn
    w, b = randn(d, dtype=dt, grad=True), randn(d, dtype=dt, grad=True)
    bwd(tn.fused_rms_norm(randn(t, d, dtype=dt, grad=True), w, 1e-6))
    bwd(tn.fused_add_rms_norm(randn(t, d, dtype=dt, grad=True), randn(t, d, dtype=dt, grad=True), w, 1e-6))
    bwd(tn.fused_layer_norm(randn(t, d, dtype=dt, grad=True), w, b, 1e-5))


@case((2048, 2048, bf16), (1024, 4096, f32))
def muon(m, n, dt):
    from triton_muon_adamw.muon.triton_muon import TritonMuon
    p = torch.nn.Parameter(randn(m, n, dtype=dt, scale=0.02))
    p.grad = randn(m, n, dtype=dt, scale=0.01)
    TritonMuon([p], ns_steps=2).step()


@case((4096, 4096, bf16), (1, 16 << 20, f32))
def adamw(m, n, dt):
    from triton_muon_adamw.adamw.triton_adam import TritonAdamW
    p = torch.nn.Parameter(randn(m, n, dtype=dt, scale=0.02))
    p.grad = randn(m, n, dtype=dt, scale=0.01)
    TritonAdamW([p]).step()
