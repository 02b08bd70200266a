"""flash-linear-attention (fla-core) 0.6.0: cross entropy, fused linear cross entropy, KL, GRPO, l2warp and helpers."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import _fla
import torch.nn.functional as F
from fla.modules.fused_cross_entropy.ops import cross_entropy_loss
from fla.modules.fused_kl_div import fused_kl_div_loss
from fla.modules.fused_linear_cross_entropy import fused_linear_cross_entropy_loss
from fla.modules.grpo import fused_grpo_loss


@case((4096, 32000), (2048, 128256))
def ce(M, V):
    x = randn(M, V, grad=True)
    losses = cross_entropy_loss(x, randint(0, V, M), label_smoothing=0.1, lse_square_scale=1e-4)
    bwd(losses)


@case((4096, 2048, 32000))
def linear_ce(M, D, V):
    bwd(fused_linear_cross_entropy_loss(randn(M, D, grad=True), randint(0, V, M), randn(V, D, scale=0.02, grad=True)))


@case((2048, 2048, 32000))
def kl(M, D, V):
    bwd(fused_kl_div_loss(randn(M, D, grad=True), randn(M, D), randn(V, D, scale=0.02, grad=True), randn(V, D, scale=0.02)))


@case((4, 512, 65536))
def grpo(B, L, V):
    logits = randn(B, L + 1, V, grad=True)
    bwd(fused_grpo_loss(logits, rand(B, L, lo=-12, hi=-8), randint(0, V, B, L + 16), randn(B, dtype=f32), beta=0.04,
                        completion_mask=ones(B, L, dtype=i32)))
