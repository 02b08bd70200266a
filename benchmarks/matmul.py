#!/usr/bin/env python3
"""Matrix products: Tile against Triton on the same source, and both against cuBLAS.

    python3 benchmarks/matmul.py BUNDLE [--json FILE] [--quick] [--shape MxNxK]... [--dtype f16|bf16|f32|fp8]
                                   [--target sm_80]

BUNDLE holds libtile.so. Both compilers get the pointer kernel of kernels/matmul.tile
and the same list of configurations, of which two have blocks that Triton cannot have
(192 and 320 columns); every configuration is checked against a float32 product before it
is timed. The best of each side, Tile's other kernels for the
same product and cuBLAS (torch.matmul) are then timed again in turns. Ratios above 1:
Tile is faster. With `--target sm_80` both write code for that chip (mma.sync, cp.async), which runs
on this one; the configurations are those of such chips.
"""
import ctypes
import sys

import common

SHAPES = [(1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192),
          (4096, 14336, 4096), (512, 4096, 4096), (16, 8192, 8192), (8192, 8192, 512),
          (16384, 4096, 11008), (4096, 4096, 65536), (3000, 5000, 2000)]
# (BLOCK_M, BLOCK_N, BLOCK_K, warps, stages); Triton's blocks are powers of two alone.
CONFIGS = [(128, 256, 64, 8, 3), (128, 256, 64, 8, 4), (256, 128, 64, 8, 3), (256, 128, 64, 8, 4),
           (128, 128, 64, 8, 4), (128, 128, 64, 4, 4), (128, 128, 64, 8, 6), (64, 128, 64, 4, 8),
           (16, 64, 128, 4, 4), (128, 320, 64, 8, 3), (128, 192, 64, 8, 4)]
# For chips whose products are of warps, not of warpgroups.
OLDER = [(128, 256, 32, 8, 3), (256, 128, 32, 8, 3), (128, 128, 32, 4, 4), (128, 128, 32, 8, 4),
         (128, 128, 64, 8, 3), (128, 64, 32, 4, 4), (64, 128, 32, 4, 4), (64, 64, 32, 4, 5),
         (256, 64, 32, 4, 4), (64, 256, 32, 4, 4), (128, 128, 64, 4, 3), (64, 128, 64, 4, 4)]
# (BLOCK_M, BLOCK_N, BLOCK_K, warps, stages, MORE_N)
WIDE = [(128, 128, 64, 8, 4, 64), (128, 256, 64, 8, 3, 64)]
# Configurations that clusters of two blocks are tried with: the first ones.
CLUSTERED = 5
# NT only for types whose operands must be contiguous along K; f32 is read as tf32.
DTYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "fp8": "float8_e4m3fn"}
QUICK = [(128, 256, 64, 8, 3), (128, 128, 64, 8, 4), (64, 128, 64, 4, 6)]


