"""flag-gems 5.0.2: fused model operators: gated activations, rotary, cache writes, mixture-of-experts routing and products, hyper-connections, rwkv."""
from _gems import *
ff = lambda n: mod("fused." + n)


def rope(inter, inplace=False):
    fg.apply_rotary_pos_emb(X(4096, 32, 128, dt=bf16), X(4096, 8, 128, dt=bf16), X(4096, 64), X(4096, 64), randint(0, 4096, 4096), inter, inplace)


def gated(cls, *a):
    x, y = X(4096, 4096, dt=bf16).requires_grad_(), X(4096, 4096, dt=bf16).requires_grad_()
    bwd(cls(x, y, *a))


def gate2(f, g):
    m = ff(f)
    getattr(m, f)(X(4096, 8192, dt=bf16))
    getattr(m, "d" + f)(X(4096, 4096, dt=bf16), X(4096, 8192, dt=bf16))


def slots(n, total):
    return torch.randperm(total, device=DEV)[:n]


def moe(M, E=32, K=2048, N=1024, k=4, **kw):
    dt = bf16
    w1, w2 = X(E, 2 * N, K, dt=dt) * 0.02, X(E, K, N, dt=dt) * 0.02
    p, i = torch.topk(torch.softmax(X(M, E), -1), k)
    if kw.get("use_fp8_w8a8"):
        w1, w2 = w1.to(torch.float8_e4m3fn), w2.to(torch.float8_e4m3fn)
        kw.update(w1_scale=rand(E, 2 * N // 128, K // 128), w2_scale=rand(E, K // 128, N // 128), block_shape=[128, 128])
    fg.outplace_fused_experts(X(M, K, dt=dt), w1, w2, p, i.to(i32), **kw)


def wna16(int4, M=512, E=32, K=2048, N=2048, k=4):
    import triton.language as tl
    w = randint(0, 256, E, N, K // 2 if int4 else K, dtype=torch.uint8)
    ids = randint(0, E, M, k, dtype=i32)
    st, ei, npost = fg.moe_align_block_size(ids, 32, E)
    c = dict(BLOCK_SIZE_M=32, BLOCK_SIZE_N=128, BLOCK_SIZE_K=64, GROUP_SIZE_M=8, SPLIT_K=1, num_warps=4, num_stages=3)
    ff("fused_moe").invoke_fused_moe_wna16_triton_kernel(X(M, K, dt=bf16), w, zeros(M, k, N), rand(E, N, K // 128).to(bf16) * 0.01, None, rand(M, k), st, ei, npost, True, k, c,
                                                        tl.bfloat16, not int4, int4, [0, 128])


def align():
    ids = randint(0, 64, 8192, 6, dtype=i32)
    fg.moe_align_block_size(ids, 64, 64)
    m = ff("moe_align_block_size")
    n = ids.numel() + 64 * 63
    m.moe_align_block_size_triton(ids, 64, 64, torch.full((n,), ids.numel(), dtype=i32, device=DEV), torch.zeros(n // 64 + 1, dtype=i32, device=DEV), torch.zeros(1, dtype=i32, device=DEV))


def mhc(n=8192, h=2048, c=4):
    mod("fused.mhc.mhc_pre").mhc_pre(X(n, c, h, dt=bf16), X(2 * c + c * c, c * h) * 0.01, X(3), X(2 * c + c * c), 1e-6, 1e-6, 1e-6, 2.0, 10)
    mod("fused.mhc.mhc_post").mhc_post(X(n, h, dt=bf16), X(n, c, h, dt=bf16), rand(n, c, 1), rand(n, c, c))
    r = rand(n, c, c, lo=0.2)
    mod("fused.mhc.mhc_bwd").mhc_bwd(r / r.sum(-1, keepdim=True), X(n, c, c))
    mod("fused.mhc.hc_split_sinkhorn").hc_split_sinkhorn(X(n, (2 + c) * c), X(3), X((2 + c) * c), c)


drive(dict(
    rope=lambda: rope(False), rope_inter=lambda: rope(True), rope_inplace=lambda: rope(False, True), silu_mul=lambda: gated(fg.silu_and_mul), gelu_mul=lambda: gated(fg.gelu_and_mul, "none"), gelu_tanh_mul=lambda: gated(fg.gelu_and_mul, "tanh"), geglu=lambda: gate2("geglu", 0), reglu=lambda: gate2("reglu", 0), swiglu=lambda: gate2("swiglu", 0),
    cache=lambda: fg.reshape_and_cache(X(8192, 8, 128, dt=bf16), X(8192, 8, 128, dt=bf16), zeros(1024, 8, 16, 16, 8), zeros(1024, 8, 128, 16), slots(8192, 16384), "auto", ones(1, dtype=f32), ones(1, dtype=f32)),
    cache_flash=lambda: fg.reshape_and_cache_flash(X(8192, 8, 128, dt=bf16), X(8192, 8, 128, dt=bf16), zeros(1024, 16, 8, 128), zeros(1024, 16, 8, 128), slots(8192, 16384), "auto", ones(1, dtype=f32), ones(1, dtype=f32)),
    mla_cache=lambda: fg.concat_and_cache_mla(X(8192, 512, dt=bf16), X(8192, 64, dt=bf16), zeros(256, 64, 576), slots(8192, 16384), "auto", ones(1, dtype=f32)), penalty=lambda: fg.apply_repetition_penalties(X(64, 128256), rand(64, 128256) > 0.9, rand(64, 128256) > 0.9, rand(64, lo=1, hi=1.5)),
    topk_soft=lambda: fg.topk_softmax(zeros(8192, 8, dtype=f32), zeros(8192, 8, dtype=i32), zeros(8192, 8, dtype=i32), X(8192, 128), True), grouped_topk=lambda: fg.grouped_topk(X(8192, 256), 8, 4, 8, True, 2.5, X(256), 1), moe_sum=lambda: fg.moe_sum(X(4096, 8, 4096, dt=bf16), zeros(4096, 4096)), align=align,
    moe=lambda: moe(2048), moe_small=lambda: moe(16), moe_fp8=lambda: moe(1024, use_fp8_w8a8=True), moe_wna8=lambda: wna16(False), moe_wna4=lambda: wna16(True), mhc=mhc, mhc2=lambda: mhc(4096, 2048, 2),
    rwkv_ka=lambda: fg.rwkv_ka_fusion(X(4096, 4096, dt=f16), X(4096, dt=f16), X(4096, 4096, dt=f16), X(4096, dt=f16), 64, 64), rwkv_mm=lambda: fg.rwkv_mm_sparsity(torch.relu(X(8192, dt=f16)), X(8192, 2048, dt=f16)),
))
