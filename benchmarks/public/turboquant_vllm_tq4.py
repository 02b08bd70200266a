"""turboquant-vllm 1.5.0: attention over 4-bit keys and values (flash, paged decode, paged int8 prefill), scores of packed keys, compression and decompression, plain flash attention."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib

for name in ("turboquant_vllm", "turboquant_vllm.triton"):
    package(name)
M = lambda n: importlib.import_module("turboquant_vllm.triton." + n)
u8 = torch.uint8


def rotation(d):
    return torch.linalg.qr(torch.randn(d, d))[0].to(DEV).contiguous()


def book(d):
    return torch.linspace(-2.7, 2.7, 16, device=DEV) / d ** 0.5


def packed(b, h, n, d):
    return randint(0, 256, b, h, n, d // 2, dtype=u8), rand(b, h, n, lo=0.5, hi=15.0)


def pages(blocks, size, h, d):
    """Pages of packed keys, their norms, packed values, their norms."""
    half = h * d // 2
    cache = randint(0, 256, blocks, size, 2 * (half + 4 * h), dtype=u8)
    for at in (half, 2 * half + 4 * h):
        cache[..., at:at + 4 * h] = rand(blocks, size, h, lo=0.5, hi=15.0).view(u8)
    return cache


@case((2, 32, 8, 2048, 128, True), (1, 16, 4, 2048, 96, False))
def flash(b, h, hk, n, d, causal):
    M("flash_attention").triton_flash_attention(randn(b, h, n, d), randn(b, hk, n, d), randn(b, hk, n, d), is_causal=causal)


@case((1, 16, 4, 2048, 128))
def flash_mask(b, h, hk, n, d):
    mask = torch.full((n, n), -1e4, device=DEV, dtype=bf16).triu_(1)[None, None]
    M("flash_attention").triton_flash_attention(randn(b, h, n, d), randn(b, hk, n, d), randn(b, hk, n, d), attention_mask=mask)


@case((1, 32, 8, 2048, 2048, 128, True), (1, 16, 4, 2048, 2048, 96, False), (16, 32, 8, 1, 4096, 128, False))
def flash_keys(b, h, hk, n, m, d, causal):
    M("flash_attention_tq4").triton_flash_attention_tq4(randn(b, h, n, d), *packed(b, hk, m, d), book(d), rotation(d), randn(b, hk, m, d), is_causal=causal)


@case((1, 32, 8, 2048, 2048, 128, True), (1, 16, 4, 2048, 2048, 96, False), (16, 32, 8, 1, 4096, 128, False))
def flash_both(b, h, hk, n, m, d, causal):
    M("flash_attention_tq4_kv").triton_flash_attention_tq4_kv(randn(b, h, n, d), *packed(b, hk, m, d), *packed(b, hk, m, d), book(d), rotation(d), is_causal=causal)


@case((8, 32, 8, 8192, 128), (4, 28, 4, 16384, 128))
def scores(b, h, hk, n, d):
    M("fused_qk_attention").fused_qk_scores(randn(b, h, 1, d), *packed(b, hk, n, d), book(d), d ** -0.5, n_q_heads=h, n_kv_heads=hk)


@case((4096, 8, 128, f16), (4096, 8, 96, bf16))
def compression(n, h, d, dtype):
    rot = rotation(d).t()
    c = book(d)
    p, norms = M("tq4_compress").tq4_compress(randn(n, h, d, dtype=dtype), rot[:, 0::2].contiguous(), rot[:, 1::2].contiguous(), (c[:-1] + c[1:]) / 2)
    M("tq4_decompress").tq4_decompress(p, norms, c, dtype)


@case((16384, 8, 128, f16), (16384, 8, 96, bf16))
def decompression(n, h, d, dtype):
    M("tq4_decompress").tq4_decompress(randint(0, 256, n, h, d // 2, dtype=u8), rand(n, h, 1, lo=0.5, hi=15.0), book(d), dtype)


@case((16, 32, 8, 4096, 128, f16), (8, 16, 4, 8192, 64, bf16))
def paged_decode(b, h, hk, n, d, dtype):
    size, each = 16, n // 16
    table = torch.randperm(b * each, device=DEV).reshape(b, each).to(i32)
    M("fused_paged_tq4_attention").fused_paged_tq4_decode(randn(b, h, d, dtype=dtype), pages(b * each, size, hk, d), table,
                                                          tensor([n - 7 * i for i in range(b)]), book(d), rotation(d), hk, d, size)


@case((1024, 32, 8, 128, f16), (2048, 16, 4, 64, bf16))
def paged_prefill(n, h, hk, d, dtype):
    size = 16
    table = torch.randperm(n // size, device=DEV).reshape(1, -1).to(i32)
    M("fused_paged_tq4_int8_prefill").fused_paged_tq4_int8_prefill(randn(n, h, d, dtype=dtype), pages(n // size, size, hk, d), table,
                                                                   tensor([n]), book(d), rotation(d), hk, d, size)
