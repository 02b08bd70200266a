"""lightllm 0.0.1: alibi prefill and decode attention, split-fuse prefill, GQA decode, int4/int8 GEMM, int8 KV writes, penalties."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *


def kernel(path, *names):
    import importlib
    m = importlib.import_module("lightllm." + path)
    return [getattr(m, n) for n in names]


def table(b, n):
    return torch.randperm(b * n, device=DEV).to(i32).view(b, n), torch.arange(b, device=DEV, dtype=i32)


@case((4, 1024, 16, 128), (2, 2048, 32, 64))
def alibi_prefill(b, n, h, d):
    f, = kernel("models.bloom.triton_kernel.context_flashattention_nopad", "context_attention_fwd")
    t, r = table(b, n)
    q, o = randn(b * n, h, d, dtype=f16), zeros(b * n, h, d, dtype=f16)
    lens = torch.full((b,), n, device=DEV, dtype=i32)
    f(q, randn(b * n, h, d, dtype=f16), randn(b * n, h, d, dtype=f16), o, r, rand(h, hi=0.1), r * n, lens, torch.zeros_like(lens), n, t)


@case((16, 2048, 16, 128), (32, 1024, 32, 64))
def alibi_decode(b, n, h, d):
    f, = kernel("models.bloom.triton_kernel.token_flashattention_nopad", "token_attention_fwd")
    t, r = table(b, n)
    lens = torch.full((b,), n, device=DEV, dtype=i32)
    f(randn(b, h, d, dtype=f16), randn(b * n, h, d, dtype=f16), randn(b * n, h, d, dtype=f16), zeros(b, h, d, dtype=f16), rand(h, hi=0.1),
      t, r, r * n, lens, n, b * n)


@case((4, 1024, 1024, 32, 8, 128), (2, 2048, 0, 16, 16, 64))
def splitfuse(b, n, pre, h, hk, d):
    f, = kernel("models.llama.triton_kernel.splitfuse_context_flashattention_nopad", "splitfuse_context_attention_fwd")
    t, r = table(b, n + pre)
    pool = b * (n + pre)
    q, o = randn(b * n, h, d, dtype=f16), zeros(b * n, h, d, dtype=f16)
    lens, pl = torch.full((b,), n + pre, device=DEV, dtype=i32), torch.full((b,), pre, device=DEV, dtype=i32)
    f(q, randn(pool, hk, d, dtype=f16), randn(pool, hk, d, dtype=f16), o, b, t, r, r * n, pl, lens, n)


@case((16, 4096, 32, 4, 128))
def gqa_decode(b, n, h, hk, d):
    f, = kernel("models.llama.triton_kernel.gqa_decode_flashattention_nopad", "gqa_decode_attention_fwd")
    t, r = table(b, n)
    f(randn(b, h, d, dtype=f16), randn(b * n, hk, d, dtype=f16), randn(b * n, hk, d, dtype=f16), zeros(b, h, d, dtype=f16), t, r,
      torch.full((b,), n, device=DEV, dtype=i32))


@case((16, 2048, 32, 128))
def softmax_reduce(b, n, h, d):
    f, = kernel("models.llama.triton_kernel.token_attention_softmax_and_reducev", "token_softmax_reducev_fwd")
    t, r = table(b, n)
    f(randn(h, b * n, dtype=f32), randn(b * n, h, d, dtype=f16), zeros(b, h, d, dtype=f16), t, r, r * n,
      torch.full((b,), n, device=DEV, dtype=i32), 0)


@case((32, 4096, 4096), (512, 4096, 11008))
def int4(m, k, n):
    gptq, s2, s1, qz = kernel("common.basemodel.triton_kernel.dequantize_gemm_int4", "matmul_dequantize_int4_gptq",
                              "matmul_dequantize_int4_s2", "matmul_dequantize_int4_s1", "quantize_int4")
    x, big = randn(m, k, dtype=f16), 2 ** 31 - 1
    qw, s = randint(-2 ** 31, big, k // 8, n, dtype=i32), rand(k // 128, n, lo=0.005, hi=0.02, dtype=f16)
    z = randint(-2 ** 31, big, k // 128, n // 8, dtype=i32)
    for f in (gptq, s2):
        try:
            f(x, qw, s, z, 128)
        except Exception:
            traceback.print_exc()
    s1(x, qw, s, randint(0, 16, k // 128, n, dtype=i32), 128)


@case((32, 4096, 4096), (2048, 4096, 4096))
def int8(m, k, n):
    deq, = kernel("common.basemodel.triton_kernel.dequantize_gemm_int8", "matmul_dequantize_int8")
    mq, = kernel("common.basemodel.triton_kernel.quantize_gemm_int8", "matmul_quantize_int8")
    x, b = randn(m, k, dtype=f16), randint(-127, 128, k, n, dtype=torch.int8)
    s = rand(1, n, lo=0.001, hi=0.002, dtype=f16)
    deq(x, b, s)
    mq(x, b, s)


@case((8192, 8, 128))
def copies(n, h, d):
    q8, = kernel("models.llama.triton_kernel.ppl_quant_copy_kv", "destindex_copy_quantize_kv")
    k, dest = randn(n, h, d, dtype=f16), torch.randperm(n, device=DEV).to(i32)
    q8(k, dest, zeros(n, h, d, dtype=torch.int8), zeros(n, h, d // 8, dtype=f16))


@case((256, 32000, 512))
def penalty(b, v, n):
    f, = kernel("common.basemodel.triton_kernel.apply_penalty", "apply_penalty")
    f(randn(b, v, dtype=f32), rand(b), rand(b), rand(b, lo=1.0, hi=1.2), torch.argsort(torch.rand(b, v, device=DEV))[:, :n].flatten().to(i32).contiguous(),
      randint(1, 5, b * n, dtype=i32), torch.arange(b + 1, device=DEV, dtype=i32) * n, n)


@case((8192, 4096))
def layernorm(m, n):
    f, = kernel("models.bloom.triton_kernel.layernorm", "layernorm_forward")
    f(randn(m, n, dtype=f16), randn(n, dtype=f16), randn(n, dtype=f16), 1e-5)
