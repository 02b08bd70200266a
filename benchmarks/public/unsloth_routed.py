"""unsloth-zoo 2026.10.9: experts of single tokens: products through tables of pointers to 4-bit weights (nested scales, LoRA, gates), chosen rows by split sums and their finishes, dequantisation of chosen experts."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
for p in ("unsloth_zoo", "unsloth_zoo.temporary_patches"):
    package(p)
from unsloth_zoo.temporary_patches import moe_routed as mr


def tables(e, n, k, block, stacked):
    w, a = randint(0, 256, e, n * k // 2, dtype=torch.uint8), randint(0, 256, e, n * k // block, dtype=torch.uint8)
    a2, c2, off = rand(e, -(-n * k // block // 256)), rand(256), rand(e)
    lut = rand(16, lo=-1.0)
    keep = (w, a, a2, c2)
    if not stacked:
        point = lambda t: tensor([t[i].data_ptr() for i in range(e)], i64)
        return mr._tb(point(w), point(a), point(a2), tensor([c2.data_ptr()] * e, i64), off, lut, None, n, k, block, 256, True, 0, False), keep
    return mr._tb(w, a, a2, c2, off, lut, None, n, k, block, 256, True, 0, True), keep


@case((1, 8, 64, 2048, 1408, 64, False), (4, 4, 32, 2880, 2880, 64, False), (2, 8, 128, 2048, 768, 64, True))
def nf4(t, k, e, d, f, block, stacked):
    idx = torch.rand(t, e, device=DEV).topk(k)[1].reshape(-1)
    gu, keep = tables(e, 2 * f, d, block, stacked)
    dn, keep2 = tables(e, d, f, block, stacked)
    x = randn(t, d)
    act = mr.ACT_GPTOSS if d == 2880 else mr.ACT_SILU
    a, b = [randn(16, d) for _ in range(e)], randn(e, 2 * f, 16)
    h = mr.routed_lora_h(x, idx, a, row_div=k)
    y = mr.routed_gate_up(x, idx, gu, k, 1.702, 7.0, lora=(b, h, 0.5), act=act, interleaved=d == 2880)
    mr.routed_down(y, idx, rand(t, k), False, dn, k, bf16)


@case((128, 2048, 1408, 64, 16))
def dequant(e, n, k, block, some):
    tb, keep = tables(e, n, k, block, True)
    mr.nf4_select_dequant(tb, torch.randperm(e, device=DEV)[:some], bf16)


@case((4, 8, 64, 2048, 1408, 16), (2, 4, 128, 2048, 768, 32), (8, 8, 32, 4096, 1536, 16))
def rows16(t, k, e, d, f, r):
    idx = torch.rand(t, e, device=DEV).topk(k)[1].contiguous()
    x, wg, wd = randn(t, d), randn(e, d, 2 * f, scale=d ** -0.5), randn(e, f, d, scale=f ** -0.5)
    gl, dl = [(randn(e, d, r), randn(e, r, 2 * f), 0.5)], [(randn(e, f, r), randn(e, r, d), 0.5)]
    mr.routed_bf16_moe(x, idx, rand(t, k), wg, wd, None, None, mr.ACT_SILU, False)
    mr.routed_bf16_moe(x, idx, rand(t, k), wg, wd, None, None, mr.ACT_SILU, False, gl, dl)
    mr.routed_lora_add(randn(t * k, 2 * f, dtype=f32), x, idx.reshape(-1), gl, row_div=k)
