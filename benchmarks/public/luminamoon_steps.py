"""luminamoon 1.0.6.post1: optimizer steps with stochastic rounding, cautious masks and trust regions, in one pass and in two."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib

package("luminamoon")
package("luminamoon.optimizer")
K = importlib.import_module("luminamoon.optimizer.triton_kernels")
MODE = {f32: 0, bf16: 1, f16: 2}


def state(n, dtype, sdtype, master):
    p = randn(n, dtype=dtype, scale=0.02)
    sc = torch.zeros(8, device=DEV, dtype=f32)
    sc[3:5] = 1.0
    return p, (p.float() if master else p), randn(n, dtype=dtype, scale=0.001), randn(n, dtype=sdtype, scale=0.001), rand(n, lo=1e-7, hi=1e-5, dtype=sdtype), sc


@case((1 << 24, bf16, bf16, True, False, 2, True), (1 << 24, bf16, f32, False, True, 1, True), (1 << 23, f16, f16, True, False, 1, False), (1 << 24, f32, f32, False, False, 2, True))
def steps(n, dtype, sdtype, sr, master, bound, cautious):
    p, mp, g, m, v, sc = state(n, dtype, sdtype, master)
    total, b1, b2, c1, c2, lr, wd, ratio, seed, eps, lam, clamp = float(n), 0.9, 0.999, 1.3, 1e-8, 1e-3, 0.01, 0.05, 1337, 1e-8, 0.5, 0.1
    o = dict(BLOCK_SIZE=2048, num_warps=8)
    grid = (-(-n // 2048),)
    d, s = MODE[dtype], MODE[sdtype]
    K._lumina_diff_sum_kernel[grid](g, m, sc, n, **o)
    K._lumina_dual_pass1_kernel[grid](p, mp, g, m, v, sc, n, total, b1, b2, c1, c2, bound, d, s, cautious, master, True, **o)
    K._lumina_dual_pass2_kernel[grid](p, mp, g, m, v, sc, n, total, b1, b2, c1, c2, lr, wd, clamp, bound, ratio, seed, d, s, sr, cautious, master, True, **o)
    K._lumina_dual_fused_single_pass_kernel[grid](p, mp, g, m, v, sc, n, total, b1, b2, c1, c2, lr, wd, bound, ratio, seed, d, s, sr, cautious, master, False, **o)
    K._lumina_dual_single_pass_kernel[grid](p, mp, g, m, v, sc, n, total, b1, b2, c1, c2, lr, wd, bound, ratio, seed, d, s, sr, master, False, **o)
    K._lumina_tdclm_pass1_kernel[grid](p, mp, g, m, sc, n, total, b1, eps, lam, bound, d, cautious, master, False, **o)
    K._lumina_tdclm_pass2_kernel[grid](p, mp, g, m, sc, n, total, b1, lr, wd, eps, lam, clamp, bound, ratio, seed, d, s, sr, cautious, master, False, **o)
    K._lumina_tdclm_single_pass_kernel[grid](p, mp, g, m, sc, n, total, b1, lr, wd, eps, lam, bound, ratio, seed, d, s, sr, cautious, master, True, **o)
    K._lumina_post_step_ema_kernel[(1,)](sc, total, lr, clamp, 0.8, bound, ratio, cautious, num_warps=1)
