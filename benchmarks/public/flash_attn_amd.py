"""flash-attn 2.8.3.post2: its other Triton attention (ALiBi, GQA, varlen), three forms of backward, split decode."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
from flash_attn.flash_attn_triton_amd.bwd_prefill import attention_prefill_backward_triton_impl as bwd_one
from flash_attn.flash_attn_triton_amd.bwd_prefill_onekernel import attention_prefill_backward_triton_split_oneKernel_impl as bwd_fused
from flash_attn.flash_attn_triton_amd.bwd_prefill_split import attention_prefill_backward_triton_split_impl as bwd_split
from flash_attn.flash_attn_triton_amd.fwd_decode import attention_decode_forward_triton_impl as decode_fwd
from flash_attn.flash_attn_triton_amd.fwd_prefill import attention_prefill_forward_triton_impl as fwd


@case((2, 4096, 16, 4, 128, True, False, 0.0), (2, 2048, 16, 16, 64, True, True, 0.0))
def prefill(B, T, H, HK, D, causal, alibi, drop):
    q, k, v = randn(B, T, H, D, dtype=f16), randn(B, T, HK, D, dtype=f16), randn(B, T, HK, D, dtype=f16)
    slopes = (2.0 ** (-8.0 * torch.arange(1, H + 1, device=DEV) / H)).expand(B, H).contiguous() if alibi else None
    o = zeros(B, T, H, D, dtype=f16)
    seed = 1234 if drop else None
    lse, _ = fwd(q, k, v, o, D ** -0.5, slopes, causal, None, "bshd", None, None, T, T, None, None, drop, seed, seed,
                 False, True, None, None, None, None)
    do = randn(B, T, H, D, dtype=f16)
    for f, extra in ((bwd_split, (None,) * 8), (bwd_fused, ()), (bwd_one, ())):
        if f is bwd_one and T > 2048:
            continue   # 2 GB of partial sums
        try:
            dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
            f(do, q, k, v, o, lse, dq, dk, dv, D ** -0.5, slopes, causal, "bshd", None, None, T, T, drop, seed, seed, True, *extra)
        except Exception:
            traceback.print_exc()
            print("== FAILED", f.__name__)


@case((4, 16, 128))
def varlen(n, H, D):
    cu = tensor([0, 1000, 3000, 4096, 8192])
    q, k, v = (randn(8192, H, D, dtype=f16) for _ in range(3))
    o = zeros(8192, H, D, dtype=f16)
    lse, _ = fwd(q, k, v, o, D ** -0.5, None, True, None, "thd", cu, cu, 4096, 4096, None, None, 0.0, None, None, False, True,
                 None, None, None, None)
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    bwd_split(randn(8192, H, D, dtype=f16), q, k, v, o, lse, dq, dk, dv, D ** -0.5, None, True, "thd", cu, cu, 4096, 4096,
              0.0, None, None, True, *(None,) * 8)


@case((32, 4096, 32, 8, 128))
def decode(B, T, H, HK, D):
    lens = randint(T // 2, T - 2, B, dtype=i32)
    decode_fwd(randn(B, 1, H, D, dtype=f16), randn(B, T, HK, D, dtype=f16), randn(B, T, HK, D, dtype=f16),
               randn(B, 1, HK, D, dtype=f16), randn(B, 1, HK, D, dtype=f16), zeros(B, 1, H, D, dtype=f16), D ** -0.5, True,
               None, "bshd", lens, None)
