"""The rows of functions.py: what each is given, and the same in PyTorch."""
import torch

F = torch.nn.functional


class Row:
    """`make` gives (arguments, bytes moved at least); `run` is the same in PyTorch. Where that
    rounds on the way, `exact` computes it in float64, and results may be off by one rounding."""

    def __init__(self, name, file, function, make, run, types="bf16", tolerance=2e-2, exact=None):
        self.name, self.file, self.function, self.types = name, file, function, types
        self.make, self.run, self.tolerance, self.exact = make, run, tolerance, exact


def randn(*shape, dtype=torch.bfloat16, scale=1.0):
    return (torch.randn(*shape, device="cuda", dtype=torch.float32) * scale).to(dtype)


def size(*tensors):
    return sum(t.numel() * t.element_size() for t in tensors)


def rms(x, w):
    return (x.float() * torch.rsqrt((x.float() ** 2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * w


def exact_rms(x, w):
    x = x.double()
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w.double()


def exact_layer_norm(x, w, b):
    return F.layer_norm(x.double(), w.shape, w.double(), b.double())


def rms_backward(x, w, g):
    x, w, g = x.float(), w.float(), g.float()
    r = torch.rsqrt((x * x).mean(1, keepdim=True) + 1e-6)
    n, gw = x * r, g * w
    dx = r * (gw - n * (gw * n).mean(1, keepdim=True))
    return dx.to(torch.bfloat16), (g * n).sum(0).to(torch.bfloat16)


def adam_step(p, g, m, s):
    m = 0.9 * m + 0.1 * g
    s = 0.999 * s + 0.001 * g * g
    return p - 1e-3 * (m / 0.1) / (torch.sqrt(s / 0.001) + 1e-8), m, s


def mlp(x, n, gate, up, down):
    h = rms(x, n)
    return (F.silu(h @ gate) * (h @ up)) @ down + x


def big(shape=(8192, 8192)):
    return randn(*shape)


def norm_mlp(x, n, w1, w2):
    return F.gelu(rms(x, n) @ w1) @ w2


def rotated(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


def decoder_block(x, norm1, q, k, v, out, cos, sin, heads, norm2, gate, up, down):
    """One block of a decoder: grouped queries, rotary positions, a gated MLP."""
    b, t, _ = x.shape
    h, g = heads.shape
    y = rms(x, norm1)
    parts = [(y @ w).view(b, t, n, -1).transpose(1, 2) for w, n in ((q, h * g), (k, h), (v, h))]
    got = F.scaled_dot_product_attention(rotated(parts[0], cos, sin), rotated(parts[1], cos, sin),
                                         parts[2], is_causal=True, enable_gqa=True)
    x = x + got.transpose(1, 2).reshape(b, t, -1) @ out
    y = rms(x, norm2)
    return x + F.silu(y @ gate) * (y @ up) @ down


def rows():
    f32 = torch.float32

    def three():
        x, y = randn(10**7, dtype=f32), randn(10**7, dtype=f32)
        return (x, y), 3 * size(x)

    def one(shape=(8192, 8192), times=2):
        x = big(shape)
        return (x,), times * size(x)

    def weighted(extra):
        x = big()
        return (x, *[randn(8192) for _ in range(extra)]), 2 * size(x)

    def backward():
        x, g = big(), big()
        return (x, randn(8192), g), 3 * size(x)

    def tail():
        x, r = big((4096, 4096)), big((4096, 4096))
        return (x, randn(4096), r, randn(4096), randn(4096)), 3 * size(x)

    def labels():
        x = randn(8192, 50304, scale=3.0)
        return (x, torch.randint(0, 50304, (8192,), device="cuda")), size(x)

    def states():
        p, g, m = [randn(4096, 4096, dtype=f32) for _ in range(3)]
        return (p, g, m, torch.rand(4096, 4096, device="cuda")), 7 * size(p)

    def gated(tokens):
        def make():
            d, f = 4096, 14336
            weights = [randn(d, f, scale=d**-0.5), randn(d, f, scale=d**-0.5),
                       randn(f, d, scale=f**-0.5)]
            x = randn(tokens, d)
            return (x, randn(d), *weights), size(*weights) + 2 * size(x)
        return make

    def mlp_of_two():
        weights = [randn(4096, 4096, scale=1 / 64) for _ in range(2)]
        x = randn(4096, 4096)
        return (x, randn(4096), *weights), size(*weights) + 2 * size(x)

    def block(tokens):
        def make():
            c, f, h, g, d = 4096, 14336, 8, 4, 128
            weights = [randn(i, o, scale=i**-0.5) for i, o in
                       ((c, h * g * d), (c, h * d), (c, h * d), (h * g * d, c), (c, f), (c, f),
                        (f, c))]
            x = randn(1, tokens, c)
            turns = [randn(tokens, d) for _ in range(2)]
            heads = torch.zeros(h, g, device="cuda", dtype=torch.bfloat16)
            return ((x, randn(c), *weights[:4], *turns, heads, randn(c), *weights[4:]),
                    size(*weights) + 2 * size(x))
        return make

    def heads(length, size):
        def make():
            arrays = [randn(1, 32, length, size) for _ in range(3)]
            return arrays, 4 * arrays[0].numel() * 2
        return make

    yield Row("add, relu, mul f32 1e7", "add_relu_mul.tile", "add_relu_mul", three,
              lambda x, y: torch.relu(x + y) * y, "fp32", 1e-5)
    yield Row("softmax 8192 x 8192", "softmax.tile", "softmax", one,
              lambda x: torch.softmax(x, 1))
    yield Row("layer norm 8192 x 8192", "norms.tile", "layer_norm_by_name", lambda: weighted(2),
              lambda x, w, b: F.layer_norm(x, (8192,), w, b), exact=exact_layer_norm)
    yield Row("RMS norm 8192 x 8192", "norms.tile", "rms_norm", lambda: weighted(1), rms,
              exact=exact_rms)
    yield Row("RMS norm backward 8192 x 8192", "norm_backward.tile", "rms_norm_backward", backward,
              rms_backward, tolerance=2.0)
    yield Row("bias, GELU, residual, layer norm 4096 x 4096", "bias_gelu_norm.tile",
              "bias_gelu_norm", tail,
              lambda x, b, r, w, s: F.layer_norm(F.gelu(x + b) + r, (4096,), w, s), tolerance=0.2)
    yield Row("cross-entropy 8192 x 50304", "cross_entropy.tile", "cross_entropy", labels,
              lambda x, y: F.cross_entropy(x.float(), y).to(x.dtype), tolerance=0.1)
    yield Row("Adam f32 4096 x 4096", "adam.tile", "adam", states, adam_step, "fp32", 1e-2)
    yield Row("row max, column sum 8192 x 8192", "row_max_column_sum.tile", "row_max_column_sum",
              lambda: one(times=1), lambda x: (x.amax(1), x.float().sum(0).to(x.dtype)),
              tolerance=4.0)
    for tokens in (1, 16, 256, 4096):
        yield Row(f"gated MLP, {tokens} tokens", "mlp.tile", "gated_mlp", gated(tokens), mlp,
                  tolerance=0.1)
    yield Row("RMS norm, linear, GELU, linear, 4096 tokens", "decoder_block.tile", "norm_mlp",
              mlp_of_two, norm_mlp, tolerance=0.1)
    for tokens in (1, 64, 2048):
        yield Row(f"decoder block, {tokens} tokens", "decoder_block.tile", "decoder_block",
                  block(tokens), decoder_block, tolerance=0.2)
    for length, d in ((1024, 64), (4096, 128), (16384, 128)):
        yield Row(f"attention, causal, 32 heads of {d}, {length} tokens", "attention_formulas.tile",
                  "causal", heads(length, d),
                  lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True))


def numbers(row):
    """The arguments of the function that are numbers."""
    return {"rms_norm": (1e-6,), "rms_norm_backward": (1e-6,),
            "adam": (1e-3, 0.1, 1e-3, 0.9, 0.999, 1e-8)}.get(row.function, ())
