"""Decode attention: paged, split-KV with merge, int8 and fp8 KV caches, MLA latent, tree masks for speculation, naive tl.sum products."""
from _common import *
import triton, triton.language as tl


@triton.jit
def paged_decode_naive(out, q, k_cache, v_cache, block_tables, seq_lens, scale,
                       num_kv_groups, max_blocks, s_kb, s_kt, s_kh,
                       PAGE: tl.constexpr, HEAD: tl.constexpr):
    # one program per (sequence, head); products by tl.sum
    seq = tl.program_id(0)
    head = tl.program_id(1)
    nh = tl.num_programs(1)
    kvh = head // num_kv_groups
    d = tl.arange(0, HEAD)
    t = tl.arange(0, PAGE)
    qv = tl.load(q + (seq * nh + head) * HEAD + d).to(tl.float32) * scale
    n = tl.load(seq_lens + seq)
    m = float("-inf")
    l = 0.0
    acc = tl.zeros([HEAD], tl.float32)
    for b in range(0, tl.cdiv(n, PAGE)):
        page = tl.load(block_tables + seq * max_blocks + b).to(tl.int64)
        ptr = page * s_kb + t[:, None] * s_kt + kvh * s_kh + d[None, :]
        ok = b * PAGE + t < n
        k = tl.load(k_cache + ptr, mask=ok[:, None], other=0.0)
        s = tl.sum(qv[None, :] * k.to(tl.float32), axis=1)
        s = tl.where(ok, s, float("-inf"))
        mn = tl.maximum(m, tl.max(s, axis=0))
        p = tl.exp(s - mn)
        a = tl.exp(m - mn)
        v = tl.load(v_cache + ptr, mask=ok[:, None], other=0.0)
        acc = acc * a + tl.sum(p[:, None] * v, axis=0)
        l = l * a + tl.sum(p, axis=0)
        m = mn
    tl.store(out + (seq * nh + head) * HEAD + d, (acc / l).to(out.dtype.element_ty))


