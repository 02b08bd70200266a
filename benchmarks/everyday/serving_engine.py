"""Serving engine: add+rmsnorm+quant, rope into a paged cache, paged decode with partitions, merge of states, silu-mul fp8 groups, sampling, verification."""
from _common import *
import math
import triton, triton.language as tl


# ---------------------------------------------------------------- residual add + rmsnorm + int8 / fp8 dynamic quant
@triton.jit
def _fused_add_rmsnorm_quant_kernel(x_ptr, res_ptr, w_ptr, out_ptr, scale_ptr, stride_x, stride_res, stride_out,
                                    hidden, eps, QMAX: tl.constexpr, IS_INT8: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < hidden
    x = tl.load(x_ptr + row * stride_x + cols, mask=mask, other=0.0).to(tl.float32)
    r = tl.load(res_ptr + row * stride_res + cols, mask=mask, other=0.0).to(tl.float32)
    s = x + r
    tl.store(res_ptr + row * stride_res + cols, s.to(res_ptr.dtype.element_ty), mask=mask)
    var = tl.sum(s * s, axis=0) / hidden
    rstd = 1.0 / tl.sqrt(var + eps)
    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    y = s * rstd * w
    amax = tl.maximum(tl.max(tl.abs(y), axis=0), 1e-10)
    scale = amax / QMAX
    q = y / scale
    if IS_INT8:
        q = tl.floor(q + 0.5)
        q = tl.minimum(tl.maximum(q, -QMAX), QMAX)
    else:
        q = tl.clamp(q, -QMAX, QMAX)
    tl.store(out_ptr + row * stride_out + cols, q.to(out_ptr.dtype.element_ty), mask=mask)
    tl.store(scale_ptr + row, scale)


@case((4096, 4096, 0), (8192, 7168, 1), (2048, 5120, 0))
def add_rmsnorm_quant(tokens, hidden, int8):
    x = randn(tokens, hidden)
    res = randn(tokens, hidden)
    w = randn(hidden)
    out = torch.empty(tokens, hidden, device=DEV, dtype=torch.int8 if int8 else torch.float8_e4m3fn)
    scales = torch.empty(tokens, 1, device=DEV, dtype=f32)
    _fused_add_rmsnorm_quant_kernel[(tokens,)](x, res, w, out, scales, x.stride(0), res.stride(0), out.stride(0), hidden, 1e-6,
                                               QMAX=127.0 if int8 else 448.0, IS_INT8=bool(int8),
                                               BLOCK=triton.next_power_of_2(hidden), num_warps=8)


# ---------------------------------------------------------------- rope (neox or gptj) on q, and k, v written to the paged cache
@triton.jit
def rope_and_cache_kernel(q_ptr, k_ptr, v_ptr, cos_sin_ptr, pos_ptr, slot_ptr, k_cache_ptr, v_cache_ptr,
                          stride_q_tok, stride_k_tok, stride_v_tok,
                          stride_kc_block, stride_kc_slot, stride_kc_head,
                          n_q_heads, n_kv_heads,
                          ROT_DIM: tl.constexpr, HEAD_DIM: tl.constexpr, PAGE: tl.constexpr, NEOX: tl.constexpr):
    tok = tl.program_id(0)
    head = tl.program_id(1)
    half: tl.constexpr = ROT_DIM // 2
    pos = tl.load(pos_ptr + tok)
    i = tl.arange(0, half)
    cos = tl.load(cos_sin_ptr + pos * ROT_DIM + i).to(tl.float32)
    sin = tl.load(cos_sin_ptr + pos * ROT_DIM + half + i).to(tl.float32)
    if NEOX:
        o1 = i
        o2 = i + half
    else:
        o1 = 2 * i
        o2 = 2 * i + 1
    if head < n_q_heads:
        base = q_ptr + tok * stride_q_tok + head * HEAD_DIM
        a = tl.load(base + o1).to(tl.float32)
        b = tl.load(base + o2).to(tl.float32)
        tl.store(base + o1, (a * cos - b * sin).to(q_ptr.dtype.element_ty))
        tl.store(base + o2, (b * cos + a * sin).to(q_ptr.dtype.element_ty))
    else:
        slot = tl.load(slot_ptr + tok)
        if slot < 0:
            return
        kh = head - n_q_heads
        block = slot // PAGE
        off = slot % PAGE
        src = k_ptr + tok * stride_k_tok + kh * HEAD_DIM
        dst = k_cache_ptr + block * stride_kc_block + off * stride_kc_slot + kh * stride_kc_head
        a = tl.load(src + o1).to(tl.float32)
        b = tl.load(src + o2).to(tl.float32)
        tl.store(dst + o1, (a * cos - b * sin).to(k_cache_ptr.dtype.element_ty))
        tl.store(dst + o2, (b * cos + a * sin).to(k_cache_ptr.dtype.element_ty))
        if ROT_DIM < HEAD_DIM:
            rest = ROT_DIM + tl.arange(0, HEAD_DIM - ROT_DIM)
            tl.store(dst + rest, tl.load(src + rest).to(k_cache_ptr.dtype.element_ty))
        d = tl.arange(0, HEAD_DIM)
        v = tl.load(v_ptr + tok * stride_v_tok + kh * HEAD_DIM + d)
        tl.store(v_cache_ptr + block * stride_kc_block + off * stride_kc_slot + kh * stride_kc_head + d,
                 v.to(v_cache_ptr.dtype.element_ty))


@case((4096, 32, 8, 128, 128, 1), (8192, 16, 16, 64, 128, 0))
def rope_cache(tokens, hq, hkv, rot, d, neox):
    page = 16
    qkv = randn(tokens, (hq + 2 * hkv) * d)
    q, k, v = qkv[:, :hq * d], qkv[:, hq * d:(hq + hkv) * d], qkv[:, (hq + hkv) * d:]
    cs = randn(8192, rot, dtype=f32)
    pos = randint(0, 8192, tokens)
    nblocks = tokens // page
    slots = torch.randperm(tokens, device=DEV)
    kc = zeros(nblocks, page, hkv, d)
    vc = zeros(nblocks, page, hkv, d)
    rope_and_cache_kernel[(tokens, hq + hkv)](q, k, v, cs, pos, slots, kc, vc, q.stride(0), k.stride(0), v.stride(0),
                                              kc.stride(0), kc.stride(1), kc.stride(2), hq, hkv,
                                              ROT_DIM=rot, HEAD_DIM=d, PAGE=page, NEOX=bool(neox), num_warps=1)


# ---------------------------------------------------------------- paged attention decode, v2-like partitions, GQA group in one tile
@triton.jit
def paged_decode_partition(out_ptr, lse_ptr, q_ptr, kc_ptr, vc_ptr, block_tables, seq_lens, scale,
                           max_blocks, sq_b, sq_h, skb, sks, skh, num_parts,
                           GROUP: tl.constexpr, GROUP_PAD: tl.constexpr, D: tl.constexpr, PAGE: tl.constexpr,
                           PART: tl.constexpr, BLOCK_N: tl.constexpr):
    b = tl.program_id(0)
    kvh = tl.program_id(1)
    part = tl.program_id(2)
    seq = tl.load(seq_lens + b)
    start = part * PART
    if start >= seq:
        return
    end = tl.minimum(start + PART, seq)
    g = tl.arange(0, GROUP_PAD)
    d = tl.arange(0, D)
    gm = g < GROUP
    q = tl.load(q_ptr + b * sq_b + (kvh * GROUP + g)[:, None] * sq_h + d[None, :], mask=gm[:, None], other=0.0)
    q = (q.to(tl.float32) * (scale * 1.4426950408889634)).to(q_ptr.dtype.element_ty)
    m = tl.full([GROUP_PAD], -float("inf"), tl.float32)
    l = tl.zeros([GROUP_PAD], tl.float32)
    acc = tl.zeros([GROUP_PAD, D], tl.float32)
    for n0 in range(start, end, BLOCK_N):
        n = n0 + tl.arange(0, BLOCK_N)
        nm = n < end
        page = tl.load(block_tables + b * max_blocks + n // PAGE, mask=nm, other=0).to(tl.int64)
        off = page * skb + (n % PAGE) * sks + kvh * skh
        k = tl.load(kc_ptr + off[None, :] + d[:, None], mask=nm[None, :], other=0.0)
        s = tl.dot(q, k.to(q.dtype))
        s = tl.where(nm[None, :], s, -float("inf"))
        m_new = tl.maximum(m, tl.max(s, 1))
        p = tl.exp2(s - m_new[:, None])
        alpha = tl.exp2(m - m_new)
        v = tl.load(vc_ptr + off[:, None] + d[None, :], mask=nm[:, None], other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p.to(q.dtype), v.to(q.dtype))
        l = l * alpha + tl.sum(p, 1)
        m = m_new
    h = kvh * GROUP + g
    n_heads = tl.num_programs(1) * GROUP
    o = ((b * n_heads + h) * num_parts + part)
    tl.store(out_ptr + o[:, None] * D + d[None, :], acc / l[:, None], mask=gm[:, None])
    tl.store(lse_ptr + o, m + tl.log2(l), mask=gm)


@triton.jit
def paged_decode_reduce(out_ptr, part_ptr, lse_ptr, seq_lens, num_parts, PART: tl.constexpr, D: tl.constexpr, P2: tl.constexpr):
    b = tl.program_id(0)
    h = tl.program_id(1)
    nh = tl.num_programs(1)
    n = tl.cdiv(tl.load(seq_lens + b), PART)
    p = tl.arange(0, P2)
    d = tl.arange(0, D)
    base = (b * nh + h) * num_parts
    lse = tl.load(lse_ptr + base + p, mask=p < n, other=-float("inf"))
    w = tl.exp2(lse - tl.max(lse, 0))
    w = w / tl.sum(w, 0)
    o = tl.load(part_ptr + (base + p)[:, None] * D + d[None, :], mask=(p < n)[:, None], other=0.0)
    tl.store(out_ptr + (b * nh + h) * D + d, tl.sum(o * w[:, None], 0).to(out_ptr.dtype.element_ty))


@case((32, 32, 8, 128, 4096, 512), (8, 64, 8, 128, 16384, 1024), (128, 28, 4, 128, 1024, 256))
def paged_decode(batch, hq, hkv, d, ctx, part):
    page = 16
    nb = batch * ctx // page
    nb_cache = min(nb, 8192)
    q = randn(batch, hq, d)
    kc = randn(nb_cache, page, hkv, d)
    vc = randn(nb_cache, page, hkv, d)
    bt = randint(0, nb_cache, batch, ctx // page, dtype=i32)
    lens = randint(ctx // 2, ctx + 1, batch, dtype=i32)
    parts = ctx // part
    tmp = torch.empty(batch, hq, parts, d, device=DEV, dtype=f32)
    lse = torch.empty(batch, hq, parts, device=DEV, dtype=f32)
    out = torch.empty_like(q)
    grp = hq // hkv
    paged_decode_partition[(batch, hkv, parts)](tmp, lse, q, kc, vc, bt, lens, 1 / math.sqrt(d), bt.stride(0), q.stride(0),
                                                q.stride(1), kc.stride(0), kc.stride(1), kc.stride(2), parts, GROUP=grp,
                                                GROUP_PAD=max(16, triton.next_power_of_2(grp)), D=d, PAGE=page, PART=part,
                                                BLOCK_N=64, num_warps=4, num_stages=3)
    paged_decode_reduce[(batch, hq)](out, tmp, lse, lens, parts, PART=part, D=d, P2=triton.next_power_of_2(parts), num_warps=2)


# ---------------------------------------------------------------- paged attention v1: one head a program, dot by tl.sum, page by page
@triton.jit
def paged_attention_v1(o_ptr, q_ptr, kc_ptr, vc_ptr, tables_ptr, lens_ptr, sm_scale, tables_stride,
                       KV_GROUP: tl.constexpr, N_KV: tl.constexpr, PAGE: tl.constexpr, D: tl.constexpr):
    # cache layout [num_blocks, n_kv, page, d]
    seq = tl.program_id(0)
    head = tl.program_id(1)
    kv = head // KV_GROUP
    nheads = tl.num_programs(1)
    d = tl.arange(0, D)
    t = tl.arange(0, PAGE)
    q = tl.load(q_ptr + (seq * nheads + head) * D + d).to(tl.float32) * sm_scale
    ctx = tl.load(lens_ptr + seq)
    m_i = -1e30
    l_i = 0.0
    acc = tl.zeros([D], dtype=tl.float32)
    for blk in range(0, (ctx + PAGE - 1) // PAGE):
        phys = tl.load(tables_ptr + seq * tables_stride + blk).to(tl.int64)
        base = (phys * N_KV + kv) * PAGE * D
        kk = tl.load(kc_ptr + base + t[:, None] * D + d[None, :]).to(tl.float32)
        s = tl.sum(q[None, :] * kk, axis=1)
        s = tl.where(blk * PAGE + t < ctx, s, -1e30)
        m_new = tl.maximum(m_i, tl.max(s, axis=0))
        p = tl.exp(s - m_new)
        corr = tl.exp(m_i - m_new)
        vv = tl.load(vc_ptr + base + t[:, None] * D + d[None, :]).to(tl.float32)
        acc = acc * corr + tl.sum(p[:, None] * vv, axis=0)
        l_i = l_i * corr + tl.sum(p, axis=0)
        m_i = m_new
    tl.store(o_ptr + (seq * nheads + head) * D + d, (acc / l_i).to(o_ptr.dtype.element_ty))


@case((64, 32, 8, 128, 2048, 32), (16, 12, 12, 64, 1024, 16))
def paged_v1(batch, hq, hkv, d, ctx, page):
    nb = batch * ctx // page
    q = randn(batch, hq, d, dtype=f16)
    kc = randn(nb, hkv, page, d, dtype=f16)
    vc = randn(nb, hkv, page, d, dtype=f16)
    bt = torch.randperm(nb, device=DEV).view(batch, ctx // page)
    lens = randint(ctx // 3, ctx + 1, batch, dtype=i32)
    out = torch.empty_like(q)
    paged_attention_v1[(batch, hq)](out, q, kc, vc, bt, lens, d ** -0.5, bt.stride(0), KV_GROUP=hq // hkv, N_KV=hkv, PAGE=page, D=d)


# ---------------------------------------------------------------- merge of two attention states (prefix + suffix)
@triton.jit
def merge_attn_states_kernel(output, output_lse, prefix_output, prefix_lse, suffix_output, suffix_lse,
                             HEAD_SIZE: tl.constexpr, PADDED: tl.constexpr, OUTPUT_LSE: tl.constexpr):
    token_idx = tl.program_id(0)
    num_tokens = tl.num_programs(0)
    head_idx = tl.program_id(1)
    num_heads = tl.num_programs(1)
    p_lse = tl.load(prefix_lse + head_idx * num_tokens + token_idx)
    s_lse = tl.load(suffix_lse + head_idx * num_tokens + token_idx)
    p_lse = float("-inf") if p_lse == float("inf") else p_lse
    s_lse = float("-inf") if s_lse == float("inf") else s_lse
    max_lse = tl.maximum(p_lse, s_lse)
    p_se = tl.exp(p_lse - max_lse)
    s_se = tl.exp(s_lse - max_lse)
    out_se = p_se + s_se
    if OUTPUT_LSE:
        tl.store(output_lse + head_idx * num_tokens + token_idx, tl.log(out_se) + max_lse)
    a = tl.arange(0, PADDED)
    mask = a < HEAD_SIZE
    base = token_idx * num_heads * HEAD_SIZE + head_idx * HEAD_SIZE
    p_out = tl.load(prefix_output + base + a, mask=mask)
    s_out = tl.load(suffix_output + base + a, mask=mask)
    out = p_out * (p_se / out_se) + s_out * (s_se / out_se)
    tl.store(output + base + a, out, mask=mask)


@case((8192, 32, 128), (4096, 16, 192))
def merge_states(tokens, heads, d):
    a, b = randn(tokens, heads, d), randn(tokens, heads, d)
    la, lb = randn(heads, tokens, dtype=f32), randn(heads, tokens, dtype=f32)
    o, lo = torch.empty_like(a), torch.empty_like(la)
    merge_attn_states_kernel[(tokens, heads)](o, lo, a, la, b, lb, HEAD_SIZE=d, PADDED=triton.next_power_of_2(d), OUTPUT_LSE=True)


# ---------------------------------------------------------------- silu-and-mul with fp8 quant a group of 128 columns
@triton.jit
def silu_mul_group_quant(x_ptr, y_ptr, s_ptr, inter, n_tokens, GROUP: tl.constexpr, GROUPS_PER: tl.constexpr, ROUND_POW2: tl.constexpr,
                         COL_MAJOR: tl.constexpr):
    pid_g = tl.program_id(0)
    tok = tl.program_id(1).to(tl.int64)
    gi = pid_g * GROUPS_PER + tl.arange(0, GROUPS_PER)
    c = gi[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    mask = c < inter
    gate = tl.load(x_ptr + tok * 2 * inter + c, mask=mask, other=0.).to(tl.float32)
    up = tl.load(x_ptr + tok * 2 * inter + inter + c, mask=mask, other=0.).to(tl.float32)
    h = gate * tl.sigmoid(gate) * up
    amax = tl.max(tl.abs(h), axis=1)
    scale = tl.maximum(amax, 1e-4) / 448.0
    if ROUND_POW2:
        scale = tl.exp2(tl.ceil(tl.log2(scale)))
    q = (h / scale[:, None]).to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + tok * inter + c, q, mask=mask)
    n_groups = inter // GROUP
    if COL_MAJOR:
        tl.store(s_ptr + gi * n_tokens + tok, scale, mask=gi < n_groups)
    else:
        tl.store(s_ptr + tok * n_groups + gi, scale, mask=gi < n_groups)


@case((4096, 2048, 1, 1), (2048, 18432, 0, 0))
def silu_mul_fp8(tokens, inter, pow2, colmajor):
    x = randn(tokens, 2 * inter)
    y = torch.empty(tokens, inter, device=DEV, dtype=torch.float8_e4m3fn)
    s = torch.empty(tokens * inter // 128, device=DEV, dtype=f32)
    silu_mul_group_quant[(triton.cdiv(inter // 128, 8), tokens)](x, y, s, inter, tokens, GROUP=128, GROUPS_PER=8, ROUND_POW2=bool(pow2),
                                                                 COL_MAJOR=bool(colmajor), num_warps=4)


# ---------------------------------------------------------------- logits processors: repetition / presence / frequency penalties, bias, temperature
@triton.jit
def apply_penalties_kernel(logits, out, counts, prompt_mask, rep, freq, pres, temps, min_p, V, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    r = tl.load(rep + row)
    f = tl.load(freq + row)
    p = tl.load(pres + row)
    t = tl.load(temps + row)
    inv_t = 1.0 / tl.where(t < 1e-5, 1.0, t)
    best = -float("inf")
    for s in range(0, V, BLOCK):
        c = s + tl.arange(0, BLOCK)
        msk = c < V
        x = tl.load(logits + row * stride + c, mask=msk, other=-float("inf")).to(tl.float32)
        n = tl.load(counts + row * stride + c, mask=msk, other=0)
        # bit-packed prompt mask
        word = tl.load(prompt_mask + row * ((V + 31) // 32) + c // 32, mask=msk, other=0)
        seen = ((word >> (c % 32)) & 1) != 0
        used = (n > 0) | seen
        x = tl.where(used, tl.where(x > 0, x / r, x * r), x)
        x -= f * n.to(tl.float32)
        x -= p * (n > 0).to(tl.float32)
        x = x * inv_t
        best = tl.maximum(best, tl.max(x, axis=0))
        tl.store(out + row * stride + c, x, mask=msk)
    # min-p in a second pass
    tl.debug_barrier()
    floor = best + tl.log(tl.load(min_p + row))
    for s in range(0, V, BLOCK):
        c = s + tl.arange(0, BLOCK)
        msk = c < V
        x = tl.load(out + row * stride + c, mask=msk, other=0.0)
        tl.store(out + row * stride + c, tl.where(x < floor, -float("inf"), x), mask=msk)


@case((256, 128256), (64, 151936))
def penalties(batch, v):
    logits = randn(batch, v)
    out = torch.empty(batch, v, device=DEV, dtype=f32)
    counts = randint(0, 3, batch, v, dtype=i32)
    pm = randint(0, 1 << 30, batch, (v + 31) // 32, dtype=i32)
    apply_penalties_kernel[(batch,)](logits, out, counts, pm, rand(batch, lo=1.0, hi=1.3), rand(batch), rand(batch), rand(batch, lo=0.5, hi=1.0),
                                     rand(batch, lo=0.01, hi=0.1), v, logits.stride(0), BLOCK=4096, num_warps=16)


# ---------------------------------------------------------------- speculative decoding: rejection sampling with residual sampling by argmax of p/q
@triton.jit
def _argmax_combine(v1, i1, v2, i2):
    take = (v1 > v2) | ((v1 == v2) & (i1 < i2))
    return tl.where(take, v1, v2), tl.where(take, i1, i2)


@triton.jit
def verify_rejection_kernel(out_tokens, num_accepted, cu_draft, draft_tokens, draft_probs, target_probs, bonus, uniform, inv_exp, V,
                            MAX_SPEC: tl.constexpr, BLOCK: tl.constexpr):
    req = tl.program_id(0)
    lo = tl.load(cu_draft + req)
    hi = tl.load(cu_draft + req + 1)
    n = hi - lo
    accepted = 0
    rejected = False
    for pos in range(n):
        if not rejected:
            tok = tl.load(draft_tokens + lo + pos)
            pd = tl.load(draft_probs + (lo + pos).to(tl.int64) * V + tok)
            pt = tl.load(target_probs + (lo + pos).to(tl.int64) * V + tok)
            u = tl.load(uniform + lo + pos)
            if (pd > 0) & (pt / pd >= u):
                tl.store(out_tokens + req * (MAX_SPEC + 1) + pos, tok)
                accepted += 1
            else:
                rejected = True
                best = -1.0
                best_i = 0
                for s in range(0, V, BLOCK):
                    c = s + tl.arange(0, BLOCK)
                    m = c < V
                    a = tl.load(target_probs + (lo + pos).to(tl.int64) * V + c, mask=m, other=0.0)
                    b = tl.load(draft_probs + (lo + pos).to(tl.int64) * V + c, mask=m, other=0.0)
                    e = tl.load(inv_exp + req.to(tl.int64) * V + c, mask=m, other=0.0)
                    w = tl.maximum(a - b, 0.0) * e
                    bv, bi = tl.reduce((w, c), 0, _argmax_combine)
                    if bv > best:
                        best = bv
                        best_i = bi
                tl.store(out_tokens + req * (MAX_SPEC + 1) + pos, best_i.to(tl.int64))
    if not rejected:
        tl.store(out_tokens + req * (MAX_SPEC + 1) + n, tl.load(bonus + req))
    tl.store(num_accepted + req, accepted)


@case((128, 4, 128256), (32, 7, 32000))
def spec_verify(batch, k, v):
    cu = torch.arange(0, (batch + 1) * k, k, device=DEV, dtype=i32)
    dt = randint(0, v, batch * k)
    dp = rand(batch * k, v)
    tp = rand(batch * k, v)
    out = torch.full((batch, k + 1), -1, device=DEV, dtype=i64)
    acc = torch.empty(batch, device=DEV, dtype=i32)
    verify_rejection_kernel[(batch,)](out, acc, cu, dt, dp, tp, randint(0, v, batch), rand(batch * k), rand(batch, v), v,
                                      MAX_SPEC=k, BLOCK=2048)
