"""The functions of the .tile files of fields, as one writes them in PyTorch."""

import math

import torch

F = torch.nn.functional


# ---- blocks


def mla_absorbed_queries(q, w_uk, cos, sin):
    """Queries of latent attention in the latent's space, with the rotated part behind them."""
    q_nope, q_pe = torch.split(q, [128, 64], dim=-1)
    q_nope = torch.einsum("thd,hdc->thc", q_nope, w_uk)
    a, b = q_pe[..., 0::2], q_pe[..., 1::2]
    q_pe = torch.cat([a, b], dim=-1)
    q_pe = q_pe * cos[:, None] + torch.cat([-b, a], dim=-1) * sin[:, None]
    return torch.cat([q_nope, q_pe], dim=-1)


def mamba2_step(state, x, dt, a_log, b, c, d, dt_bias, z):
    """One token through the state of Mamba-2."""
    dt = F.softplus(dt.float() + dt_bias)
    decay = torch.exp(dt * -torch.exp(a_log))
    update = (dt[..., None] * x)[..., None] * b[:, None, None, :]
    state.copy_(state * decay[:, :, None, None] + update)
    y = torch.einsum("bhpn,bn->bhp", state, c.float()) + d[:, None] * x
    return (y * F.silu(z.float())).to(x.dtype)


def mamba1_step(state, x, dt, a_log, b, c, d):
    dt = F.softplus(dt.float())
    state.mul_(torch.exp(dt.unsqueeze(-1) * -torch.exp(a_log)))
    state.add_((dt * x).unsqueeze(-1) * b.unsqueeze(1))
    return ((state * c.unsqueeze(1)).sum(-1) + d * x).to(x.dtype)


def conv_state_step(conv_state, x, w, b):
    """The short convolution of a state space model, one token at a time."""
    conv_state.copy_(torch.roll(conv_state, shifts=-1, dims=-1))
    conv_state[:, :, -1] = x
    return F.silu((conv_state * w).sum(dim=-1) + b)


def rwkv_time_mix(x, mu, wr, wk, wv):
    """Each token mixed with the one before, then three projections."""
    xx = F.pad(x, (0, 0, 1, -1)) - x
    xr, xk, xv = x + xx * mu[0], x + xx * mu[1], x + xx * mu[2]
    return torch.sigmoid(F.linear(xr, wr)), F.linear(xk, wk), F.linear(xv, wv)


def rwkv_channel_mix(x, mu, wk, wv):
    before = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], dim=1)
    k = torch.relu(F.linear(torch.lerp(x, before, mu), wk)) ** 2
    return F.linear(k, wv)


def wkv_step(state, r, k, v, w, u):
    """RWKV-6: a state of outer products, read with a bonus for the present token."""
    kv = k.float().unsqueeze(-1) * v.float().unsqueeze(-2)
    y = (r.float().unsqueeze(-2) @ (state + u[..., None] * kv)).squeeze(-2)
    state.copy_(state * torch.exp(-torch.exp(w)).unsqueeze(-1) + kv)
    return y.to(r.dtype)


def gated_delta_step(state, q, k, v, g, beta):
    """The gated delta rule (Qwen3-Next), one token."""
    q = F.normalize(q.float(), dim=-1) * q.shape[-1] ** -0.5
    k = F.normalize(k.float(), dim=-1)
    s = state * torch.exp(g)[..., None, None]
    seen = (s * k[..., None]).sum(-2)
    delta = (v.float() - seen) * beta[..., None]
    s = s + k[..., None] * delta[..., None, :]
    state[:] = s
    return (s * q[..., None]).sum(-2).to(v.dtype)


def differential_combine(a1, a2, lq1, lk1, lq2, lk2, weight):
    """Differential attention behind its two attentions: lambda, the difference, a norm of each head."""
    lam = torch.exp((lq1 * lk1).sum()) - torch.exp((lq2 * lk2).sum()) + 0.8
    y = F.rms_norm(a1 - lam * a2, (a1.shape[-1],), weight, eps=1e-5) * (1 - 0.8)
    return y.flatten(2).to(a1.dtype)


def nsa_combine(x, wg, compressed, selected, window):
    """Native sparse attention: three branches with a gate of each head."""
    b, t, h, d = compressed.shape
    g = torch.sigmoid(F.linear(x, wg)).view(b, t, h, 3)
    out = g[..., 0:1] * compressed + g[..., 1:2] * selected + g[..., 2:3] * window
    return out.reshape(b, t, h * d)


def nsa_compress(k, position, w):
    """Blocks of 32 keys, 16 apart, become one key each."""
    b, s, h, d = k.shape
    half = k.view(b, s // 16, 16, h, d).transpose(2, 3)
    blocks = torch.cat([half[:, :-1], half[:, 1:]], dim=3) + position
    return F.linear(blocks.flatten(3), w)


def partial_rope(q, cos, sin, positions):
    """GLM: the first 32 of 128 are rotated in pairs, by positions that are given."""
    c, s = cos[positions][:, :, None], sin[positions][:, :, None]
    rot, rest = q[..., :32], q[..., 32:]
    a, b = rot.float().reshape(*rot.shape[:-1], -1, 2).unbind(-1)
    rot = torch.stack([a * c - b * s, b * c + a * s], dim=-1).flatten(-2)
    return torch.cat([rot.to(q.dtype), rest], dim=-1)


def mrope(q, cos, sin):
    """Qwen2-VL: sections of a head turn by time, height and width."""
    sections = [16, 24, 24] * 2
    cos = torch.cat([m[i % 3] for i, m in enumerate(torch.split(cos, sections, dim=-1))], dim=-1).unsqueeze(1)
    sin = torch.cat([m[i % 3] for i, m in enumerate(torch.split(sin, sections, dim=-1))], dim=-1).unsqueeze(1)
    x1, x2 = q.chunk(2, dim=-1)
    return q * cos + torch.cat((-x2, x1), dim=-1) * sin


def kv_cache_write(k_cache, v_cache, k, v, slots):
    k_cache[slots] = k
    v_cache[slots] = v


def paged_decode(q, k_pages, v_pages, table, lengths):
    """One token of each sequence, keys and values in pages of sixteen."""
    b, n = table.shape
    k = k_pages[table].reshape(b, n * 16, 8, 128)
    v = v_pages[table].reshape(b, n * 16, 8, 128)
    q = q.view(b, 8, 4, 128)
    s = torch.einsum("bhgd,bshd->bhgs", q, k) * 128 ** -0.5
    seen = torch.arange(n * 16, device=q.device) < lengths[:, None]
    s = s.masked_fill(~seen[:, None, None], float("-inf"))
    return torch.einsum("bhgs,bshd->bhgd", s.softmax(-1), v).reshape(b, 32, 128)


def retention(q, k, v):
    """RetNet, all of a sequence at once: scores that fade by their distance, a norm of each head."""
    h, t = q.shape[1], q.shape[2]
    gamma = 1 - torch.exp2(-5.0 - torch.arange(h, device=q.device))
    i = torch.arange(t, device=q.device)
    distance = i[:, None] - i[None, :]
    decay = torch.where(distance >= 0, gamma[:, None, None] ** distance.clamp(min=0), 0.0)
    y = (q @ k.mT * q.shape[-1] ** -0.5 * decay).to(v.dtype) @ v
    return F.rms_norm(y, y.shape[-1:], eps=1e-6)


def prefix_lm(q, k, v, prefix):
    """PaliGemma: a prefix that sees itself whole, then causal."""
    i = torch.arange(q.shape[2], device=q.device)
    seen = (i[None, :] <= i[:, None]) | (i[None, None, :] < prefix[:, None, None])
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen[:, None])


def cosine_attention(q, k, v, log_scale, bias):
    """Swin 2: cosines, a scale of each head that is at most 100, biases of places."""
    attn = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
    attn = attn * torch.clamp(log_scale, max=math.log(100.0)).exp() + bias
    return torch.softmax(attn, dim=-1).to(v.dtype) @ v


def attention_pool(x, mask, w):
    """Tokens weighed by a learned query."""
    s = (x @ w).float().masked_fill(~mask, -1e9)
    p = torch.softmax(s, dim=1)
    return (p.unsqueeze(-1) * x).sum(dim=1)


def multi_token_input(h, tokens, table, wh, we, w):
    """DeepSeek's prediction of several tokens: states and embeddings of the next token, both normed, projected."""
    e = F.embedding(tokens, table)
    return F.linear(torch.cat([F.rms_norm(h, h.shape[-1:], wh, eps=1e-6), F.rms_norm(e, e.shape[-1:], we, eps=1e-6)], dim=-1), w)


