"""cache-dit 1.5.3, ring-flash-attn 0.1.8, flashspec 0.3.1, flash-attention-softmax-n 0.3.2, hip-attn 1.2.9: fp8 packing for exchanges, merging of attention states, packing of log sums, verification of drafts, attention whose softmax adds n, attention power loss, cross entropy without logits, correction of sparse by dense rows."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from _stub import stub
for p in ("cache_dit", "cache_dit.kernels", "cache_dit.kernels.triton", "ring_flash_attn", "flashspec", "flashspec.kernels", "flash_attention_softmax_n", "flash_attention_softmax_n.core", "hip_attn", "hip_attn.utils",
          "hip_attn.v1_2", "hip_attn.v1_2.delta"):
    package(p)
from cache_dit.kernels.triton import _ops_registery as cd
from ring_flash_attn import triton_utils as rf
from flashspec.kernels import gather_kernel as fg, verify_kernel as fv


@case((2, 8192, 24, 128, 4))
def fp8_exchange(b, n, h, d, p):
    y = cd.fp8_comm_per_token_quant(randn(b, n, h * d))
    cd.fp8_comm_per_token_dequant(y)
    cd.fp8_comm_qkv_permute_quant(randn(b, n // p, p, h // p, d))
    cd.fp8_comm_qkv_permute_dequant(cd.fp8_comm_qkv_permute_quant(randn(b, n, 1, h // p, d))[0])


@case((2, 8192, 24, 128))
def merge(b, n, h, d):
    cd.fused_merge_attn_states(randn(b, n, h, d), randn(b, n, h, 1, dtype=f32), randn(b, n, h, d), randn(b, n, h, 1, dtype=f32))


@case((8, 32, 4096))
def log_sums(b, h, n):
    cu = (torch.arange(b + 1, device=DEV) * (n - 96)).to(i32)
    rf.unflatten_varlen_lse(rf.flatten_varlen_lse(randn(b, h, n, dtype=f32), cu).transpose(0, 1).contiguous(), cu, n)


@case((256, 8, 32000), (64, 5, 128256))
def drafts(b, g, v):
    acc, first = fv.verify_tokens(randn(b, g, v, dtype=f32), randn(b, g, v, dtype=f32), rand(b, g), randint(0, v, b, g))
    fg.gather_accepted(randint(0, v, 8192, g), randint(0, g + 1, 8192, dtype=i32))


@case((4, 16, 2048, 64, True, 1.0), (2, 16, 4096, 128, False, 0.0), (2, 32, 2048, 64, False, 0.5))
def softmax_n(b, h, n, d, causal, k):
    from flash_attention_softmax_n.core.flash_attn_triton import flash_attention_n_triton as f
    q, x, v = (randn(b, h, n, d, dtype=f16, grad=True) for _ in range(3))
    o = f(q, x, v, is_causal=causal, softmax_n_param=k)
    if not causal:  # its causal backward wants an older Triton
        bwd(o)


@case((4, 8, 2048, 2048, 64, 0.5), (2, 16, 1024, 4096, 128, 2.0))
def power_loss(b, h, n, m, d, p):
    from hip_attn.utils.attn_l1_loss import compute_attn_lp_loss_triton as f
    bwd(f(randn(b, h, n, d, dtype=f32, grad=True), randn(b, h, m, d, dtype=f32, grad=True), p))


@case((32, 4096, 128), (16, 8192, 64))
def key_norms(b, n, d):
    from hip_attn.utils.attention_norm import attention_norm as f
    f(randn(b, n, d, dtype=f16), randn(b, n, d, dtype=f16))


@case((4096, 2048, 32000, None), (2048, 4096, 128256, 30.0))
def entropy(n, d, v, cap):
    from hip_attn.utils.memory_efficient_llm_ce import memory_efficient_llm_ce as f
    f(randn(n, d), randn(v, d, scale=d ** -0.5), randint(0, v, n), softcap=cap)


@case((1, 16384, 32, 128, 64, True), (2, 8192, 32, 128, 32, False))
def delta(b, n, h, d, w, smooth):
    stub("hip_attn.v1_2.utils", capture=lambda f: f)
    from hip_attn.v1_2.delta.apply_delta import apply_delta as f
    idx = torch.cat([torch.arange(0, n, w, device=DEV), torch.arange(n, n + 32, device=DEV)])
    f(randn(b, n // w + 32, h, d), randn(b, n, h, d), idx, 32, w, smooth)
