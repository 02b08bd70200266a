"""The cases of attention.py: launches of the library's kernels, and what they are compared with."""
import dataclasses
import functools


@dataclasses.dataclass
class Blocks:
    """A descriptor of a tensor's blocks."""
    tensor: object
    block: tuple


@dataclasses.dataclass
class Launch:
    file: str  # of the kernel library
    kernel: str
    grid: tuple
    values: list  # tensors, Blocks, numbers, None, in the order of the kernel's parameters
    constants: dict
    warps: int
    stages: int


@dataclasses.dataclass
class Case:
    name: str
    configurations: list  # of (label, launches)
    clear: object  # makes sure that results are new ones
    error: object  # of the results against float64
    tolerance: float
    reference: object = None  # runs cuDNN
    reference_error: object = None
    flops: float = 0
    bytes: float = 0
    copy: object = None


def cdiv(a, b):
    return -(-a // b)


def label_of(*launches):
    texts = []
    for l in launches:
        blocks = "x".join(str(v) for k, v in l.constants.items() if k.startswith("BLOCK"))
        texts.append(f"{blocks} w{l.warps} s{l.stages}")
    return ", ".join(texts)


def relative(got, expected):
    return float((got.double() - expected).norm() / expected.norm())


def cudnn(q, k, v, causal):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        return torch.nn.functional.scaled_dot_product_attention(
            q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1])


