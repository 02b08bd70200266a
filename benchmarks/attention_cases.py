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


# (BLOCK_M, BLOCK_N, warps, stages), by size of head.
FORWARD = {64: [(128, 128, 8, 3), (128, 64, 4, 3), (256, 64, 16, 4), (192, 128, 12, 3)],
           128: [(128, 128, 8, 2), (128, 64, 8, 3), (192, 64, 12, 3)]}


def forward(name, batch, heads, kv_heads, length, size, causal, dtype="float16"):
    import torch
    dtype = getattr(torch, dtype)
    q = torch.randn(batch, heads, length, size, device="cuda", dtype=dtype)
    k, v = [torch.randn(batch, kv_heads, length, size, device="cuda", dtype=dtype) for _ in "kv"]
    out = torch.empty_like(q)
    rows = min(length, 256)
    expected = last_rows(q, k, v, causal, rows)
    together = max(1, min(batch * heads, 2**25 // (4 * length * size))) if causal else 1
    configurations = []
    for m, n, warps, stages in FORWARD[size]:
        values = [Blocks(q, (1, 1, m, size)), Blocks(k, (1, 1, n, size)),
                  Blocks(v, (1, 1, n, size)), Blocks(out, (1, 1, m, size)), None, size ** -0.5,
                  heads, batch, heads // kv_heads, length, length, together] + [None] * 11
        constants = dict(CAUSAL=causal, BLOCK_M=m, BLOCK_N=n, D=size, REST=0, D_V=size,
                         V_TURNED=False, SHIFT=0.0)
        launch = Launch("attention", "attention", (cdiv(length, m) * heads * batch,), values,
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


def cases():
    found = {}
    for size in (64, 128):
        for batch, length in ((4, 4096), (1, 16384)):
            for causal in (False, True):
                name = f"forward d{size} {length} " + ("causal" if causal else "full")
                found[name] = functools.partial(forward, name, batch, 32, 32, length, size, causal)
    name = "forward d128 4096 causal, 4 heads to one, bf16"
    found[name] = functools.partial(forward, name, 4, 32, 8, 4096, 128, True, "bfloat16")
    return found


CASES = cases()