@case((64, 32, 8, 128, 16, 1500), (16, 16, 16, 64, 32, 3000))
def paged_naive(b, h, hkv, d, page, maxlen):
    mb = triton.cdiv(maxlen, page)
    nblocks = b * mb
    kc, vc = randn(nblocks, page, hkv, d, dtype=f16), randn(nblocks, page, hkv, d, dtype=f16)
    q = randn(b, h, d, dtype=f16)
    o = torch.empty_like(q)
    bt = torch.randperm(nblocks, device=DEV).to(i32).view(b, mb)
    lens = randint(maxlen // 3, maxlen, b, dtype=i32)
    paged_decode_naive[(b, h)](o, q, kc, vc, bt, lens, d ** -0.5, h // hkv, mb, kc.stride(0), kc.stride(1), kc.stride(2), PAGE=page, HEAD=d, num_warps=4)


@triton.jit
def decode_stage1(Q, K_Buffer, V_Buffer, sm_scale, Req_to_tokens, B_Seqlen, Att_Out, Lse_Out,
                  stride_req, stride_qb, stride_qh, stride_kt, stride_kh, stride_mb, stride_mh, stride_ms,
                  kv_group: tl.constexpr, q_head_num: tl.constexpr, D: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_H: tl.constexpr,
                  SPLITS: tl.constexpr, CAP: tl.constexpr):
    cur_batch = tl.program_id(0)
    cur_kv = tl.program_id(1)
    split = tl.program_id(2)
    hh = tl.arange(0, BLOCK_H)
    cur_head = cur_kv * kv_group + hh
    mask_h = (hh < kv_group) & (cur_head < q_head_num)
    offs_d = tl.arange(0, D)
    n = tl.load(B_Seqlen + cur_batch)
    q = tl.load(Q + cur_batch * stride_qb + cur_head[:, None] * stride_qh + offs_d[None, :], mask=mask_h[:, None], other=0.0)
    per = tl.cdiv(n, SPLITS)
    start = per * split
    end = tl.minimum(start + per, n)
    e_max = tl.zeros([BLOCK_H], dtype=tl.float32) - float("inf")
    e_sum = tl.zeros([BLOCK_H], dtype=tl.float32)
    acc = tl.zeros([BLOCK_H, D], dtype=tl.float32)
    if end > start:
        for s0 in range(start, end, BLOCK_N):
            offs_n = s0 + tl.arange(0, BLOCK_N)
            loc = tl.load(Req_to_tokens + stride_req * cur_batch + offs_n, mask=offs_n < end, other=0)
            k = tl.load(K_Buffer + loc[None, :] * stride_kt + cur_kv * stride_kh + offs_d[:, None], mask=offs_n[None, :] < end, other=0.0)
            qk = tl.dot(q, k.to(q.dtype))
            qk *= sm_scale
            if CAP > 0:
                qk = CAP * (2 * tl.sigmoid(2 * qk / CAP) - 1)
            qk = tl.where(mask_h[:, None] & (offs_n[None, :] < end), qk, float("-inf"))
            v = tl.load(V_Buffer + loc[:, None] * stride_kt + cur_kv * stride_kh + offs_d[None, :], mask=offs_n[:, None] < end, other=0.0)
            n_e_max = tl.maximum(tl.max(qk, 1), e_max)
            re = tl.exp(e_max - n_e_max)
            p = tl.exp(qk - n_e_max[:, None])
            acc *= re[:, None]
            acc += tl.dot(p.to(v.dtype), v)
            e_sum = e_sum * re + tl.sum(p, 1)
            e_max = n_e_max
        base = cur_batch * stride_mb + cur_head * stride_mh + split * stride_ms
        tl.store(Att_Out + base[:, None] + offs_d[None, :], acc / e_sum[:, None], mask=mask_h[:, None])
        tl.store(Lse_Out + base // D, e_max + tl.log(e_sum), mask=mask_h)


@triton.jit
def decode_stage2(Mid, Lse, O, B_Seqlen, stride_mb, stride_mh, stride_ms, stride_ob, stride_oh, SPLITS: tl.constexpr, D: tl.constexpr):
    b = tl.program_id(0)
    h = tl.program_id(1)
    n = tl.load(B_Seqlen + b)
    d = tl.arange(0, D)
    e_sum = 0.0
    e_max = -float("inf")
    acc = tl.zeros([D], dtype=tl.float32)
    per = tl.cdiv(n, SPLITS)
    for s in range(0, SPLITS):
        if s * per < n:
            off = b * stride_mb + h * stride_mh + s * stride_ms
            tv = tl.load(Mid + off + d)
            tlogic = tl.load(Lse + off // D)
            n_e_max = tl.maximum(tlogic, e_max)
            old = tl.exp(e_max - n_e_max)
            acc *= old
            w = tl.exp(tlogic - n_e_max)
            acc += w * tv
            e_sum = e_sum * old + w
            e_max = n_e_max
    tl.store(O + b * stride_ob + h * stride_oh + d, (acc / e_sum).to(O.dtype.element_ty))


@case((32, 32, 8, 128, 4096, 8, 0.0), (8, 64, 8, 128, 16000, 16, 30.0), (128, 16, 16, 64, 700, 4, 0.0))
def split_kv_decode(b, h, hkv, d, n, splits, cap):
    tokens = b * n
    kb, vb = randn(tokens, hkv, d), randn(tokens, hkv, d)
    r2t = torch.randperm(tokens, device=DEV).to(i32).view(b, n)
    q = randn(b, h, d)
    o = torch.empty_like(q)
    lens = randint(n // 2, n, b, dtype=i32)
    mid = torch.empty((b, h, splits, d), device=DEV, dtype=f32)
    lse = torch.empty((b, h, splits), device=DEV, dtype=f32)
    decode_stage1[(b, hkv, splits)](q, kb, vb, d ** -0.5, r2t, lens, mid, lse, r2t.stride(0), q.stride(0), q.stride(1), kb.stride(0), kb.stride(1),
                                    mid.stride(0), mid.stride(1), mid.stride(2), kv_group=h // hkv, q_head_num=h, D=d, BLOCK_N=32, BLOCK_H=16,
                                    SPLITS=splits, CAP=cap, num_warps=4, num_stages=2)
    decode_stage2[(b, h)](mid, lse, o, lens, mid.stride(0), mid.stride(1), mid.stride(2), o.stride(0), o.stride(1), SPLITS=splits, D=d, num_warps=4)


@triton.jit
def merge_lse(o_parts, lse_parts, o, n_rows, S: tl.constexpr, S2: tl.constexpr, D: tl.constexpr):
    # all parts of one row at once
    r = tl.program_id(0)
    s = tl.arange(0, S2)
    d = tl.arange(0, D)
    lse = tl.load(lse_parts + s * n_rows + r, mask=s < S, other=-float("inf"))
    mx = tl.max(lse, 0)
    w = tl.exp(lse - mx)
    w = w / tl.sum(w, 0)
    x = tl.load(o_parts + (s[:, None] * n_rows + r) * D + d[None, :], mask=s[:, None] < S, other=0.0)
    tl.store(o + r * D + d, tl.sum(x * w[:, None], 0).to(o.dtype.element_ty))


@case((8192, 12, 128), (32768, 3, 64))
def merge_partials(rows, s, d):
    merge_lse[(rows,)](randn(s, rows, d, dtype=f32), randn(s, rows, dtype=f32), torch.empty((rows, d), device=DEV, dtype=bf16), rows,
                       S=s, S2=triton.next_power_of_2(s), D=d, num_warps=2)


@triton.jit
def int8_kv_decode(q_ptr, k_ptr, ks_ptr, v_ptr, vs_ptr, o_ptr, ctx_len, max_len, scale,
                   H: tl.constexpr, HKV: tl.constexpr, D: tl.constexpr, BN: tl.constexpr, GP: tl.constexpr):
    # cache [B, HKV, T, D] int8, scales [B, HKV, T] fp16
    pid = tl.program_id(0)
    b = pid // HKV
    kv = pid % HKV
    G: tl.constexpr = H // HKV
    g = tl.arange(0, GP)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + b * H * D + (kv * G + g[:, None]) * D + d[None, :], mask=g[:, None] < G, other=0.)
    n = tl.load(ctx_len + b)
    base = pid.to(tl.int64) * max_len
    acc = tl.zeros((GP, D), tl.float32)
    l = tl.zeros((GP,), tl.float32)
    m = tl.full((GP,), -1e9, tl.float32)
    for i in tl.range(0, n, BN, num_stages=3):
        t = i + tl.arange(0, BN)
        msk = t < n
        k8 = tl.load(k_ptr + (base + t[None, :]) * D + d[:, None], mask=msk[None, :], other=0)
        ks = tl.load(ks_ptr + base + t, mask=msk, other=0.)
        s = tl.dot(q, k8.to(tl.float16)) * (ks.to(tl.float32) * scale)[None, :]
        s = tl.where(msk[None, :], s, -1e9)
        mn = tl.maximum(m, tl.max(s, 1))
        a = tl.exp(m - mn)
        p = tl.exp(s - mn[:, None])
        v8 = tl.load(v_ptr + (base + t[:, None]) * D + d[None, :], mask=msk[:, None], other=0)
        vs = tl.load(vs_ptr + base + t, mask=msk, other=0.)
        acc = acc * a[:, None] + tl.dot((p * vs[None, :].to(tl.float32)).to(tl.float16), v8.to(tl.float16))
        l = l * a + tl.sum(p, 1)
        m = mn
    tl.store(o_ptr + b * H * D + (kv * G + g[:, None]) * D + d[None, :], (acc / l[:, None]).to(tl.float16), mask=g[:, None] < G)


@case((64, 32, 8, 128, 2048), (16, 32, 32, 64, 3000))
def int8_cache(b, h, hkv, d, n):
    k, v = randint(-127, 127, b, hkv, n, d, dtype=torch.int8), randint(-127, 127, b, hkv, n, d, dtype=torch.int8)
    ks, vs = rand(b, hkv, n, hi=0.02, dtype=f16), rand(b, hkv, n, hi=0.02, dtype=f16)
    q = randn(b, h, d, dtype=f16)
    int8_kv_decode[(b * hkv,)](q, k, ks, v, vs, torch.empty_like(q), randint(n // 2, n, b, dtype=i32), n, d ** -0.5, H=h, HKV=hkv, D=d, BN=64, GP=16, num_warps=4)


@triton.jit
def fp8_paged_decode(q, kv, out, table, lens, k_scale, v_scale, sm, stride_page, max_pages, H,
                     G: tl.constexpr, D: tl.constexpr, PAGE: tl.constexpr, PAGES_PER: tl.constexpr):
    # kv: [pages, 2, PAGE, HKV, D] fp8e4m3; queries are quantised to bf16, K dequantised in registers
    b = tl.program_id(1)
    kvh = tl.program_id(0)
    HKV = tl.num_programs(0)
    BN: tl.constexpr = PAGE * PAGES_PER
    n = tl.load(lens + b)
    g = tl.arange(0, G)
    d = tl.arange(0, D)
    t = tl.arange(0, BN)
    qq = tl.load(q + (b * H + kvh * G + g)[:, None] * D + d)
    sc = sm * tl.load(k_scale)
    m = tl.full([G], float("-inf"), tl.float32)
    l = tl.zeros([G], tl.float32)
    acc = tl.zeros([G, D], tl.float32)
    for i in range(0, n, BN):
        pos = i + t
        pg = tl.load(table + b * max_pages + pos // PAGE, mask=pos < n, other=0).to(tl.int64)
        p0 = pg * stride_page + (pos % PAGE) * HKV * D + kvh * D
        k = tl.load(kv + p0[:, None] + d[None, :], mask=(pos < n)[:, None], other=0.0).to(tl.bfloat16)
        s = tl.dot(qq, tl.trans(k)) * sc
        s = tl.where((pos < n)[None, :], s, float("-inf"))
        mn = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - mn[:, None])
        c = tl.exp(m - mn)
        v = tl.load(kv + PAGE * HKV * D + p0[:, None] + d[None, :], mask=(pos < n)[:, None], other=0.0).to(tl.bfloat16)
        acc = tl.dot(p.to(tl.bfloat16), v, acc=acc * c[:, None])
        l = l * c + tl.sum(p, 1)
        m = mn
    acc = acc / l[:, None] * tl.load(v_scale)
    tl.store(out + (b * H + kvh * G + g)[:, None] * D + d, acc.to(out.dtype.element_ty))


@case((32, 128, 8, 128, 16, 4096), (32, 64, 4, 64, 64, 2048))
def fp8_paged(b, h, hkv, d, page, n):
    mp = n // page
    kv = randn(b * mp, 2, page, hkv, d).to(torch.float8_e4m3fn)
    table = torch.randperm(b * mp, device=DEV).to(i32).view(b, mp)
    q = randn(b, h, d)
    fp8_paged_decode[(hkv, b)](q, kv, torch.empty_like(q), table, randint(n // 2, n, b, dtype=i32), ones(1, dtype=f32), ones(1, dtype=f32), d ** -0.5,
                               kv.stride(0), mp, h, G=h // hkv, D=d, PAGE=page, PAGES_PER=64 // page, num_warps=4, num_stages=2)


@triton.jit
def mla_decode(Qn, Qr, KV, Out, Lse, seqlens, scale, max_len, H: tl.constexpr, LORA: tl.constexpr, ROPE: tl.constexpr, BH: tl.constexpr, BN: tl.constexpr, SPLIT: tl.constexpr):
    # KV rows: [latent LORA | rope ROPE]; V is the latent
    b = tl.program_id(0)
    hb = tl.program_id(1)
    sp = tl.program_id(2)
    n = tl.load(seqlens + b)
    chunk = tl.cdiv(tl.cdiv(n, SPLIT), BN) * BN
    lo = sp * chunk
    hi = tl.minimum(lo + chunk, n)
    oh = hb * BH + tl.arange(0, BH)
    oc = tl.arange(0, LORA)
    orr = tl.arange(0, ROPE)
    qn = tl.load(Qn + (b * H + oh[:, None]) * LORA + oc[None, :])
    qr = tl.load(Qr + (b * H + oh[:, None]) * ROPE + orr[None, :])
    m = tl.full([BH], -1e30, tl.float32)
    l = tl.zeros([BH], tl.float32)
    acc = tl.zeros([BH, LORA], tl.float32)
    W: tl.constexpr = LORA + ROPE
    base = KV + b.to(tl.int64) * max_len * W
    for i in range(lo, hi, BN):
        on = i + tl.arange(0, BN)
        kc = tl.load(base + on[:, None] * W + oc[None, :], mask=on[:, None] < hi, other=0.0)
        kr = tl.load(base + on[None, :] * W + LORA + orr[:, None], mask=on[None, :] < hi, other=0.0)
        s = tl.dot(qn, tl.trans(kc))
        s = tl.dot(qr, kr, s)
        s = tl.where(on[None, :] < hi, s * scale, -1e30)
        mn = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - mn[:, None])
        a = tl.exp(m - mn)
        l = l * a + tl.sum(p, 1)
        acc = acc * a[:, None] + tl.dot(p.to(kc.dtype), kc)
        m = mn
    row = (b * SPLIT + sp) * H + oh
    tl.store(Out + row[:, None] * LORA + oc[None, :], acc / tl.maximum(l, 1e-20)[:, None])
    tl.store(Lse + row, m + tl.log(tl.maximum(l, 1e-20)))


@case((32, 128, 2048, 4), (4, 128, 8192, 16))
def mla(b, h, n, split):
    kv = randn(b, n, 576)
    qn, qr = randn(b, h, 512), randn(b, h, 64)
    out = torch.empty((b, split, h, 512), device=DEV, dtype=f32)
    lse = torch.empty((b, split, h), device=DEV, dtype=f32)
    mla_decode[(b, h // 16, split)](qn, qr, kv, out, lse, randint(n // 2, n, b, dtype=i32), 192 ** -0.5, n, H=h, LORA=512, ROPE=64, BH=16, BN=32, SPLIT=split, num_warps=4, num_stages=2)


@triton.jit
def tree_verify_attn(q_ptr, k_ptr, v_ptr, tree_ptr, o_ptr, past, total, sm_scale, stride_b, stride_h, stride_qb, stride_qh,
                     T: tl.constexpr, TP: tl.constexpr, D: tl.constexpr, BN: tl.constexpr):
    h = tl.program_id(0)
    b = tl.program_id(1)
    r = tl.arange(0, TP)
    d = tl.arange(0, D)
    c = tl.arange(0, BN)
    q = tl.load(q_ptr + b * stride_qb + h * stride_qh + r[:, None] * D + d[None, :], mask=r[:, None] < T, other=0)
    m = tl.full([TP], -1e38, dtype=tl.float32)
    l = tl.zeros([TP], dtype=tl.float32)
    acc = tl.zeros([TP, D], dtype=tl.float32)
    kp = tl.make_block_ptr(k_ptr + b * stride_b + h * stride_h, shape=(D, total), strides=(1, D), offsets=(0, 0), block_shape=(D, BN), order=(0, 1))
    vp = tl.make_block_ptr(v_ptr + b * stride_b + h * stride_h, shape=(total, D), strides=(D, 1), offsets=(0, 0), block_shape=(BN, D), order=(1, 0))
    for s in range(0, total, BN):
        k = tl.load(kp, boundary_check=(1,), padding_option="zero")
        x = tl.dot(q, k) * sm_scale
        col = s + c
        tcol = col - past
        in_tree = (tcol >= 0) & (tcol < T)
        tm = tl.load(tree_ptr + r[:, None] * T + tcol[None, :], mask=(r[:, None] < T) & in_tree[None, :], other=0)
        ok = (col < past)[None, :] | (tm != 0)
        x = tl.where(ok, x, -1e38)
        mn = tl.maximum(m, tl.max(x, 1))
        p = tl.exp(x - mn[:, None])
        f = tl.exp(m - mn)
        v = tl.load(vp, boundary_check=(0,), padding_option="zero")
        acc = acc * f[:, None] + tl.dot(p.to(v.dtype), v)
        l = l * f + tl.sum(p, 1)
        m = mn
        kp = tl.advance(kp, (0, BN))
        vp = tl.advance(vp, (BN, 0))
    tl.store(o_ptr + b * stride_qb + h * stride_qh + r[:, None] * D + d[None, :], (acc / l[:, None]).to(o_ptr.dtype.element_ty), mask=r[:, None] < T)


@case((8, 32, 60, 2048, 128), (16, 16, 26, 1000, 64))
def tree_mask(b, h, t, past, d):
    n = past + t
    q, k, v = randn(b, h, t, d, dtype=f16), randn(b, h, n, d, dtype=f16), randn(b, h, n, d, dtype=f16)
    tree = (rand(t, t) > 0.5).to(torch.int8)
    tree_verify_attn[(h, b)](q, k, v, tree, torch.empty_like(q), past, n, d ** -0.5, k.stride(0), k.stride(1), q.stride(0), q.stride(1),
                             T=t, TP=max(16, triton.next_power_of_2(t)), D=d, BN=64, num_warps=4)
