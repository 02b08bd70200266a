"""Serving engine, second half: top-k softmax gating, grouped gating, moe align, moe gemm on sorted tokens, moe sum, LoRA bgmv/sgmv shrink and expand."""
from _common import *
import triton, triton.language as tl


# ---------------------------------------------------------------- softmax + top-k by repeated argmax, several rows a program
@triton.jit
def topk_softmax_kernel(logits_ptr, w_ptr, idx_ptr, n_tokens, E, TOPK: tl.constexpr, RENORM: tl.constexpr, ROWS: tl.constexpr, BLOCK_E: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    e = tl.arange(0, BLOCK_E)
    mask = (rows[:, None] < n_tokens) & (e[None, :] < E)
    x = tl.load(logits_ptr + rows[:, None] * E + e[None, :], mask=mask, other=-float("inf")).to(tl.float32)
    x = tl.where(rows[:, None] < n_tokens, x, 0.0)
    p = tl.exp(x - tl.max(x, 1)[:, None])
    p = p / tl.sum(p, 1)[:, None]
    total = tl.zeros([ROWS], tl.float32)
    rest = p
    for k in tl.static_range(TOPK):
        v, i = tl.max(rest, axis=1, return_indices=True)
        total += v
        tl.store(w_ptr + rows * TOPK + k, v, mask=rows < n_tokens)
        tl.store(idx_ptr + rows * TOPK + k, i, mask=rows < n_tokens)
        rest = tl.where(e[None, :] == i[:, None], -1.0, rest)
    if RENORM:
        tl.debug_barrier()
        for k in tl.static_range(TOPK):
            v = tl.load(w_ptr + rows * TOPK + k, mask=rows < n_tokens)
            tl.store(w_ptr + rows * TOPK + k, v / total, mask=rows < n_tokens)


@case((16384, 8, 2), (8192, 128, 8), (8192, 60, 4))
def topk_softmax(tokens, e, k):
    x = randn(tokens, e, dtype=f32)
    w = torch.empty(tokens, k, device=DEV, dtype=f32)
    i = torch.empty(tokens, k, device=DEV, dtype=i32)
    topk_softmax_kernel[(triton.cdiv(tokens, 8),)](x, w, i, tokens, e, TOPK=k, RENORM=True, ROWS=8, BLOCK_E=triton.next_power_of_2(e))


# ---------------------------------------------------------------- DeepSeek gating: sigmoid, bias, best groups, then packed-key sort
@triton.jit
def grouped_topk_sigmoid(x_ptr, bias_ptr, w_ptr, i_ptr, route_scale, G: tl.constexpr, EG: tl.constexpr, TOPG: tl.constexpr, TOPK: tl.constexpr):
    t = tl.program_id(0)
    E: tl.constexpr = G * EG
    ge = tl.arange(0, G)[:, None] * EG + tl.arange(0, EG)[None, :]
    s = tl.sigmoid(tl.load(x_ptr + t * E + ge).to(tl.float32))
    sb = s + tl.load(bias_ptr + ge)
    # sum of the two best of each group
    m1 = tl.max(sb, 1)
    a1 = tl.argmax(sb, 1)
    m2 = tl.max(tl.where(tl.arange(0, EG)[None, :] == a1[:, None], -1e9, sb), 1)
    gs = m1 + m2
    keep = tl.zeros([G], tl.int1)
    for _ in tl.static_range(TOPG):
        b = tl.argmax(gs, 0)
        hit = tl.arange(0, G) == b
        keep = keep | hit
        gs = tl.where(hit, -1e9, gs)
    sb = tl.where(keep[:, None], sb, -1e9)
    flat = tl.reshape(sb, [E])
    # order-preserving key: float bits in the upper half, index in the lower
    bits = flat.to(tl.int32, bitcast=True)
    key = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    packed = (key.to(tl.int64) << 32) | (E - 1 - tl.arange(0, E)).to(tl.int64)
    packed = tl.sort(packed, descending=True)
    idx = E - 1 - (packed & 0xFFFFFFFF).to(tl.int32)
    first = tl.arange(0, E) < TOPK
    w = tl.load(x_ptr + t * E + idx, mask=first, other=-float("inf")).to(tl.float32)
    w = tl.where(first, 1.0 / (1.0 + tl.exp(-w)), 0.0)
    w = w / tl.sum(w, 0) * route_scale
    tl.store(w_ptr + t * TOPK + tl.arange(0, E), w, mask=first)
    tl.store(i_ptr + t * TOPK + tl.arange(0, E), idx, mask=first)


@case((4096, 8, 32, 4, 8))
def deepseek_gate(tokens, g, eg, topg, topk):
    x = randn(tokens, g * eg)
    b = randn(g * eg, dtype=f32, scale=0.1)
    w = torch.empty(tokens, topk, device=DEV, dtype=f32)
    i = torch.empty(tokens, topk, device=DEV, dtype=i32)
    grouped_topk_sigmoid[(tokens,)](x, b, w, i, 2.5, G=g, EG=eg, TOPG=topg, TOPK=topk, num_warps=1)


# ---------------------------------------------------------------- moe align in the four known stages
@triton.jit
def moe_align_stage1(topk_ids, tokens_cnts, num_experts: tl.constexpr, numel, tokens_per_thread):
    pid = tl.program_id(0)
    start_idx = pid * tokens_per_thread
    off_c = (pid + 1) * num_experts
    for i in range(tokens_per_thread):
        if start_idx + i < numel:
            idx = tl.load(topk_ids + start_idx + i)
            token_cnt = tl.load(tokens_cnts + off_c + idx)
            tl.store(tokens_cnts + off_c + idx, token_cnt + 1)


@triton.jit
def moe_align_stage2(tokens_cnts, num_experts: tl.constexpr):
    pid = tl.program_id(0)
    last_cnt = 0
    for i in range(1, num_experts + 1):
        token_cnt = tl.load(tokens_cnts + i * num_experts + pid)
        last_cnt = last_cnt + token_cnt
        tl.store(tokens_cnts + i * num_experts + pid, last_cnt)


@triton.jit
def moe_align_stage3(total_tokens_post_pad, tokens_cnts, cumsum, num_experts: tl.constexpr, block_size: tl.constexpr):
    last_cumsum = 0
    off_cnt = num_experts * num_experts
    for i in range(1, num_experts + 1):
        token_cnt = tl.load(tokens_cnts + off_cnt + i - 1)
        last_cumsum = last_cumsum + tl.cdiv(token_cnt, block_size) * block_size
        tl.store(cumsum + i, last_cumsum)
    tl.store(total_tokens_post_pad, last_cumsum)


@triton.jit
def moe_align_stage4(topk_ids, sorted_token_ids, expert_ids, tokens_cnts, cumsum, num_experts: tl.constexpr, block_size: tl.constexpr,
                     numel, tokens_per_thread):
    pid = tl.program_id(0)
    start_idx = tl.load(cumsum + pid)
    end_idx = tl.load(cumsum + pid + 1)
    for i in range(start_idx, end_idx, block_size):
        tl.store(expert_ids + i // block_size, pid)
    start_idx = pid * tokens_per_thread
    off_t = pid * num_experts
    for i in range(start_idx, tl.minimum(start_idx + tokens_per_thread, numel)):
        expert_id = tl.load(topk_ids + i)
        token_cnt = tl.load(tokens_cnts + off_t + expert_id)
        rank = token_cnt + tl.load(cumsum + expert_id)
        tl.store(sorted_token_ids + rank, i)
        tl.store(tokens_cnts + off_t + expert_id, token_cnt + 1)


# one-pass variants: histogram with atomics, scan in one block, scatter with atomics
@triton.jit
def expert_histogram(ids_ptr, hist_ptr, numel, E: tl.constexpr, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < numel
    ids = tl.load(ids_ptr + o, mask=m, other=0)
    h = tl.histogram(ids, E, mask=m)
    tl.atomic_add(hist_ptr + tl.arange(0, E), h, sem="relaxed")


@triton.jit
def expert_offsets(hist_ptr, off_ptr, expert_ids_ptr, E: tl.constexpr, BLOCK_M: tl.constexpr):
    e = tl.arange(0, E)
    c = tl.load(hist_ptr + e)
    padded = (c + BLOCK_M - 1) // BLOCK_M * BLOCK_M
    inc = tl.cumsum(padded, 0)
    tl.store(off_ptr + e, inc - padded)
    tl.store(off_ptr + E, tl.sum(padded, 0))


@triton.jit
def expert_scatter(ids_ptr, cursor_ptr, off_ptr, sorted_ptr, numel, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < numel
    e = tl.load(ids_ptr + o, mask=m, other=0)
    r = tl.atomic_add(cursor_ptr + e, 1, mask=m)
    tl.store(sorted_ptr + tl.load(off_ptr + e, mask=m, other=0) + r, o, mask=m)


@case((4096, 64, 6, 64), (1024, 8, 2, 16))
def moe_align(tokens, e, topk, block):
    numel = tokens * topk
    ids = randint(0, e, tokens, topk, dtype=i32)
    pad = numel + e * (block - 1)
    sorted_ids = torch.full((pad,), numel, device=DEV, dtype=i32)
    expert_ids = zeros(triton.cdiv(pad, block), dtype=i32)
    cnts = zeros(e + 1, e, dtype=i32)
    cum = zeros(e + 1, dtype=i32)
    total = zeros(1, dtype=i32)
    tpt = triton.cdiv(numel, e)
    moe_align_stage1[(e,)](ids, cnts, e, numel, tpt)
    moe_align_stage2[(e,)](cnts, e)
    moe_align_stage3[(1,)](total, cnts, cum, e, block)
    moe_align_stage4[(e,)](ids, sorted_ids, expert_ids, cnts, cum, e, block, numel, tpt)


@case((65536, 128, 8, 64))
def moe_align_atomic(tokens, e, topk, block):
    numel = tokens * topk
    ids = randint(0, e, tokens, topk, dtype=i32)
    hist, cur, off = zeros(e, dtype=i32), zeros(e, dtype=i32), zeros(e + 1, dtype=i32)
    sorted_ids = torch.full((numel + e * block,), numel, device=DEV, dtype=i32)
    expert_histogram[(triton.cdiv(numel, 1024),)](ids, hist, numel, E=e, BLOCK=1024)
    expert_offsets[(1,)](hist, off, sorted_ids, E=e, BLOCK_M=block, num_warps=1)
    expert_scatter[(triton.cdiv(numel, 512),)](ids, cur, off, sorted_ids, numel, BLOCK=512)


# ---------------------------------------------------------------- moe gemm on sorted tokens
@triton.jit
def fused_moe_gemm(a_ptr, b_ptr, c_ptr, topk_weights_ptr, sorted_token_ids_ptr, expert_ids_ptr, num_tokens_post_padded_ptr,
                   N, K, num_valid_tokens, stride_am, stride_ak, stride_be, stride_bk, stride_bn, stride_cm, stride_cn, EM,
                   BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
                   MUL_ROUTED_WEIGHT: tl.constexpr, top_k: tl.constexpr, EVEN_K: tl.constexpr):
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(EM, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    num_pid_in_group = GROUP_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_M)
    pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
    num_tokens_post_padded = tl.load(num_tokens_post_padded_ptr)
    if pid_m * BLOCK_M >= num_tokens_post_padded:
        return
    offs_token_id = pid_m * BLOCK_M + tl.arange(0, BLOCK_M).to(tl.int64)
    offs_token = tl.load(sorted_token_ids_ptr + offs_token_id)
    token_mask = offs_token < num_valid_tokens
    off_e = tl.load(expert_ids_ptr + pid_m).to(tl.int64)
    offs_bn = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N).to(tl.int64)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (offs_token[:, None] // top_k * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + off_e * stride_be + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        if EVEN_K:
            a = tl.load(a_ptrs, mask=token_mask[:, None], other=0.0)
            b = tl.load(b_ptrs)
        else:
            a = tl.load(a_ptrs, mask=token_mask[:, None] & (offs_k[None, :] < K - k * BLOCK_K), other=0.0)
            b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        acc += tl.dot(a, b)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if MUL_ROUTED_WEIGHT:
        moe_weight = tl.load(topk_weights_ptr + offs_token, mask=token_mask, other=0)
        acc = acc * moe_weight[:, None]
    offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + stride_cm * offs_token[:, None] + stride_cn * offs_cn[None, :]
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=token_mask[:, None] & (offs_cn[None, :] < N))


@case((2048, 16, 2, 2048, 1408, 64, 128), (256, 64, 6, 2048, 1408, 16, 64), (4096, 8, 2, 1000, 2816, 128, 128))
def moe_gemm(tokens, e, topk, k, n, bm, bn):
    a = randn(tokens, k)
    b = randn(e, n, k, scale=0.05)
    c = torch.empty(tokens * topk, n, device=DEV, dtype=bf16)
    w = rand(tokens * topk)
    # an even distribution of the tokens over the experts
    per = tokens * topk // e
    padded = triton.cdiv(per, bm) * bm
    sorted_ids = torch.full((e, padded), tokens * topk, device=DEV, dtype=i32)
    sorted_ids[:, :per] = torch.randperm(tokens * topk, device=DEV)[:per * e].view(e, per).to(i32)
    experts = torch.arange(e, device=DEV, dtype=i32).repeat_interleave(padded // bm)
    post = tensor([e * padded])
    fused_moe_gemm[(e * padded // bm * triton.cdiv(n, bn),)](a, b, c, w, sorted_ids, experts, post, n, k, tokens * topk, a.stride(0), a.stride(1),
                                                             b.stride(0), b.stride(2), b.stride(1), c.stride(0), c.stride(1), e * padded,
                                                             BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=64, GROUP_M=8, MUL_ROUTED_WEIGHT=True,
                                                             top_k=topk, EVEN_K=k % 64 == 0, num_warps=4 if bm < 128 else 8, num_stages=3)


# ---------------------------------------------------------------- sum over the experts of a token
@triton.jit
def moe_sum_kernel(x, y, H, TOPK: tl.constexpr, BLOCK: tl.constexpr):
    t = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    m = c < H
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for k in range(TOPK):
        acc += tl.load(x + (t * TOPK + k) * H + c, mask=m, other=0.0)
    tl.store(y + t * H + c, acc.to(y.dtype.element_ty), mask=m)


@case((4096, 8, 2880), (2048, 6, 5120))
def moe_sum(tokens, k, h):
    x = randn(tokens * k, h, dtype=f16)
    y = torch.empty(tokens, h, device=DEV, dtype=f16)
    moe_sum_kernel[(tokens, triton.cdiv(h, 1024))](x, y, h, TOPK=k, BLOCK=1024)


# ---------------------------------------------------------------- LoRA, decode: bgmv shrink by tl.sum with split-k atomics, and expand
@triton.jit
def bgmv_shrink_kernel(x_ptr, w_ptr, y_ptr, lora_idx, scaling, K, xs, ws_l, ws_r, ys, R: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT_K: tl.constexpr):
    split = tl.program_id(0)
    b = tl.program_id(1)
    li = tl.load(lora_idx + b)
    if li == -1:
        return
    r = tl.arange(0, R)
    k0 = tl.arange(0, BLOCK_K) + split * BLOCK_K
    acc = tl.zeros((R,), tl.float32)
    for k in range(0, K, BLOCK_K * SPLIT_K):
        kk = k + k0
        x = tl.load(x_ptr + b * xs + kk, mask=kk < K, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + li * ws_l + r[:, None] * ws_r + kk[None, :], mask=kk[None, :] < K, other=0.0).to(tl.float32)
        acc += tl.sum(x[None, :] * w, 1)
    acc *= scaling
    if SPLIT_K == 1:
        tl.store(y_ptr + b * ys + r, acc)
    else:
        tl.atomic_add(y_ptr + b * ys + r, acc)


@triton.jit
def bgmv_expand_kernel(x_ptr, w_ptr, y_ptr, lora_idx, N, xs, ws_l, ws_n, ys, R: tl.constexpr, BLOCK_N: tl.constexpr, SPLIT_N: tl.constexpr, ADD: tl.constexpr):
    sn = tl.program_id(0)
    b = tl.program_id(1)
    li = tl.load(lora_idx + b)
    if li == -1:
        return
    r = tl.arange(0, R)
    x = tl.load(x_ptr + b * xs + r).to(w_ptr.dtype.element_ty)
    width = tl.cdiv(N, SPLIT_N)
    for n0 in range(0, width, BLOCK_N):
        o = n0 + tl.arange(0, BLOCK_N)
        n = sn * width + o
        m = (o < width) & (n < N)
        w = tl.load(w_ptr + li * ws_l + n[:, None] * ws_n + r[None, :], mask=m[:, None], other=0.0)
        acc = tl.sum(x[None, :] * w, 1)
        if ADD:
            acc += tl.load(y_ptr + b * ys + n, mask=m)
        tl.store(y_ptr + b * ys + n, acc, mask=m)


@case((256, 4096, 4096, 16, 32), (64, 8192, 28672, 64, 8))
def lora_bgmv(batch, k, n, r, loras):
    x = randn(batch, k, dtype=f16)
    a = randn(loras, r, k, dtype=f16)
    bw = randn(loras, n, r, dtype=f16)
    idx = randint(-1, loras, batch)
    t = zeros(batch, r, dtype=f32)
    y = randn(batch, n, dtype=f16)
    bgmv_shrink_kernel[(8, batch)](x, a, t, idx, 0.5, k, x.stride(0), a.stride(0), a.stride(1), t.stride(0), R=r, BLOCK_K=256, SPLIT_K=8)
    bgmv_expand_kernel[(16, batch)](t, bw, y, idx, n, t.stride(0), bw.stride(0), bw.stride(1), y.stride(0), R=r, BLOCK_N=128, SPLIT_N=16, ADD=True)


# ---------------------------------------------------------------- LoRA, prefill: sgmv shrink (split-k) and expand over segments
@triton.jit
def sgmv_shrink_kernel(x_ptr, w_ptr, y_ptr, seq_start, seq_len, lora_idx, scaling, N, K, xs, wl, wn, ys,
                       BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT_K: tl.constexpr):
    pid = tl.program_id(0)
    split = tl.program_id(1)
    b = tl.program_id(2)
    n_tiles = tl.cdiv(N, BN)
    pm = pid // n_tiles
    pn = pid % n_tiles
    M = tl.load(seq_len + b)
    if pm * BM >= M:
        return
    li = tl.load(lora_idx + b)
    if li == -1:
        return
    s0 = tl.load(seq_start + b)
    om = pm * BM + tl.arange(0, BM)
    on = pn * BN + tl.arange(0, BN)
    ok = split * BK + tl.arange(0, BK)
    ram = tl.max_contiguous(tl.multiple_of(om % M, BM), BM)
    rbn = tl.max_contiguous(tl.multiple_of(on % N, BN), BN)
    a_ptr = x_ptr + (s0 + ram)[:, None] * xs + ok[None, :]
    b_ptr = w_ptr + li * wl + rbn[None, :] * wn + ok[:, None]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK * SPLIT_K)):
        rem = K - k * BK * SPLIT_K
        a = tl.load(a_ptr, mask=ok[None, :] < rem, other=0.0)
        w = tl.load(b_ptr, mask=ok[:, None] < rem, other=0.0)
        acc += tl.dot(a, w)
        a_ptr += BK * SPLIT_K
        b_ptr += BK * SPLIT_K
    acc *= scaling
    tl.atomic_add(y_ptr + (s0 + om)[:, None] * ys + on[None, :], acc, mask=(om[:, None] < M) & (on[None, :] < N))


@triton.jit
def sgmv_expand_kernel(t_ptr, w_ptr, y_ptr, seq_start, seq_len, lora_idx, N, ts, wl, wn, ys, R: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    pn = tl.program_id(0)
    pm = tl.program_id(1)
    b = tl.program_id(2)
    M = tl.load(seq_len + b)
    li = tl.load(lora_idx + b)
    if (pm * BM >= M) | (li < 0):
        return
    s0 = tl.load(seq_start + b)
    om = pm * BM + tl.arange(0, BM)
    on = pn * BN + tl.arange(0, BN)
    r = tl.arange(0, R)
    t = tl.load(t_ptr + (s0 + om)[:, None] * ts + r[None, :], mask=om[:, None] < M, other=0.0)
    w = tl.load(w_ptr + li * wl + on[None, :] * wn + r[:, None], mask=on[None, :] < N, other=0.0)
    acc = tl.dot(t.to(w.dtype), w)
    yp = y_ptr + (s0 + om)[:, None] * ys + on[None, :]
    m = (om[:, None] < M) & (on[None, :] < N)
    y = tl.load(yp, mask=m, other=0.0)
    tl.store(yp, y + acc.to(y.dtype), mask=m)


@case((16, 512, 4096, 4096, 16), (4, 2048, 5120, 13824, 64))
def lora_sgmv(batch, seq, k, n, r):
    tokens = batch * seq
    x = randn(tokens, k)
    a = randn(batch, r, k)
    bw = randn(batch, n, r)
    t = zeros(tokens, r, dtype=f32)
    y = randn(tokens, n)
    start = torch.arange(0, tokens, seq, device=DEV, dtype=i64)
    lens = randint(seq // 2, seq + 1, batch, dtype=i64)
    idx = torch.arange(0, batch, device=DEV, dtype=i64)
    sgmv_shrink_kernel[(triton.cdiv(seq, 32), 8, batch)](x, a, t, start, lens, idx, 2.0, r, k, x.stride(0), a.stride(0), a.stride(1), t.stride(0),
                                                         BM=32, BN=16, BK=32, SPLIT_K=8) if r == 16 else \
        sgmv_shrink_kernel[(triton.cdiv(seq, 64), 4, batch)](x, a, t, start, lens, idx, 2.0, r, k, x.stride(0), a.stride(0), a.stride(1), t.stride(0),
                                                             BM=64, BN=64, BK=64, SPLIT_K=4, num_stages=4)
    sgmv_expand_kernel[(triton.cdiv(n, 128), triton.cdiv(seq, 64), batch)](t, bw, y, start, lens, idx, n, t.stride(0), bw.stride(0), bw.stride(1), y.stride(0),
                                                                           R=r, BM=64, BN=128)
