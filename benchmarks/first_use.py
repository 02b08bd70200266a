#!/usr/bin/env python3
"""What a kernel costs before it is fast: the first launch, and tuning. Against Triton.

    python3 benchmarks/first_use.py BUNDLE [PART]... [--json FILE] [--runs 3] [--size 2048] [--picks N]

The kernel is the pointer product of kernels/matmul.tile, the same source on both sides; caches are empty folders,
the driver's is off, and each side is a process of its own, in turns. Parts:
  first    from the source, 128 x 256 x 64 blocks of a product of 1024^3, to its result. PyTorch has made the
           context; for Triton, it has been imported; for Tile, libtile is opened in that time
  tuning   sixteen configurations in @triton.autotune, the first launch for a size, its result included
  picks    what `--tuning none` takes, without timing anything, beside the fastest of all (`--tuning all`), for the
           shapes of matmul.py in both orders of B; the times are those of the tuner's records
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import common
import libtile

# BLOCK_M, BLOCK_N, BLOCK_K, warps, stages: sizes, warps and depths that lists for products have.
CONFIGS = [(128, 256, 64, 8, 3), (64, 256, 32, 4, 4), (128, 128, 32, 4, 4), (128, 64, 32, 4, 4),
           (64, 128, 32, 4, 4), (128, 32, 32, 4, 4), (64, 32, 32, 2, 5), (32, 64, 32, 2, 5),
           (256, 128, 64, 8, 3), (256, 64, 64, 4, 4), (64, 256, 64, 4, 4), (128, 128, 64, 4, 4),
           (128, 64, 64, 4, 4), (64, 128, 64, 4, 4), (128, 32, 64, 4, 4), (128, 128, 64, 8, 4)]
NAME = "BLOCK_M: {}, BLOCK_N: {}, BLOCK_K: {}, num_warps: {}, num_stages: {}"  # in records
BLOCK = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64}

# What stands above the kernel.
DECORATOR = """@triton.autotune(
    configs=[triton.Config({{"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k}}, num_warps=w, num_stages=s)
             for m, n, k, w, s in {configs}], key=["M", "N", "K", "stride_bk"])
"""
# What stands below it: its grid, and a launch for each shape. Numbers matter: products of zeros
# take less power, and so less time.
TUNED = """

@triton.jit
def fill(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.randn(1, i).to(x.dtype.element_ty), i < n)


def filled(rows, columns):
    x = tile.empty((rows, columns), dtype=tl.float16)
    fill[(triton.cdiv(rows * columns, 1024),)](x, rows * columns, BLOCK=1024)
    return x


def matmul_grid(args):
    return (triton.cdiv(args["M"], args["BLOCK_M"]) * triton.cdiv(args["N"], args["BLOCK_N"]),)


@tile.example(cases={cases})
def tune(M, N, K, across):
    a = filled(M, K)
    b = filled(N, K).T if across else filled(K, N)
    c = tile.empty((M, N), dtype=tl.float16)
    matmul[matmul_grid](
        a, b, c, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1))
    best = matmul.best_config
    print("took", M, N, K, across, best.kwargs["BLOCK_M"], best.kwargs["BLOCK_N"], best.kwargs["BLOCK_K"],
          best.num_warps, best.num_stages)
"""


def write_tuned(folder, cases):
    """The kernel with its configurations, as a file of its own."""
    path = os.path.join(folder, "tuned.tile")
    with open(common.kernel_path("matmul")) as kernel, open(path, "w") as f:
        text = kernel.read()
        head = "@triton.jit\ndef matmul("
        text = text[:text.index("@tile.")].replace(head, DECORATOR.format(configs=CONFIGS) + head)
        f.write(text + TUNED.format(cases=cases))
    return path


def environment(folder):
    """Nothing is kept from before."""
    return {**os.environ, "CUDA_CACHE_DISABLE": "1", "TILE_CACHE_DIR": os.path.join(folder, "tile"),
            "TRITON_CACHE_DIR": os.path.join(folder, "triton")}


def in_process(side, bundle, *arguments):
    """Seconds that this script prints, started again for one side."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([sys.executable, __file__, bundle.folder, "--child", side, *arguments],
                             capture_output=True, text=True, env=environment(folder))
    if run.returncode != 0:
        raise RuntimeError((run.stderr.strip() or f"exit code {run.returncode}").splitlines()[-1])
    return float(run.stdout.split()[-1])


def operands(size):
    import torch
    a, b = (torch.randn(size, size, device="cuda").half() for _ in range(2))
    c = torch.zeros(size, size, device="cuda", dtype=torch.float16)
    torch.cuda.synchronize()
    return a, b, c, [size, size, size, size, 1, size, 1, size, 1]


def launch_triton(kernel, size, **options):
    """Seconds of the first call, its result included."""
    import torch
    import triton
    a, b, c, numbers = operands(size)
    grid = lambda meta: (triton.cdiv(size, meta["BLOCK_M"]) * triton.cdiv(size, meta["BLOCK_N"]),)
    start = time.perf_counter()
    kernel[grid](a, b, c, *numbers, **options)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    check(a, b, c)
    return seconds


def check(a, b, c):
    if ((a.float() @ b.float()) - c.float()).abs().max() > 1:
        raise RuntimeError("wrong result")


def child(args, bundle):
    import torch
    torch.cuda.init()
    if args.child == "triton":
        kernel = common.load_as_python("matmul").matmul
        print(launch_triton(kernel, 1024, **BLOCK, num_warps=8, num_stages=3))
    elif args.child == "triton-tuning":
        with tempfile.TemporaryDirectory() as folder:
            print(launch_triton(common.load_path_as_python(write_tuned(folder, [])).matmul, args.size))
    elif args.child == "tile-tuning":
        with tempfile.TemporaryDirectory() as folder:
            print(tune_tile(bundle, write_tuned(folder, []), args.size))
    else:
        print(launch_tile(bundle))
    return 0


def tune_tile(bundle, path, size):
    """As launch_triton does it."""
    import torch
    a, b, c, numbers = operands(size)
    stream = torch.cuda.current_stream().cuda_stream
    start = time.perf_counter()
    with open(path) as f:
        text = f.read()
    kernel = libtile.Jit(libtile.Compiler(bundle.library), text, path, "matmul")
    kernel.launch([libtile.pointer(t.data_ptr(), "fp16") for t in (a, b, c)] +
                  [libtile.integer(n) for n in numbers], stream)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    check(a, b, c)
    return seconds


def launch_tile(bundle):
    import ctypes
    import torch
    a, b, c, numbers = operands(1024)
    path, stream = common.kernel_path("matmul"), torch.cuda.current_stream().cuda_stream
    start = time.perf_counter()
    with open(path) as f:
        text = f.read()
    compiler = libtile.Compiler(bundle.library)
    types = ["*fp16:16"] * 3 + ["i32:16"] * 4 + ["i32:1", "i32:16", "i32:1", "i32:16", "i32:1"]
    constants = {**BLOCK, "GROUP_M": 8, "EVICT_B": '""'}
    kernel = compiler.compile(text, path, "matmul", types, constants, 8, num_stages=3)
    kernel.load()
    values = [ctypes.c_uint64(t.data_ptr()) for t in (a, b, c)] + [ctypes.c_int32(n) for n in numbers]
    kernel.launcher((1024 // 128 * (1024 // 256),), values, stream)()
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    check(a, b, c)
    return seconds


def run_tilec(bundle, cases, *options):
    """(seconds of the process, its lines, the tuner's records)."""
    with tempfile.TemporaryDirectory() as folder:
        records = os.path.join(folder, "records.jsonl")
        command = [bundle.tilec, "run", write_tuned(folder, cases), "--device", "cuda",
                   "--tuning-file", records, *options]
        start = time.perf_counter()
        run = subprocess.run(command, capture_output=True, text=True, env=environment(folder))
        seconds = time.perf_counter() - start
        if run.returncode != 0:
            raise RuntimeError((run.stderr + run.stdout).strip()[-300:])
        lines = []
        if os.path.exists(records):
            with open(records) as f:
                lines = [json.loads(line) for line in f if not line.startswith("#")]
    return seconds, run.stdout.splitlines(), lines


def in_turns(what, sides, runs):
    """{side: the least seconds}, a row; empty where a side fails."""
    times = {side: [] for side in sides}
    for i in range(runs):
        for side in list(sides) if i % 2 == 0 else reversed(list(sides)):
            try:
                times[side].append(sides[side]())
            except RuntimeError as error:
                common.missing(f"{what}, {side}", error)
                return {}
    return {side: [min(t), statistics.median(t)] for side, t in times.items()}


def picks(bundle, shapes):
    """[[shape, the pick's time over the best one's, how many were timed, the pick, all times]]."""
    cases = [(*shape, across) for shape in shapes for across in (False, True)]
    try:
        _, _, records = run_tilec(bundle, cases, "--tuning", "all")
        seconds, lines, _ = run_tilec(bundle, cases, "--tuning", "none")
    except RuntimeError as error:
        common.missing("the pick without timing", error)
        return []
    took = [line.split()[1:] for line in lines if line.startswith("took ")]
    rows = []
    for record, (m, n, k, across, *pick) in zip(records, took):
        times = {name: t for name, t in record["times"].items() if not isinstance(t, str)}
        pick = NAME.format(*pick)
        if pick in times:
            rows.append([f"{m}x{n}x{k} {'NT' if across == 'True' else 'NN'}",
                         times[pick] / min(times.values()), len(times), pick, times])
    print(f"{len(cases)} picks without timing: {seconds:.2f} s, the process and its compilations included")
    return rows


def main():
    parser = common.parser(__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="first, tuning, picks (all)")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--size", type=int, default=2048, help="of the product that is tuned")
    parser.add_argument("--picks", type=int, default=11, help="shapes to compare picks on")
    parser.add_argument("--child", help="(a side, started by this script)")
    args = parser.parse_args()
    bundle = libtile.Bundle(args.bundle)
    if not common.has_device():
        return common.SKIPPED
    if args.child:
        return child(args, bundle)
    parts, results = args.parts or ["first", "tuning", "picks"], {}
    child_of = lambda side, *rest: lambda: in_process(side, bundle, *rest)
    if "first" in parts:
        results["first"] = in_turns("the first launch", {
            "tile": child_of("tile"), "triton": child_of("triton")}, args.runs)
    size = ["--size", str(args.size)]
    if "tuning" in parts:
        results["tuning"] = in_turns("tuning", {
            "tile": child_of("tile-tuning", *size), "triton": child_of("triton-tuning", *size)},
            max(1, args.runs - 1))
    if results:
        common.table(["seconds, least (median)", "tile", "triton", "tile/triton"],
                     [[part, *(f"{t[side][0]:.3f} ({t[side][1]:.3f})" for side in ("tile", "triton")),
                       f"{t['tile'][0] / t['triton'][0]:.3f}"] for part, t in results.items() if t])
    if "picks" in parts:
        results["picks"] = show_picks(bundle, args.picks)
    common.save(args.json, results, [])
    return 0


def show_picks(bundle, count):
    import matmul
    rows = picks(bundle, matmul.SHAPES[:count])
    if rows:
        common.table(["pick / best", "time", "timed", "pick"],
                     [[row[0], f"{row[1]:.3f}", *row[2:4]] for row in rows])
        print(f"geometric mean {common.geometric_mean(row[1] for row in rows):.3f}")
    return rows


if __name__ == "__main__":
    sys.exit(main())
