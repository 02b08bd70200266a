"""liger-kernel 0.8.5: cross entropy, fused linear CE/JSD/KL, JSD, KL, TVD, CE+TVD, GRPO losses, forward and backward."""
from _common import *
import liger_kernel.ops as L


def lp(t, v, dt=f32, grad=True):
    return torch.log_softmax(randn(t, v, dtype=f32), -1).to(dt).requires_grad_(grad)


@case((4096, 32000, bf16, {}), (2048, 128256, bf16, dict(softcap=30.0, label_smoothing=0.1)), (1024, 50257, f32, dict(lse_square_scale=1e-4)))
def ce(t, v, dt, kw):
    from liger_kernel.ops.cross_entropy import cross_entropy_forward, cross_entropy_backward
    x = randn(t, v, dtype=dt, grad=True)
    o = L.LigerCrossEntropyFunction.apply(x * 1.0, randint(0, v, t), None, -100, kw.get("lse_square_scale", 0.0),
                                          kw.get("label_smoothing", 0.0), "mean", kw.get("softcap"), False, False, False)
    (o[0] * 2.0).backward()


@case((2048, 2048, 32000))
def flce(t, h, v):
    x, w = randn(t, h, grad=True), randn(v, h, scale=0.02, grad=True)
    o = L.LigerFusedLinearCrossEntropyFunction.apply(x, w, randint(0, v, t))
    (o[0] * 2.0).backward()


@case((1024, 1024, 32000))
def fljsd(t, h, v):
    L.LigerFusedLinearJSDFunction.apply(randn(t, h, grad=True), randn(v, h, scale=0.02, grad=True), randn(t, h), randn(v, h, scale=0.02),
                                        randint(0, v, t), 0.5).backward()


@case((1024, 1024, 32000))
def flkl(t, h, v):
    L.LigerFusedLinearKLDivFunction.apply(randn(t, h, grad=True), randn(v, h, scale=0.02, grad=True),
                                          torch.softmax(randn(t, v, dtype=f32), -1).bfloat16()).backward()


@case((2048, 32000, 0.5, f32), (2048, 32000, 0.0, bf16), (1024, 128256, 1.0, bf16))
def jsd(t, v, beta, dt):
    L.LigerJSDFunction.apply(lp(t, v, dt), lp(t, v, dt, False), None, beta).backward()


@case((2048, 32000, "batchmean", False), (2048, 32000, "none", True))
def kl(t, v, red, log):
    q = lp(t, v, grad=False)
    bwd(L.LigerKLDivLossFunction.apply(lp(t, v), q if log else q.exp(), red, log, 1e-10))


@case((2048, 32000, "batchmean"), (2048, 32000, "none"))
def tvd(t, v, red):
    p, q = [torch.softmax(randn(t, v, dtype=f32), -1) for _ in range(2)]
    bwd(L.LigerTVDLossFunction.apply(p.requires_grad_(), q, None, red))


@case((2048, 32000, bf16))
def cetvd(t, v, dt):
    bwd(L.LigerFusedCETVDFunction.apply(randn(t, v, dtype=dt, grad=True), randn(t, v, dtype=dt), randint(0, v, t)))


@case((4, 512, 32000, "grpo"), (4, 256, 32000, "sapo"))
def grpo(b, t, v, kind):
    ids = randint(0, v, b, t)
    old = randn(b, t, dtype=f32, scale=0.1) - 10.0
    bwd(L.GrpoLossFunction.apply(randn(b, t + 1, v, grad=True), old, old.clone(), ids, randn(b, dtype=f32),
                                 torch.ones(b, t, dtype=i32, device=DEV), 0.9, 0.04, 0.2, 0.2, False, kind))
