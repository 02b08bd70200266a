"""The functions of the .tile files as one writes them in PyTorch."""

import math

import torch

F = torch.nn.functional


# ---- norms


def group_norm_silu(x, weight, bias):
    return F.silu(F.group_norm(x, 32, weight, bias))


def group_norm_silu_nhwc(x, weight, bias):
    n, h, w, c = x.shape
    y = x.reshape(n, h, w, 32, c // 32)
    mean = y.mean(dim=(1, 2, 4), keepdim=True)
    var = y.var(dim=(1, 2, 4), keepdim=True, unbiased=False)
    y = ((y - mean) * torch.rsqrt(var + 1e-5)).reshape(n, h, w, c)
    return F.silu(y * weight + bias)


def dit_modulate(x, attn, mod):
    """Adaptive layer norm (zero): gated residual, norm without weights, shift and scale."""
    _, _, gate, shift, scale, _ = mod.chunk(6, dim=1)
    h = x + gate.unsqueeze(1) * attn
    return h, F.layer_norm(h, h.shape[-1:], eps=1e-6) * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)


def rms(x, w, eps=1e-6):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * w


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


def qk_norm_rope(qkv, q_norm, k_norm,
                 cos, sin):
    q, k, v = qkv.permute(2, 0, 3, 1, 4)
    q, k = rms(q, q_norm), rms(k, k_norm)
    q = q * cos + rotate_half(q) * sin
    k = k * cos + rotate_half(k) * sin
    return q, k


