"""sglang 0.5.23: blockwise fp8/int8 GEMM, scaled GEMM, quantisation, AWQ, LoRA shrink/expand, sampling softmax, batch-invariant ops."""
import os, sys, types
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *


def load(mod, *names):
    """The names, or None with a trace: one file that does not load leaves the others."""
    import importlib
    try:
        m = importlib.import_module("sglang." + mod)
        return [getattr(m, n) for n in names]
    except Exception:
        traceback.print_exc()
        return [None] * len(names)


w8a8_fp8, scaled_mm = load("kernels.ops.gemm.fp8_kernel", "w8a8_block_fp8_matmul_triton", "triton_scaled_mm")
w8a8_int8, = load("kernels.ops.gemm.int8_kernel", "w8a8_block_int8_matmul")
group_fp8, static_fp8, mla_fp8, mla_masked, dequant_fp8 = load(
    "kernels.ops.quantization.fp8_kernel", "_per_token_group_quant_8bit_raw", "static_quant_fp8", "per_tensor_quant_mla_fp8",
    "per_token_group_quant_mla_deep_gemm_masked_fp8", "dequant_group_fp8_to_bf16")
token_int8, group_int8 = load("kernels.ops.quantization.int8_kernel", "per_token_quant_int8", "per_token_group_quant_int8")
awq, = load("kernels.ops.quantization.awq_triton", "awq_dequantize_triton")
act_quant, = load("kernels.ops.quantization.act_quant_triton", "act_quant")
tsoft, = load("kernels.ops.sampling.temperature_softmax", "temperature_softmax")
top_p, top_k = load("kernels.ops.sampling.renorm_triton", "top_p_renorm_probs_triton", "top_k_renorm_probs_triton")
row_argmax, div_argmax = load("kernels.ops.speculative.row_argmax", "row_argmax", "div_argmax")
lora_a, = load("kernels.ops.lora.dense.sgemm_lora_a", "sgemm_lora_a_fwd")
lora_b, = load("kernels.ops.lora.dense.sgemm_lora_b", "sgemm_lora_b_fwd")
qkv_b, = load("kernels.ops.lora.dense.qkv_lora_b", "qkv_lora_b_fwd")
dual_norm, one_norm = load("kernels.ops.layernorm.fused_rmsnorm", "fused_dual_residual_rmsnorm", "fused_rmsnorm")
mmp, lsm, mean, bmm = load("srt.batch_invariant_ops.batch_invariant_ops", "_matmul_persistent_triton", "log_softmax", "mean_dim",
                           "bmm_batch_invariant")
lse, lse_topk = load("srt.layers.logsumexp", "row_logsumexp", "row_logsumexp_topk")
softcap, = load("kernels.ops.activation.softcap", "softcap_inplace_logits")


