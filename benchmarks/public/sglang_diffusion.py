"""sglang 0.5.23 (diffusion and vision): group norm + SiLU, AdaLN modulation, rotary, sparse attention pooling, Lanczos resize, M-RoPE, embedding."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *


def load(mod):
    import importlib
    return importlib.import_module("sglang.kernels.ops." + mod)


@case((1, 512, 128, 128, 32), (2, 128, 512, 512, 32))
def group_norm(b, c, h, w, g):
    load("diffusion.norm.group_norm_silu_triton").triton_group_norm_silu(randn(b, c, h, w), randn(c), randn(c), g)


@case((32768, 1536), (8192, 3072))
def norms(m, n):
    f = load("diffusion.norm.norm_triton")
    f.norm_infer(randn(m, n), randn(n), randn(n), 1e-6)
    f.norm_infer(randn(m, n), randn(n), None, 1e-6, is_rms_norm=True)
    f.rms_norm_fn(randn(m, n), randn(n), None, residual=randn(m, n), prenorm=True)


@case((1, 16384, 3072), (2, 4096, 1536))
def modulate(b, l, c):
    f = load("diffusion.modulate.scale_shift_triton")
    f.fuse_scale_shift_kernel(randn(b, l, c), randn(b, 1, c), randn(b, 1, c))
    f.fuse_scale_shift_kernel(randn(b, l, c), randn(b, 4, 1, c), randn(b, l, c))
    m = [randn(b, c) for _ in range(6)]
    idx = randint(0, 2, b, l, dtype=i32)
    f.fuse_layernorm_scale_shift_gate_select01_kernel(randn(b, l, c), randn(c), randn(c), *m, idx, 1e-6)
    f.fuse_residual_layernorm_scale_shift_gate_select01_kernel(randn(b, l, c), randn(b, l, c), randn(b, l, c), randn(c), randn(c), *m, idx, 1e-6)


@case((16384, 2048))
def residual_norm(l, c):
    f = load("diffusion.norm.scale_residual_norm_scale_shift_triton")
    f.fused_scale_residual_norm_scale_shift_triton(residual=randn(1, l, c), x=randn(1, l, c), gate=randn(1, 1, c), shift=randn(1, 1, c),
                                                   scale=randn(1, 1, c), weight=None, bias=None, eps=1e-6)


@case((1, 32768, 24, 128, True), (1, 32768, 12, 128, False))
def rotary(b, n, h, d, inter):
    f = load("diffusion.rope.rotary_triton")
    f.apply_rotary_embedding(randn(b, n, h, d), rand(n, d // 2, lo=-1.0), rand(n, d // 2, lo=-1.0), inter)


@case((1, 16, 16384, 128))
def block_map(b, h, n, d):
    f = load("diffusion.attention.sparse_linear_attn_triton")
    q, k, v = [randn(b, h, n, d) for _ in range(3)]
    m, lut, topk = f.get_block_map(q, k, 0.1)
    cls = [c for c in vars(f).values() if isinstance(c, type) and issubclass(c, torch.autograd.Function) and c.__module__ == f.__name__]
    for c in cls:
        c.apply(q, k, v, m, lut.int(), topk, 64, 64)


@case((2160, 3840, 768, 1344), (1080, 1920, 448, 448))
def lanczos(h, w, oh, ow):
    f = load("mm.process.lanczos")
    f.lanczos_resize(randint(0, 256, h, w, 3, dtype=torch.uint8), oh, ow, mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5))


@case((8192, 32, 8, 128))
def mrope(n, h, hk, d):
    f = load("attention.rotary_triton")
    f.triton_mrope_fused(randn(n, h * d), randn(n, hk * d), randn(32768, d), randint(0, 32768, 3, n), [16, 24, 24], d, d, False, False, True, None)


@case((16384, 64000, 4096))
def embedding(n, v, c):
    f = load("embeddings.vocab_parallel_embedding")
    f.vocab_parallel_embedding(randint(0, 2 * v, n), randn(v, c), 0, v, 0, 2 * v, 2 * v)


@case((8192, 4096))
def gates(n, c):
    f = load("elementwise.elementwise")
    f.fused_sigmoid_mul(randn(n, c), randn(n, c))
    f.sigmoid_gate_mul_broadcast(randn(n, c), randn(n, 1))
    f.fused_gate_sigmoid_mul_add(randn(n, c), randn(c), randn(n, c), randn(n, c))