def last_rows(q, k, v, causal, rows):
    """Of the first and the last head in double precision, the last rows: they see most."""
    import torch
    N, group, parts = q.shape[2], q.shape[1] // k.shape[1], []
    for b, h in ((0, 0), (q.shape[0] - 1, q.shape[1] - 1)):
        s = q[b, h, -rows:].double() @ k[b, h // group].double().T * q.shape[3] ** -0.5
        if causal:
            i = torch.arange(N - rows, N, device="cuda")[:, None]
            s = s.masked_fill(i < torch.arange(N, device="cuda")[None, :], -float("inf"))
        parts.append(torch.softmax(s, -1) @ v[b, h // group].double())
    return torch.stack(parts)


def pick(x, rows):
    import torch
    return torch.stack([x[0, 0, -rows:], x[-1, -1, -rows:]])


def heads_together(count, length, size, causal):
    """As the library's launchers choose it."""
    together = max(1, min(count, 2**25 // (4 * length * size))) if causal else 1
    while count % together != 0:
        together -= 1
    return together


# (BLOCK_M, BLOCK_N, warps, stages), by size of head.
FORWARD = {64: [(64, 64, 4, 4), (64, 128, 4, 3), (128, 128, 8, 3), (128, 64, 4, 3)],
           128: [(64, 64, 4, 3), (64, 64, 4, 2), (128, 128, 8, 2), (128, 64, 8, 3)]}


def forward(name, batch, heads, kv_heads, length, size, causal, dtype="float16"):
    import torch
    dtype = getattr(torch, dtype)
    q = torch.randn(batch, heads, length, size, device="cuda", dtype=dtype)
    k, v = [torch.randn(batch, kv_heads, length, size, device="cuda", dtype=dtype) for _ in "kv"]
    out = torch.empty_like(q)
    rows = min(length, 256)
    expected = last_rows(q, k, v, causal, rows)
    together = heads_together(batch * heads, length, size, causal)
    configurations = []
    for m, n, warps, stages in FORWARD[size]:
        values = [Blocks(q, (1, 1, m, size)), Blocks(k, (1, 1, n, size)),
                  Blocks(v, (1, 1, n, size)), Blocks(out, (1, 1, m, size)), None, size ** -0.5,
                  heads, batch, heads // kv_heads, length, length, together] + [None] * 11
        constants = dict(CAUSAL=causal, BLOCK_M=m, BLOCK_N=n, D=size, REST=0, D_V=size,
                         V_TURNED=False, SHIFT=0.0)
        launch = Launch("attention", "attention",
                        (together, cdiv(length, m), heads * batch // together), values,
                        constants, warps, stages)
        configurations.append((label_of(launch), [launch]))
    kept = {}

    def reference():
        kept["out"] = cudnn(q, k, v, causal)
    return Case(name, configurations, lambda: out.fill_(float("nan")),
                lambda: relative(pick(out, rows), expected),
                8e-3 if dtype == torch.bfloat16 else 1e-3, reference,
                lambda: relative(pick(kept["out"], rows), expected),
                flops=4 * batch * heads * length**2 * size / (2 if causal else 1))


# Of 8-bit floats.
FORWARD_FP8 = {64: [(64, 128, 4, 3), (128, 128, 8, 3)],
               128: [(64, 128, 4, 2), (64, 64, 4, 4), (128, 128, 8, 3)]}


def forward_fp8(name, batch, heads, length, size, causal):
    """V is [batch, heads, size, length]. PyTorch gives cuDNN no 8-bit floats."""
    import torch
    fp8 = torch.float8_e4m3fn
    q, k, v = [torch.randn(batch, heads, length, size, device="cuda").to(fp8) for _ in range(3)]
    turned = v.transpose(2, 3).contiguous()
    out = torch.empty(q.shape, device="cuda", dtype=torch.float16)
    rows = min(length, 256)
    expected = last_rows(q.half(), k.half(), v.half(), causal, rows)
    together = heads_together(batch * heads, length, size, causal)
    configurations = []
    for m, n, warps, stages in FORWARD_FP8[size]:
        values = [Blocks(q, (1, 1, m, size)), Blocks(k, (1, 1, n, size)),
                  Blocks(turned, (1, 1, size, n)), Blocks(out, (1, 1, m, size)), None, size ** -0.5,
                  heads, batch, 1, length, length, together] + [None] * 11
        constants = dict(CAUSAL=causal, BLOCK_M=m, BLOCK_N=n, D=size, REST=0, D_V=size,
                         V_TURNED=True, SHIFT=4.0)
        launch = Launch("attention", "attention",
                        (together, cdiv(length, m), heads * batch // together), values,
                        constants, warps, stages)
        configurations.append((label_of(launch), [launch]))
    return Case(name, configurations, lambda: out.fill_(float("nan")),
                lambda: relative(pick(out, rows), expected), 4e-2,
                flops=4 * batch * heads * length**2 * size / (2 if causal else 1))


# ((queries, keys) of a block, warps, stages) for dK and dV, and for dQ, by size of head.
BACKWARD = {64: [(((64, 64), 4, 4), ((64, 64), 4, 2)), (((64, 64), 4, 3), ((128, 64), 8, 2)),
                 (((64, 128), 8, 2), ((128, 128), 8, 2))],
            128: [(((64, 64), 4, 2), ((64, 64), 4, 2)), (((64, 128), 8, 2), ((128, 128), 8, 2)),
                  (((64, 64), 4, 2), ((128, 128), 8, 2))]}


def gradients(q, k, v, d_out, causal):
    """Of the first head of the first batch in double precision."""
    import torch
    x, y, z = [t[0, 0].double().requires_grad_() for t in (q, k, v)]
    s = x @ y.T * q.shape[3] ** -0.5
    if causal:
        s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(1), -float("inf"))
    out = torch.softmax(s, -1) @ z
    found = torch.autograd.grad(out, (x, y, z), d_out[0, 0].double())
    return out.detach(), torch.cat(found)


def backward_launches(q, k, v, out, lse, d_out, d_q, d_k, d_v, rows, causal, choice):
    ((m, n), warps, stages), ((m_q, n_q), warps_q, stages_q) = choice
    batch, heads, length, size = q.shape
    delta, level = rows
    block = lambda x, count: Blocks(x, (1, 1, count, size))
    together = heads_together(batch * heads, length, size, causal)
    grid = lambda rows: (together, cdiv(length, rows), heads * batch // together)
    numbers = [delta, level, size ** -0.5, heads, 1, length, length, together, None]
    atomic = d_q.dtype != q.dtype
    constants = dict(CAUSAL=causal, BLOCK_M=m, BLOCK_N=n, D=size, D_V=size)
    launches = [
        Launch("attention_backward", "prepare_rows", (cdiv(length, 64), batch * heads),
               [block(out, 64), block(d_out, 64), lse, delta, level, heads, length],
               dict(BLOCK_M=64, D_V=size), 4, 1),
        Launch("attention_backward", "gradients_of_keys", grid(n),
               [block(q, m), block(k, n), block(v, n), block(d_out, m), block(d_k, n), block(d_v, n),
                block(d_q, m) if atomic else None] + numbers,
               dict(constants, ADD_QUERIES=atomic), warps, stages)]
    if not atomic:
        launches.append(Launch(
            "attention_backward", "gradients_of_queries", grid(m_q),
            [block(q, m_q), block(k, n_q), block(v, n_q), block(d_out, m_q), block(d_q, m_q)] + numbers,
            dict(constants, BLOCK_M=m_q, BLOCK_N=n_q), warps_q, stages_q))
    return launches


def backward(name, batch, heads, length, size, causal, atomic=False):
    """As cuDNN's: from output and log-sum-exp, which are the forward pass's."""
    import torch
    q, k, v, d_out = [torch.randn(batch, heads, length, size, device="cuda", dtype=torch.float16)
                      for _ in range(4)]
    x, y, z = [t.detach().requires_grad_() for t in (q, k, v)]
    out = cudnn(x, y, z, causal)
    lse = torch.empty(batch, heads, length, device="cuda")
    for b in range(batch):  # by heads: all scores of all heads do not fit
        for h in range(heads):
            s = (q[b, h] @ k[b, h].T).float() * size ** -0.5
            if causal:
                s.masked_fill_(torch.ones_like(s, dtype=torch.bool).triu_(1), -float("inf"))
            lse[b, h] = torch.logsumexp(s, -1)
    _, expected = gradients(q, k, v, d_out, causal)
    d_q = torch.zeros(q.shape, device="cuda", dtype=torch.float32 if atomic else torch.float16)
    d_k, d_v = torch.empty_like(k), torch.empty_like(v)
    rows = torch.empty_like(lse), torch.empty_like(lse)
    kept = {}

    def reference():
        kept["out"] = torch.autograd.grad(out, (x, y, z), d_out, retain_graph=True)
    first = lambda parts: torch.cat([t[0, 0].double() for t in parts])
    configurations = []
    for choice in BACKWARD[size]:
        launches = backward_launches(q, k, v, out.detach(), lse, d_out, d_q, d_k, d_v, rows, causal,
                                     choice)
        configurations.append((label_of(*launches[1:]), launches))

    def clear():
        d_q.zero_()
        d_k.fill_(float("nan"))
        d_v.fill_(float("nan"))
    return Case(name, configurations, clear, lambda: relative(first((d_q, d_k, d_v)), expected), 2e-3,
                reference, lambda: relative(first(kept["out"]), expected),
                flops=10 * batch * heads * length**2 * size / (2 if causal else 1))


# (BLOCK_N, warps, stages, splits for each place on the chip)
DECODE = [(64, 4, 3, 2), (64, 4, 3, 1), (64, 8, 3, 1), (128, 8, 3, 1)]


def decode(name, batch, length, dtype="float16", heads=64, few=8, size=128, page=64):
    """One token a sequence, pages in random order. cuDNN gets the same keys without pages."""
    import torch
    stored = getattr(torch, dtype)
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    pages = batch * length // page
    q = torch.randn(batch, 1, heads, size, device="cuda", dtype=torch.float16)
    k, v = [torch.randn(pages, page, few, size, device="cuda", dtype=torch.float16).to(stored)
            for _ in "kv"]
    table = torch.randperm(pages, device="cuda", dtype=torch.int32).view(batch, length // page)
    lengths = torch.full((batch,), length, device="cuda", dtype=torch.int32)
    out = torch.empty_like(q)
    flat = lambda x: x[table.long()].view(batch, length, few, size).transpose(1, 2).half().contiguous()
    keys, values = flat(k), flat(v)
    s = (q[:, 0].double().view(batch, few, heads // few, size) @ keys[:, :].double().transpose(2, 3))
    expected = torch.softmax(s * size ** -0.5, -1) @ values.double()
    expected = expected.view(batch, 1, heads, size)
    strides = [*k.stride()[:3], *v.stride()[:3]]
    configurations = []
    for block, warps, stages, places in DECODE:
        splits = max(1, min(places * processors // (batch * few), cdiv(length, max(block, 64)), 128))
        parts = torch.empty(batch * heads, splits, size, device="cuda")
        sums = torch.empty(batch * heads, splits, device="cuda")
        constants = dict(GROUP=heads // few, TOKENS=1, ROWS=max(16, heads // few), BLOCK_N=block, D=size,
                         D_V=size, PAGE=page, SPLITS=splits)
        launches = [Launch("attention_decode", "decode", (batch, few, splits),
                           [q, k, v, parts if splits > 1 else out, sums if splits > 1 else None, lengths,
                            table, size ** -0.5, 1.0, heads, size, size, table.stride(0)] + strides,
                           constants, warps, stages)]
        if splits > 1:
            count = 1 << (splits - 1).bit_length()
            launches.append(Launch("attention_decode", "merge_parts", (batch * heads,),
                                   [parts, sums, out, size],
                                   dict(SPLITS=splits, COUNT=count, D_V=size), 4, 1))
        configurations.append((f"{label_of(launches[0])} /{splits}", launches))
    kept = {}
    x = q.transpose(1, 2).contiguous()

    def reference():
        kept["out"] = cudnn(x, keys, values, False)
    to, source = [torch.empty(k.numel() * k.element_size(), device="cuda", dtype=torch.int8)
                  for _ in range(2)]
    # A copy reads and writes: it moves as many bytes as K and V together have.
    return Case(name, configurations, lambda: out.fill_(float("nan")),
                lambda: relative(out, expected), 2e-3,
                reference if stored == torch.float16 else None,
                lambda: relative(kept["out"].transpose(1, 2), expected),
                bytes=2 * k.numel() * k.element_size(), copy=lambda: to.copy_(source))


def cases():
    found = {}
    for size in (64, 128):
        for batch, length in ((4, 4096), (1, 16384)):
            for causal in (False, True):
                name = f"forward d{size} {length} " + ("causal" if causal else "full")
                found[name] = functools.partial(forward, name, batch, 32, 32, length, size, causal)
    name = "forward d128 4096 causal, 4 heads to one, bf16"
    found[name] = functools.partial(forward, name, 4, 32, 8, 4096, 128, True, "bfloat16")
    for size in (64, 128):
        for causal in (False, True):
            name = f"fp8 d{size} 16384 " + ("causal" if causal else "full")
            found[name] = functools.partial(forward_fp8, name, 1, 2048 // size, 16384, size, causal)
    for size in (64, 128):
        for causal in (False, True):
            name = f"backward d{size} 4096 " + ("causal" if causal else "full")
            found[name] = functools.partial(backward, name, 4, 2048 // size, 4096, size, causal)
    name = "atomic backward d128 4096 full"
    found[name] = functools.partial(backward, name, 4, 16, 4096, 128, False, True)
    for batch, length in ((1, 32768), (16, 8192), (128, 1024), (256, 4096)):
        name = f"decode {batch} x {length}"
        found[name] = functools.partial(decode, name, batch, length)
    name = "decode 16 x 8192 fp8"
    found[name] = functools.partial(decode, name, 16, 8192, "float8_e4m3fn")
    return found


CASES = cases()
