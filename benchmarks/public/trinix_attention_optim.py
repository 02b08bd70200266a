"""trinix 0.1.4: attention forward (causal, alibi slopes, dropout, additive mask), alibi biases, fused Adam, AdamW, Lion and Muon steps with and without a scale of the gradients."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib

package("trinix")
K = importlib.import_module("trinix.kernels")
Adam = importlib.import_module("trinix.kernels.adam_kernel").TritonAdamKernel


def qkv(b, n, h, d):
    return [randn(b, n, h, d) for _ in range(3)]


@case((1, 2048, 16, 64, True), (1, 1024, 16, 128, False))
def attention(b, n, h, d, causal):
    K.TritonAttentionKernel.apply(*qkv(b, n, h, d), causal=causal)


@case((1, 2048, 16, 64))
def attention_alibi(b, n, h, d):
    slopes = 2.0 ** (-8.0 / h * torch.arange(1, h + 1, device=DEV, dtype=f32))
    K.TritonAttentionKernel.apply(*qkv(b, n, h, d), causal=True, alibi_slopes=slopes)


@case((1, 2048, 16, 64))
def attention_dropout(b, n, h, d):
    K.TritonAttentionKernel.apply(*qkv(b, n, h, d), causal=True, dropout_p=0.1)


@case((1, 2048, 16, 64), (1, 1024, 16, 128))
def attention_mask(b, n, h, d):
    mask = torch.zeros(n, n, device=DEV, dtype=f32).masked_fill_(rand(n, n) < 0.1, -1e4)
    K.TritonAttentionKernel.apply(*qkv(b, n, h, d), attn_mask=mask)


@case((1, 16, 2048), (2, 32, 1024))
def alibi(b, h, n):
    K.TritonALiBiKernel.apply(2.0 ** (-8.0 / h * torch.arange(1, h + 1, device=DEV, dtype=f32)), b, h, n)


@case((4096, 4096, 1.0), (4096, 4096, 128.0))
def optim(n, d, scale):
    p, g, m, v = (randn(n, d, dtype=f32, scale=0.02) for _ in range(4))
    v = v.square()
    Adam.apply(p, g, m, v, 1e-3, 0.9, 0.999, 1e-8, 0.01, 10, scale)
    K.TritonAdamWKernel.apply(p, g, m, v, 1e-3, 0.9, 0.999, 1e-8, 0.01, 10, scale)
    K.TritonLionKernel.apply(p, g, m, 1e-4, 0.9, 0.99, 0.01, scale)
    K.TritonMuonKernel.apply(p, g, m, 1e-3, 0.95, scale)
