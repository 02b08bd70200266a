"""flag-gems 5.0.2: attention forward/backward, flash (windowed, alibi, paged, split), MLA dense and sparse, indexer top-k, gated delta rule."""
from _gems import *


def sdpa(B, H, HK, S, D, causal=True, mask=False, back=True):
    q, k, v = X(B, H, S, D, dt=bf16), X(B, HK, S, D, dt=bf16), X(B, HK, S, D, dt=bf16)
    m = X(B, 1, S, S, dt=bf16).expand(B, H, S, S).contiguous() if mask else None
    at = mod("ops.attention")
    o, M = at.scaled_dot_product_attention_forward(q, k, v, m, 0.0, causal, None, H != HK)
    if back:
        at.scaled_dot_product_attention_backward(X(B, H, S, D, dt=bf16), q, k, v, o, M, m, 0.0, causal, None, H != HK)


def flash(B, S, H, HK, D, causal=True, SQ=None, **kw):
    fg.flash_attention_forward(X(B, SQ or S, H, D, dt=bf16), X(B, S, HK, D, dt=bf16), X(B, S, HK, D, dt=bf16), None, None, SQ or S, S, kw.pop("drop", 0.0), causal, False, **kw)


def varlen(paged):
    L = [700, 1024, 200, 2048]
    q = X(sum(L), 32, 128, dt=bf16)
    cu = tensor([0, 700, 1724, 1924, 3972])
    if paged:
        kc, vc = X(512, 32, 8, 128, dt=bf16), X(512, 32, 8, 128, dt=bf16)
        bt = torch.randperm(512, device=DEV)[: 4 * 64].reshape(4, 64).to(i32)
        fg.flash_attn_varlen_func(q, kc, vc, 2048, cu, 2048, seqused_k=tensor(L), causal=True, block_table=bt)
    else:
        fg.flash_attn_varlen_func(q, X(sum(L), 8, 128, dt=bf16), X(sum(L), 8, 128, dt=bf16), 2048, cu, 2048, cu_seqlens_k=cu, causal=True, window_size=(512, 0))


def mla(b=32, s=4096):
    bt = torch.randperm(b * s // 64, device=DEV).reshape(b, s // 64).to(i32)
    fg.flash_mla(X(b, 1, 128, 576, dt=bf16), bt, X(b * s // 64, 64, 1, 576, dt=bf16), s, 64, b, 1, randint(s // 2, s, b, dtype=i32), 128, 1, 576, 512, True)


def idx(*s, hi):
    return randint(0, hi, *s, dtype=i32)


def gdn(B=2, T=4096, H=8, HV=16, K=128, V=128):
    q, k = [torch.nn.functional.normalize(X(B, T, H, K), dim=-1).to(bf16) for _ in range(2)]
    h = HV if False else H
    v, g, beta = X(B, T, h, V, dt=bf16), -rand(B, T, h) * 0.1, rand(B, T, h).to(bf16)
    fg.chunk_gated_delta_rule_fwd(q, k, v, g, beta, K ** -0.5, zeros(B, h, K, V, dtype=f32), True)


def recurrent(N=64, T=1, H=16, HV=32, K=128, V=128):
    q, k, v = X(1, N * T, H, K, dt=bf16), X(1, N * T, H, K, dt=bf16), X(1, N * T, HV, V, dt=bf16)
    g, beta = -rand(1, N * T, HV), rand(1, N * T, HV).to(bf16)
    fg.fused_recurrent_gated_delta_rule_fwd(q, k, v, g, beta, K ** -0.5, X(N + 1, HV, K, V) * 0.1, True, torch.arange(0, N * T + 1, T, device=DEV), torch.arange(N * T, device=DEV).reshape(N, T).to(i32) % N if T > 1 else torch.arange(N, device=DEV).to(i32), None, True)


drive(dict(
    sdpa=lambda: sdpa(2, 16, 16, 2048, 64), sdpa_gqa=lambda: sdpa(1, 32, 8, 2048, 128), sdpa_mask=lambda: sdpa(2, 16, 16, 1024, 64, False, True, False),
    flash=lambda: flash(2, 2048, 32, 8, 128), flash_win=lambda: flash(2, 2048, 32, 8, 64, window_size_left=256, window_size_right=0), flash_alibi=lambda: flash(2, 2048, 16, 16, 128, alibi_slopes=rand(2, 16)), flash_drop=lambda: flash(2, 1024, 16, 16, 128, drop=0.1), flash_cap=lambda: flash(2, 2048, 16, 4, 128, softcap=30.0), flash_decode=lambda: flash(4, 8192, 32, 8, 128, False, SQ=1),
    varlen=lambda: varlen(False), paged=lambda: varlen(True), mla=mla, mla_sparse=lambda: fg.flash_mla_sparse_fwd(X(128, 128, 576, dt=bf16), X(8192, 1, 576, dt=bf16), idx(128, 1, 1024, hi=8192), 0.05), mla_sparse_sink=lambda: fg.flash_mla_sparse_fwd(X(128, 64, 512, dt=bf16), X(8192, 1, 512, dt=bf16), idx(128, 1, 512, hi=8192), 0.05, 512, X(64), randint(256, 512, 128, dtype=i32)),
    dsa=lambda: mod("fused.DSA.sparse_mla").triton_sparse_mla_fwd_interface(X(1, 256, 64, 576, dt=bf16), X(1, 4096, 1, 576, dt=bf16), idx(1, 256, 1, 512, hi=256)),
    sink_sparse=lambda: mod("fused.sparse_attention").sparse_attn_triton(X(1, 512, 16, 512, dt=bf16), X(1, 4096, 512, dt=bf16), X(16), idx(1, 512, 256, hi=4096), 0.05),
    indexer=lambda: mod("fused.DSA.indexer_k_tiled").triton_lighting_indexer_k_tiled_interface(X(1024, 64, 128, dt=bf16), X(4096, 128, dt=bf16), X(1024, 64), zeros(1024, dtype=i32), torch.arange(3072, 4096, device=DEV).to(i32)),
    bucket_topk=lambda: mod("fused.DSA.bin_topk").bucket_sort_topk_triton(X(512, 8192), zeros(512, dtype=i32), torch.full((512,), 8192, dtype=i32, device=DEV), 1024),
    gdn=gdn, recurrent=recurrent,
))
