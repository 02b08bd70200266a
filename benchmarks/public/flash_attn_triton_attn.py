"""flash-attn-triton 0.1.1: attention with causal mask and dropout, forward and backward; delta of the older kernels; rotary embedding (halves, interleaved, packed)."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib.util
SITE = sys.path[0]
import math
import types
try:
    import pytest
except ImportError:
    pt = sys.modules["pytest"] = types.ModuleType("pytest")
    pt.mark = types.SimpleNamespace(parametrize=lambda *a, **k: lambda f: f)
try:
    import triton.tools.experimental_descriptor
except ImportError:
    sys.modules["triton.tools.experimental_descriptor"] = types.ModuleType("triton.tools.experimental_descriptor")


@case((2, 2048, 16, 64, True, bf16), (2, 2048, 16, 128, False, f16), (1, 4000, 16, 64, True, f16))
def attn(b, n, h, d, causal, dtype):
    from flash_attn_triton import flash_attn_func
    bwd(flash_attn_func(*(randn(b, n, h, d, dtype=dtype, grad=True) for _ in range(3)), causal=causal))


@case((2, 16, 2048, 64, True), (2, 8, 2048, 128, False))
def dropout(b, h, n, d, causal):
    from flash_attn_triton.triton_kernel.attention_kernel import attention
    bwd(attention(*(randn(b, h, n, d, dtype=f16, grad=True) for _ in range(3)), causal, 1.0 / math.sqrt(d), 0.1, 1337))


@case((4, 4096, 32, 128))
def delta(b, n, h, d):
    m = __import__("flash_attn_triton.triton_kernel.flash_attn_dao", fromlist=["x"])
    o, g = randn(b, n, h, d), randn(b, n, h, d)
    m._bwd_preprocess_do_o_dot[(n // 128, b * h)](
        o, g, zeros(b, h, n, dtype=f32), o.stride(0), o.stride(2), o.stride(1), g.stride(0), g.stride(2), g.stride(1), h, n, n, d,
        BLOCK_M=128, BLOCK_HEADDIM=d)


@case("halves", "interleaved", "conjugate", "offsets", "packed")
def rotary(kind):
    path = os.path.join(SITE, "flash_attn_triton_compat", "flash_attn", "ops", "triton", "rotary.py")
    spec = importlib.util.spec_from_file_location("flash_attn_triton_rotary", path)
    m = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(m)
    b, n, h, d = 4, 2048, 32, 128
    cos, sin = randn(n + 64, d // 2), randn(n + 64, d // 2)
    if kind == "packed":
        m.apply_rotary(randn(b * n, h, d), cos, sin, cu_seqlens=tensor([0, n, 2 * n - 50, 3 * n, 4 * n - 30]), max_seqlen=n + 64)
    else:
        m.apply_rotary(randn(b, n, h, d), cos, sin, seqlen_offsets=tensor([1, 5, 17, 60]) if kind == "offsets" else 0,
                       interleaved=kind == "interleaved", conjugate=kind == "conjugate")
