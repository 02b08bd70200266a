#!/usr/bin/env python3
"""Matrix products of other types and forms: Tile's kernel library against cuBLAS.

    python3 benchmarks/products.py BUNDLE [--json FILE] [--only WORD]...

BUNDLE holds libtile.so. One line a case: tf32, int8, fp8 with one scale and with a
scale for each 128 values, 4-bit weights, few rows, the fused epilogue (against the
fastest bare product), products shared out along K. Every candidate is checked before
it is timed, the best of a case are then timed again in turns with their reference.
Ratios above 1: Tile is faster.
"""
import ctypes
import sys

import common
from matmul import signature

TOLERANCE = 1e-2  # of the Frobenius norm


class Library:
    """Kernels of the library, launched on tensors."""

    def __init__(self, bundle):
        import libtile
        self.compiler = libtile.Compiler(bundle.library)
        self.sources = {}

    def launcher(self, file, kernel, values, constants, grid, warps, stages=3, ctas=1,
                 roles=None):
        """`values` are tensors, integers or None, in the order of the parameters."""
        import torch
        if file not in self.sources:
            with open(common.kernel_path(file)) as f:
                self.sources[file] = f.read()
        compiled = self.compiler.compile(self.sources[file], file + ".tile", kernel,
                                         signature(values), constants, warps, num_stages=stages,
                                         num_ctas=ctas, warp_roles=roles)
        compiled.load()
        raw = [ctypes.c_void_p(v.data_ptr()) if torch.is_tensor(v) else
               ctypes.c_void_p(0) if v is None else ctypes.c_int32(v) for v in values]
        return compiled.launcher(grid, raw, torch.cuda.current_stream().cuda_stream)


