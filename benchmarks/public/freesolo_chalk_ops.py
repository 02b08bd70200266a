"""freesolo-chalk 0.5.7: portable training kernels: RMSNorm, SwiGLU, rope, gather with norm, cross entropy and GRPO over vocabulary chunks, LoRA, causal conv, gated norm, QK norm with rope, fp8 rows."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib
M = lambda n: importlib.import_module("chalk.ops." + n)


@case((8192, 4096, True), (16384, 2560, False))
def rmsnorm(m, n, gemma):
    bwd(M("rmsnorm")._build_kernels(gemma)(randn(m, n, grad=True), randn(n, grad=True), 1e-6))


@case((8192, 9216), (4096, 12288))
def swiglu(m, n):
    bwd(M("swiglu")._build_kernels()(randn(m, n, grad=True), randn(m, n, grad=True)))


@case((1, 16, 4, 8192, 256, 64), (2, 32, 8, 4096, 128, 128))
def rope(b, h, hk, n, d, rot):
    bwd(M("rope")._build_kernels()(randn(b, h, n, d, grad=True), randn(b, hk, n, d, grad=True), randn(b, n, rot), randn(b, n, rot)))


@case((16384, 65536, 2560))
def embedding(n, vocab, d):
    M("embedding")._build_kernel()(randint(0, vocab, n), randn(vocab, d), randn(d, scale=0.02))


@case((1024, 1024, 151936, 0.0), (2048, 2048, 32000, 0.1))
def flce(n, d, vocab, smooth):
    y = randint(0, vocab, n)
    y[::7] = -100
    bwd(M("flce")._build_kernels()(randn(n, d, grad=True), randn(vocab, d, scale=0.02, grad=True), y, label_smoothing=smooth, _chunk_mult=64))


@case((2048, 2048, 32000))
def grpo(n, d, vocab):
    f = M("grpo_loss")._build_kernels()
    bwd(f(randn(n, d, grad=True), randn(vocab, d, scale=0.02, grad=True), randn(n, dtype=f32, grad=True), (rand(n) > 0.2).float()))


@case((8192, 2560, 4096, 32, False), (8192, 9216, 2560, 16, False), (4096, 2560, 9216, 64, True))
def lora(m, k, n, r, base):
    f = M("lora").fused_lora
    bwd(f(randn(m, k, scale=0.1, grad=True), randn(r, k, scale=0.05, grad=True), randn(n, r, scale=0.05, grad=True), 64.0 / r ** 0.5,
          randn(m, n) if base else None))


@case((1, 8192, 2048, False), (1, 8192, 4096, True))
def conv(b, c, n, bias):
    bwd(M("gdn")._build_conv_kernels()(randn(b, c, n, grad=True), randn(c, 4, grad=True), randn(c, grad=True) if bias else None))


@case((2 * 4096 * 32, 128), (2 * 4096 * 16, 256))
def gated_norm(m, n):
    bwd(M("gdn")._build_gated_rmsnorm_kernels()(randn(m, n, grad=True), randn(n, grad=True), randn(m, n, grad=True), 1e-6))


@case((8192, 16, 4, 256, 64), (8192, 32, 8, 128, 128))
def qkv_epilogue(n, h, hk, d, rot):
    M("qkv").fused_qkv_epilogue(randn(n, (2 * h + 2 * hk) * d), randn(d), randn(d), randn(n, rot), randn(n, rot), n_q_heads=h, n_kv_heads=hk, head_dim=d)


@case((8192, 16, 256, 64), (8192, 32, 128, 128))
def qk_norm_rope(n, h, d, rot):
    bwd(M("qkv").qknorm_rope(randn(n, h, d, grad=True), randn(d, grad=True), randn(n, rot), randn(n, rot)))


@case((16384, 4096))
def out_gate(m, n):
    bwd(M("qkv").out_gate(randn(m, n, grad=True), randn(m, n, grad=True)))


@case((8192, 4096), (16384, 9216))
def fp8_rows(m, k):
    M("fp8_base")._build_fp8()[0](randn(m, k))
