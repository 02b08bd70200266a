"""vllm 0.33.0: LoRA shrink and expand (bf16, fp8), fused MoE LoRA (shrink, expand, one shot, small batch)."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from vllm.lora.ops.triton_ops import fused_moe_lora_op as fo, lora_expand_fp8_op as e8, lora_expand_op as eo, lora_shrink_fp8_op as s8
from vllm.lora.ops.triton_ops import lora_shrink_op as so
from vllm.lora.ops.triton_ops.lora_kernel_metadata import LoRAKernelMeta
fp8 = torch.float8_e4m3fn


def meta(m, loras):
    mt = LoRAKernelMeta.make(loras, m, DEV)
    mt.prepare_tensors(torch.sort(randint(-1, loras, m, dtype=i32))[0])
    return list(mt.meta_args(m, True))


@case((4096, 4096, 16, 8, 3, 4096), (8192, 2048, 64, 4, 2, 5632), (64, 4096, 32, 32, 3, 4096))
def lora(m, k, r, loras, slices, n):
    mt = meta(m, loras)
    a = [randn(loras, r, k, scale=0.05) for _ in range(slices)]
    b = [randn(loras, n, r, scale=0.05) for _ in range(slices)]
    h = zeros(slices, m, r, dtype=f32)
    so._lora_shrink(randn(m, k), a, h, *mt, 0.5)
    eo._lora_expand(randn(slices, m, r), b, zeros(m, n * slices), *mt, offset_start=0, add_inputs=True)


@case((4096, 4096, 32, 8, 2, 4096))
def lora_fp8(m, k, r, loras, slices, n):
    mt = meta(m, loras)
    mt[-1] = int(mt[-1])
    a = [randn(loras, r, k).to(fp8) for _ in range(slices)]
    b = [randn(loras, n, r).to(fp8) for _ in range(slices)]
    s8._lora_shrink_fp8(randn(m, k).to(fp8), a, zeros(slices, m, r), *mt, 0.5, [rand(loras, 1) for _ in range(slices)], rand(1), use_fp8_w8a8=True)
    e8._lora_expand_fp8(randn(slices, m, r).to(fp8), b, zeros(m, n * slices), *mt, [rand(loras, 1) for _ in range(slices)], rand(1), add_inputs=True,
                        use_fp8_w8a8=True)


def align(ids, mapping, loras, e, block):
    """Per LoRA: the token-expert pairs sorted by expert, padded to blocks."""
    n, k = ids.shape
    tot = (n * k + e * (block - 1) + block - 1) // block * block
    st = torch.full((loras, tot), n * k, device=DEV, dtype=i32)
    ex = torch.full((loras, tot // block), -1, device=DEV, dtype=i32)
    post = zeros(loras, dtype=i32)
    flat, tok = ids.flatten(), torch.arange(n * k, device=DEV)
    for l in range(loras):
        p = tok[(mapping == l).repeat_interleave(k)]
        ee = flat[p].long()
        order = torch.argsort(ee, stable=True)
        cnt = torch.bincount(ee, minlength=e)
        pad = (cnt + block - 1) // block * block
        ends = pad.cumsum(0)
        es = ee[order]
        st[l, (ends - pad)[es] + torch.arange(len(p), device=DEV) - (cnt.cumsum(0) - cnt)[es]] = p[order].to(i32)
        nb = int(ends[-1]) // block
        ex[l, :nb] = torch.searchsorted(ends, torch.arange(nb, device=DEV) * block, right=True).to(i32)
        post[l] = int(ends[-1])
    return st, ex, post


@case((2048, 64, 6, 2048, 1408, 16, 2, 4), (1024, 32, 4, 2880, 2880, 256, 1, 2))
def moe_lora(m, e, k, d, n, r, slices, loras):
    w, ids = torch.softmax(randn(m, e, dtype=f32), -1).topk(k, -1)
    mapping = torch.sort(randint(0, loras, m, dtype=i32))[0]
    blk = 32
    st, ex, post = align(ids, mapping, loras, e, blk)
    a = [randn(loras, e, r, d, scale=0.05) for _ in range(slices)]
    b = [randn(loras, e, n, r, scale=0.05) for _ in range(slices)]
    ids_l = torch.arange(loras, device=DEV, dtype=i32)
    fo._fused_moe_lora(zeros(m, k, n * slices), randn(m, d), a, b, w, st, ex, post, mapping, r, k, ids_l,
                       torch.tensor([loras], dtype=i32), torch.ones(loras + 1, device=DEV, dtype=i32),
                       blk, 64, 64, 8, 4, 3, 1, blk, 64, 64, 8, 4, 3, 1)


@case((8, 64, 6, 2048, 1408, 16, 2, 4))
def moe_lora_small(m, e, k, d, n, r, slices, loras):
    w, ids = torch.softmax(randn(m, e, dtype=f32), -1).topk(k, -1)
    a = [randn(loras, e, r, d, scale=0.05) for _ in range(slices)]
    b = [randn(loras, e, n, r, scale=0.05) for _ in range(slices)]
    fo._fused_moe_lora(zeros(m, k, n * slices), randn(m, d), a, b, w, None, ids.flatten().to(i32), None, randint(0, loras, m, dtype=i32), r, k,
                       torch.arange(loras, device=DEV, dtype=i32), torch.tensor([loras], dtype=i32), torch.ones(loras + 1, device=DEV, dtype=i32),
                       16, 64, 64, 8, 4, 3, 1, 16, 64, 64, 8, 4, 3, 1)