def medusa_heads(h, w, b):
    """Four heads for the next four tokens, each a residual block."""
    return h[:, None] + F.silu(torch.einsum("bc,kdc->bkd", h, w) + b)


def inverse_cdf_sample(logits, u):
    p = torch.softmax(logits.float() / 0.8, dim=-1)
    cdf = p.cumsum(dim=-1)
    return (cdf < u).sum(dim=-1).clamp(max=logits.shape[1] - 1)


def frequency_penalty(logits, counts, frequency, presence, bias):
    """Penalties for what was said, a bias, and the logarithms of probabilities."""
    x = logits.float() - frequency[:, None] * counts - presence[:, None] * (counts > 0) + bias
    return torch.log_softmax(x, dim=-1)


# ---- routers


def moe_gather_combine(y, where, weights, shared):
    """Rows of eight experts back to their tokens, weighed, beside what the shared expert gave."""
    return (y[where] * weights[..., None]).sum(dim=1).to(y.dtype) + shared


def moe_scatter_combine(y, tokens, weights, residual):
    residual.index_add_(0, tokens, y.float() * weights[:, None])


def moe_permutation(experts, n=64):
    """Places of pairs of tokens and experts, in the experts' order, and where each expert begins."""
    flat = experts.flatten()
    order = torch.argsort(flat, stable=True)
    counts = torch.bincount(flat, minlength=n)
    return order // 4, counts.cumsum(0) - counts


def top_two_gating(logits):
    """GShard: the best two, whose places in the experts' queues are counted; who is behind the capacity is dropped."""
    p = torch.softmax(logits, dim=-1)
    e = logits.shape[1]
    first = p.argmax(dim=-1)
    mask1 = F.one_hot(first, e)
    second = torch.where(mask1 > 0, float("-inf"), logits).argmax(dim=-1)
    mask2 = F.one_hot(second, e)
    place1 = torch.cumsum(mask1, dim=0) - 1
    place2 = torch.cumsum(mask2, dim=0) - 1 + mask1.sum(dim=0, keepdim=True)
    capacity = 256
    mask1 = mask1 * (place1 < capacity)
    mask2 = mask2 * (place2 < capacity)
    aux = (p.mean(0) * mask1.float().mean(0)).sum() * e
    g1, g2 = (p * mask1).sum(-1), (p * mask2).sum(-1)
    total = (g1 + g2).clamp(min=1e-9)
    return first, second, g1 / total, g2 / total, aux


def expert_choice(x, w):
    """Experts choose their best 64 tokens."""
    scores = torch.softmax(F.linear(x, w).float(), dim=-1)
    gates, tokens = torch.topk(scores.T, 64, dim=-1)
    return gates, tokens, x[tokens]


def bias_update(experts, bias):
    """DeepSeek-V3 balances without a loss: biases of busy experts fall."""
    load = torch.bincount(experts.reshape(-1), minlength=256).float()
    bias.add_(0.001 * torch.sign(load.mean() - load))
    return load.max() / load.mean()


def soft_moe(x, phi):
    """Soft mixture: slots take means of tokens."""
    logits = (x @ phi).float()
    dispatch = torch.softmax(logits, dim=1)
    combine = torch.softmax(logits, dim=2)
    return torch.einsum("btd,bts->bsd", x, dispatch.to(x.dtype)), combine.to(x.dtype)


# ---- quantized


