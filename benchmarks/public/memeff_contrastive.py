"""memeff 0.3.1: CLIP, LiT, InfoNCE (Qwen3) and Matryoshka contrastive losses, forward and backward."""
from _common import *
from memeff import clip_loss, lit_loss, clip_qwen3_loss, mrl_clip_loss, mrl_qwen3_loss, lit_qwen3_loss


def feats(b, d, dt, k=2):
    return [randn(b, d, dtype=dt, grad=True) for _ in range(k)]


@case((4096, 512, bf16), (8192, 768, bf16), (2048, 256, f32))
def clip(b, d, dt):
    x, y = feats(b, d, dt)
    bwd(clip_loss.MemoryEfficientCLIPLoss()(x, y))


@case((4096, 1024, bf16))
def lit(b, d, dt):
    x, y = feats(b, d, dt)
    bwd(lit_loss.MemoryEfficientLiTLoss()(x, y.detach()))


@case((4096, 1024, bf16, True), (2048, 384, f32, False))
def qwen3(b, d, dt, more):
    q, p = feats(b, d, dt)
    h = randn(b, 4, d, dtype=dt, grad=True)
    bwd(clip_qwen3_loss.MemoryEfficientQwen3Loss(use_qq_negatives=more, use_dd_negatives=more)(q, p, h))


@case((4096, 768, (128, 256, 768)))
def mrl_clip(b, d, dims):
    x, y = feats(b, d, bf16)
    bwd(mrl_clip_loss.MemoryEfficientMatryoshkaCLIPLoss(list(dims))(x, y))


@case((4096, 1024, (128, 256, 512, 1024), bf16), (2048, 512, (64, 128, 512), f32))
def mrl_qwen3(b, d, dims, dt):
    q, p = feats(b, d, dt)
    bwd(mrl_qwen3_loss.MemoryEfficientMatryoshkaQwen3Loss(list(dims), use_qq_negatives=True)(q, p))
    q, p = feats(b, d, dt)
    bwd(mrl_clip_loss.MemoryEfficientMatryoshkaLiTLoss(list(dims))(q, p.detach()))


@case((4096, 512, bf16))
def denom(b, d, dt):
    """The kernels that the distributed losses launch for one block."""
    from memeff import distributed_clip_loss as dc, distributed_lit_loss as dl
    nx = lambda: torch.nn.functional.normalize(randn(b, d, dtype=f32), dim=-1).to(dt)
    x, y = nx(), nx()
    row, col = torch.zeros(b, device=DEV), torch.zeros(b, device=DEV)
    dc._launch_denom(x, y, row, col, 20.0)
    dl._launch_denom(x, y, row, 20.0)
    dl._launch_grad(x, y, row + 1, 1.0 / b, torch.zeros(b, d, device=DEV), 20.0)
