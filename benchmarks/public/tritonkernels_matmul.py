"""tokenspeed-triton-kernels 1.0.0.post20260510 (the later form of OpenAI's triton_kernels): dense, batched and ragged products (persistent or not, gather and scatter), mxfp weights, top-k with bit matrix, mx casts."""
from _common import *
import importlib

import triton
import triton.language.target_info as info

for name in ("is_hip_gfx1250", "is_hip_cdna4", "is_hip_gfx12", "is_hip_rdna4"):   # asked for by the package, newer than Triton 3.6
    if not hasattr(info, name):
        setattr(info, name, info.is_hip)
triton.runtime.jit.JITFunction.def_file_line_number = triton.runtime.jit.JITFunction.def_file_col_number = 1
M = lambda n: importlib.import_module("triton_kernels." + n)


def ragged(rows, groups):
    n = torch.bincount(torch.randint(0, groups, (rows,), generator=torch.Generator().manual_seed(0)), minlength=groups).to(i32).to(DEV)
    return M("tensor").make_ragged_tensor_metadata(n, rows)


@case((4096, 4096, 4096, bf16), (128, 8192, 4096, bf16), (2048, 2048, 2048, f16))
def dense(m, n, k, t):
    M("matmul").matmul(randn(m, k, dtype=t), randn(k, n, dtype=t), randn(n, dtype=f32))


@case((16, 512, 1024, 1024))
def batched(b, m, n, k):
    M("matmul").matmul(randn(b, m, k), randn(b, k, n), None)


@case((4096, 2880, 2880, 32), (256, 2880, 5760, 32))
def experts(rows, k, n, groups):
    f = M("matmul").matmul
    w, bias = randn(groups, k, n), randn(groups, n, dtype=f32)
    f(randn(rows, k), w, bias, a_ragged_metadata=ragged(rows, groups))
    f(randn(rows // 4, k), w, bias, a_ragged_metadata=ragged(rows, groups), gather_indx=randint(0, rows // 4, rows, dtype=i32))
    f(randn(rows, k), w, bias, a_ragged_metadata=ragged(rows, groups), scatter_indx=torch.randperm(rows, device=DEV).to(i32))


@case((8192, 1024, 2048, 16))
def weight_gradient(rows, k, n, groups):
    r = ragged(rows, groups)
    M("matmul").matmul(randn(k, rows), randn(rows, n), None, a_ragged_metadata=r, b_ragged_metadata=r)


@case((2048, 2880, 2880, 8, torch.uint8), (2048, 2880, 2880, 8, torch.float8_e4m3fn))
def mx_weights(rows, k, n, groups, t):
    x = M("numerics_details.mxfp")
    w, s = x.downcast_to_mxfp(randn(groups, k, n), t, axis=1)
    x.upcast_from_mxfp(w, s, bf16, axis=1)
    T = M("tensor")
    w = T.wrap_torch_tensor(w, dtype=T.FP4) if t == torch.uint8 else w
    p = M("matmul").PrecisionConfig(b_mx_scale=s, b_microblock_size=32)
    M("matmul").matmul(randn(rows, k), w, None, a_ragged_metadata=ragged(rows, groups), precision_config=p)


@case((8192, 128, 4), (8192, 32, 8))
def route(n, experts, k):
    out = M("topk").topk(randn(n, experts), k)
    M("topk").topk_backward(randn(n, experts), randint(0, experts, n, k, dtype=torch.int16), randn(n, k), k, None, True)


@case((8192, 5760))
def swiglu(n, d):
    s = M("swiglu")
    s.swiglu(randn(n, d), 1.0, s.PrecisionConfig(limit=7.0))


@case((8192, 8))
def compaction(n, k):
    M("compaction").compaction(randn(n, k), torch.argsort(rand(n, 64), 1)[:, :k].to(i32).contiguous(), randint(0, 1 << 31, n, 2).to(torch.uint32))