def awq_linear(x, q, zeros, scales):
    """Eight weights in a word of AWQ, in its order of nibbles, in groups of 128."""
    i = torch.arange(8, device=x.device)
    order = ((i & 1) * 4 + (i >> 1)) * 4
    k, n = q.shape
    w = ((q[:, :, None] >> order) & 0xF).reshape(k, n * 8)
    z = ((zeros[:, :, None] >> order) & 0xF).reshape(k // 128, n * 8)
    w = (w - z.repeat_interleave(128, dim=0)).half() * scales.repeat_interleave(128, dim=0)
    return x @ w


def gptq_act_order(x, q, scales, zeros, g_idx):
    """GPTQ whose rows name their groups."""
    k, n = q.shape
    shifts = torch.arange(0, 32, 4, device=x.device)
    w = ((q[:, None, :] >> shifts[None, :, None]) & 15).reshape(k * 8, n)
    w = (w - zeros[g_idx]) * scales[g_idx]
    return x @ w.to(x.dtype)


def nf4_linear(x, q, absmax, absmax2, offset, code):
    """QLoRA: a table of sixteen, scales of 64 that are bytes with scales of their own."""
    n, half = q.shape
    scale = absmax.float() / 255 * absmax2[:, None] + offset
    index = torch.stack([q >> 4, q & 0xF], dim=-1).view(n, half * 2).long()
    w = code[index].view(n, half // 32, 64) * scale[..., None]
    return F.linear(x, w.view(n, half * 2).to(x.dtype))


def smoothquant_linear(x, smooth, w, w_scale):
    """Activations smoothed and rounded to bytes by token, a product of bytes."""
    y = (x / smooth).float()
    s = y.abs().amax(dim=-1, keepdim=True) / 127
    xq = torch.round(y / s).to(torch.int8)
    acc = xq.to(torch.bfloat16) @ w.to(torch.bfloat16).T
    return (acc.float() * s * w_scale).to(x.dtype)


def fp8_block_gemm(a, a_scale, b, b_scale):
    """DeepSeek-V3: scales of 1 x 128 and of 128 x 128."""
    m, k = a.shape
    n = b.shape[0]
    x = (a.float().view(m, k // 128, 128) * a_scale[:, :, None]).view(m, k)
    y = (b.float().view(n // 128, 128, k // 128, 128) * b_scale[:, None, :, None]).view(n, k)
    return x.bfloat16() @ y.bfloat16().T


def kv_to_int4(k):
    """Keys to four bits with the least and a step of each head and token, two in a byte."""
    x = k.float()
    low, high = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
    step = (high - low).clamp(min=1e-6) / 15
    q = ((x - low) / step).round().clamp(0, 15).to(torch.uint8)
    return q[..., ::2] | (q[..., 1::2] << 4), torch.cat([step, low], dim=-1).half()


def kv_from_int4(q, meta):
    x = torch.stack([q & 15, q >> 4], dim=-1).flatten(-2)
    return (x.float() * meta[..., 0:1] + meta[..., 1:2]).to(torch.bfloat16)


def int8_cache_decode(q, k, k_scale, v, v_scale):
    """One token of each sequence, keys and values in bytes."""
    kk = (k.float() * k_scale[..., None]).to(q.dtype)
    vv = (v.float() * v_scale[..., None]).to(q.dtype)
    p = torch.softmax(torch.einsum("bhd,bshd->bhs", q, kk).float() * q.shape[-1] ** -0.5, dim=-1)
    return torch.einsum("bhs,bshd->bhd", p.to(q.dtype), vv)


def mxfp4_dequant(q, scales):
    """OCP's microscaling: two numbers of e2m1 in a byte, a power of two for 32."""
    n, k = q.shape
    x = torch.stack([q & 0xF, q >> 4], dim=-1).view(n, k // 16, 32).to(torch.int32)
    sign = 1.0 - 2.0 * (x >> 3)
    e, m = (x >> 1) & 3, x & 1
    value = torch.where(e == 0, 0.5 * m, (1 + 0.5 * m) * torch.exp2(e - 1.0))
    y = sign * value * torch.exp2(scales.float() - 127)[:, :, None]
    return y.view(n, k * 2).to(torch.bfloat16)


def mxfp8_quant(x):
    """Blocks of 32 to e4m3 with exponents in bytes."""
    m, k = x.shape
    y = x.float().view(m, k // 32, 32)
    e = torch.floor(torch.log2(y.abs().amax(-1).clamp(min=1e-30))) - 8
    e = e.clamp(-127, 127)
    q = (y * torch.exp2(-e)[..., None]).clamp(-448, 448).to(torch.float8_e4m3fn)
    return q.view(m, k), (e + 127).to(torch.uint8)


def fp8_per_tensor(x):
    """One scale for all, and the transpose beside it, as training wants it."""
    scale = 448.0 / x.abs().max().float().clamp(min=1e-12)
    q = (x.float() * scale).to(torch.float8_e4m3fn)
    return q, q.T.contiguous(), 1 / scale


def bitnet_linear(x, w, w_scale):
    """Weights of -1, 0 and 1, four in a byte; activations in 8 bits."""
    n, k = w.shape
    t = ((w[:, :, None] >> (torch.arange(4, device=x.device) * 2).to(torch.uint8)) & 3).reshape(n, k * 4).to(torch.int8) - 1
    s = 127.0 / x.float().abs().amax(-1, keepdim=True).clamp(min=1e-5)
    xq = torch.round(x.float() * s).clamp(-128, 127)
    return (F.linear(xq.to(x.dtype), t.to(x.dtype)).float() / s * w_scale).to(x.dtype)


def hadamard_int4(x):
    """QuaRot: a fast Hadamard transform of 128, then four bits."""
    m, n = x.shape
    y = x.float().view(m, n // 128, 128)
    h = 1
    while h < 128:
        y = y.view(m, n // 128, 128 // (2 * h), 2, h)
        a, b = y[..., 0, :], y[..., 1, :]
        y = torch.stack([a + b, a - b], dim=-2)
        h *= 2
    y = y.view(m, n // 128, 128) * 128 ** -0.5
    s = y.abs().amax(-1, keepdim=True) / 7
    q = (y / s).round().clamp(-8, 7).to(torch.int8)
    return q.view(m, n), s.squeeze(-1)


def fake_quant_backward(w, step, g):
    """Learned step sizes: rounding lets gradients through, and gives the steps theirs."""
    v = (w / step).clamp(-8, 7)
    q = v + (v.round() - v).detach()
    return (q * step * g).sum()


def stochastic_int8(g, seed=7):
    """Gradients to bytes, rounded up as often as they are nearer."""
    m, n = g.shape
    y = g.view(m, n // 256, 256)
    s = y.abs().amax(-1, keepdim=True).clamp(min=1e-12) / 127
    noise = torch.rand_like(y)
    return torch.floor(y / s + noise).clamp(-127, 127).to(torch.int8).view(m, n), s.squeeze(-1)


# ---- training


def ppo_backward(logits, values, actions, old_logp, old_values, advantages, returns):
    """PPO with clipped values and an entropy bonus, by logits and values."""
    adv = (advantages - advantages.mean()) / (advantages.std(unbiased=True) + 1e-8)
    logp = torch.log_softmax(logits, dim=-1)
    entropy = -(logp.exp() * logp).sum(-1).mean()
    ratio = torch.exp(logp.gather(1, actions[:, None]).squeeze(1) - old_logp)
    policy = torch.maximum(-adv * ratio, -adv * torch.clamp(ratio, 0.8, 1.2)).mean()
    clipped = old_values + (values - old_values).clamp(-0.2, 0.2)
    value = 0.5 * torch.maximum((values - returns) ** 2, (clipped - returns) ** 2).mean()
    return policy + 0.5 * value - 0.01 * entropy


def gae(rewards, values, gl=0.95 * 0.99):
    """Generalized advantages: sums of what follows, fading."""
    delta = rewards + 0.99 * values[:, 1:] - values[:, :-1]
    t = rewards.shape[1]
    i = torch.arange(t, device=rewards.device)
    ahead = i[:, None] - i[None, :]
    fade = torch.where(ahead >= 0, gl ** ahead.float(), 0.0)
    adv = delta @ fade
    return adv, adv + values[:, :-1]


def moco_loss(q, k, queue):
    """Contrast with a queue."""
    q, k = F.normalize(q, dim=1), F.normalize(k, dim=1)
    pos = torch.einsum("nc,nc->n", q, k).unsqueeze(-1)
    neg = q @ queue.T
    logits = torch.cat([pos, neg], dim=1).float() / 0.07
    labels = torch.zeros(q.shape[0], dtype=torch.int64, device=q.device)
    return F.cross_entropy(logits, labels)


def simpo_backward(logits, labels, mask):
    """Preference without a reference: mean log-probabilities of chosen and rejected."""
    logp = torch.log_softmax(logits.float(), dim=-1).gather(2, labels[..., None]).squeeze(-1)
    mean = (logp * mask).sum(-1) / mask.sum(-1)
    chosen, rejected = mean.chunk(2, dim=0)
    return -F.logsigmoid(2.0 * (chosen - rejected) - 0.5).mean()


def grpo_backward(logits, actions, old, ref, adv, mask):
    logits = logits.float()
    logp = logits.gather(2, actions[..., None]).squeeze(-1) - torch.logsumexp(logits, dim=-1)
    ratio = (logp - old).exp()
    a = adv[:, None]
    gain = torch.minimum(ratio * a, ratio.clamp(0.8, 1.28) * a)
    d = ref - logp
    kl = d.exp() - d - 1
    return -(((gain - 0.02 * kl) * mask).sum() / mask.sum())


def topk_distillation(student, teacher, index):
    """The teacher's best 64 log-probabilities were kept; the rest is one class."""
    logp = torch.log_softmax(student.float(), dim=-1).gather(1, index)
    q = teacher.exp()
    rest_q = (1 - q.sum(-1)).clamp(min=1e-6)
    rest_p = (1 - logp.exp().sum(-1)).clamp(min=1e-6)
    kl = (q * (teacher - logp)).sum(-1) + rest_q * (rest_q.log() - rest_p.log())
    return kl.mean()


def ctc_steps(logp, alpha, labels, skip):
    """Eight steps of the forward variables of CTC."""
    for t in range(8):
        one = F.pad(alpha[:, :-1], (1, 0), value=float("-inf"))
        two = F.pad(alpha[:, :-2], (2, 0), value=float("-inf"))
        two = two.masked_fill(~skip, float("-inf"))
        alpha = torch.logaddexp(torch.logaddexp(alpha, one), two) + logp[t].gather(1, labels)
    return alpha


def sophia_step(p, g, m, h, lr=1e-3):
    m.lerp_(g.float(), 1 - 0.965)
    ratio = (m / (0.04 * 240 * h + 1e-15)).clamp(-1, 1)
    p.mul_(1 - lr * 0.1).add_(ratio * -lr)
    return (ratio.abs() < 1).float().mean()


def shampoo_step(p, g, left, right, left_root, right_root):
    """Statistics of rows and columns, and a gradient between their roots, as long as the gradient was."""
    left.mul_(0.95).add_(g @ g.T, alpha=0.05)
    right.mul_(0.95).add_(g.T @ g, alpha=0.05)
    d = left_root @ g @ right_root
    p.sub_(1e-3 * d * (g.norm() / (d.norm() + 1e-12)))


def schedule_free_adamw(y, z, v, g, ckp1=0.01, lr=1e-3):
    """Schedule-free: the point of gradients lies between an average and a fast one."""
    grad = g.float()
    v.mul_(0.999).addcmul_(grad, grad, value=0.001)
    step = grad / (v.sqrt() + 1e-8) + 0.01 * y
    y.lerp_(z.to(y.dtype), weight=ckp1)
    y.add_(step, alpha=lr * (0.9 * (1 - ckp1) - 1))
    z.sub_(step, alpha=lr)


def adaptive_clip(p, g):
    """NFNets: gradients of a unit are at most a hundredth of its weights."""
    pn = torch.norm(p, dim=1, keepdim=True).clamp(min=1e-3)
    gn = torch.norm(g, dim=1, keepdim=True)
    g.copy_(torch.where(gn > 0.01 * pn, g * (0.01 * pn / gn.clamp(min=1e-6)), g))


def batch_hard_triplet(z, labels):
    d = torch.cdist(z, z)
    same = labels[:, None] == labels[None, :]
    far = d.masked_fill(~same, 0).max(dim=1).values
    near = d.masked_fill(same, float("inf")).min(dim=1).values
    return torch.relu(far - near + 0.3).mean()


def arcface(x, w, labels):
    """An angle of half a radian more for the right class."""
    cosine = F.linear(F.normalize(x), F.normalize(w)).float().clamp(-1 + 1e-7, 1 - 1e-7)
    target = torch.cos(torch.acos(cosine) + 0.5)
    hot = F.one_hot(labels, w.shape[0]).bool()
    return F.cross_entropy(64.0 * torch.where(hot, target, cosine), labels)


def dino_loss(student, teacher, centre):
    """Crops of two kinds; a centre that follows the teacher."""
    q = torch.softmax((teacher.float() - centre) / 0.04, dim=-1)
    logp = torch.log_softmax(student.float() / 0.1, dim=-1)
    total, n = 0, 0
    for i in range(2):
        for j in range(4):
            if i != j:
                total = total - (q[i] * logp[j]).sum(dim=-1).mean()
                n += 1
    centre.mul_(0.9).add_(teacher.float().mean(dim=(0, 1)), alpha=0.1)
    return total / n


def quantile_huber_backward(theta, target):
    """QR-DQN: each quantile against each target."""
    n = theta.shape[1]
    tau = (torch.arange(n, device=theta.device) + 0.5) / n
    u = target[:, None, :] - theta[:, :, None]
    huber = torch.where(u.abs() <= 1.0, 0.5 * u ** 2, u.abs() - 0.5)
    return ((tau[None, :, None] - (u.detach() < 0).float()).abs() * huber).mean(2).sum(1).mean()


def c51_project(p, rewards, done):
    """The distribution of returns, moved by a reward, back onto its support."""
    dz = 20.0 / 50
    support = torch.linspace(-10.0, 10.0, 51, device=p.device)
    tz = (rewards[:, None] + (1 - done)[:, None] * 0.99 * support).clamp(-10.0, 10.0)
    b = (tz + 10.0) / dz
    low, up = b.floor().clamp(0, 50), b.ceil().clamp(0, 50)
    even = (low == up).float()
    out = torch.zeros_like(p)
    out.scatter_add_(1, low.long(), p * (up - b + even))
    out.scatter_add_(1, up.long(), p * (b - low))
    return out


def galore_step(p, g, basis, m, v):
    """Adam in a space of 128 directions."""
    r = basis.T @ g
    m[:] = 0.9 * m + 0.1 * r
    v[:] = 0.999 * v + 0.001 * r.square()
    p -= 1e-2 * 0.25 * (basis @ (m / (v.sqrt() + 1e-8)))


def mixup(x, labels, lam, perm, classes=1000):
    l = lam[:, None, None, None]
    mixed = (l * x + (1 - l) * x[perm]).to(x.dtype)
    y = F.one_hot(labels, classes).float()
    return mixed, lam[:, None] * y + (1 - lam)[:, None] * y[perm]


def swiglu_mlp_backward(x, w1, w3, w2, g):
    return (F.linear(F.silu(F.linear(x, w1)) * F.linear(x, w3), w2) * g).sum()


def lora_backward(x, w, a, b, g):
    """Low rank matrices alone get gradients, and what came in."""
    return ((F.linear(x, w) + 2.0 * F.linear(F.linear(x, a), b)) * g).sum()


def flow_matching_loss(pred, x, noise, t):
    """Rectified flow, weighed by the time's signal-to-noise, by sample."""
    target = noise - x
    weight = 1 / (t * (1 - t)).clamp(min=1e-3).sqrt() / math.pi
    per = (pred.float() - target.float()).pow(2).mean(dim=(1, 2, 3))
    return (weight * per).mean(), per


# ---- pictures


def depthwise_nhwc(x, w, scale, shift):
    """A depthwise convolution of pictures whose channels lie together, norm folded in, hard swish."""
    y = F.conv2d(x.permute(0, 3, 1, 2), w, padding=2, groups=x.shape[3]).permute(0, 2, 3, 1)
    return F.hardswish(y * scale + shift)


def focus_slices(x):
    """YOLOv5's stem: four pictures of half the size, side by side."""
    return torch.cat([x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2]], dim=1)


def grid_sample(x, grid):
    """Bilinear samples, zeros outside, corners aligned."""
    n, c, h, w = x.shape
    gx = (grid[..., 0] + 1) / 2 * (w - 1)
    gy = (grid[..., 1] + 1) / 2 * (h - 1)
    x0, y0 = gx.floor(), gy.floor()
    wx, wy = gx - x0, gy - y0
    flat = x.flatten(2)
    out = 0
    for dy in (0, 1):
        for dx in (0, 1):
            xi, yi = (x0 + dx).long(), (y0 + dy).long()
            inside = (xi >= 0) & (xi < w) & (yi >= 0) & (yi < h)
            index = (yi.clamp(0, h - 1) * w + xi.clamp(0, w - 1)).flatten(1)
            value = flat.gather(2, index[:, None].expand(n, c, index.shape[1])).view(n, c, *gx.shape[1:])
            weight = (wx if dx else 1 - wx) * (wy if dy else 1 - wy) * inside
            out = out + value * weight[:, None]
    return out


def matrix_nms(boxes, scores):
    """Scores of sorted boxes, lowered by better ones that cover them."""
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    lt = torch.maximum(boxes[:, None, :2], boxes[None, :, :2])
    rb = torch.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[..., 0] * wh[..., 1]
    iou = torch.triu(inter / (area[:, None] + area[None, :] - inter + 1e-7), diagonal=1)
    worst = iou.max(dim=0).values
    decay = ((1 - iou) / (1 - worst[:, None] + 1e-7)).amin(dim=0)
    return scores * decay


def rgb_to_hsv(x):
    r, g, b = x.float().unbind(1)
    top, low = x.float().amax(dim=1), x.float().amin(dim=1)
    d = top - low
    safe = torch.where(d == 0, torch.ones_like(d), d)
    hue = torch.where(top == r, (g - b) / safe % 6, torch.where(top == g, (b - r) / safe + 2, (r - g) / safe + 4)) / 6
    s = torch.where(top == 0, 0.0, d / top.clamp(min=1e-8))
    return torch.stack([hue, s, top], dim=1).to(x.dtype)


def srgb_to_lab(x, m, white):
    """Bytes of sRGB to CIE Lab."""
    c = x.float() / 255
    linear = torch.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    xyz = torch.einsum("nhwc,kc->nhwk", linear, m) / white
    f = torch.where(xyz > 0.008856, xyz ** (1 / 3), 7.787 * xyz + 16 / 116)
    fx, fy, fz = f[..., 0], f[..., 1], f[..., 2]
    return torch.stack([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)], dim=-1)


def unsharp_mask(x, amount=1.5):
    """What a Gaussian of nine takes away, added."""
    i = torch.arange(9, device=x.device).float() - 4
    g = torch.exp(-i ** 2 / (2 * 1.6 ** 2))
    g = g / g.sum()
    p = F.pad(x.float(), (4, 4, 4, 4), mode="reflect")
    h, w = x.shape[2], x.shape[3]
    rows = sum(g[k] * p[:, :, k:k + h] for k in range(9))
    blur = sum(g[k] * rows[..., k:k + w] for k in range(9))
    return (x + amount * (x - blur)).clamp(0, 1).to(x.dtype)


def batch_norm_add_relu_nhwc(x, skip, weight, bias):
    """Training, channels last: statistics, norm, the shortcut, ReLU."""
    var, mean = torch.var_mean(x.float(), dim=(0, 1, 2), unbiased=False)
    y = (x - mean) * torch.rsqrt(var + 1e-5) * weight + bias
    return torch.relu(y + skip).to(x.dtype), mean, var


def film_group_norm(x, emb, w, b):
    """ADM's residual block: a norm of groups, scaled and shifted by an embedding, SiLU."""
    scale, shift = emb[:, :, None, None].chunk(2, dim=1)
    return F.silu(F.group_norm(x, 24, w, b) * (1 + scale) + shift)


def shifted_windows(x, w, b):
    """Swin: norm, a cyclic shift by four, windows of eight."""
    n, h, wd, c = x.shape
    y = F.layer_norm(x, (c,), w, b)
    y = torch.roll(y, shifts=(-4, -4), dims=(1, 2))
    y = y.view(n, h // 8, 8, wd // 8, 8, c)
    return y.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, 64, c)


def cbam_spatial(x, w):
    """Attention to places by the mean and the largest of channels."""
    s = torch.cat([x.mean(dim=1, keepdim=True), x.max(dim=1, keepdim=True)[0]], dim=1)
    return x * torch.sigmoid(F.conv2d(s, w, padding=3))


def eca(x, w):
    """A gate of each channel by its neighbours' means."""
    y = F.adaptive_avg_pool2d(x, 1).squeeze(-1).transpose(-1, -2)
    y = F.conv1d(y, w, padding=2).transpose(-1, -2).unsqueeze(-1)
    return x * torch.sigmoid(y).expand_as(x)


def pixel_shuffle_lrelu(x, b, skip):
    return F.leaky_relu(F.pixel_shuffle(x + b[:, None, None], 2), 0.2) + skip


def median3x3(x):
    h, w = x.shape[1:]
    p = F.pad(x, (1, 1, 1, 1))
    windows = torch.stack([p[:, i:i + h, j:j + w] for i in range(3) for j in range(3)], dim=-1)
    return windows.median(dim=-1).values


def bilateral5x5(x):
    """A blur that stops at edges."""
    h, w = x.shape
    p = F.pad(x[None], (2, 2, 2, 2), mode="reflect")[0]
    total, weight = torch.zeros_like(x), torch.zeros_like(x)
    for i in range(5):
        for j in range(5):
            y = p[i:i + h, j:j + w]
            k = torch.exp(-((i - 2) ** 2 + (j - 2) ** 2) / 4.5 - (y - x) ** 2 / 0.02)
            total += k * y
            weight += k
    return total / weight


def yolo_decode(x, anchors, stride=16.0):
    """Boxes and scores of one scale."""
    b, _, h, w = x.shape
    x = x.view(b, 3, 85, h, w).permute(0, 1, 3, 4, 2).float()
    gy, gx = torch.meshgrid(torch.arange(h, device=x.device), torch.arange(w, device=x.device), indexing="ij")
    grid = torch.stack((gx, gy), dim=-1)
    y = x.sigmoid()
    xy = (y[..., 0:2] * 2 - 0.5 + grid) * stride
    wh = (y[..., 2:4] * 2) ** 2 * anchors[:, None, None]
    return torch.cat((xy, wh, y[..., 4:]), dim=-1).view(b, -1, 85)


def equalize(x):
    """Histogram equalization of each picture."""
    n, h, w = x.shape
    flat = x.reshape(n, h * w).long()
    hist = torch.zeros((n, 256), dtype=torch.int32, device=x.device).scatter_add(1, flat, torch.ones_like(flat, dtype=torch.int32))
    cdf = hist.cumsum(1)
    least = torch.where(cdf > 0, cdf, h * w).amin(1, keepdim=True)
    lut = ((cdf - least).float() / (h * w - least).clamp(min=1) * 255).round().clamp(0, 255).to(torch.uint8)
    return lut.gather(1, flat).view(n, h, w)


def composite(front, back):
    """A picture with transparency over another, in whole numbers."""
    a = front[..., 3:].to(torch.int32)
    y = front[..., :3].to(torch.int32) * a + back.to(torch.int32) * (255 - a)
    return ((y + 127) // 255).to(torch.uint8)


def jpeg_blocks(x, d, q):
    """Cosine transforms of blocks of 8 x 8, divided and rounded."""
    n, h, w = x.shape
    b = x.float().view(n, h // 8, 8, w // 8, 8).permute(0, 1, 3, 2, 4) - 128
    y = torch.einsum("ui,nhwij,vj->nhwuv", d, b, d)
    return torch.round(y / q).to(torch.int16)


def morphological_gradient(x):
    return F.max_pool2d(x, 3, stride=1, padding=1) + F.max_pool2d(-x, 3, stride=1, padding=1)


def guided_filter(p, guide):
    """He's filter by running sums of rows and columns, of radius 4."""
    def box(x):
        s = F.pad(x, (5, 4, 5, 4)).cumsum(1).cumsum(2)
        return (s[:, 9:, 9:] - s[:, :-9, 9:] - s[:, 9:, :-9] + s[:, :-9, :-9]) / 81
    mp, mg = box(p), box(guide)
    a = (box(p * guide) - mp * mg) / (box(guide * guide) - mg * mg + 1e-2)
    return box(a) * guide + box(mp - a * mg)


def response_norm(x, gamma, beta):
    """ConvNeXt 2: channels compete by their lengths."""
    gx = x.float().norm(p=2, dim=(1, 2), keepdim=True)
    nx = gx / (gx.mean(dim=-1, keepdim=True) + 1e-6)
    return (gamma * (x * nx) + beta + x).to(x.dtype)


def layer_norm_nchw(x, w, b):
    """Over channels that lie far apart."""
    u = x.mean(1, keepdim=True)
    s = (x - u).pow(2).mean(1, keepdim=True)
    x = (x - u) / torch.sqrt(s + 1e-6)
    return w[:, None, None] * x + b[:, None, None]


# ---- audio


def mu_law(x):
    y = torch.sign(x) * torch.log1p(255 * x.abs()) / math.log(256.0)
    return ((y + 1) / 2 * 255 + 0.5).to(torch.uint8)


def mu_law_inverse(q):
    y = q.float() / 255 * 2 - 1
    return torch.sign(y) * ((1 + 255.0) ** y.abs() - 1) / 255


def stft_power(x, re, im):
    """Frames of 400, 160 apart, by a matrix."""
    frames = x.unfold(-1, 400, 160) * torch.hann_window(400, device=x.device)
    return (frames @ re) ** 2 + (frames @ im) ** 2


def overlap_add(frames):
    """Half overlapping frames, windowed, added."""
    b, f, n = frames.shape
    y = frames * torch.hann_window(n, device=frames.device)
    first, second = y[..., :256], y[..., 256:]
    out = F.pad(first, (0, 0, 0, 1)) + F.pad(second, (0, 0, 1, 0))
    return out.reshape(b, (f + 1) * 256)


def spectral_shape(mag):
    """Centroid, bandwidth, flatness, and where 85 % of the energy lie below."""
    freq = torch.linspace(0, 8000.0, 513, device=mag.device)[:, None]
    p = mag / mag.sum(dim=1, keepdim=True).clamp(min=1e-9)
    centroid = (p * freq).sum(dim=1)
    width = (p * (freq - centroid[:, None]) ** 2).sum(dim=1).sqrt()
    flat = torch.exp(torch.log(mag + 1e-9).mean(dim=1)) / (mag.mean(dim=1) + 1e-9)
    rolloff = (mag.cumsum(dim=1) >= 0.85 * mag.sum(dim=1, keepdim=True)).int().argmax(dim=1)
    return centroid, width, flat, rolloff


def fir_causal(x, taps):
    return F.conv1d(F.pad(x, (30, 0)), taps, groups=x.shape[1])


def si_sdr(est, ref):
    """The scale-invariant ratio of signal and distortion."""
    est = est - est.mean(-1, keepdim=True)
    ref = ref - ref.mean(-1, keepdim=True)
    a = (est * ref).sum(-1, keepdim=True) / (ref.pow(2).sum(-1, keepdim=True) + 1e-8)
    target = a * ref
    return -(10 * torch.log10(target.pow(2).sum(-1) / ((est - target).pow(2).sum(-1) + 1e-8) + 1e-8)).mean()


def mfcc(mel, dct):
    x = torch.log(mel.clamp(min=1e-10))
    c = dct @ x
    lifter = 1 + 11 * torch.sin(math.pi * torch.arange(20, device=mel.device) / 22)
    c = c * lifter[:, None]
    return (c - c.mean(dim=2, keepdim=True)) / (c.std(dim=2, keepdim=True, unbiased=False) + 1e-5)


def snake(x, alpha, beta):
    """BigVGAN's activation, of logarithms."""
    a, b = alpha.exp()[None, :, None], beta.exp()[None, :, None]
    return x + (1.0 / (b + 1e-9)) * torch.pow(torch.sin(x * a), 2)


def pitch_lags(frames):
    """The autocorrelation at 64 lags, and the best."""
    x = frames - frames.mean(dim=1, keepdim=True)
    r = torch.stack([(x[:, :900] * x[:, lag:lag + 900]).sum(-1) for lag in range(40, 104)], dim=-1)
    r = r / (x[:, :900].pow(2).sum(-1, keepdim=True) + 1e-6)
    return r.max(dim=-1).values, r.argmax(dim=-1) + 40


def resample_linear(x, m=44100):
    """To another rate, by straight lines."""
    n = x.shape[1]
    at = torch.arange(m, device=x.device).float() * ((n - 1) / (m - 1))
    low = at.floor().long()
    return torch.lerp(x[:, low], x[:, (low + 1).clamp(max=n - 1)], at - low)


def wavenet_gate(x, w, b, cond):
    """A dilated causal convolution, conditioned, gated."""
    y = F.conv1d(F.pad(x, (8, 0)), w, b, dilation=8) + cond
    a, g = y.chunk(2, dim=1)
    return torch.tanh(a) * torch.sigmoid(g)


# ---- physics


def heat_3d(u, k):
    """A step of diffusion, the border stays as it is."""
    c = u[1:-1, 1:-1, 1:-1]
    laplace = (u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
               + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2] - 6 * c)
    u[1:-1, 1:-1, 1:-1] = c + 0.1 * k[1:-1, 1:-1, 1:-1] * laplace


def lennard_jones(x, box=20.0):
    """Energy and forces in a periodic box."""
    d = x[:, None] - x[None, :]
    d = d - box * torch.round(d / box)
    n = x.shape[0]
    r2 = (d ** 2).sum(-1) + torch.eye(n, device=x.device)
    s6 = (1.0 / r2) ** 3
    e = 4 * (s6 ** 2 - s6)
    near = (r2 < 6.25) & ~torch.eye(n, device=x.device).bool()
    return 0.5 * torch.where(near, e, 0.0).sum()


def shallow_water(h, u, v, dt=0.01):
    def dx(f):
        return (torch.roll(f, -1, 1) - torch.roll(f, 1, 1)) / 2

    def dy(f):
        return (torch.roll(f, -1, 0) - torch.roll(f, 1, 0)) / 2
    hn = h - dt * (dx(h * u) + dy(h * v))
    un = u - dt * (u * dx(u) + v * dy(u) + 9.81 * dx(h) - 0.1 * v)
    vn = v - dt * (u * dx(v) + v * dy(v) + 9.81 * dy(h) + 0.1 * u)
    return hn, un, vn


def fdtd_2d(ez, hx, hy, eps):
    """Maxwell's equations on Yee's grid, one step."""
    hx[:, :-1] -= 0.5 * (ez[:, 1:] - ez[:, :-1])
    hy[:-1, :] += 0.5 * (ez[1:, :] - ez[:-1, :])
    ez[1:-1, 1:-1] += 0.5 / eps[1:-1, 1:-1] * ((hy[1:-1, 1:-1] - hy[:-2, 1:-1]) - (hx[1:-1, 1:-1] - hx[1:-1, :-2]))


def red_black(u, f):
    """Gauss-Seidel in two colours, over-relaxed."""
    y, x = u.shape
    colour = (torch.arange(y, device=u.device)[:, None] + torch.arange(x, device=u.device)) % 2
    for c in (0, 1):
        p = F.pad(u, (1, 1, 1, 1))
        new = (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - f) / 4
        u = torch.where(colour == c, u + 1.8 * (new - u), u)
    return u


def gray_scott(u, v):
    def laplace(a):
        return (torch.roll(a, 1, -1) + torch.roll(a, -1, -1) + torch.roll(a, 1, -2) + torch.roll(a, -1, -2) - 4 * a)
    uvv = u * v * v
    du = 0.16 * laplace(u) - uvv + 0.035 * (1 - u)
    dv = 0.08 * laplace(v) + uvv - (0.035 + 0.065) * v
    return u + du, v + dv


def splat_colours(sh, centres, camera):
    """Gaussian splatting: colours by spherical harmonics of degree three."""
    d = centres - camera
    d = d / d.norm(dim=1, keepdim=True)
    x, y, z = d.split(1, dim=1)
    xx, yy, zz, xy, yz, xz = x * x, y * y, z * z, x * y, y * z, x * z
    c = (0.28209479 * sh[:, 0] - 0.48860251 * y * sh[:, 1] + 0.48860251 * z * sh[:, 2] - 0.48860251 * x * sh[:, 3]
         + 1.09254843 * xy * sh[:, 4] - 1.09254843 * yz * sh[:, 5] + 0.31539157 * (2 * zz - xx - yy) * sh[:, 6]
         - 1.09254843 * xz * sh[:, 7] + 0.54627421 * (xx - yy) * sh[:, 8]
         - 0.59004358 * y * (3 * xx - yy) * sh[:, 9] + 2.89061144 * xy * z * sh[:, 10]
         - 0.45704579 * y * (4 * zz - xx - yy) * sh[:, 11] + 0.37317633 * z * (2 * zz - 3 * xx - 3 * yy) * sh[:, 12]
         - 0.45704579 * x * (4 * zz - xx - yy) * sh[:, 13] + 1.44530572 * z * (xx - yy) * sh[:, 14]
         - 0.59004358 * x * (xx - 3 * yy) * sh[:, 15])
    return torch.clamp(c + 0.5, min=0.0)


def splat_covariance(scale, q):
    """Gaussian splatting: covariances of scales and quaternions, six numbers each."""
    q = F.normalize(q, dim=-1)
    r, x, y, z = q.unbind(-1)
    rot = torch.stack([1 - 2 * (y * y + z * z), 2 * (x * y - r * z), 2 * (x * z + r * y),
                      2 * (x * y + r * z), 1 - 2 * (x * x + z * z), 2 * (y * z - r * x),
                      2 * (x * z - r * y), 2 * (y * z + r * x), 1 - 2 * (x * x + y * y)], dim=-1).view(-1, 3, 3)
    m = rot * scale.exp()[:, None, :]
    cov = m @ m.transpose(1, 2)
    return torch.stack([cov[:, 0, 0], cov[:, 0, 1], cov[:, 0, 2], cov[:, 1, 1], cov[:, 1, 2], cov[:, 2, 2]], dim=-1)


def quaternion_rotate(q, v):
    w, u = q[:, :1], q[:, 1:]
    t = 2 * torch.cross(u, v, dim=-1)
    return v + w * t + torch.cross(u, t, dim=-1)


def slerp(a, b, t):
    dot = (a * b).sum(-1, keepdim=True)
    b = torch.where(dot < 0, -b, b)
    dot = dot.abs().clamp(max=1.0)
    theta = torch.acos(dot)
    s = torch.sin(theta)
    close = s < 1e-4
    safe = torch.where(close, 1.0, s)
    out = torch.where(close, torch.lerp(a, b, t), (torch.sin((1 - t) * theta) * a + torch.sin(t * theta) * b) / safe)
    return out / torch.linalg.norm(out, dim=-1, keepdim=True)


def heston(noise):
    """Sixteen steps of a stochastic volatility, all paths' payoffs."""
    dt = 1 / 16
    s = torch.full((noise.shape[2],), 100.0, device=noise.device)
    v = torch.full((noise.shape[2],), 0.04, device=noise.device)
    for i in range(16):
        z1, z2 = noise[i, 0], noise[i, 1]
        root = torch.sqrt(torch.relu(v) * dt)
        s = s * torch.exp(-0.5 * torch.relu(v) * dt + root * z1)
        v = v + 1.5 * (0.04 - torch.relu(v)) * dt + 0.3 * root * (-0.7 * z1 + math.sqrt(1 - 0.49) * z2)
    payoff = torch.relu(s - 100.0)
    return payoff.mean(), payoff.std(unbiased=False) / s.shape[0] ** 0.5


def sinkhorn(cost, a, b):
    """Optimal transport: five rounds of logarithms, and the plan."""
    eps = 0.1
    f, g = torch.zeros_like(a), torch.zeros_like(b)
    for _ in range(5):
        f = eps * (a.log() - torch.logsumexp((g[:, None, :] - cost) / eps, dim=2))
        g = eps * (b.log() - torch.logsumexp((f[:, :, None] - cost) / eps, dim=1))
    plan = torch.exp((f[:, :, None] + g[:, None, :] - cost) / eps)
    return plan, (plan * cost).sum(dim=(1, 2))


def mixture_em(x, mean, var, pi):
    """One round for a mixture of diagonal Gaussians."""
    inv = 1 / var
    maha = x ** 2 @ inv.T - 2 * x @ (mean * inv).T + (mean ** 2 * inv).sum(1)
    logp = pi.log() - 0.5 * (maha + var.log().sum(1) + x.shape[1] * math.log(2 * math.pi))
    total = torch.logsumexp(logp, dim=1, keepdim=True)
    r = torch.exp(logp - total)
    nk = r.sum(0)
    new = (r.T @ x) / nk[:, None]
    return total.mean(), nk / x.shape[0], new, (r.T @ x ** 2) / nk[:, None] - new ** 2


def principal_directions(x, v):
    """An iteration for eight directions, made orthogonal by Gram and Schmidt."""
    c = x - x.mean(0)
    y = c.T @ (c @ v)
    done = []
    for i in range(8):
        u = y[:, i]
        for w in done:
            u = u - (u @ w) * w
        done.append(u / u.norm())
    return torch.stack(done, dim=1)


def inverse_3x3(m):
    """Inverses and determinants of small matrices by cross products."""
    a, b, c = m[:, 0], m[:, 1], m[:, 2]
    bc, ca, ab = torch.cross(b, c, dim=-1), torch.cross(c, a, dim=-1), torch.cross(a, b, dim=-1)
    det = (a * bc).sum(-1)
    return torch.stack([bc, ca, ab], dim=-1) / det[:, None, None], det


def cholesky_4x4(a):
    """Factors of small matrices, number by number."""
    n = a.shape[0]
    l = [[None] * 4 for _ in range(4)]
    zero = torch.zeros((n,), device=a.device)
    for i in range(4):
        for j in range(i + 1):
            s = a[:, i, j] - sum(l[i][k] * l[j][k] for k in range(j))
            l[i][j] = torch.sqrt(s) if i == j else s / l[j][j]
    rows = [torch.stack([l[i][j] if j <= i else zero for j in range(4)], dim=-1) for i in range(4)]
    return torch.stack(rows, dim=1)


def systematic_resample(weights, particles, u):
    """Particles by their weights."""
    b, n = weights.shape
    cdf = torch.cumsum(weights / weights.sum(-1, keepdim=True), dim=-1)
    places = (torch.arange(n, device=weights.device) + u) / n
    index = torch.searchsorted(cdf, places).clamp(max=n - 1)
    return particles.gather(1, index[..., None].expand(b, n, 4)), index


def lorenz_rk4(s, dt=0.01):
    """Ten steps of Runge and Kutta, many starts."""
    def f(s):
        x, y, z = s
        return torch.stack([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8 / 3 * z])
    for _ in range(10):
        k1 = f(s)
        k2 = f(s + dt / 2 * k1)
        k3 = f(s + dt / 2 * k2)
        k4 = f(s + dt * k3)
        s = s + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return s


def ising_sweep(s, u, beta=0.44):
    """Metropolis on both colours of a checkerboard, and the magnetisation."""
    y, x = s.shape
    black = (torch.arange(y, device=s.device)[:, None] + torch.arange(x, device=s.device)[None, :]) % 2 == 0
    for mask in (black, ~black):
        n = torch.roll(s, 1, 0) + torch.roll(s, -1, 0) + torch.roll(s, 1, 1) + torch.roll(s, -1, 1)
        flip = mask & (u < torch.exp(-2.0 * beta * (s * n).float()))
        s = torch.where(flip, -s, s)
    return s, s.float().mean()


def hash_encoding(x, table, resolution=128.0):
    """A level of Instant NGP: eight corners by a hash, interpolated."""
    p = x * resolution
    low = p.floor()
    w = p - low
    low = low.long()
    out = 0
    for i in range(8):
        dx, dy, dz = i & 1, (i >> 1) & 1, i >> 2
        h = (low[:, 0] + dx) ^ ((low[:, 1] + dy) * 2654435761) ^ ((low[:, 2] + dz) * 805459861)
        weight = (w[:, 0] if dx else 1 - w[:, 0]) * (w[:, 1] if dy else 1 - w[:, 1]) * (w[:, 2] if dz else 1 - w[:, 2])
        out = out + weight[:, None] * table[h % 524288].float()
    return out.half()


def sphere_trace(origin, d, spheres):
    """Rays march to a scene of four spheres by its distance, 24 times."""
    t = torch.zeros(d.shape[0], device=origin.device)
    for _ in range(24):
        p = origin + t[:, None] * d
        dist = (p[:, None] - spheres[:, :3]).norm(dim=-1) - spheres[:, 3]
        t = t + dist.min(dim=1)[0]
    return torch.where(t < 20.0, t, float("inf"))


def fft_stage(re, im):
    """One stage of butterflies."""
    h = re.shape[2] // 2
    a = -math.pi * torch.arange(h, device=re.device) / h
    c, s = torch.cos(a), torch.sin(a)
    er, orr = re[..., :h], re[..., h:]
    ei, oi = im[..., :h], im[..., h:]
    tr, ti = orr * c - oi * s, orr * s + oi * c
    return torch.cat([er + tr, er - tr], -1), torch.cat([ei + ti, ei - ti], -1)


# ---- graphs


def gcn_layer(x, src, dst, norm):
    """Messages along edges, weighed, added where they arrive."""
    out = torch.zeros_like(x)
    return torch.relu(out.index_add(0, dst, x[src] * norm[:, None]))


def segment_mean(x, graph, graphs=256):
    """The mean of each graph's nodes."""
    total = torch.zeros((graphs, x.shape[1]), device=x.device).index_add(0, graph, x)
    return total / torch.bincount(graph, minlength=graphs).clamp(min=1)[:, None]


def edge_softmax(scores, dst, n=2048):
    """Shares of the edges that arrive at one node."""
    p = torch.exp(scores - scores.amax(0))
    total = torch.zeros((n, 4), device=scores.device).index_add(0, dst, p)
    return p / total[dst]


def gat_neighbours(h, neighbours, mask, a1, a2):
    """Graph attention over up to sixteen neighbours that are listed."""
    own, other = (h * a1).sum(-1), (h * a2).sum(-1)
    e = F.leaky_relu(own[:, None] + other[neighbours], 0.2).float()
    p = torch.softmax(e.masked_fill(~mask[..., None], float("-inf")), dim=1)
    return F.elu((p[..., None] * h[neighbours]).sum(1)).flatten(1).to(h.dtype)


def sage_layer(x, neighbours, w):
    """GraphSAGE: itself and the mean of ten neighbours, projected, of length one."""
    y = torch.relu(F.linear(torch.cat([x, x[neighbours].mean(dim=1)], dim=-1), w))
    return F.normalize(y, p=2, dim=-1)


def rotate_scores(entities, relations, heads, rels, tails):
    """RotatE: relations turn complex embeddings; distances to many tails."""
    hr, hi = entities[heads].chunk(2, dim=-1)
    phase = relations[rels].float() * 3.14159265
    c, s = phase.cos(), phase.sin()
    tr, ti = entities[tails].chunk(2, dim=-1)
    re = (hr * c - hi * s)[:, None] - tr
    im = (hr * s + hi * c)[:, None] - ti
    return 12.0 - torch.stack([re, im], dim=0).norm(dim=0).sum(dim=-1)


def floyd_warshall_steps(d):
    """Paths through the first four nodes."""
    for k in range(4):
        d = torch.minimum(d, d[:, k:k + 1] + d[k:k + 1, :])
    return d


def farthest_point(points, distance, last):
    """A step of farthest point sampling."""
    b = points.shape[0]
    centre = points[torch.arange(b, device=points.device), last][:, None]
    d = ((points - centre) ** 2).sum(-1)
    distance.copy_(torch.minimum(distance, d))
    return distance.argmax(-1)


def chamfer(x, y):
    d = ((x[:, :, None] - y[:, None]) ** 2).sum(-1)
    return d.min(dim=2)[0].mean(1) + d.min(dim=1)[0].mean(1)


def nearest_16(x, features):
    """DGCNN: the sixteen nearest points of each, their features less its own."""
    inner = -2 * torch.matmul(x, x.transpose(2, 1))
    xx = (x ** 2).sum(dim=2, keepdim=True)
    index = torch.topk(-xx - inner - xx.transpose(2, 1), k=16, dim=-1)[1]
    b = torch.arange(x.shape[0], device=x.device)[:, None, None]
    near = features[b, index]
    own = features[:, :, None].expand_as(near)
    return torch.cat([near - own, own], dim=-1)


def egnn_coordinates(x, neighbours, phi):
    """Equivariant: points move along what lies between them and neighbours."""
    d = x[:, None] - x[neighbours]
    r = d.norm(dim=-1, keepdim=True)
    return x + (d / (r + 1) * phi[..., None]).mean(1), r.squeeze(-1)


# ---- statistics


def robust_zscore(x):
    """By the median and the median of distances from it."""
    centre = x.median(dim=1, keepdim=True).values
    d = (x - centre).abs()
    mad = d.median(dim=1, keepdim=True).values
    return (x - centre) / (1.4826 * mad + 1e-9)


def exponential_smoothing(x, alpha=0.05):
    """Running means that forget, by running sums of growing weights, and what deviates."""
    t = torch.arange(x.shape[1], device=x.device).float()
    grow = (1 - alpha) ** -t
    y = alpha * torch.cumsum(x * grow, dim=1) / grow + x[:, :1] * (1 - alpha) ** (t + 1)
    return y, x - y


def bollinger(x):
    """Means and bands of the last twenty."""
    mean = F.avg_pool1d(x, 20, stride=1)
    std = torch.sqrt((F.avg_pool1d(x * x, 20, stride=1) - mean ** 2).clamp(min=0))
    return mean, mean + 2 * std, mean - 2 * std, (x[:, 19:] - mean) / (std + 1e-6)


def rolling_extremes(x):
    """Donchian channels of 32, and where the last value is between."""
    p = F.pad(x, (31, 0), mode="replicate")
    high = F.max_pool1d(p, 32, stride=1)
    low = -F.max_pool1d(-p, 32, stride=1)
    return high, low, (x - low) / (high - low + 1e-9)


def spearman(x, y):
    """Correlations of ranks, row by row."""
    rx = x.argsort(dim=1).argsort(dim=1).float()
    ry = y.argsort(dim=1).argsort(dim=1).float()
    rx, ry = rx - rx.mean(1, keepdim=True), ry - ry.mean(1, keepdim=True)
    return (rx * ry).sum(1) / torch.sqrt((rx * rx).sum(1) * (ry * ry).sum(1))


def mutual_information(x, y):
    """From a histogram of 16 by 16."""
    i = (x * 16).long().clamp(0, 15)
    j = (y * 16).long().clamp(0, 15)
    p = torch.bincount(i * 16 + j, minlength=256).view(16, 16).float() / x.shape[0]
    px, py = p.sum(1, keepdim=True), p.sum(0, keepdim=True)
    return torch.where(p > 0, p * torch.log(p / (px * py)), 0.0).sum()


def kolmogorov_smirnov(x, y):
    x, y = torch.sort(x, dim=1)[0], torch.sort(y, dim=1)[0]
    both = torch.cat([x, y], dim=1)
    cx = torch.searchsorted(x, both, right=True) / x.shape[1]
    cy = torch.searchsorted(y, both, right=True) / y.shape[1]
    return (cx - cy).abs().amax(dim=1)


def merge_moments(n, mean, m2):
    """Counts, means and sums of squares of parts become those of all."""
    total = n.sum(0)
    m = (n * mean).sum(0) / total
    return total, m, (m2.sum(0) + (n * (mean - m) ** 2).sum(0)) / (total - 1)


def logistic_newton(x, y, w):
    """Loss, gradient and Hessian of a logistic regression."""
    z = x @ w
    p = torch.sigmoid(z)
    loss = F.binary_cross_entropy_with_logits(z, y)
    grad = x.T @ (p - y) / x.shape[0]
    hess = (x * (p * (1 - p))[:, None]).T @ x / x.shape[0] + 1e-4 * torch.eye(x.shape[1], device=x.device)
    return loss, grad, hess


def winsorize(x):
    low = torch.quantile(x, 0.05, dim=1, keepdim=True)
    high = torch.quantile(x, 0.95, dim=1, keepdim=True)
    y = torch.minimum(torch.maximum(x, low), high)
    return (y - y.mean(1, keepdim=True)) / y.std(1, keepdim=True, unbiased=False)


def bootstrap_means(x, index):
    m = x[index].mean(dim=1)
    return m, m.std(unbiased=False)


def negative_binomial(mu, theta, counts):
    """scVI: log-likelihoods of counts of genes, by cell."""
    x, m = counts.float(), mu.float()
    log_both = torch.log(theta + m + 1e-8)
    ll = (theta * (torch.log(theta + 1e-8) - log_both) + x * (torch.log(m + 1e-8) - log_both)
          + torch.lgamma(x + theta) - torch.lgamma(theta) - torch.lgamma(x + 1))
    return ll.sum(-1)


def impute_standardise(x):
    """What is missing gets its column's mean; columns of deviation one, cut at five."""
    missing = torch.isnan(x)
    mean = torch.nanmean(x, dim=0)
    x = torch.where(missing, mean, x)
    y = (x - mean) / (x.std(dim=0, unbiased=False) + 1e-6)
    return y.clamp(-5, 5).nan_to_num(0.0), missing.float().mean(0)


def autocorrelations(x):
    """At lags up to ten, and Ljung and Box's sum of them."""
    t = x.shape[1]
    d = x - x.mean(1, keepdim=True)
    var = (d * d).sum(1)
    rho = torch.stack([(d[:, lag:] * d[:, :-lag]).sum(1) / var for lag in range(1, 11)], dim=1)
    return rho, t * (t + 2) * (rho ** 2 / (t - torch.arange(1, 11, device=x.device))).sum(1)


def calibration_error(probs, labels):
    """How far confidence lies from accuracy, in fifteen bins."""
    conf, pred = probs.float().max(dim=1)
    right = (pred == labels).float()
    bins = torch.bucketize(conf, torch.linspace(0, 1, 16, device=probs.device)[1:-1])
    n = torch.bincount(bins, minlength=15).float()
    acc = torch.zeros(15, device=probs.device).index_add(0, bins, right)
    con = torch.zeros(15, device=probs.device).index_add(0, bins, conf)
    return ((acc - con).abs() / probs.shape[0]).sum(), n


def garch_filter(r, omega, alpha, beta):
    """Variances of 64 days, each from the one before, and the log-likelihood."""
    var = (r ** 2).mean(dim=0)
    ll = torch.zeros_like(var)
    for t in range(64):
        ll = ll - 0.5 * (torch.log(var) + r[t] ** 2 / var)
        var = omega + alpha * r[t] ** 2 + beta * var
    return ll, var


# ---- recommenders


def factorization_machine(ids, offsets, table, linear, bias):
    i = ids + offsets
    e = F.embedding(i, table)
    square = e.sum(dim=1) ** 2
    pairs = 0.5 * (square - (e ** 2).sum(dim=1)).sum(dim=1, keepdim=True)
    return torch.sigmoid(linear[i].sum(dim=1) + bias + pairs)


def cross_layers(x, w, b):
    """DCN, version two."""
    x0 = x
    for i in range(2):
        x = x0 * F.linear(x, w[i], b[i]) + x
    return x


def cross_layers_v1(x, w, b):
    """DCN, version one: vectors."""
    x0 = x
    for i in range(3):
        x = x0 * (x @ w[i])[:, None] + b[i] + x
    return x


def bags_with_weights(ids, weights, table):
    """Sums of a user's items, padded by zeros that do not count."""
    keep = (ids != 0).float() * weights
    e = F.embedding(ids, table) * keep.unsqueeze(-1)
    return (e.sum(1) / keep.sum(1, keepdim=True).clamp(min=1e-6)).to(table.dtype)


def target_attention(q, keys, lengths, w1, b1, w2):
    """DIN: what a user did, weighed by what is on offer."""
    b, t, d = keys.shape
    q = q.unsqueeze(1).expand(-1, t, -1)
    h = torch.cat([q, keys, q - keys, q * keys], dim=-1)
    s = F.linear(torch.sigmoid(F.linear(h, w1, b1)), w2).squeeze(-1)
    s = torch.where(torch.arange(t, device=q.device)[None, :] < lengths[:, None], s, 0.0)
    return (s[:, None, :] @ keys).squeeze(1)


def two_towers(user, item, ids, log_q):
    """Softmax in the batch, corrected for how often items come, the same item not against itself."""
    s = (F.normalize(user, dim=-1) @ F.normalize(item, dim=-1).T).float() / 0.05 - log_q
    i = torch.arange(user.shape[0], device=user.device)
    twice = (ids[:, None] == ids[None, :]) & (i[:, None] != i[None, :])
    return F.cross_entropy(s.masked_fill(twice, -1e9), i)


def bpr_loss(users, items, u, pos, neg):
    eu, ep, en = users[u], items[pos], items[neg]
    x = (eu * ep).sum(-1, keepdim=True) - torch.einsum("bd,bkd->bk", eu, en)
    reg = eu.pow(2).sum() + ep.pow(2).sum()
    return -F.logsigmoid(x).mean() + 1e-5 * reg / u.shape[0]


def experts_with_gates(x, w, b, gates):
    """MMoE: eight experts, two tasks that mix them."""
    h = torch.relu(torch.einsum("bd,edf->bef", x, w) + b)
    g = torch.softmax(torch.einsum("bd,tde->bte", x, gates), dim=-1)
    return torch.einsum("bte,bef->tbf", g, h)


def ndcg_at_10(scores, gains):
    top = torch.topk(scores, 10, dim=1).indices
    discount = 1 / torch.log2(torch.arange(10, device=scores.device) + 2.0)
    dcg = ((2 ** gains.gather(1, top) - 1) * discount).sum(1)
    best = ((2 ** torch.topk(gains, 10, dim=1).values - 1) * discount).sum(1)
    return torch.where(best > 0, dcg / best.clamp(min=1e-9), 0.0).mean()


def quotient_remainder(ids, quotients, remainders):
    """Embeddings of very many by two small tables."""
    return (quotients[ids // 4096] * remainders[ids % 4096]).flatten(1)


def sparse_adagrad(table, state, ids, g):
    """Row-wise Adagrad for the rows of a batch, added up where they repeat."""
    dense = torch.zeros_like(table).index_add(0, ids, g)
    state += (dense ** 2).mean(dim=1)
    table -= 0.05 * dense / (state.sqrt() + 1e-8)[:, None]


def user_sequence_loss(h, items, pos, neg):
    """SASRec: logits of what came next and of one that did not."""
    p = (h * items[pos]).sum(-1).float()
    n = (h * items[neg]).sum(-1).float()
    seen = pos != 0
    loss = -(F.logsigmoid(p) + F.logsigmoid(-n))
    return (loss * seen).sum() / seen.sum()


GRADIENTS = {"fake_quant_backward": (0, 1), "ppo_backward": (0, 1), "simpo_backward": (0,), "grpo_backward": (0,),
             "quantile_huber_backward": (0,), "swiglu_mlp_backward": (0, 1, 2, 3), "lora_backward": (0, 2, 3),
             "lennard_jones": (0,)}
WITH_VALUE = ("ppo_backward", "simpo_backward", "quantile_huber_backward", "lennard_jones")
