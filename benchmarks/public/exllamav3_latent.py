"""exllamav3 1.6.5: latent attention (appends, decode, prefill absorbed or expanded, packed caches), sparse attention with windows and pools, indexer scores."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _exllamav3 import *


def table_of(b, n):
    return torch.randperm(b * n // PAGE, device=DEV).reshape(b, -1).to(i32)


def packed(count, groups, bits):
    return (randint(-(1 << 31), 1 << 31, count, PAGE, groups * bits).to(i32), rand(count, PAGE, groups, lo=0.5, hi=2.0, dtype=f16))


@case((8, 8192, 512, 512, 64, 4))
def append(b, n, new, dc, dr, bits):
    m, t, count = A("mla_triton"), table_of(b, n), b * n // PAGE
    seqlens = tensor([n - new - 3 * i for i in range(b)])
    kpe = randn(b, new, dr, dtype=f16)
    pe = zeros(count, PAGE, 1, dr, dtype=f16)
    m.mla_kv_append(randn(b, new, dc, dtype=f16), kpe, zeros(count, PAGE, 1, dc, dtype=f16), pe, t, seqlens)
    m.mla_plane_append(randn(b, new, 128, dtype=f16), zeros(count, PAGE, 128, dtype=f16), t, seqlens)
    m._mla_idx_norm_kernel[(b * new,)](randn(b * new, 128, dtype=f16), randn(128, dtype=f16), randn(128, dtype=f16), zeros(b * new, 128, dtype=f16), b * new,
                                       eps=1e-6, D=128)
    g = dc // 32
    (qk, sk), rows = packed(count, g, bits), b * new
    m._mla_kv_quant_scatter_kernel[(rows,)](randint(0, 1 << 31, rows, g * bits).to(i32), rand(rows, g, dtype=f16), kpe.view(rows, dr), qk, sk, pe, t, seqlens,
                                            t.shape[1], new, PAGE, g * bits, g * bits, g, dr, num_warps=2, num_stages=2)


@case((8, 8192, 128, 512, 64, 1, 0), (8, 8192, 32, 512, 64, 1, 4), (4, 8192, 16, 512, 64, 4, 6))
def latent_decode(b, n, h, dc, dr, s, bits):
    m, count = A("mla_triton"), b * n // PAGE
    kv, scales = packed(count, dc // 32, bits) if bits else (randn(count, PAGE, 1, dc, dtype=f16), None)
    m.mla_attn_triton_decode(randn(h, b * s, dc, dtype=f16), randn(h, b * s, dr, dtype=f16), kv, randn(count, PAGE, 1, dr, dtype=f16), table_of(b, n),
                             tensor([n - s - 7 * i for i in range(b)]), b, s, pre_appended_len=s, qc=(scales, bits) if bits else None)


@case((1, 4096, 16, 512, 64, 512, 0), (1, 4096, 16, 512, 64, 512, 4))
def latent_prefill(b, n, h, dc, dr, s, bits):
    m, count = A("mla_triton"), b * n // PAGE
    kv, scales = packed(count, dc // 32, bits) if bits else (randn(count, PAGE, 1, dc, dtype=f16), None)
    m.mla_attn_triton_prefill(randn(h, b * s, dc, dtype=f16), randn(h, b * s, dr, dtype=f16), kv, randn(count, PAGE, 1, dr, dtype=f16), table_of(b, n),
                              tensor([n - s] * b), b, s, pre_appended_len=s, qc=(scales, bits) if bits else None)


@case((1, 8192, 32, 512, 64, 128, 2048, 0), (1, 4096, 32, 512, 64, 128, 1024, 4))
def expanded_prefill(b, n, h, dc, dr, dn, s, bits):
    m, count = A("mla_triton"), b * n // PAGE
    kv, scales = packed(count, dc // 32, bits) if bits else (randn(count, PAGE, 1, dc, dtype=f16), None)
    m.mla_attn_triton_prefill_mha(randn(b * s, h, dn + dr, dtype=f16), randn(dc, h * dn, dtype=f16, scale=0.04), randn(dc, h * dn, dtype=f16, scale=0.04), kv,
                                  randn(count, PAGE, 1, dr, dtype=f16), table_of(b, n), [n - s] * b, b, s, dn, dn, (dn + dr)**-0.5, pre_appended_len=s,
                                  qc=(scales, bits) if bits else None)


@case((1024, 32, 512, 128, 64), (64, 128, 512, 128, 64), (512, 64, 512, 192, 64))
def absorb(r, h, dc, dn, dr):
    m = A("mla_triton")
    m.mla_absorb(randn(r, h, dn + dr, dtype=f16), randn(dc, h * dn, dtype=f16), h, dn)
    m.mla_unfold(randn(h, r, dc, dtype=f16), randn(dc, h * 128, dtype=f16), 128)
    m._mla_stage_kernel[(r,)](randn(r, h * (dn + dr), dtype=f16), randn(r, 640, dtype=f16), randn(dc, dtype=f16), zeros(r, h, dr, dtype=f16),
                              zeros(r, dc, dtype=f16), zeros(r, dr, dtype=f16), eps=1e-6, n_q_heads=h, QK_DIM=dn + dr, Q_STRIDE=h * (dn + dr), CKV_STRIDE=640,
                              D_nope=dn, D_c=dc, D_r=dr)


@case((512, 64, 448, 64, 512, 8), (4, 64, 448, 64, 1024, 8))
def windowed(r, h, dc, dr, k, groups):
    f, n, pos = A("dsa_triton").dsa_attn, 16384, 65536
    d = dc + dr
    pool = randn(n // PAGE, PAGE, dc, dtype=f16), randn(n // PAGE, PAGE, dr, dtype=f16), table_of(1, n)
    kw = dict(sinks=randn(h, dtype=f32), ring=randn(128, d, dtype=f16), kv_chunk=randn(r, d, dtype=f16), win_len=128, win_floor=pos - 128, ring_beg=pos - 128,
              q_pos0=pos, derot_inv_freq=-rand(dr // 2), groups=groups, pool_len=n, compress_rate=4)
    f(randn(r, h, d, dtype=f16), *pool, indices=randint(0, n, r, k, dtype=i32), **kw)
    kw["pool_len"] = k
    f(randn(r, h, d, dtype=f16), *pool, **kw)  # the whole pool


@case((256, 32, 512, 64, 1024, 0), (4, 128, 512, 64, 2048, 0), (4, 64, 512, 64, 2048, 6), (32, 32, 512, 64, 2048, 4))
def absorbed(r, h, dc, dr, k, bits):
    f, n = A("dsa_triton").dsa_attn, 16384
    pool, scales = packed(n // PAGE, dc // 32, bits) if bits else (randn(n // PAGE, PAGE, dc, dtype=f16), None)
    f(randn(h, r, dc, dtype=f16), pool, randn(n // PAGE, PAGE, dr, dtype=f16), table_of(1, n), indices=randint(0, n, r, k, dtype=i32), pool_len=n,
      scale=192**-0.5, q_pe=randn(r, h, dr, dtype=f16), out_latent=True, qc=(scales, bits) if bits else None)


@case((1024, 64, 128, 8192), (4, 64, 128, 131072))
def indexer(r, h, d, n):
    A("dsa_triton").dsa_indexer_scores(randn(r, h, d, dtype=f16), randn(r, h, dtype=f16), randn(n, d, dtype=f16), n * 4 - r, 4, n)
    A("dsa_triton").dsa_indexer_scores(randn(r, h, d, dtype=f16), randn(r, h, dtype=f16), randn(n, d, dtype=f16), n * 4 - r, 4, n,
                                       block_table=table_of(1, n), epp=PAGE)


@case((4, 8192, 4096, 4, 128, 512, 2048))
def pools(b, n, new, p, d, sel, rows):
    m, t = A("dsa_triton"), table_of(b, n)
    m._dsa_pool_update_kernel[(b, new // p + 1)](randn(b * n, 2 * d, dtype=f16), zeros(b * n // p, d, dtype=f16), randn(p, d, dtype=f16), t, tensor([new - 3] * b),
                                                 t.shape[1], new, page_size=PAGE, P=p, D=d, MAXPOOLS=new // p + 1)
    width = sel * p + 256
    m._dsa_pool_expand_kernel[(rows, width // 256)](randint(0, n // p, rows, sel, dtype=i32), zeros(rows, width, dtype=i32), n - rows, P=p, SEL=sel, K_pad=width,
                                                    KP_pool=sel, TAIL=1)
