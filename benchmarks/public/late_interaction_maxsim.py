"""late-interaction-kernels 0.4.5: MaxSim scoring (dense, paired, packed, fp8, residual-compressed, pruning), both ways."""
from _common import *
from late_interaction_kernels import autograd as ag, fp8, fused_head as fh, padded, plaid, varlen


def unit(*s, dt=f16):
    return torch.nn.functional.normalize(randn(*s, dtype=f32), dim=-1).to(dt)


@case((32, 32, 256, 300, 128, f16), (8, 1024, 64, 1030, 128, bf16))
def maxsim(nq, lq, nd, ld, d, dt):
    q, x = unit(nq, lq, d, dt=dt).requires_grad_(), unit(nd, ld, d, dt=dt).requires_grad_()
    mask = torch.arange(ld, device=DEV)[None] < randint(ld // 2, ld, nd)[:, None]
    bwd(ag.maxsim(q, x, d_mask=mask))
    ag.maxsim(q.detach(), x.detach(), normalize=True)


@case((256, 32, 300, 128))
def pairs(n, lq, ld, d):
    bwd(ag.maxsim_pairs(unit(n, lq, d).requires_grad_(), unit(n, ld, d).requires_grad_()))


@case((64, 32, 128, 300, 128))
def packed(nq, lq, nd, ld, d):
    cq, cd = [torch.arange(n + 1, device=DEV, dtype=i32) * l for n, l in ((nq, lq), (nd, ld))]
    bwd(varlen.maxsim_varlen(unit(nq * lq, d).requires_grad_(), unit(nd * ld, d).requires_grad_(), cq, cd, lq, ld))


@case((32, 32, 256, 300, 128))
def low(nq, lq, nd, ld, d):
    (q, sq), (x, sx) = fp8.quantize_fp8_per_token(unit(nq, lq, d)), fp8.quantize_fp8_per_token(unit(nd, ld, d))
    fp8.maxsim_inference_fp8(q, x, scale_Q=sq, scale_D=sx)


@case((8, 32, 1024, 180, 128, 2), (4, 32, 1024, 180, 96, 4))
def residual(nq, lq, nd, ld, d, bits):
    codes = randint(0, 4096, nd, ld, dtype=i32)
    res = randint(0, 256, nd, ld, d * bits // 8, dtype=torch.uint8)
    lens = randint(ld // 2, ld, nd)
    plaid.maxsim_residual(unit(nq, lq, d).requires_grad_(), codes, res, lens, unit(4096, d), randn(2 ** bits, dtype=f32, scale=0.1), bits)
    plaid.plaid_approx_score(randn(4096, lq, dtype=f32), codes, lens)


@case((16, 32, 64, 256, 768, 128))
def head(nq, lq, nd, ld, hid, d):
    bwd(fh.maxsim_from_hidden(unit(nq, lq, d).requires_grad_(), randn(nd, ld, hid, dtype=f16, grad=True),
                              randn(d, hid, dtype=f16, scale=0.03, grad=True)))