def arguments(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    return [a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride()]


def signature(values):
    import torch
    types = {torch.float16: "*fp16", torch.bfloat16: "*bf16", torch.float32: "*fp32",
             torch.float8_e4m3fn: "*fp8e4nv", torch.int8: "*i8", torch.uint8: "*u8",
             torch.int32: "*i32", torch.uint16: "*u16"}
    out = []
    for v in values:
        if v is None:
            out.append("none")
        elif torch.is_tensor(v):
            out.append(types[v.dtype] + (":16" if v.data_ptr() % 16 == 0 else ""))
        else:
            out.append("i32" + (":1" if v == 1 else ":16" if v % 16 == 0 else ""))
    return out


class Tile:
    def __init__(self, bundle, target):
        import libtile
        self.compiler = libtile.Compiler(bundle.library, target)
        with open(common.kernel_path("matmul")) as f:
            self.source = f.read()
        self.loaded = {}

    def prepare(self, kernel_name, values, config, grid, ctas=1):
        import torch
        bm, bn, bk, warps, stages, *more = config
        constants = {"BLOCK_M": bm, "BLOCK_N": bn, "BLOCK_K": bk, "GROUP_M": 2048 // bm}
        if more:
            constants["MORE_N"] = more[0]
        types = signature(values)
        key = (kernel_name, *types, config, ctas)
        if key not in self.loaded:
            self.loaded[key] = self.compiler.compile(self.source, "matmul.tile", kernel_name, types,
                                                     constants, warps, num_stages=stages,
                                                     num_ctas=ctas)
            self.loaded[key].load()
        kernel = self.loaded[key]
        raw = [ctypes.c_void_p(v.data_ptr()) if torch.is_tensor(v) else ctypes.c_int32(v)
               for v in values]
        return kernel.launcher((grid,), raw, torch.cuda.current_stream().cuda_stream)


class Triton:
    def __init__(self):
        self.module = common.load_as_python("matmul")

    def prepare(self, kernel_name, values, config, grid, ctas=1):
        bm, bn, bk, warps, stages = config
        kernel = getattr(self.module, kernel_name)[(grid,)]

        def run():
            kernel(*values, BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=bk, GROUP_M=2048 // bm,
                   num_warps=warps, num_stages=stages)
        return run


def measure(shape, dtype, layout, sides, configs, timer, log, rounds):
    import torch
    m, n, k = shape
    is_fp8 = dtype == torch.float8_e4m3fn
    random = lambda *size: torch.randn(size, device="cuda", dtype=torch.float16).to(dtype)
    a = random(m, k)
    b = random(n, k).T if layout == "NT" else random(k, n)
    c = torch.empty((m, n), device="cuda", dtype=torch.bfloat16 if is_fp8 else dtype)
    torch.backends.cuda.matmul.allow_tf32 = True
    one = torch.ones((), device="cuda")
    if is_fp8:
        library = lambda: torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16,
                                           use_fast_accum=True)
    else:
        library = lambda: torch.matmul(a, b, out=out)
    out = torch.empty_like(c)
    expected = library().float()
    scale = float(expected.norm())
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    functions = {"cublas": library}
    finalists = {}
    for side, prepare in sides:
        name, ctas = side.split(":")[1], int((side.split(":") + [1])[2])
        for config in WIDE if name == "matmul_wide" else configs[:CLUSTERED] if ctas > 1 else configs:
            if side.startswith("triton") and config[1].bit_count() > 1:
                continue
            blocks = -(-m // config[0]) * -(-n // (config[1] + sum(config[5:])))
            grid = min(blocks, processors) if name == "matmul_persistent" else blocks
            label = f"{shape} {layout} {side} {config}"
            try:
                run = prepare(name, arguments(a, b, c), config, grid, ctas)
                c.fill_(float("nan"))
                run()
                torch.cuda.synchronize()
                error = float((c.float() - expected).norm()) / scale
                if not error < (6e-3 if c.dtype == torch.bfloat16 else 1e-3):
                    raise RuntimeError(f"relative error {error}")
                us = timer.compare({"run": run}, count=5, rounds=1)["run"]
            except Exception as error:  # one failing configuration must not end the run
                log.append({"case": label, "error": str(error)})
                if "tile" in side or "out of resource" not in str(error):
                    common.missing(label, str(error).splitlines()[0] if str(error) else repr(error))
                continue
            log.append({"case": label, "us": us})
            finalists.setdefault(side, []).append((us, config, run))
    # What a short look cannot tell apart is timed again with the others.
    for side, tried in finalists.items():
        tried.sort(key=lambda t: t[0])
        for us, config, run in tried[:2]:
            if us <= 1.03 * tried[0][0]:
                functions[side, config] = run
    times = timer.compare(functions, count=15, rounds=rounds)
    us, best = {"cublas": times.pop("cublas")}, {}
    for (side, config), t in times.items():
        if side not in us or t < us[side]:
            us[side], best[side] = t, config
    return {"shape": shape, "layout": layout, "dtype": str(dtype), "us": us,
            "flops": 2 * m * n * k, "best": best}


SIDES = ["triton:matmul", "tile:matmul", "tile:matmul_persistent", "tile:matmul_wide",
         "tile:matmul:2", "tile:matmul_wide:2"]


def row_of(r, ratios):
    us, row = r["us"], ["x".join(map(str, r["shape"])) + " " + r["layout"] + " " + r["dtype"][6:]]
    for side in ["cublas"] + SIDES:
        row.append(f"{r['flops'] / us[side] / 1e6:.0f}" if side in us else "-")
    own = [s for s in SIDES if s in us and s.startswith("tile")]
    for name, other, sides in (("tile/triton", "triton:matmul", own[:1]),
                               ("tile/cublas", "cublas", own[:1]), ("best/cublas", "cublas", own)):
        if other in us and sides:
            ratios.setdefault(name, []).append(us[other] / min(us[s] for s in sides))
            row.append(f"{ratios[name][-1]:.3f}")
        else:
            row.append("-")
    for side in SIDES:
        row.append("x".join(map(str, r["best"].get(side, "-"))))
    return row


def main():
    parser = common.parser(__doc__, target=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--shape", action="append")
    parser.add_argument("--layout", action="append", choices=["NN", "NT"])
    parser.add_argument("--dtype", action="append", choices=list(DTYPES))
    parser.add_argument("--config", action="append", help="BMxBNxBKxWARPSxSTAGES")
    parser.add_argument("--no-triton", action="store_true")
    options = parser.parse_args()
    if not common.has_device():
        return common.SKIPPED
    import torch
    import libtile
    import timing
    tile = Tile(libtile.Bundle(options.bundle), options.target)
    # Clusters and products wider than a block are of chips with warpgroups.
    own = SIDES if not options.target else SIDES[:3]
    sides = [(side, tile.prepare) for side in own if side.startswith("tile")]
    if not options.no_triton:
        common.triton_for(options.target)
        sides.append(("triton:matmul", Triton().prepare))
    parse = lambda text: tuple(int(x) for x in text.split("x"))
    shapes = [parse(s) for s in options.shape] if options.shape else SHAPES
    configs = [parse(s) for s in options.config] if options.config else \
        QUICK if options.quick else OLDER if options.target else CONFIGS
    timer, log, results = timing.Timer(), [], []
    rows, ratios = [], {}
    for dtype in options.dtype or ["f16"]:
        for layout in options.layout or ["NN", "NT"]:
            for shape in shapes:
                results.append(measure(shape, getattr(torch, DTYPES[dtype]),
                                       layout, sides, configs, timer, log,
                                       2 if options.quick else 3))
                rows.append(row_of(results[-1], ratios))
                print("  ".join(rows[-1]), file=sys.stderr, flush=True)
    common.table(["TFLOP/s", "cublas", "triton", "tile", "persistent", "wide", "clusters",
                  "wide clusters", "tile/triton", "tile/cublas", "best/cublas", "triton's best",
                  "tile's best", "persistent best", "wide best", "clusters' best",
                  "wide clusters' best"], rows)
    for name, values in ratios.items():
        print(f"geometric mean of {name}: {common.geometric_mean(values):.3f}, "
              f"lowest {min(values):.3f}")
    common.save(options.json, results, log)
    return 0


if __name__ == "__main__":
    sys.exit(main())
