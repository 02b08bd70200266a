"""Functions of whole tensors (kernels/functions/) beside torch.compile.

usage: functions.py BUNDLE [--only TEXT] [--no-torch] [--profile] [--json FILE]

Each row is run through libtile's C interface and through torch.compile's default mode, both
captured into a CUDA graph and replayed, in turns. `bound` is what the row must read and
write once, at the speed of a copy measured in the same run; `of bound` is bound / time.
Results are compared with those of the row in PyTorch, norms with float64, before they are timed.
A row that fails is reported, and the others go on; where torch.compile alone fails, the row says
why. It compiles the rows of COMPILED, or all with `--all-torch`; of others its column says
`not run`.
`--profile` also prints how long each kernel of a row takes.
"""
import argparse
import ctypes
import json
import os
import sys
import time
import traceback

try:
    import torch
except ImportError:
    print("PyTorch is missing: nothing to compare with")
    sys.exit(77)

import libtile
from timing import Timer

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernels", "functions")
TYPES = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16"}


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("rank", ctypes.c_int32),
                ("shape", ctypes.c_int64 * 8), ("strides", ctypes.c_int64 * 8)]

    @staticmethod
    def of(x):
        made = Tensor(x.data_ptr(), x.dim())
        for i in range(x.dim()):
            made.shape[i], made.strides[i] = x.shape[i], x.stride(i)
        return made


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("function", ctypes.c_char_p),
                ("types", ctypes.c_char_p), ("target", ctypes.c_char_p)]


class Program:
    """A function of a file, compiled for a type, with its results and workspace for arguments."""

    def __init__(self, compiler, file, function, types, arguments):
        self.compiler, self.lib = compiler, compiler.lib
        options = Options()
        self.lib.tile_program_options_init_sized(ctypes.byref(options),
                                                 ctypes.c_size_t(ctypes.sizeof(options)))
        options.function, options.types = function.encode(), types.encode()
        self.handle = ctypes.c_void_p()
        compiler.check(self.lib.tile_program_compile_file(
            compiler.handle, os.path.join(FOLDER, file).encode(), ctypes.byref(options),
            ctypes.byref(self.handle)))
        self.kept = [Tensor.of(a) if torch.is_tensor(a) else ctypes.c_float(a) for a in arguments]
        self.count = ctypes.c_size_t(len(self.kept))
        self.pointers = (ctypes.c_void_p * len(self.kept))(
            *[ctypes.cast(ctypes.byref(a), ctypes.c_void_p) for a in self.kept])
        self.allocate()

    def allocate(self):
        known = {name: dtype for dtype, name in TYPES.items()}
        self.results, index = [], 0
        while True:
            shape, kind = Tensor(), ctypes.c_char_p()
            if self.lib.tile_program_result(self.handle, self.pointers, self.count,
                                            ctypes.c_size_t(index), ctypes.byref(shape),
                                            ctypes.byref(kind)):
                break
            self.results.append(torch.empty(list(shape.shape)[:shape.rank], device="cuda",
                                            dtype=known[kind.value.decode()]))
            index += 1
        self.outs = (Tensor * max(1, len(self.results)))(*[Tensor.of(r) for r in self.results])
        size = ctypes.c_size_t()
        self.compiler.check(self.lib.tile_program_workspace(self.handle, self.pointers, self.count,
                                                            ctypes.byref(size)))
        self.bytes = size
        self.workspace = torch.empty(max(256, size.value), dtype=torch.int8, device="cuda")

    def run(self):
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.compiler.check(self.lib.tile_program_run(
            self.handle, stream, self.pointers, self.count, self.outs,
            ctypes.c_size_t(len(self.results)), ctypes.c_void_p(self.workspace.data_ptr()),
            self.bytes))


def captured(run):
    """A replay of what `run` launches."""
    run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


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


F = torch.nn.functional


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


# What torch.compile is asked for, so that the whole takes little more than a minute.
COMPILED = ("softmax", "RMS norm b", "cross", "row max", "gated MLP, 16", "bias",
            "decoder block, 64", "RMS norm, l")


def numbers(row):
    """The arguments of the function that are numbers."""
    return {"rms_norm": (1e-6,), "rms_norm_backward": (1e-6,),
            "adam": (1e-3, 0.1, 1e-3, 0.9, 0.999, 1e-8)}.get(row.function, ())