def cdiv(a, b):
    return -(-a // b)


def sizes(block):
    return {"BLOCK_M": block[0], "BLOCK_N": block[1], "BLOCK_K": block[2],
            "GROUP_M": max(1, 2048 // block[0])}


def error_of(got, expected):
    got, expected = got.double(), expected.double()
    return float((got - expected).norm() / expected.norm())


class Case:
    """`candidates` are pairs of a label and a function that prepares a run; `reference`
    runs what they are compared with (of a list, the fastest does); `check` gives the
    error of the last run's result."""

    def __init__(self, name, flops, reference, candidates, check):
        self.name, self.flops, self.reference = name, flops, reference
        self.candidates, self.check = candidates, check


def tf32(library, shape):
    import torch
    m, n, k = shape
    a, b = torch.randn(m, k, device="cuda"), torch.randn(n, k, device="cuda").T
    c, out = torch.empty(m, n, device="cuda"), torch.empty(m, n, device="cuda")

    def prepare(block, warps, stages):
        values = [a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride()]
        grid = (cdiv(m, block[0]) * cdiv(n, block[1]),)
        return lambda: library.launcher("matmul", "matmul", values, sizes(block), grid, warps,
                                        stages)
    return Case("tf32 " + "x".join(map(str, shape)), 2 * m * n * k,
                lambda: torch.matmul(a, b, out=out),
                [(f"{b}x{s}", prepare(b, w, s)) for b, w, s in
                 [((128, 256, 32), 8, 3), ((128, 256, 32), 8, 4), ((128, 128, 32), 8, 4)]],
                lambda: error_of(c[:512], a[:512].double() @ b.double()))


def int8(library, shape):
    import torch
    m, n, k = shape
    random = lambda *size: torch.randint(-128, 128, size, device="cuda", dtype=torch.int8)
    a, b = random(m, k), random(n, k).T
    c = torch.empty(m, n, device="cuda", dtype=torch.int32)
    out = torch.empty_like(c)

    def prepare(block, warps, stages):
        values = [a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride()]
        grid = (cdiv(m, block[0]) * cdiv(n, block[1]),)
        return lambda: library.launcher("matmul_int8", "matmul_int8", values, sizes(block), grid,
                                        warps, stages)
    return Case("int8 " + "x".join(map(str, shape)), 2 * m * n * k,
                lambda: torch._int_mm(a, b, out=out),
                [(f"{b}x{s}", prepare(b, w, s)) for b, w, s in
                 [((128, 256, 128), 8, 3), ((128, 256, 128), 8, 4), ((128, 128, 128), 8, 4)]],
                lambda: error_of(c[:512], a[:512].double() @ b.double()))


def fp8(library, shape, by_blocks):
    import torch
    m, n, k = shape
    random = lambda *size: torch.randn(size, device="cuda", dtype=torch.float16).to(
        torch.float8_e4m3fn)
    a, b = random(m, k), random(n, k).T
    c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    out, one = torch.empty_like(c), torch.ones((), device="cuda")
    scale_a = torch.rand(k // 128, m, device="cuda").T if by_blocks else torch.ones(1, device="cuda")
    scale_b = torch.rand(k // 128, n // 128, device="cuda") if by_blocks else scale_a

    def prepare(block, warps, stages, group=None, pairs=False, ctas=1):
        grid = (cdiv(m, block[0]) * cdiv(n, block[1] * (2 if pairs else 1)),)
        values = [a, b, c, scale_a, scale_b, m, n, k, *a.stride(), *b.stride(), *c.stride()]
        constants, kernel = sizes(block), "matmul_fp8"
        constants["GROUP_M"] = group or constants["GROUP_M"]
        if by_blocks:
            values += [*scale_a.stride(), *scale_b.stride()]
            kernel = "matmul_fp8_pairs" if pairs else "matmul_fp8_blocks"
            constants["SCALED_N"] = 128
        else:
            constants["BY_ROW"] = "false"
        return lambda: library.launcher("matmul_fp8", kernel, values, constants, grid, warps,
                                        stages, ctas)

    def check():
        x, y = a[:256].float(), b.float()
        if by_blocks:
            x *= scale_a[:256].repeat_interleave(128, 1)
            y *= scale_b.repeat_interleave(128, 0).repeat_interleave(128, 1)
        return error_of(c[:256], x.double() @ y.double())
    blocks = [((128, 128, 128), 8, 5), ((128, 128, 128), 8, 5, 8), ((128, 128, 128), 8, 6, 8),
              ((128, 128, 128), 8, 6), ((128, 128, 128), 8, 3, 16, True)] if by_blocks else \
        [((128, 256, 128), 8, 3), ((128, 256, 128), 8, 4), ((128, 128, 128), 8, 4)]
    return Case("fp8 " + ("by 128 " if by_blocks else "") + "x".join(map(str, shape)),
                2 * m * n * k,
                lambda: torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16,
                                         use_fast_accum=True, out=out),
                [("x".join(map(str, c)), prepare(*c)) for c in blocks], check)


def int4(library, shape):
    import torch
    m, n, k = shape
    a = torch.randn(m, k, device="cuda", dtype=torch.float16)
    nibbles = torch.randint(0, 16, (n, k), device="cuda", dtype=torch.uint8)
    # As `pack` and `order` of the kernel's file do, for groups of 128.
    parts = nibbles.view(n // 64, 4, 2, 8, k // 128, 2, 2, 2, 2, 4, 2)
    parts = parts.permute(4, 0, 5, 1, 3, 9, 6, 2, 10, 7, 8)
    w = (parts[..., 0] + parts[..., 1] * 16).contiguous().view(torch.uint16).view(-1)
    scale = torch.rand(k // 128, n, device="cuda", dtype=torch.float16).float()
    plain = torch.randn(n, k, device="cuda", dtype=torch.float16).T
    c = torch.empty(m, n, device="cuda", dtype=torch.float16)
    out = torch.empty_like(c)

    def prepare(stages, splits):
        parts = torch.empty(splits, m, n, device="cuda")

        def make():
            product = library.launcher(
                "matmul_int4", "matmul_int4",
                [a, w, scale, parts, m, n, k, a.stride(0), scale.stride(0), parts.stride(0),
                 parts.stride(1)],
                {"BLOCK_M": 16, "GROUP": 128, "SPLITS": splits, "STAGES": stages},
                (1, n // 64, splits), 4, stages)
            total = library.launcher(
                "matmul_int4", "sum_splits",
                [parts, c, n, parts.stride(0), parts.stride(1), c.stride(0)],
                {"SPLITS": splits, "BLOCK": 1024}, (m, cdiv(n, 1024)), 4)

            def run():
                product()
                total()
            return run
        return make

    def check():
        decoded = (nibbles.double() - 8) * scale.double().repeat_interleave(128, 0).T
        return error_of(c, a.double() @ decoded.T)
    return Case("int4 weights " + "x".join(map(str, shape)), 2 * m * n * k,
                lambda: torch.matmul(a, plain, out=out),
                [(f"{stages} stages/{splits}", prepare(stages, splits))
                 for stages in (3, 4, 5, 6) for splits in (3, 4, 5)], check)


def few_rows(library, shape):
    """Weights in f16, stored along K: each is read once."""
    import torch
    m, n, k = shape
    random = lambda *size: torch.randn(size, device="cuda", dtype=torch.float16)
    a, b, c, out = random(m, k), random(n, k).T, random(m, n), random(m, n)

    def prepare(block, stages):
        values = [a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride()]
        constants = dict(sizes(block), EVICT_B='"evict_first"')
        return lambda: library.launcher("matmul", "matmul", values, constants,
                                        (cdiv(m, block[0]) * cdiv(n, block[1]),), 4, stages)
    return Case("few rows NT " + "x".join(map(str, shape)), 2 * m * n * k,
                lambda: torch.matmul(a, b, out=out),
                [(f"{block}x{stages}", prepare(block, stages)) for block, stages in
                 [((max(m, 16), 64, 256), 3), ((max(m, 16), 64, 128), 4),
                  ((max(m, 16), 64, 128), 6)]],
                lambda: error_of(c, a.double() @ b.double()))


# (BLOCK_M, BLOCK_N, BLOCK_K), stages (0: as many as fit), roles of warps
FUSED = [((128, 256, 64), 3, "cooperative"), ((128, 192, 64), 0, "cooperative"),
         ((128, 192, 64), 0, "pingpong"), ((128, 128, 64), 0, "pingpong")]


def fused(library, shape, activation):
    """Bias and activation, against the fastest of the library's kernels without."""
    import torch
    m, n, k = shape
    random = lambda *size: torch.randn(size, device="cuda", dtype=torch.float16)
    a, b, bias = random(m, k), random(k, n), random(n)
    c, bare = random(m, n), random(m, n)

    def prepare(out, added, function, block, stages, roles):
        constants = dict(sizes(block), ACTIVATION=f'"{function}"')
        values = [a, b, out, None, None, added, None, m, n, k, *a.stride(), *b.stride(),
                  *out.stride(), *out.stride()]
        return library.launcher("matmul_fused", "matmul_fused", values, constants,
                                (cdiv(m, block[0]) * cdiv(n, block[1]),), 8, stages, 1, roles)

    def check():
        x = a[:256].double() @ b.double() + bias
        functions = {"relu": torch.relu, "gelu": torch.nn.functional.gelu,
                     "silu": torch.nn.functional.silu}
        return error_of(c[:256], functions[activation](x))
    return Case(f"bias+{activation} / bare " + "x".join(map(str, shape)), 2 * m * n * k,
                [prepare(bare, None, "none", *how) for how in FUSED],
                [("x".join(map(str, how)), lambda how=how: prepare(c, bias, activation, *how))
                 for how in FUSED], check)


def stream_k(library, shape, dtype, layout):
    import torch
    m, n, k = shape
    dtype = getattr(torch, dtype)
    a = torch.randn(m, k, device="cuda", dtype=dtype)
    b = torch.randn(n, k, device="cuda", dtype=dtype).T if layout == "NT" else \
        torch.randn(k, n, device="cuda", dtype=dtype)
    c = torch.empty(m, n, device="cuda", dtype=dtype)
    out = torch.empty_like(c)

    def prepare(block, warps, stages):
        programs = torch.cuda.get_device_properties(0).multi_processor_count
        blocks, steps = cdiv(m, block[0]) * cdiv(n, block[1]), cdiv(k, block[2])
        share = cdiv(blocks * steps, programs)
        programs = cdiv(blocks * steps, share)
        parts = torch.empty(2 * programs * block[0] * block[1], device="cuda")
        constants = sizes(block)
        del constants["GROUP_M"]

        def make():
            main = library.launcher("matmul_split_k", "matmul_stream_k",
                                    [a, b, c, parts, m, n, k, share, *a.stride(), *b.stride(),
                                     *c.stride()], constants, (programs,), warps, stages)
            finish = library.launcher("matmul_split_k", "finish_stream_k",
                                      [c, parts, m, n, k, share, *c.stride()], constants,
                                      (blocks,), 8)

            def run():
                main()
                finish()
            return run
        return make
    return Case(f"stream-K {layout} {str(dtype)[6:]} " + "x".join(map(str, shape)), 2 * m * n * k,
                lambda: torch.matmul(a, b, out=out),
                [(f"{b}x{s}", prepare(b, w, s)) for b, w, s in
                 [((128, 256, 64), 8, 3), ((128, 128, 64), 8, 4)]],
                lambda: error_of(c[:512], a[:512].double() @ b.double()))


CASES = {
    "tf32": lambda l: tf32(l, (8192, 8192, 8192)),
    "int8": lambda l: int8(l, (8192, 8192, 8192)),
    "fp8-2048": lambda l: fp8(l, (2048, 2048, 2048), False),
    "fp8-4096": lambda l: fp8(l, (4096, 4096, 4096), False),
    "fp8-8192": lambda l: fp8(l, (8192, 8192, 8192), False),
    "fp8-blocks": lambda l: fp8(l, (4096, 7168, 16384), True),
    "int4": lambda l: int4(l, (16, 8192, 8192)),
    "few-rows-16": lambda l: few_rows(l, (16, 8192, 8192)),
    "few-rows-32": lambda l: few_rows(l, (32, 8192, 8192)),
    "few-rows-64": lambda l: few_rows(l, (64, 8192, 8192)),
    "fused-relu": lambda l: fused(l, (8192, 8192, 8192), "relu"),
    "fused-gelu": lambda l: fused(l, (8192, 8192, 8192), "gelu"),
    "fused-silu": lambda l: fused(l, (8192, 8192, 8192), "silu"),
    "fused-relu-4096": lambda l: fused(l, (4096, 4096, 4096), "relu"),
    "fused-gelu-4096": lambda l: fused(l, (4096, 4096, 4096), "gelu"),
    "fused-silu-4096": lambda l: fused(l, (4096, 4096, 4096), "silu"),
    "stream-k": lambda l: stream_k(l, (3000, 5000, 2000), "float16", "NN"),
}


def near_best(tried):
    """Of pairs of a time and something, what a short look cannot tell from the best."""
    best = min(us for us, _ in tried)
    return [what for us, what in tried if us <= 1.03 * best]


def measure(case, timer, log):
    tried = []
    for label, prepare in case.candidates:
        try:
            run = prepare()
            run()
            error = case.check()
            if not error < TOLERANCE:
                raise RuntimeError(f"wrong result: relative error {error:.2g}")
            us = timer.compare({"it": run}, count=7, rounds=1)["it"]
        except Exception as failure:  # one failing candidate must not end the run
            text = str(failure)
            common.missing(f"{case.name} {label}", text.splitlines()[0] if text else repr(failure))
            continue
        log.append({"case": case.name, "candidate": label, "us": us, "error": error})
        tried.append((us, (label, run)))
    if not tried:
        return None
    references = case.reference if isinstance(case.reference, list) else [case.reference]
    looks = timer.compare(dict(enumerate(references)), count=7, rounds=1)
    functions = {("reference", i): references[i]
                 for i in near_best([(us, i) for i, us in looks.items()])}
    functions.update((("tile", label), run) for label, run in near_best(tried))
    times, best = timer.compare(functions, count=15, rounds=4), {}
    for (side, label), us in times.items():
        if side not in best or us < best[side][0]:
            best[side] = us, label
    return {"case": case.name, "candidate": best["tile"][1], "flops": case.flops,
            "us": {side: us for side, (us, _) in best.items()}}


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--only", action="append", help="cases whose name contains WORD")
    options = parser.parse_args()
    if not common.has_device():
        return common.SKIPPED
    import torch
    import libtile
    import timing
    torch.backends.cuda.matmul.allow_tf32 = True
    library, timer = Library(libtile.Bundle(options.bundle)), timing.Timer()
    rows, log, results = [], [], []
    for name, make in CASES.items():
        if options.only and not any(word in name for word in options.only):
            continue
        result = measure(make(library), timer, log)
        torch.cuda.empty_cache()
        if result is None:
            continue
        results.append(result)
        us = result["us"]
        rows.append([result["case"], f"{us['reference']:.1f}", f"{us['tile']:.1f}",
                     f"{result['flops'] / us['reference'] / 1e6:.0f}",
                     f"{result['flops'] / us['tile'] / 1e6:.0f}",
                     f"{us['reference'] / us['tile']:.3f}", result["candidate"]])
        print("  ".join(rows[-1]), file=sys.stderr, flush=True)
    common.table(["case", "reference us", "tile us", "TFLOP/s", "tile", "ratio", "best"], rows)
    common.save(options.json, results, log)
    return 0


if __name__ == "__main__":
    sys.exit(main())
