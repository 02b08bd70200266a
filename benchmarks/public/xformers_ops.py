"""xformers 0.0.35: split-k flash decoding (grouped, quantised, paged, block-diagonal), merges, rope into padded cache, rms norm, index ops, tiled matmul."""
from _common import *
from xformers.ops.fmha import attn_bias as ab, triton_splitk as sk
from xformers.ops.fmha.common import Inputs
from xformers.ops import indexing, rmsnorm, rope_padded as rp
from xformers.ops._triton import tiled_matmul_kernels as tm
tr = __import__("triton")


def bias(B, q, pad, lens):
    return ab.BlockDiagonalCausalWithOffsetPaddedKeysMask.from_seqlens(q_seqlen=[q] * B, kv_padding=pad, kv_seqlen=lens, causal_diagonal=None)


def to_dev(b):
    return b.to(torch.device(DEV))


@case((16, 1, 8, 8, 4096), (4, 4, 8, 4, 8192), (64, 1, 1, 32, 2048))
def decode(B, Mq, G, H, S):
    lens = [S - 37 * i % S // 2 for i in range(B)]
    q, k, v = [randn(1, B * m, G, H, 128) for m in (Mq, S, S)]
    k, v = k[:, :, :, :1].expand_as(k), v[:, :, :, :1].expand_as(v)
    sk.FwOp.apply(Inputs(q, k, v, to_dev(bias(B, Mq, S, lens))), needs_gradient=True)


@case(4, 8)
def plain(H):
    q, k, v = [randn(8, m, 1, H, 64, dtype=f16) for m in (16, 4096, 4096)]
    sk.FwOp.apply(Inputs(q, k, v, None), needs_gradient=False)


@case(1, 4)
def int4(groups):
    B, S, G, H, D = 8, 4096, 2, 8, 128
    cls = type("Op", (sk.FwOp,), {"NUM_GROUPS": groups, "SPLIT_K": 16})
    q = randn(B, 1, G, H, D, dtype=f16)
    kv = []
    for _ in range(2):
        x = randint(0, 1 << 30, B, S, G, 1, D // 8 + groups, dtype=i32)
        s = rand(B, S, G, 1, groups, 2, lo=0.01, hi=0.02, dtype=f16)
        x[..., :groups] = s.view(i32)[..., 0]
        kv.append(x.expand(B, S, G, H, D // 8 + groups))
    cls.apply(Inputs(q, kv[0], kv[1], None), needs_gradient=False)


@case(64)
def paged(page):
    B, S, G, H = 16, 4096, 8, 4
    lens = [S - 100 * i for i in range(B)]
    bt = torch.randperm(B * S // page, device=DEV).reshape(B, S // page).to(i32)
    b = bias(B, 1, S, lens)
    b = to_dev(b).make_paged(bt, page, ab.PagedBlockDiagonalCausalWithOffsetPaddedKeysMask)
    q, k, v = randn(1, B, G, H, 128), randn(1, B * S, G, 1, 128), randn(1, B * S, G, 1, 128)
    sk.FwOp.apply(Inputs(q, k.expand(-1, -1, -1, H, -1), v.expand(-1, -1, -1, H, -1), b), needs_gradient=False)


@case(8, 32)
def merge(n):
    B, M, G, H, D = 32, 16, 4, 8, 128
    sk.merge_attentions(zeros(B, M, G, H, D), zeros(B, G, H, M, dtype=f32), randn(B, G, H, n, M, D, dtype=f32), randn(B, G, H, n, M, dtype=f32))
    outs, lses = [randn(B, M, G, H, D) for _ in range(4)], [randn(B, G, H, M, dtype=f32) for _ in range(4)]
    outs = [randn(B, G, H, M, D) for _ in range(4)]
    o, l = sk.merge_attentions_varargs(outs, lses, True, None, B, M, G, H, D)
    sk.merge_attentions_varargs_backward(outs, lses, o, l, randn(B, M, G, H, D), randn(B, G, H, M, dtype=f32))


@case((True, ""), (False, "f32"))
def rope(adj, it):
    B, q, S = 16, 256, 1024
    b = to_dev(bias(B, q, S, [S - 10 * i for i in range(B)]))
    rp.rope_padded(randn(1, B * q, 32, 128), randn(1, B * q, 8, 128), randn(1, B * q, 8, 128), randn(1, B * S, 8, 128), randn(1, B * S, 8, 128), b, adjacents=adj, internal_dtype=it)


@case((8192, 4096), (2048, 8192))
def norms(m, n):
    rmsnorm.rms_norm(randn(m, n), randn(n))
    rmsnorm.rms_norm(randn(m, n), None)
    rmsnorm.rms_norm_add(randn(m, n), randn(m, n), randn(n))


@case()
def index():
    src = [randn(512 * (i + 1), 1536, grad=True) for i in range(3)]
    idx = [torch.randperm(512 * (i + 1), device=DEV)[: 400 * (i + 1)] for i in range(3)]
    bwd(indexing.index_select_cat(src, idx))
    x = randn(64, 256, 1536, grad=True)
    bwd(indexing.scaled_index_add(x * 1, torch.randperm(64, device=DEV)[:48], randn(48, 256, 1536, grad=True), randn(1536, grad=True), 0.5))


@case()
def tiled():
    ms, ns, ks = [1024, 512, 512], [1024, 1024], [512, 1024]
    tm._xformers_tiled_matmul_kernel.configs = tm._xformers_tiled_matmul_kernel.configs[:: max(1, len(tm._xformers_tiled_matmul_kernel.configs) // 6)]
    a = [[randn(m, k) for k in ks] for m in ms]
    b = [[randn(k, n) for n in ns] for k in ks]
    c = [[zeros(m, n) for n in ns] for m in ms]
    tm._launch_triton_matmul(a, b, c, ms, ns, ks)
