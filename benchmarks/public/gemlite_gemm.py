"""gemlite 0.6.0.post2: weight-only and dynamic quantised products (int8/4/2/1, fp8, mxfp8/4, nvfp4) by gemm, split-k, gemv kernels."""
from _common import *
import sys as _s
import gemlite
from gemlite import helper as h
K, N = 4096, 4096
G = "cuda:0"


def thin():
    import gemlite.triton_kernels as tk
    for m in [v for k, v in _s.modules.items() if k.startswith("gemlite")]:
        for v in list(vars(m).values()):
            for _ in range(3):
                c = getattr(v, "configs", None)
                if isinstance(c, list) and len(c) > 4:
                    v.configs = [c[i * len(c) // 4] for i in range(4)]
                v = getattr(v, "fn", None)
                if v is None:
                    break


thin()


def hqq(bits, proc, M, mt, group=64):
    p = proc(device=G, dtype=f16)
    l = p.from_weights(randint(0, 2 ** bits, N, K, dtype=torch.uint8), rand(N * K // group, 1, lo=0.01, hi=0.02, dtype=f16), rand(N * K // group, 1, lo=0, hi=2 ** bits - 1, dtype=f16))
    l.forward_manual(randn(M, K, dtype=f16), mt)


for bits, name in ((4, "A16W4_HQQ_INT"), (2, "A16W2_HQQ_INT"), (8, "A16W8_HQQ_INT"), (1, "A16W1_HQQ_INT")):
    @case((1, "GEMV"), (1, "GEMV_REVSPLITK"), (1, "GEMV_SPLITK"), (16, "GEMM_SPLITK"), (512, "GEMM"))
    def weight_only(M, mt, bits=bits, name=name):
        if bits in (2, 1) and mt in ("GEMV_SPLITK", "GEMM") or bits == 1 and "REV" in mt:
            return
        hqq(bits, getattr(h, name), M, mt)


@case((16, "GEMM_SPLITK"), (1024, "GEMM"))
def dynamic_int4(M, mt):
    hqq(4, h.A8W4_HQQ_INT_dynamic, M, mt, 128)


def lin(b=False):
    l = torch.nn.Linear(K, N, bias=b, dtype=bf16, device=DEV)
    return l


for cls in ("A16W8_INT8", "A16W8_FP8", "A8W8_int8_dynamic", "A8W8_fp8_dynamic", "A16W4_MXFP", "A8W8_MXFP_dynamic"):
    @case((1, "GEMV_SPLITK"), (16, "GEMM_SPLITK"), (1024, "GEMM"))
    def linear(M, mt, cls=cls):
        if "MXFP" in cls and mt == "GEMV_SPLITK" or "dynamic" in cls and M == 1:
            return
        getattr(h, cls)(device=G, dtype=bf16).from_linear(lin()).forward_manual(randn(M, K), mt)
