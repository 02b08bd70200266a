"""disentangled-flash 1.1.1: DeBERTa attention with gathered relative position scores (atomics in backward), padded and packed."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
from disentangled_flash.training._kernels import dropout_keep_mask, training_attention, training_attention_packed


def slots(L, R):
    return (torch.arange(2 * L - 1, device=DEV) - (L - 1) + R // 2).clamp(0, R - 1).to(i32).contiguous()


@case((8, 12, 512, 64, 512, True, 0.0), (2, 16, 2048, 64, 256, False, 0.0), (8, 12, 512, 64, 256, False, 0.1))
def padded(B, H, L, D, R, pad, drop):
    q, k, v = (randn(B, H, L, D, grad=True) for _ in range(3))
    pk, pq = randn(H, R, D, grad=True), randn(H, R, D, grad=True)
    lens = torch.linspace(L // 2, L, B, device=DEV).long()
    mask = torch.arange(L, device=DEV)[None] < lens[:, None] if pad else torch.ones(B, L, device=DEV, dtype=torch.bool)
    kw = dict(dropout_p=drop, dropout_seed=tensor([77], i64)) if drop else {}
    bwd(training_attention(q, k, v, pk, pq, slots(L, R), mask.contiguous(), score_scale=(3 * D) ** -0.5, has_padding=pad,
                           strict_fp32=False, **kw))


@case((12, 64, 256))
def packed(H, D, R):
    cu = tensor([0, 500, 1500, 2012, 4096])
    q, k, v = (randn(H, 4096, D, grad=True) for _ in range(3))
    bwd(training_attention_packed(q, k, v, randn(H, R, D, grad=True), randn(H, R, D, grad=True), slots(2084, R), cu,
                                  max_seqlen=2084, score_scale=(3 * D) ** -0.5, strict_fp32=False))


@case((96, 1024))
def keep(streams, L):
    dropout_keep_mask(tensor([77], i64), stream_start=0, streams=streams, length=L, dropout_p=0.1)
