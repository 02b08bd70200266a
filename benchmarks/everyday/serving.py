"""Serving pieces: KV cache write (plain, int8), logits processors, sampling, speculative verification, rope in place."""
from _common import *
import triton, triton.language as tl


@triton.jit
def reshape_and_cache(key, value, kc, vc, slots, stride_k, stride_v, blk_stride, H: tl.constexpr, D: tl.constexpr, PAGE: tl.constexpr, X: tl.constexpr, BLOCK: tl.constexpr):
    # key cache [blocks, H, D / X, PAGE, X], value cache [blocks, H, D, PAGE]
    t = tl.program_id(0)
    slot = tl.load(slots + t)
    if slot < 0:
        return
    blk = slot // PAGE
    off = slot % PAGE
    i = tl.arange(0, BLOCK)
    m = i < H * D
    h = i // D
    d = i % D
    k = tl.load(key + t * stride_k + i, mask=m)
    v = tl.load(value + t * stride_v + i, mask=m)
    tl.store(kc + blk * blk_stride + h * D * PAGE + (d // X) * PAGE * X + off * X + d % X, k, mask=m)
    tl.store(vc + blk * blk_stride + h * D * PAGE + d * PAGE + off, v, mask=m)


@triton.jit
def quantize_kv_int8(k, cache, scales, dest, s_t, s_h, H, HEAD: tl.constexpr, BH: tl.constexpr):
    t = tl.program_id(0)
    oh = tl.arange(0, BH)
    od = tl.arange(0, HEAD)
    dst = tl.load(dest + t).to(tl.int64)
    x = tl.load(k + t * s_t + oh[:, None] * s_h + od[None, :], mask=oh[:, None] < H, other=0.0)
    a = tl.max(tl.abs(x), axis=1)
    sc = (a.to(tl.float32) / 127.0)
    q = (x / sc[:, None]).to(tl.int8)
    tl.store(cache + (dst * H + oh[:, None]) * HEAD + od[None, :], q, mask=oh[:, None] < H)
    tl.store(scales + dst * H + oh, sc.to(scales.dtype.element_ty), mask=oh < H)


@case((8192, 8, 128, 16), (16384, 12, 64, 32))
def kv_cache_write(t, h, d, page):
    k, v = randn(t, h, d, dtype=f16), randn(t, h, d, dtype=f16)
    nb = 2 * t // page
    kc, vc = zeros(nb, h, d // 8, page, 8, dtype=f16), zeros(nb, h, d, page, dtype=f16)
    reshape_and_cache[(t,)](k, v, kc, vc, torch.randperm(2 * t, device=DEV)[:t], k.stride(0), v.stride(0), kc.stride(0), H=h, D=d, PAGE=page, X=8, BLOCK=triton.next_power_of_2(h * d))
    quantize_kv_int8[(t,)](k, zeros(2 * t, h, d, dtype=torch.int8), zeros(2 * t, h, dtype=f16), torch.randperm(2 * t, device=DEV)[:t].to(i32), k.stride(0), k.stride(1), h, HEAD=d, BH=triton.next_power_of_2(h))


@triton.jit
def penalties(logits, prompt_mask, counts, rep, freq, pres, temp, V, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    m = c < V
    x = tl.load(logits + r * V + c, mask=m).to(tl.float32)
    n = tl.load(counts + r * V + c, mask=m, other=0)
    pm = tl.load(prompt_mask + r * V + c, mask=m, other=0)
    rp = tl.load(rep + r)
    seen = (n > 0) | (pm != 0)
    rp = tl.where(seen, rp, 1.0)
    x = tl.where(x > 0, x / rp, x * rp)
    x -= tl.load(freq + r) * n.to(tl.float32)
    x -= tl.load(pres + r) * (n > 0)
    x /= tl.maximum(tl.load(temp + r), 1e-5)
    tl.store(logits + r * V + c, x, mask=m)


@triton.jit
def token_bitmask(logits, bits, V, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    for i in range(tl.program_id(1), tl.cdiv(V, BLOCK), tl.num_programs(1)):
        o = i * BLOCK + tl.arange(0, BLOCK)
        w = i * (BLOCK // 32) + tl.arange(0, BLOCK // 32)
        b = tl.load(bits + r * tl.cdiv(V, 32) + w, mask=w < tl.cdiv(V, 32))
        ban = ((b[:, None] >> tl.arange(0, 32)[None, :]) & 1) == 0
        ban = ban.reshape(BLOCK)
        tl.store(logits + r * V + o, -float("inf"), mask=(o < V) & ban)


@case((256, 32000), (128, 151936))
def logits_processors(b, v):
    x = randn(b, v, dtype=f32)
    penalties[(b, triton.cdiv(v, 2048))](x, randint(0, 2, b, v, dtype=torch.uint8), randint(0, 3, b, v, dtype=i32), rand(b, lo=1.0, hi=1.3), rand(b), rand(b), rand(b, lo=0.5), v, BLOCK=2048)
    token_bitmask[(b, 4)](x, randint(-2 ** 31, 2 ** 31 - 1, b, triton.cdiv(v, 32), dtype=i32), v, BLOCK=4096)


@triton.jit
def argmax_combine(v0, i0, v1, i1):
    gt = (v0 > v1) | ((v0 == v1) & (i0 < i1))
    return tl.where(gt, v0, v1), tl.where(gt, i0, i1)


@triton.jit
def gumbel_sample(logits, out, seed, V, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    best = tl.full([BLOCK], -float("inf"), tl.float32)
    where = tl.zeros([BLOCK], tl.int32)
    for s in range(0, V, BLOCK):
        o = s + tl.arange(0, BLOCK)
        x = tl.load(logits + r * V + o, mask=o < V, other=-float("inf")).to(tl.float32)
        u = tl.rand(seed, r * V + o)
        x += -tl.log(-tl.log(u + 1e-10) + 1e-10)
        up = x > best
        best = tl.where(up, x, best)
        where = tl.where(up, o, where)
    v, i = tl.reduce((best, where), 0, argmax_combine)
    tl.store(out + r, i)


@triton.jit
def topp_threshold_bisect(probs, out, p, V, ITERS: tl.constexpr, BLOCK: tl.constexpr):
    # renormalise after top-p: the threshold by bisection, the row read again each time
    r = tl.program_id(0)
    lo = 0.0
    hi = 1.0
    target = tl.load(p + r)
    for _ in range(ITERS):
        mid = (lo + hi) * 0.5
        s = tl.zeros([BLOCK], tl.float32)
        for i in range(0, V, BLOCK):
            x = tl.load(probs + r * V + i + tl.arange(0, BLOCK), mask=i + tl.arange(0, BLOCK) < V, other=0.0)
            s += tl.where(x >= mid, x, 0.0)
        if tl.sum(s, 0) >= target:
            lo = mid
        else:
            hi = mid
    s = tl.zeros([BLOCK], tl.float32)
    for i in range(0, V, BLOCK):
        x = tl.load(probs + r * V + i + tl.arange(0, BLOCK), mask=i + tl.arange(0, BLOCK) < V, other=0.0)
        s += tl.where(x >= lo, x, 0.0)
    t = tl.sum(s, 0)
    for i in range(0, V, BLOCK):
        o = i + tl.arange(0, BLOCK)
        x = tl.load(probs + r * V + o, mask=o < V, other=0.0)
        tl.store(out + r * V + o, tl.where(x >= lo, x / t, 0.0), mask=o < V)


@case((128, 32000), (32, 128256))
def sampling(b, v):
    x = randn(b, v)
    gumbel_sample[(b,)](x, torch.empty(b, device=DEV, dtype=i32), 1234, v, BLOCK=2048, num_warps=8)
    pr = torch.softmax(randn(b, v, dtype=f32), -1)
    topp_threshold_bisect[(b,)](pr, torch.empty_like(pr), rand(b, lo=0.8, hi=0.95), v, ITERS=12, BLOCK=4096, num_warps=16)


@triton.jit
def rejection_verify(out, cu, draft_ids, draft_p, target_p, recovered, bonus, u, max_spec, V):
    r = tl.program_id(0)
    start = 0 if r == 0 else tl.load(cu + r - 1)
    n = tl.load(cu + r) - start
    rejected = False
    for pos in range(n):
        if not rejected:
            d = tl.load(draft_ids + start + pos)
            dp = tl.load(draft_p + (start + pos) * V + d)
            tp = tl.load(target_p + (start + pos) * V + d)
            if dp > 0 and tp / dp >= tl.load(u + start + pos):
                tok = d
            else:
                rejected = True
                tok = tl.load(recovered + start + pos)
            tl.store(out + r * (max_spec + 1) + pos, tok)
    if not rejected:
        tl.store(out + r * (max_spec + 1) + n, tl.load(bonus + r))


@triton.jit
def recovered_tokens(out, draft_p, target_p, q, V, PADDED: tl.constexpr):
    t = tl.program_id(0)
    o = tl.arange(0, PADDED)
    dp = tl.load(draft_p + t * V + o, mask=o < V, other=0)
    tp = tl.load(target_p + t * V + o, mask=o < V, other=0)
    p = tl.maximum(tp - dp, 0)
    qq = tl.load(q + t // 4 * V + o, mask=o < V, other=float("-inf"))
    tl.store(out + t, tl.argmax(p / qq, axis=-1))


@case((64, 4, 32000), (32, 4, 50257))
def speculative(b, s, v):
    dp, tp = torch.softmax(randn(b * s, v, dtype=f32), -1), torch.softmax(randn(b * s, v, dtype=f32), -1)
    rec = torch.empty(b * s, device=DEV, dtype=i32)
    recovered_tokens[(b * s,)](rec, dp, tp, rand(b, v, lo=0.01), v, PADDED=triton.next_power_of_2(v), num_warps=16)
    cu = ((torch.arange(b, device=DEV) + 1) * s).to(i32)
    rejection_verify[(b,)](torch.full((b, s + 1), -1, dtype=i32, device=DEV), cu, randint(0, v, b * s, dtype=i32), dp, tp, rec, randint(0, v, b, dtype=i32), rand(b * s), s, v, num_warps=1)