@case((2048, 4096, 4096), (32, 7168, 2048), (128, 4096, 14336))
def block_fp8(m, k, n):
    a, b = randn(m, k).to(torch.float8_e4m3fn), randn(n, k).to(torch.float8_e4m3fn)
    w8a8_fp8(a, b, rand(m, k // 128, lo=0.01, hi=0.02), rand(n // 128, k // 128, lo=0.01, hi=0.02), [128, 128], bf16)


@case((2048, 4096, 4096), (32, 7168, 2048))
def block_int8(m, k, n):
    a, b = randint(-127, 128, m, k, dtype=torch.int8), randint(-127, 128, n, k, dtype=torch.int8)
    w8a8_int8(a, b, rand(m, k // 128, lo=0.001, hi=0.002), rand(n // 128, k // 128, lo=0.001, hi=0.002), [128, 128], bf16)


@case((2048, 4096, 4096, torch.int8), (512, 4096, 4096, torch.float8_e4m3fn))
def scaled(m, k, n, dt):
    a, b = [(randint(-127, 128, *s, dtype=torch.int8) if dt == torch.int8 else randn(*s).to(dt)) for s in ((m, k), (n, k))]
    scaled_mm(a, b.t(), rand(m, 1, lo=0.001, hi=0.002), rand(n, 1, lo=0.001, hi=0.002), bf16)


@case((8192, 4096), (256, 14336))
def quants_fp8(m, n):
    group_fp8(randn(m, n), 128)


@case((8192, 4096), (256, 14336))
def quants(m, n):
    x = randn(m, n)
    static_fp8(x, ones(1, dtype=f32), repeat_scale=True)
    token_int8(x)
    group_int8(x, 128)
    act_quant(x, 128)


@case((16, 4096, 512))
def mla(b, m, k):
    mla_fp8(randn(b, m, k), torch.zeros(1, device=DEV))
    mla_masked(randn(b, m, k))


@case((8192, 4096))
def dequant(m, k):
    dequant_fp8(randn(m, k).to(torch.float8_e4m3fn), randint(120, 131, m, k // 32, dtype=torch.uint8))


@case((4096, 4096, 128), (4096, 14336, 128))
def awq_dequant(k, n, g):
    awq(randint(-2 ** 31, 2 ** 31 - 1, k, n // 8, dtype=i32), rand(k // g, n, dtype=f16), randint(-2 ** 31, 2 ** 31 - 1, k // g, n // 8, dtype=i32))


@case((64, 151936), (256, 32000))
def sampling(b, v):
    x = randn(b, v, dtype=f32, scale=3.0)
    tsoft(x, rand(b, 1, lo=0.5, hi=1.5))
    row_argmax(x)
    div_argmax(x, rand(b, v, lo=0.1, hi=3.0))
    lse(x)
    lse_topk(x, 8)
    softcap(randn(b, v, scale=20.0), 30.0)


@case((8, 151936), (16, 128256))
def sampling_few(b, v):
    tsoft(randn(b, v, dtype=f32, scale=3.0), rand(b, 1, lo=0.5, hi=1.5))


@case((64, 128256), (128, 32000))
def renorm(b, v):
    p = torch.softmax(randn(b, v, dtype=f32, scale=3.0), -1)
    top_p(p, rand(b, lo=0.7, hi=0.95))
    top_k(p, randint(20, 100, b, dtype=i32))


@case(([512] * 8, 4096, 16), ([1] * 64, 4096, 64))
def lora(lens, hid, r):
    b = len(lens)
    info = types.SimpleNamespace(bs=b, num_segments=b, use_cuda_graph=False, max_len=max(lens), seg_lens=tensor(lens),
                                 seg_indptr=tensor([0] + torch.tensor(lens).cumsum(0).tolist()), weight_indices=randint(0, 4, b, dtype=i32),
                                 lora_ranks=torch.full((4,), r, device=DEV, dtype=i32), scalings=ones(4, dtype=f32) * 0.5,
                                 permutation=None, sorted_by_adapter=False, sort_order=None)
    s = sum(lens)
    x = randn(s, hid)
    lora_a(x, randn(4, r, hid, scale=0.02), info)
    lora_a(x, randn(4, 3 * r, hid, scale=0.02), info, 3)
    lora_b(randn(s, r), randn(4, hid, r, scale=0.02), info, randn(s, hid))
    outs = [hid, hid // 4, hid // 4]
    off = tensor([0] + torch.tensor(outs).cumsum(0).tolist())
    qkv_b(randn(s, 3 * r), randn(4, sum(outs), r, scale=0.02), info, off, hid, randn(s, sum(outs)))


@case((8192, 4096), (512, 8192))
def norms(m, n):
    x, r = randn(m, n), randn(m, n)
    dual_norm(x, r, randn(n), randn(n), 1e-6)
    one_norm(x, randn(n), 1e-6)


@case((2048, 4096, 4096), (512, 4096, 14336))
def invariant(m, k, n):
    mmp(randn(m, k), randn(k, n, scale=0.02), bf16, randn(n))


@case((1024, 32000), (4096, 8192))
def invariant_reduce(m, n):
    lsm(randn(m, n))
    mean(randn(m, n, dtype=f32), 1)
    bmm(randn(16, 1024, 512), randn(16, 512, 1024))