def agree_exactly(got, want):
    """Rounding to bf16 moves a number by 2^-8 of it at most, arithmetic in float32 by less."""
    over = (got.double() - want).abs() - want.abs() * 2.0**-8 * 1.01
    worst = over.max().item()
    return "" if worst <= 1e-5 * want.abs().max().item() else f"off by {worst:.3g} after rounding"


def agree(row, got, arguments):
    if row.exact:
        return agree_exactly(got[0], row.exact(*arguments))
    want = row.run(*arguments)
    want = want if isinstance(want, tuple) else (want,)
    for a, b in zip(got, want):
        error = (a.double() - b.double()).abs().max().item()
        if not error <= row.tolerance * max(1.0, 1e-2 * b.double().abs().max().item()):
            return f"differs by {error:.3g}"
    return ""


def measure(row, compiler, timer, with_torch, profiled):
    arguments, least = row.make()
    begin = time.perf_counter()
    program = Program(compiler, row.file, row.function, row.types, [*arguments, *numbers(row)])
    program.run()
    torch.cuda.synchronize()
    line = {"row": row.name, "bytes": least, "first_call_s": time.perf_counter() - begin}
    line["wrong"] = agree(row, program.results, arguments)
    if profiled:
        profile(program)
    half = torch.empty(least // 2, dtype=torch.int8, device="cuda")
    to = torch.empty_like(half)
    sides = {"copy": lambda: to.copy_(half), "tile": captured(program.run)}
    if with_torch:
        try:
            sides["torch"], line["torch_first_call_s"] = compiled_by_torch(row, arguments)
        except Exception as error:  # Tile's time is wanted all the same
            line["torch_failed"] = (str(error).strip().splitlines() or [repr(error)])[0][:60]
    line.update(timer.compare(sides, count=15))
    return line


def compiled_by_torch(row, arguments):
    """What replays the row as torch.compile has it, and how long its first call took."""
    begin = time.perf_counter()
    compiled = torch.compile(row.run)
    compiled(*arguments)
    torch.cuda.synchronize()
    first = time.perf_counter() - begin
    return captured(lambda: compiled(*arguments)), first


def profile(program):
    """How long each launch of a program takes, in the order of their first launches."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
        for _ in range(5):
            program.run()
        torch.cuda.synchronize()
    for event in seen.key_averages():
        if event.device_time_total > 0:
            print(f"    {event.device_time_total / 5:9.1f}  {event.count // 5:3}  {event.key[:90]}")


def show(line):
    bound = line["copy"]
    missing = "failed" if "torch_failed" in line else "not run"
    torch_us = f"{line['torch']:9.1f}" if "torch" in line else f"{missing:>9}"
    remarks = [line["wrong"]] if line["wrong"] else []
    if "torch_failed" in line:
        remarks.append(f"torch.compile: {line['torch_failed']}")
    ratio = f"{line['torch'] / line['tile']:6.2f}" if "torch" in line else "     -"
    print(f"{line['row']:46} {bound:8.1f} {line['tile']:9.1f} {bound / line['tile']:9.2f} "
          f"{torch_us} {ratio}  {line['first_call_s']:6.2f}  {'; '.join(remarks)}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bundle")
    parser.add_argument("--only", default="")
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--all-torch", action="store_true", help="torch.compile for every row")
    parser.add_argument("--profile", action="store_true", help="times of the row's kernels")
    parser.add_argument("--json")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("no GPU: nothing to measure")
        return 77
    torch.manual_seed(0)
    compiler = libtile.Compiler(libtile.Bundle(options.bundle).library)
    timer, lines, failed = Timer(), [], 0
    print(f"{'microseconds':46} {'bound':>8} {'tile':>9} {'of bound':>9} {'torch':>9} {'ratio':>6} "
          f" {'1st s':>6}")
    for row in rows():
        if options.only not in row.name:
            continue
        with_torch = not options.no_torch and (options.all_torch or row.name.startswith(COMPILED))
        try:
            lines.append(measure(row, compiler, timer, with_torch, options.profile))
            show(lines[-1])
            failed += bool(lines[-1]["wrong"])
        except Exception as error:  # one row must not end the others
            failed += 1
            print(f"{row.name:46} FAILED: {str(error).strip().splitlines()[-1:]}", flush=True)
            traceback.print_exc(limit=2)
        torch.cuda.empty_cache()
        torch.compiler.reset()
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(lines, file, indent=1)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