def qk_norm_rope_pairs(q, k, q_norm,
                       k_norm, freqs):
    def turned(x):
        b, t, h, d = x.shape
        x = x.float().reshape(b, t, h, d // 2, 2)
        c, s = freqs[:, None, :, 0], freqs[:, None, :, 1]
        re, im = x[..., 0], x[..., 1]
        return torch.stack([re * c - im * s, re * s + im * c], dim=-1).flatten(3)
    return turned(rms(q, q_norm)).to(q.dtype), turned(rms(k, k_norm)).to(k.dtype)


def add_rms_norm_int8(x, residual, weight):
    h = x + residual
    y = rms(h.float(), weight)
    scale = y.abs().amax(dim=-1, keepdim=True).clamp(min=1e-8) / 127
    q = (y / scale).round().clamp(-128, 127).to(torch.int8)
    return h, q, scale


def rms_norm_fp8_blocks(x, weight):
    m, n = x.shape
    y = rms(x.float(), weight).view(m, n // 128, 128)
    scale = y.abs().amax(dim=-1, keepdim=True).clamp(min=1e-4) / 448.0
    q = (y / scale).to(torch.float8_e4m3fn)
    return q.view(m, n), scale.squeeze(-1)


def batch_norm_relu_train(x, weight, bias,
                          running_mean, running_var):
    n, _, h, w = x.shape
    mean = x.float().mean((0, 2, 3))
    var = x.float().var((0, 2, 3), unbiased=False)
    running_mean.mul_(0.9).add_(0.1 * mean)
    running_var.mul_(0.9).add_(0.1 * var * (n * h * w) / (n * h * w - 1))
    y = (x - mean[None, :, None, None]) * torch.rsqrt(var + 1e-5)[None, :, None, None]
    return torch.relu(y * weight[None, :, None, None] + bias[None, :, None, None]).to(x.dtype)


def instance_norm_leaky(x, weight, bias):
    """nnU-Net, volumes."""
    y = F.instance_norm(x, weight=weight, bias=bias)
    return F.leaky_relu(y, 0.01)


def bert_embeddings(tokens, types, words,
                    positions, segments, weight,
                    bias):
    x = words[tokens] + segments[types] + positions[:tokens.shape[1]]
    return F.layer_norm(x, (x.shape[-1],), weight, bias, eps=1e-12)


def dropout_add_layer_norm(x, residual, weight, bias):
    h = F.dropout(x, 0.1) + residual
    return h, F.layer_norm(h, (h.shape[-1],), weight, bias)


def column_moments(x):
    """Mean, deviation, skewness and excess kurtosis of each feature."""
    mean = x.mean(axis=0)
    d = x - mean
    var = (d ** 2).mean(axis=0)
    skew = (d ** 3).mean(axis=0) / var ** 1.5
    kurtosis = (d ** 4).mean(axis=0) / var ** 2 - 3
    return mean, torch.sqrt(var), skew, kurtosis


def gated_rms_norm(x, z, weight):
    """Mamba-2: gate, then a norm in eight groups."""
    b, t, n = x.shape
    y = (x.float() * F.silu(z.float())).reshape(b, t, 8, n // 8)
    y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)
    return (y.reshape(b, t, n) * weight).to(x.dtype)


# ---- losses


def distillation(student, teacher, labels):
    """Knowledge distillation, temperature 2, mixed with cross-entropy."""
    t = 2.0
    log_p = torch.log_softmax(student.float() / t, dim=-1)
    q = torch.softmax(teacher.float() / t, dim=-1)
    kl = F.kl_div(log_p, q, reduction="sum") / student.shape[0] * t * t
    return 0.5 * kl + 0.5 * F.cross_entropy(student.float(), labels)


def cross_entropy_z(logits, labels):
    """Label smoothing, z-loss, and labels of -100 that do not count."""
    logits = logits.float()
    lse = torch.logsumexp(logits, dim=-1)
    valid = labels != -100
    safe = torch.where(valid, labels, 0)
    picked = logits.gather(1, safe[:, None]).squeeze(1)
    nll = lse - (1 - 0.1) * picked - 0.1 * logits.mean(-1)
    loss = torch.where(valid, nll + 1e-4 * lse ** 2, 0.0)
    return loss.sum() / valid.sum()


def sigmoid_focal(logits, targets):
    p = torch.sigmoid(logits)
    ce = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    p_t = p * targets + (1 - p) * (1 - targets)
    alpha_t = 0.25 * targets + 0.75 * (1 - targets)
    return (alpha_t * ce * (1 - p_t) ** 2).sum() / torch.clamp(targets.sum(), min=1.0)


def clip_loss(image, text, log_scale):
    image = F.normalize(image, dim=-1)
    text = F.normalize(text, dim=-1)
    logits = log_scale.exp() * (image @ text.T)
    labels = torch.arange(image.shape[0], device="cuda")
    return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2


def sequence_logp(logits, labels, mask):
    logp = torch.log_softmax(logits.float(), -1)
    return (logp.gather(2, labels[..., None]).squeeze(-1) * mask).sum(-1)


def dpo_loss(policy, reference, labels,
             mask):
    """The first half of the batch is chosen, the second rejected."""
    p, r = sequence_logp(policy, labels, mask), sequence_logp(reference, labels, mask)
    half = p.shape[0] // 2
    margin = (p[:half] - p[half:]) - (r[:half] - r[half:])
    return -F.logsigmoid(0.1 * margin).mean(), 0.1 * (p - r)


def grpo_loss(logp, old, ref,
              rewards, mask):
    advantage = (rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True, correction=0) + 1e-4)
    ratio = torch.exp(logp - old)
    a = advantage[:, :, None]
    surrogate = torch.minimum(ratio * a, ratio.clamp(0.8, 1.2) * a)
    kl = torch.exp(ref - logp) - (ref - logp) - 1
    per_token = -(surrogate - 0.04 * kl)
    return ((per_token * mask).sum(-1) / mask.sum(-1)).mean()


def supervised_contrastive(z, labels):
    z = F.normalize(z, dim=1)
    logits = z @ z.T / 0.07
    logits = logits - logits.amax(dim=1, keepdim=True).detach()
    i = torch.arange(z.shape[0], device="cuda")
    others = i[:, None] != i[None, :]
    positive = (labels[:, None] == labels[None, :]) & others
    log_prob = logits - torch.log(torch.where(others, torch.exp(logits), 0.0).sum(1, keepdim=True))
    return -((log_prob * positive).sum(1) / positive.sum(1).clamp(min=1)).mean()


def policy_stats(logits, actions):
    """Log-probability of what was chosen, entropy, and what would have been the best."""
    logits = logits.float()
    lse = logits.logsumexp(-1)
    p = torch.softmax(logits, dim=-1)
    entropy = lse - (p * logits).sum(-1)
    return logits.gather(1, actions.unsqueeze(1)).squeeze(1) - lse, entropy, logits.argmax(-1)


def cross_entropy_dice(logits, labels):
    p = torch.softmax(logits.float(), dim=1)
    y = (labels[:, None] == torch.arange(logits.shape[1], device="cuda")[None, :, None, None]).float()
    ce = -(y * torch.log(p + 1e-8)).sum(1).mean()
    inter = (p * y).sum((0, 2, 3))
    total = p.sum((0, 2, 3)) + y.sum((0, 2, 3))
    return ce + 1 - ((2 * inter + 1) / (total + 1)).mean()


def barlow_twins(a, b):
    a = (a - a.mean(0)) / a.std(0, correction=0)
    b = (b - b.mean(0)) / b.std(0, correction=0)
    c = (a.T @ b) / a.shape[0]
    on = (torch.diagonal(c) - 1).pow(2).sum()
    off = c.pow(2).sum() - torch.diagonal(c).pow(2).sum()
    return on + 0.005 * off


def linear_cross_entropy(h, weight, labels):
    return F.cross_entropy(F.linear(h, weight).float(), labels)


def giou_loss(pred, target):
    x1, y1, x2, y2 = pred.unbind(dim=-1)
    u1, v1, u2, v2 = target.unbind(dim=-1)
    inter = (torch.minimum(x2, u2) - torch.maximum(x1, u1)).clamp(min=0) * \
        (torch.minimum(y2, v2) - torch.maximum(y1, v1)).clamp(min=0)
    union = (x2 - x1) * (y2 - y1) + (u2 - u1) * (v2 - v1) - inter
    iou = inter / (union + 1e-7)
    hull = (torch.maximum(x2, u2) - torch.minimum(x1, u1)) * (torch.maximum(y2, v2) - torch.minimum(y1, v1))
    return (1 - iou + (hull - union) / (hull + 1e-7)).mean()


# ---- projections


def swiglu_packed(x, w13, w2):
    gate, up = F.linear(x, w13).chunk(2, dim=-1)
    return F.linear(F.silu(gate) * up, w2)


def geglu(x, w, b):
    value, gate = (x @ w + b).chunk(2, dim=-1)
    return value * F.gelu(gate)


def lora_linear(x, w, bias, a, b):
    return F.linear(x, w, bias) + F.linear(F.linear(x, a), b) * 2.0


def moe_router(x, w):
    """Softmax, the best eight, renormalised, and the load-balancing loss."""
    probs = torch.softmax(F.linear(x, w).float(), dim=-1)
    weights, experts = torch.topk(probs, 8, dim=-1)
    weights = weights / weights.sum(-1, keepdim=True)
    hits = F.one_hot(experts, 64).float().sum(1)
    aux = 64 * (hits.mean(0) / 8 * probs.mean(0)).sum()
    return weights, experts, aux


def grouped_router(logits, bias):
    """DeepSeek-V3: four of eight groups by the sum of their best two, then eight experts."""
    t = logits.shape[0]
    scores = torch.sigmoid(logits)
    biased = scores + bias
    groups = torch.topk(biased.view(t, 8, 32), 2, dim=-1)[0].sum(-1)
    _, chosen = torch.topk(groups, 4, dim=-1)
    allowed = F.one_hot(chosen, 8).sum(1) > 0
    masked = torch.where(allowed[:, :, None], biased.view(t, 8, 32), -float("inf")).reshape(t, 256)
    _, experts = torch.topk(masked, 8, dim=-1)
    weights = scores.gather(1, experts)
    return weights / (weights.sum(-1, keepdim=True) + 1e-20) * 2.5, experts


def int8_linear(x, w, scale, zero):
    """Weights in bytes, a scale and a zero for each row of them."""
    dequantized = (w.float() - zero.float()[:, None]) * scale[:, None]
    return F.linear(x, dequantized.to(x.dtype))


def fp8_linear(x, w, scale):
    n, k = w.shape
    dequantized = w.float().view(n // 128, 128, k // 128, 128) * scale[:, None, :, None]
    return x @ dequantized.view(n, k).to(x.dtype).T


def mla_projection(x, down, norm, up,
                   cos, sin):
    """Multi-head latent attention: a latent of 512 columns and one shared rotary key."""
    t, _ = x.shape
    latent, rope = torch.split(x @ down, [512, 64], dim=-1)
    latent = F.rms_norm(latent, norm.shape, norm, 1e-6)
    kv = (latent @ up).view(t, 32, 256)
    k, v = kv[..., :128], kv[..., 128:]
    a, b = rope.chunk(2, -1)
    rope = rope * cos + torch.cat([-b, a], -1) * sin
    return torch.cat([k, rope[:, None].expand(t, 32, 64)], dim=-1), v


def squeeze_excite(x, w1, b1, w2, b2):
    s = x.mean((2, 3))
    s = torch.sigmoid(F.linear(torch.relu(F.linear(s, w1, b1)), w2, b2))
    return x * s[:, :, None, None]


def gated_residual(x, y, wx, wy, b):
    g = torch.sigmoid(x @ wx + y @ wy + b)
    return g * x + (1 - g) * y


def dlrm_interaction(dense, sparse):
    """All products of pairs of features, below the diagonal, behind the dense one."""
    b = dense.shape[0]
    features = torch.cat([dense[:, None], sparse], dim=1)
    z = torch.bmm(features, features.transpose(1, 2))
    pairs = [z[:, i, :i] for i in range(1, 27)]
    return torch.cat([dense, *pairs], dim=1)


def gru_cell(x, h, w_ih, w_hh,
             b_ih, b_hh):
    i_r, i_z, i_n = F.linear(x, w_ih, b_ih).chunk(3, 1)
    h_r, h_z, h_n = F.linear(h, w_hh, b_hh).chunk(3, 1)
    r, z = torch.sigmoid(i_r + h_r), torch.sigmoid(i_z + h_z)
    n = torch.tanh(i_n + r * h_n)
    return (1 - z) * n + z * h


# ---- attention


def alibi(q, k, v):
    b, h, t, d = q.shape
    slopes = torch.exp2(-8.0 * (torch.arange(h, device="cuda") + 1) / h)
    pos = torch.arange(t, device="cuda")
    distance = pos[None, :] - pos[:, None]
    scores = q @ k.transpose(-2, -1) / math.sqrt(d) + slopes[:, None, None] * distance
    scores = scores.masked_fill(distance > 0, float("-inf"))
    return torch.softmax(scores, dim=-1).to(v.dtype) @ v


def window_softcap_gqa(q, k, v):
    """Gemma 2: grouped queries, a soft cap, a window of 1024."""
    b, t, n, d = q.shape
    q = q.reshape(b, t, n // 4, 4, d)
    scores = torch.einsum("bthgd,bshd->bhgts", q, k) * (1 / 16)
    scores = 50.0 * torch.tanh(scores / 50.0)
    i, j = torch.arange(t, device="cuda")[:, None], torch.arange(t, device="cuda")[None, :]
    seen = (j <= i) & (i - j < 1024)
    p = torch.softmax(torch.where(seen, scores, float("-inf")), dim=-1)
    return torch.einsum("bhgts,bshd->bthgd", p, v).reshape(b, t, n, d)


def cross_attention(x, memory, mask,
                    wq, wkv, wo, heads = 16):
    """Queries of one sequence, keys and values of another, some of whose places are empty."""
    b, t, c = x.shape
    s = memory.shape[1]
    q = F.linear(x, wq).view(b, t, heads, -1).transpose(1, 2)
    k, v = F.linear(memory, wkv).view(b, s, 2, heads, -1).unbind(2)
    out = F.scaled_dot_product_attention(q, k.transpose(1, 2), v.transpose(1, 2), attn_mask=mask[:, None, None, :])
    return F.linear(out.transpose(1, 2).reshape(b, t, c), wo)


def decode_gqa(q, k_cache, v_cache,
               lengths):
    """One token of each sequence, of which the cache holds `lengths`."""
    b = q.shape[0]
    q = q.view(b, 8, 4, 128)
    scores = torch.einsum("bhgd,bshd->bhgs", q, k_cache) / 128 ** 0.5
    seen = torch.arange(k_cache.shape[1], device="cuda") < lengths[:, None]
    scores = scores.masked_fill(~seen[:, None, None, :], float("-inf"))
    return torch.einsum("bhgs,bshd->bhgd", scores.softmax(-1), v_cache).reshape(b, 32, 128)


def documents(q, k, v, doc):
    """Several documents packed into one sequence; none sees another."""
    t = q.shape[1]
    i = torch.arange(t, device="cuda")
    seen = (i[:, None] >= i) & (doc[:, None] == doc)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen)


def with_sink(q, k, v, sinks):
    """gpt-oss: one more score for each head, which takes a share and gives nothing."""
    b, h, t, d = q.shape
    i = torch.arange(t, device="cuda")
    scores = q @ k.mT * d ** -0.5
    scores = torch.where(i[:, None] >= i, scores, float("-inf"))
    scores = torch.cat([scores, sinks[None, :, None, None].expand(b, h, t, 1)], dim=-1)
    return torch.softmax(scores, dim=-1)[..., :-1] @ v


def with_sink_by_sum(q, k, v, sinks):
    """The same, with the sink in the sum alone."""
    i = torch.arange(q.shape[2], device="cuda")
    scores = torch.where(i[:, None] >= i, q @ k.mT * 0.125, float("-inf"))
    sink = sinks[None, :, None, None]
    top = torch.maximum(scores.amax(-1, keepdim=True), sink)
    p = torch.exp(scores - top)
    return (p @ v) / (p.sum(-1, keepdim=True) + torch.exp(sink - top))


def swin_attention(x, w, b, bias,
                   wo, bo):
    n, h, wd, c = x.shape
    y = x.view(n, h // 7, 7, wd // 7, 7, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 49, c)
    q, k, v = F.linear(y, w, b).reshape(-1, 49, 3, 3, c // 3).permute(2, 0, 3, 1, 4)
    attn = torch.softmax(q @ k.transpose(-2, -1) * 32 ** -0.5 + bias, dim=-1)
    y = F.linear((attn @ v).transpose(1, 2).reshape(-1, 49, c), wo, bo)
    return y.view(n, h // 7, wd // 7, 7, 7, c).permute(0, 1, 3, 2, 4, 5).reshape(n, h, wd, c)


def linear_elu(q, k, v):
    """Linear attention, both ways along the sequence."""
    q, k = F.elu(q) + 1, F.elu(k) + 1
    kv = torch.einsum("bshd,bshm->bhmd", k, v)
    z = 1 / (torch.einsum("bthd,bhd->bth", q, k.sum(dim=1)) + 1e-6)
    return torch.einsum("bthd,bhmd,bth->bthm", q, kv, z)


def performer_features(x, projection):
    x = x * x.shape[-1] ** -0.25
    u = x @ projection.T
    norm = (x ** 2).sum(-1, keepdim=True) / 2
    return (torch.exp(u - norm - u.amax(dim=-1, keepdim=True)) + 1e-4) * projection.shape[0] ** -0.5


def vit_attention(x, norm_w, norm_b, w,
                  b, wo, bo, heads = 12):
    n, t, c = x.shape
    y = F.layer_norm(x, (c,), norm_w, norm_b)
    qkv = F.linear(y, w, b).reshape(n, t, 3, heads, c // heads).permute(2, 0, 3, 1, 4)
    q, k, v = qkv[0], qkv[1], qkv[2]
    y = F.scaled_dot_product_attention(q, k, v)
    return x + F.linear(y.transpose(1, 2).reshape(n, t, c), wo, bo)


def t5_attention(q, k, v, table):
    """A bias by buckets of distances, from a table."""
    distance = torch.arange(k.shape[2], device="cuda")[None, :] - torch.arange(q.shape[2], device="cuda")[:, None]
    far = torch.abs(distance)
    large = 8 + (torch.log(far.float() / 8 + 1e-6) / math.log(128 / 8) * 8).to(torch.int32)
    bucket = torch.where(far < 8, far, large.clamp(max=15)) + torch.where(distance > 0, 16, 0)
    bias = table[bucket].permute(2, 0, 1)
    return torch.softmax(q @ k.mT + bias, dim=-1) @ v


def differential(q, k, v, lam):
    """The difference of two softmaxes."""
    t = q.shape[3]
    i = torch.arange(t, device="cuda")
    s = (q @ k.transpose(-1, -2) * 0.125).masked_fill(i[:, None] < i, float("-inf"))
    p = torch.softmax(s, dim=-1)
    a = p[:, 0] - lam[:, None, None] * p[:, 1]
    return a.to(v.dtype) @ v


def mla_decode(q, q_rope, cache, rope):
    """Latent attention, one token of each sequence: keys are values too."""
    scores = torch.einsum("bhc,bsc->bhs", q, cache) + torch.einsum("bhr,bsr->bhs", q_rope, rope)
    p = torch.softmax(scores * 192 ** -0.5, dim=-1)
    return torch.einsum("bhs,bsc->bhc", p, cache)


def ssd_chunk(x, a, bb, c):
    """Mamba-2 within chunks: scores of states that decay by the sums of a."""
    s = torch.cumsum(a, dim=1).permute(0, 2, 1)
    i = torch.arange(x.shape[1], device="cuda")
    decay = torch.where(i[:, None] >= i, torch.exp(s[:, :, :, None] - s[:, :, None, :]), 0.0)
    scores = torch.einsum("bln,bsn->bls", c, bb)
    return torch.einsum("bhls,bshp->blhp", (scores[:, None] * decay).to(x.dtype), x)


def sigmoid_attention(q, k, v):
    t = q.shape[2]
    i = torch.arange(t, device="cuda")
    s = q @ k.mT * 0.125 - math.log(t)
    return torch.where(i[:, None] >= i, torch.sigmoid(s), 0.0).to(v.dtype) @ v


# ---- vision


def patch_embed(x, w, b, cls,
                pos):
    n, d = x.shape[0], w.shape[0]
    y = F.conv2d(x, w, b, stride=16).flatten(2).transpose(1, 2)
    return torch.cat([cls.expand(n, 1, d), y], dim=1) + pos


def patch_linear(x, w, b):
    n, c, h, wd = x.shape
    y = x.reshape(n, c, h // 14, 14, wd // 14, 14).permute(0, 2, 4, 1, 3, 5).reshape(n, (h // 14) * (wd // 14), c * 196)
    return F.linear(y, w, b)


def unpatchify(x, scale, w, b):
    """The last layer of DiT: modulated norm, linear, and tokens become a picture of 4 channels."""
    n = x.shape[0]
    y = F.linear(F.layer_norm(x, x.shape[-1:], eps=1e-6) * (1 + scale[:, None]), w, b)
    return torch.einsum("nhwpqc->nchpwq", y.reshape(n, 32, 32, 2, 2, 4)).reshape(n, 4, 64, 64)


def causal_conv_silu(x, w, b):
    """Mamba's convolution in front of the scan."""
    y = F.conv1d(x, w, b, padding=3, groups=x.shape[1])
    return F.silu(y[..., :x.shape[2]])


def upsample_add(x, skip):
    return F.interpolate(x, scale_factor=2, mode="bilinear") + skip


def nearest_upsample_cat(x, skip):
    return F.silu(torch.cat([F.interpolate(x, scale_factor=2, mode="nearest"), skip], dim=1))


def both_pools(x):
    return torch.cat([F.max_pool2d(x, 2), F.avg_pool2d(x, 2)], dim=1)


def stem_pool(x, mean, var, w, b):
    """The stem of a ResNet behind its convolution: batch norm, ReLU, max pool of 3 with stride 2."""
    return F.max_pool2d(torch.relu(F.batch_norm(x, mean, var, w, b)), 3, stride=2, padding=1).to(x.dtype)


def ssim(x, y):
    mx, my = F.avg_pool2d(x, 7, stride=1), F.avg_pool2d(y, 7, stride=1)
    sx = F.avg_pool2d(x * x, 7, stride=1) - mx * mx
    sy = F.avg_pool2d(y * y, 7, stride=1) - my * my
    sxy = F.avg_pool2d(x * y, 7, stride=1) - mx * my
    s = (2 * mx * my + 1e-4) * (2 * sxy + 9e-4) / ((mx ** 2 + my ** 2 + 1e-4) * (sx + sy + 9e-4))
    return s.mean()


def preprocess(x):
    """Bytes of a decoder to normalised channels."""
    mean = torch.tensor([0.485, 0.456, 0.406], device="cuda")
    std = torch.tensor([0.229, 0.224, 0.225], device="cuda")
    y = (x.float() / 255 - mean) / std
    return y.permute(0, 3, 1, 2).to(torch.bfloat16)


def sobel(x):
    """Edges of the grey picture."""
    grey = 0.299 * x[:, 0] + 0.587 * x[:, 1] + 0.114 * x[:, 2]
    p = F.pad(grey, (1, 1, 1, 1), mode="reflect")
    left, right = p[:, :, :-2], p[:, :, 2:]
    gx = (right - left)[:, :-2] + 2 * (right - left)[:, 1:-1] + (right - left)[:, 2:]
    top, bottom = p[:, :-2], p[:, 2:]
    gy = (bottom - top)[:, :, :-2] + 2 * (bottom - top)[:, :, 1:-1] + (bottom - top)[:, :, 2:]
    return torch.sqrt(gx ** 2 + gy ** 2), torch.atan2(gy, gx)


def convnext_entry(x, w, b, norm_w, norm_b):
    y = F.conv2d(x, w, b, padding=3, groups=x.shape[1])
    return F.layer_norm(y.permute(0, 2, 3, 1), (x.shape[1],), norm_w, norm_b, eps=1e-6)


def soft_argmax(x):
    """Places of key points from heat maps."""
    n, k, h, w = x.shape
    p = torch.softmax(x.float().flatten(2), dim=-1).view(n, k, h, w)
    xs = (p.sum(2) * torch.linspace(-1, 1, w, device="cuda")).sum(-1)
    ys = (p.sum(3) * torch.linspace(-1, 1, h, device="cuda")).sum(-1)
    return torch.stack([xs, ys], dim=-1)


def render_rays(sigma, rgb, t):
    """Volume rendering (NeRF)."""
    delta = t[:, 1:] - t[:, :-1]
    alpha = 1 - torch.exp(-torch.relu(sigma) * delta)
    through = torch.cumprod(1 - alpha + 1e-10, dim=1)
    through = torch.cat([torch.ones_like(through[:, :1]), through[:, :-1]], dim=1)
    weights = alpha * through
    colour = (weights[..., None] * rgb).sum(1)
    depth = (weights * (t[:, 1:] + t[:, :-1]) / 2).sum(1)
    return colour, depth, weights.sum(1)


def positional_encoding(x):
    """NeRF's: 3 coordinates become 63 numbers."""
    parts = [x]
    for i in range(10):
        parts += [torch.sin(2.0 ** i * x), torch.cos(2.0 ** i * x)]
    return torch.cat(parts, dim=-1).to(torch.bfloat16)


def charbonnier_tv(pred, target):
    """Denoising: a smooth L1 distance and total variation."""
    d = pred.float() - target.float()
    tv = (pred[:, :, 1:] - pred[:, :, :-1]).abs().float().mean() + (pred[..., 1:] - pred[..., :-1]).abs().float().mean()
    return torch.sqrt(d * d + 1e-6).mean() + 0.01 * tv


def rotary_cache(inv_freq, positions):
    angles = torch.outer(positions.float(), inv_freq)
    angles = torch.cat([angles, angles], dim=-1)
    return torch.cos(angles).to(torch.bfloat16), torch.sin(angles).to(torch.bfloat16)


def mel_db(power, mel):
    """Log-mel spectrogram of Whisper's kind: the top 80 dB below the largest of each sample."""
    x = torch.log10(torch.clamp(mel @ power, min=1e-10))
    top = x.amax(dim=(1, 2), keepdim=True)
    return (torch.maximum(x, top - 8.0) + 4.0) / 4.0


# ---- optimizers


def lion(p, g, m):
    update = torch.sign(0.9 * m + 0.1 * g)
    p.mul_(1 - 1e-4 * 0.1).add_(update, alpha=-1e-4)
    m.lerp_(g, 0.01)


def adamw_master(p, g, master, m,
                 v, scale):
    """Parameters in bf16 with a copy in float32; gradients divided by a scale of the device."""
    grad = g.float() / scale
    m.mul_(0.9).add_(grad, alpha=0.1)
    v.mul_(0.95).addcmul_(grad, grad, value=0.05)
    master.mul_(1 - 3e-4 * 0.1)
    master.sub_(3e-4 * (m / 0.1) / ((v / 0.05).sqrt() + 1e-8))
    p.copy_(master)


def lamb(p, g, m, v):
    m[:] = 0.9 * m + 0.1 * g
    v[:] = 0.999 * v + 0.001 * g * g
    update = (m / 0.1) / (torch.sqrt(v / 0.001) + 1e-6) + 0.01 * p
    trust = torch.norm(p) / torch.norm(update)
    p -= 1e-3 * trust * update


def muon_step(p, g, buffer):
    """Nesterov momentum, made orthogonal by five steps of Newton and Schulz."""
    buffer.lerp_(g, 0.05)
    x = torch.lerp(g, buffer, 0.95).to(torch.bfloat16)
    x = x / (torch.norm(x) + 1e-7)
    for _ in range(5):
        a = x @ x.T
        b = -4.7750 * a + 2.0315 * (a @ a)
        x = 3.4445 * x + b @ x
    p.mul_(1 - 0.02 * 0.01).add_(x, alpha=-0.02)


def clip_global_norm(a, b, c):
    """Gradients of three tensors, cut to a length of one together."""
    total = torch.sqrt((a.float() ** 2).sum() + (b.float() ** 2).sum() + (c.float() ** 2).sum())
    by = torch.clamp(1.0 / (total + 1e-6), max=1.0)
    a.mul_(by)
    b.mul_(by)
    c.mul_(by)
    return total


def ema(shadow, p, decay=0.999):
    shadow.mul_(decay).add_(p, alpha=1 - decay)


def spectral_norm_step(w, u):
    """One power iteration, and the matrix divided by its largest singular value."""
    v = F.normalize(w.T @ u, dim=0)
    u[:] = F.normalize(w @ v, dim=0)
    sigma = u @ (w @ v)
    return w / sigma


def weight_norm_linear(x, v, g, b):
    w = g * v / torch.norm(v, dim=1, keepdim=True)
    return F.linear(x, w, b)


def adafactor_full(p, g, row, col):
    """Factored second moments, an update clipped by its mean square, a step relative to the parameter's."""
    g2 = g ** 2 + 1e-30
    row.mul_(0.99).add_(g2.mean(-1), alpha=0.01)
    col.mul_(0.99).add_(g2.mean(0), alpha=0.01)
    update = g * torch.rsqrt(row / row.mean())[:, None] * torch.rsqrt(col)
    update = update / torch.clamp(torch.sqrt((update ** 2).mean()), min=1.0)
    step = 1e-2 * torch.clamp(torch.sqrt((p ** 2).mean()), min=1e-3)
    p.sub_(step * update)


def adam_8bit(p, g, m, scale):
    """Momentum in bytes, with a scale for 256 of them."""
    n = p.shape[0]
    old = m.view(n // 256, 256).float() * scale[:, None]
    new = 0.9 * old + 0.1 * g.view(n // 256, 256).float()
    largest = new.abs().amax(dim=1)
    m[:] = (new / (largest[:, None] + 1e-12) * 127).round().to(torch.int8).view(n)
    scale[:] = largest / 127
    p -= 1e-3 * new.view(n)


def local_sgd_average(a, outer, momentum):
    """DiLoCo: the mean of eight workers' parameters is a gradient of the outer, Nesterov's step."""
    delta = outer - a.float().mean(0)
    momentum[:] = 0.9 * momentum + delta
    outer -= 0.7 * (delta + 0.9 * momentum)


# ---- science


def cdf(x):
    return 0.5 * (1 + torch.erf(x / 2 ** 0.5))


def black_scholes(s, k, t, sigma):
    r = 0.03
    root = sigma * torch.sqrt(t)
    d1 = (torch.log(s / k) + (r + sigma ** 2 / 2) * t) / root
    d2 = d1 - root
    discount = k * torch.exp(-r * t)
    call = s * cdf(d1) - discount * cdf(d2)
    density = torch.exp(-d1 ** 2 / 2) / (2 * 3.14159265) ** 0.5
    return call, call + discount - s, cdf(d1), density / (s * root)


def wave_step(u, before, c):
    """The wave equation with periodic borders and a speed of each place."""
    laplace = (torch.roll(u, 1, 0) + torch.roll(u, -1, 0) + torch.roll(u, 1, 1) + torch.roll(u, -1, 1) - 4 * u)
    return 2 * u - before + 0.1 * c ** 2 * laplace


def nbody(x, m):
    d = x[None, :, :] - x[:, None, :]
    r2 = (d ** 2).sum(-1) + 1e-4
    inv = r2 ** -1.5
    return (d * (m[None, :] * inv)[:, :, None]).sum(1)


def kalman(x, p, z, f,
           q, h, r):
    """Predict and update of many small filters."""
    x = torch.einsum("ij,bj->bi", f, x)
    p = f @ p @ f.T + q
    s = h @ p @ h.T + r
    det = s[:, 0, 0] * s[:, 1, 1] - s[:, 0, 1] * s[:, 1, 0]
    inverse = torch.stack([torch.stack([s[:, 1, 1], -s[:, 0, 1]], -1), torch.stack([-s[:, 1, 0], s[:, 0, 0]], -1)], -2) / det[:, None, None]
    gain = p @ h.T @ inverse
    innovation = z - torch.einsum("ij,bj->bi", h, x)
    x = x + (gain @ innovation[:, :, None])[:, :, 0]
    p = p - gain @ (h @ p)
    return x, p


def complex_filter(re, im, wr, wi):
    """A filter in the frequency domain; the amplitudes in decibels beside it."""
    yr = re * wr - im * wi
    yi = re * wi + im * wr
    return yr, yi, 20 * torch.log10(torch.hypot(yr, yi) + 1e-12)


def complex_matmul(ar, ai, br, bi):
    return ar @ br - ai @ bi, ar @ bi + ai @ br


def kmeans_step(x, centres):
    """Assign to the nearest, and move centres to the means of what they have."""
    d = (x ** 2).sum(1, keepdim=True) - 2 * x @ centres.T + (centres ** 2).sum(1)
    which = d.argmin(dim=1)
    members = F.one_hot(which, centres.shape[0]).float()
    counts = members.sum(0)
    return which, (members.T @ x) / counts.clamp(min=1)[:, None], d.amin(1).mean()


def vector_quantize(z, codebook):
    """VQ-VAE: the nearest code, the commitment loss and the perplexity of what is used."""
    b, d, h, w = z.shape
    flat = z.permute(0, 2, 3, 1).reshape(-1, d)
    distance = torch.cdist(flat, codebook)
    which = distance.argmin(1)
    q = codebook[which].view(b, h, w, d).permute(0, 3, 1, 2)
    loss = 1.25 * ((q - z) ** 2).mean()
    used = F.one_hot(which, codebook.shape[0]).float().mean(0)
    return q, which.view(b, h, w), loss, torch.exp(-(used * torch.log(used + 1e-10)).sum())


def retrieve(queries, base):
    """The ten nearest by cosine."""
    s = F.normalize(queries, dim=1) @ F.normalize(base, dim=1).T
    return torch.topk(s, 10, dim=1)


def rbf_predict(x, support, alpha):
    """Regression with Gaussian kernels."""
    d = (x ** 2).sum(1)[:, None] + (support ** 2).sum(1) - 2 * (x @ support.T)
    return torch.exp(-0.5 * d / x.shape[1]) @ alpha


def lattice_boltzmann(f):
    """D2Q9: move along nine directions, then relax to equilibrium."""
    ex = [0, 1, 0, -1, 0, 1, -1, -1, 1]
    ey = [0, 0, 1, 0, -1, 1, 1, -1, -1]
    w = [4 / 9] + [1 / 9] * 4 + [1 / 36] * 4
    moved = [torch.roll(f[i], (ey[i], ex[i]), (0, 1)) for i in range(9)]
    rho = sum(moved)
    ux = sum(ex[i] * moved[i] for i in range(9)) / rho
    uy = sum(ey[i] * moved[i] for i in range(9)) / rho
    u2 = 1.5 * (ux ** 2 + uy ** 2)
    out = []
    for i in range(9):
        e = 3 * (ex[i] * ux + ey[i] * uy)
        out.append(moved[i] - 1.2 * (moved[i] - w[i] * rho * (1 + e + e ** 2 / 2 - u2)))
    return torch.stack(out)


def mandelbrot(cr, ci):
    x, y = cr[None, :], ci[:, None]
    zr, zi = 0 * x + 0 * y, 0 * x + 0 * y
    count = torch.zeros((ci.shape[0], cr.shape[0]), dtype=torch.int32, device="cuda")
    for _ in range(50):
        zr, zi = zr * zr - zi * zi + x, 2 * zr * zi + y
        inside = zr * zr + zi * zi < 4
        zr, zi = torch.where(inside, zr, 2.0), torch.where(inside, zi, 0.0)
        count = count + inside.to(torch.int32)
    return count


def drawdown(returns):
    """Worth of assets over time, how far below the best so far, and the worst of that."""
    worth = torch.cumprod(1 + returns, dim=0)
    below = worth / torch.cummax(worth, dim=0)[0] - 1
    return worth, below.amin(0)


def asian_option(noise):
    """Monte Carlo: the mean of a path's prices, as an option pays by it."""
    dt = 1 / 252
    steps = (0.03 - 0.5 * 0.2 ** 2) * dt + 0.2 * dt ** 0.5 * noise
    prices = 100 * torch.exp(torch.cumsum(steps, dim=1))
    payoff = torch.relu(prices.mean(1) - 100) * 0.97
    return payoff.mean(), payoff.std(correction=0) / noise.shape[0] ** 0.5


def life(x):
    n = sum(torch.roll(x, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
    return ((n == 3) | ((x == 1) & (n == 2))).to(torch.int8)


def rolling_zscore(x):
    """By the mean and deviation of the last 20."""
    c = F.pad(torch.cumsum(x, 1), (1, 0))
    c2 = F.pad(torch.cumsum(x * x, 1), (1, 0))
    mean = (c[:, 20:] - c[:, :-20]) / 20
    var = (c2[:, 20:] - c2[:, :-20]) / 20 - mean ** 2
    return (x[:, 19:] - mean) / torch.sqrt(var.clamp(min=1e-6))


def haversine(lat1, lon1, lat2, lon2):
    a, b = torch.deg2rad(lat1), torch.deg2rad(lat2)
    h = torch.sin((b - a) / 2) ** 2 + torch.cos(a) * torch.cos(b) * torch.sin(torch.deg2rad(lon2 - lon1) / 2) ** 2
    return 2 * 6371.0 * torch.asin(torch.sqrt(h))


# ---- sampling


def min_p_sample(logits, noise, temperature):
    """Temperature, min-p, and the Gumbel trick."""
    p = torch.softmax(logits.float() / temperature[:, None], dim=-1)
    keep = p >= 0.05 * p.amax(-1, keepdim=True)
    gumbel = -torch.log(-torch.log(noise))
    return torch.where(keep, torch.log(p) + gumbel, float("-inf")).argmax(-1)


def top_k_softmax(logits):
    """All but the best fifty become 0."""
    logits = logits.float() / 0.7
    least = torch.topk(logits, 50, dim=-1)[0][:, -1:]
    return torch.softmax(logits.masked_fill(logits < least, float("-inf")), dim=-1)


def top_p_of_top_k(logits, u):
    """Top 64, top-p among these, one of them by a random number."""
    values, index = torch.topk(logits.float(), 64, dim=-1)
    p = torch.softmax(values, dim=-1)
    before = torch.cumsum(p, dim=-1) - p
    p = torch.where(before < 0.9, p, 0.0)
    c = torch.cumsum(p, dim=-1)
    chosen = (c < u * c[:, -1:]).sum(-1, keepdim=True)
    return index.gather(1, chosen).squeeze(1)


def beam_step(logits, scores):
    """The best four of four beams' continuations: scores, beams and tokens."""
    b, k, v = logits.shape
    total = torch.log_softmax(logits.float(), dim=-1) + scores[:, :, None]
    best, flat = torch.topk(total.view(b, k * v), 4, dim=-1)
    return best, flat // v, flat % v


def repetition_penalty(logits, tokens):
    picked = logits.gather(1, tokens)
    picked = torch.where(picked < 0, picked * 1.2, picked / 1.2)
    return logits.scatter(1, tokens, picked)


def verify_drafts(target, draft, tokens, u):
    """Speculative decoding: how many drafts stay, and what is left of the target's probabilities."""
    p, q = torch.softmax(target.float(), -1), torch.softmax(draft.float(), -1)
    pt = p.gather(2, tokens[..., None]).squeeze(-1)
    qt = q.gather(2, tokens[..., None]).squeeze(-1)
    stays = (u * qt < pt).to(torch.int32)
    count = torch.cumprod(stays, dim=1).sum(1)
    rest = torch.relu(p - q)
    return count, rest / (rest.sum(-1, keepdim=True) + 1e-10)


# ---- gradients: what is differentiated, and by which of its arguments

def group_norm_silu_backward(x, w, b, g):
    return (F.silu(F.group_norm(x, 32, w, b)) * g).sum()


def modulate_backward(x, shift, scale, g):
    return ((F.layer_norm(x, x.shape[-1:], eps=1e-6) * (1 + scale[:, None]) + shift[:, None]) * g).sum()


def swiglu_backward(h, g):
    gate, up = h.chunk(2, dim=-1)
    return (F.silu(gate) * up * g).sum()


def distillation_backward(student, teacher):
    log_p = torch.log_softmax(student.float() / 2.0, -1)
    log_q = torch.log_softmax(teacher.float() / 2.0, -1)
    return (torch.exp(log_q) * (log_q - log_p)).sum(-1).mean() * 4.0


def cross_entropy_z_backward(logits, labels):
    lse = torch.logsumexp(logits.float(), -1)
    return F.cross_entropy(logits.float(), labels, label_smoothing=0.1) + 1e-4 * (lse ** 2).mean()


def focal_backward(logits, targets):
    p = torch.sigmoid(logits)
    ce = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    p_t = p * targets + (1 - p) * (1 - targets)
    return (ce * (1 - p_t) ** 2).mean()


def clip_backward(image, text, log_scale):
    return clip_loss(image, text, log_scale)


def linear_gelu_backward(x, w, b, g):
    return (F.gelu(F.linear(x, w, b)) * g).sum()


def alibi_backward(q, k, v, g, slopes):
    i = torch.arange(q.shape[2], device="cuda")
    distance = i[:, None] - i
    s = q @ k.mT * 0.125 - slopes[:, None, None] * distance
    p = torch.softmax(torch.where(distance >= 0, s, float("-inf")), dim=-1)
    return (p.to(v.dtype) @ v * g).sum()


def causal_conv_backward(x, w, b, g):
    t = x.shape[1]
    y = F.pad(x, (0, 0, 3, 0))
    y = sum(y[:, i:i + t] * w[i] for i in range(4)) + b
    return (F.silu(y) * g).sum()


def render_backward(sigma, rgb, delta, target):
    tau = torch.relu(sigma) * delta
    through = torch.exp(-(torch.cumsum(tau, 1) - tau))
    weights = through * (1 - torch.exp(-tau))
    colour = (weights[..., None] * rgb).sum(1)
    return ((colour - target) ** 2).mean()


def embedding_norm_backward(tokens, table, w, g):
    return (F.rms_norm(table[tokens], w.shape, w, 1e-6) * g).sum()


def batch_norm_relu_backward(x, w, b, g):
    mean = x.mean((0, 2, 3), keepdim=True)
    var = ((x - mean) ** 2).mean((0, 2, 3), keepdim=True)
    y = (x - mean) * torch.rsqrt(var + 1e-5) * w[:, None, None] + b[:, None, None]
    return (torch.relu(y) * g).sum()


def qk_norm_rope_backward(x, w, cos, sin, g):
    y = F.rms_norm(x, w.shape, w, 1e-6)
    a, b = y.chunk(2, -1)
    return ((y * cos + torch.cat([-b, a], -1) * sin) * g).sum()


# By which arguments, and whether the value is a result too.
def rotate_halves(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-b, a], -1) * sin


def rotate_halves_backward(x, cos, sin, g):
    return (rotate_halves(x, cos, sin) * g).sum()


def rotate_pairs(x, c, s):
    re, im = x[..., 0], x[..., 1]
    return torch.stack([re * c - im * s, re * s + im * c], dim=-1).flatten(3)


def timestep_embedding(t):
    frequencies = torch.exp(torch.arange(0, 128, device=t.device) * -0.0719557)
    angles = t[:, None] * frequencies
    return torch.cat([torch.cos(angles), torch.sin(angles)], dim=-1)


def rotation_matrices(q):
    q = q / q.norm(dim=-1, keepdim=True)
    w, x, y, z = q[:, 0], q[:, 1], q[:, 2], q[:, 3]
    return torch.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
                        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], dim=-1).reshape(q.shape[0], 3, 3)


def rgb_to_yuv(x):
    r, g, b = x[:, 0], x[:, 1], x[:, 2]
    y = 0.299 * r + 0.587 * g + 0.114 * b
    return torch.stack([y, 0.492 * (b - y), 0.877 * (r - y)], dim=1)


def complex_product(x, y):
    return torch.stack([x[:, 0] * y[:, 0] - x[:, 1] * y[:, 1], x[:, 0] * y[:, 1] + x[:, 1] * y[:, 0]], dim=-1)


def corners_of_boxes(b):
    x, y, w, h = b[:, 0], b[:, 1], b[:, 2], b[:, 3]
    return torch.stack([x - w * 0.5, y - h * 0.5, x + w * 0.5, y + h * 0.5], dim=-1)


def two_channels(x, y):
    return torch.relu(torch.cat([x, y], dim=1))


def harmonics(d):
    x, y, z = d[:, 0], d[:, 1], d[:, 2]
    return torch.stack([0.282095 + 0 * x, -0.488603 * y, 0.488603 * z, -0.488603 * x, 1.092548 * x * y, -1.092548 * y * z,
                        0.315392 * (3 * z * z - 1), -1.092548 * x * z, 0.546274 * (x * x - y * y)], dim=-1)


def norm_rows(x, w):
    return torch.nn.functional.rms_norm(x, w.shape, w, eps=1e-6)


def scale_rows(x, w, b):
    return torch.relu(x * w + b)


def add_turned(x, y):
    return x + y.T


def softmax_rows(x):
    return torch.softmax(x.float(), dim=-1).to(x.dtype)


def column_sums(x):
    return x.float().sum(0), x.float().square().sum(0)


def product(x, y):
    return x @ y


def dense(x, w, b):
    return torch.nn.functional.silu(torch.nn.functional.linear(x, w, b))


def batched(x, y):
    return x @ y.transpose(1, 2)


GRADIENTS = {"group_norm_silu_backward": (0, 1, 2), "modulate_backward": (0, 1, 2), "swiglu_backward": (0,),
             "distillation_backward": (0,), "cross_entropy_z_backward": (0,), "focal_backward": (0,),
             "clip_backward": (0, 1, 2), "linear_gelu_backward": (0, 1, 2), "alibi_backward": (0, 1, 2),
             "causal_conv_backward": (0, 1, 2), "render_backward": (0, 1), "embedding_norm_backward": (1, 2),
             "batch_norm_relu_backward": (0, 1, 2), "qk_norm_rope_backward": (0, 1),
             "rotate_halves_backward": (0,)}
WITH_VALUE = ("distillation_backward", "cross_entropy_z_backward")
