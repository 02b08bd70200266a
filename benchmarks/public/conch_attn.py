"""conch-triton-kernels 1.3: paged attention (split KV), variable-length attention, cache writes, rotary embedding."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import conch.platforms.platform as plat
from conch.ops.attention.paged_attention import paged_attention
from conch.ops.attention.varlen_attention import varlen_attention
from conch.ops.embedding.rotary_embedding import rotary_embedding
from conch.ops.vllm.copy_blocks import copy_blocks
from conch.ops.vllm.reshape_and_cache import reshape_and_cache


def pages(b, klen, bs, hk, d):
    per = (klen + bs - 1) // bs
    kc, vc = randn(b * per, bs, hk, d), randn(b * per, bs, hk, d)
    bt = torch.randperm(b * per, device=DEV).to(i32).view(b, per)
    return kc, vc, bt


@case((32, 4096, 32, 8, 128, 0.0), (8, 16384, 32, 4, 128, 0.0), (16, 2048, 16, 16, 64, 30.0))
def paged(b, klen, h, hk, d, cap):
    kc, vc, bt = pages(b, klen, 32, hk, d)
    lens = randint(klen // 2, klen + 1, b, dtype=i32)
    paged_attention(randn(b, h, d), kc, vc, bt, lens, scale=d ** -0.5, softcap=cap)


@case(([1024, 2048, 512, 512], 0, 32, 8, 128, 0.0), ([256] * 8, 2048, 32, 8, 128, 0.0), ([1] * 32, 8192, 32, 8, 128, 0.0),
      ([2048, 1024], 0, 16, 16, 64, 50.0))
def varlen(qlens, prefix, h, hk, d, cap):
    b = len(qlens)
    kl = [q + prefix for q in qlens]
    kc, vc, bt = pages(b, max(kl), 32, hk, d)
    cu = tensor([0] + torch.tensor(qlens).cumsum(0).tolist())
    varlen_attention(randn(sum(qlens), h, d), kc, vc, cu, max(qlens), tensor(kl), max(kl), bt, causal=True,
                     scale=d ** -0.5, softcap=cap)


@case((8192, 32, 8, 128, True), (4096, 32, 32, 64, True))
def rotary(n, h, hk, d, neox):
    cache = torch.cat([rand(8192, d // 2, lo=-1), rand(8192, d // 2, lo=-1)], -1).to(bf16)
    rotary_embedding(randint(0, 8192, n), randn(n, h * d), randn(n, hk * d), d, cache, is_neox=neox)


@case((8192, 8, 128, "auto"), (8192, 8, 128, "fp8"))
def reshape(n, hk, d, kind):
    dt = bf16 if kind == "auto" else torch.uint8
    kc, vc = zeros(1024, 16, hk, d, dtype=dt), zeros(1024, 16, hk, d, dtype=dt)
    slots = torch.randperm(1024 * 16, device=DEV)[:n]
    one = tensor([0.5], f32)
    reshape_and_cache(randn(n, hk, d), randn(n, hk, d), kc, vc, slots, kind, one, one)


@case((16, 1024, 256))
def copies(layers, blocks, pairs):
    w = 16 * 8 * 128
    ks = [randn(blocks, w) for _ in range(layers)]
    vs = [randn(blocks, w) for _ in range(layers)]
    p = torch.randperm(blocks, device=DEV)
    copy_blocks(ks, vs, torch.stack([p[:pairs], p[pairs:2 * pairs]], 1).contiguous())
