#!/usr/bin/env python3
"""Compile time and launch cost: Tile against Triton, the same source on both sides.

    python3 benchmarks/compile_time.py BUNDLE [--json FILE] [--repeat N] [--target sm_90a]
                                       [--cases FILE]

The sample is in compile_sample.py. Parts, each skipped loudly where something it needs is missing:
  in process   source to PTX, warm, nothing cached: Triton's own stages up to
               PTX (no ptxas) against tile_compile_buffer
  process      `tilec compile` as a whole process
  load         cuModuleLoadData of either PTX, with the driver's cache off (GPU)
  launch       CPU time of a launch: the C API in a loop, and Triton's (GPU)
"""
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["CUDA_CACHE_DISABLE"] = "1"  # before anything opens the driver

import common
import compile_sample
import libtile

def median_ms(function, repeat, warm=3):
    """(wall, processor) milliseconds of function(i); medians. On a busy machine
    only the second means much."""
    for i in range(warm):
        function(-1 - i)
    wall, processor = [], []
    for i in range(repeat):
        start, used = time.perf_counter(), time.process_time()
        function(i)
        wall.append((time.perf_counter() - start) * 1e3)
        processor.append((time.process_time() - used) * 1e3)
    return statistics.median(wall), statistics.median(processor)


class TritonStages:
    """Triton's compiler, driven stage by stage and stopped at PTX."""

    def __init__(self, target):
        from triton.backends.compiler import GPUTarget
        from triton.compiler.compiler import make_backend
        self.target = GPUTarget("cuda", int(target.strip("sm_af")), 32)
        self.backend = make_backend(self.target)

    def source(self, case):
        import triton.language
        from triton.compiler import ASTSource
        function = getattr(common.load_path_as_python(case["file"]), case["kernel"])
        while not hasattr(function, "arg_names") or hasattr(function, "configs"):
            function = function.fn  # what autotune and the like are wrapped around
        types, constants, attributes = dict(case["sig"]), {}, {}
        for name, text in case["const"].items():
            constants[name] = eval(text, {"tl": triton.language, "float": float})
        for i, name in enumerate(function.arg_names):
            text, _, hint = types.get(name, "constexpr").partition(":")
            types[name] = text
            if hint == "16":
                attributes[(i,)] = [["tt.divisibility", 16]]
            if hint == "1" or text == "none":
                types[name], constants[name] = "constexpr", 1 if hint == "1" else None
        return ASTSource(fn=function, signature={n: types[n] for n in function.arg_names},
                         constexprs=constants, attrs=attributes)

    def compile(self, source, num_warps, num_stages):
        """The PTX text; the work is what triton.compile does on a miss, up to there."""
        from triton._C.libtriton import ir
        options = self.backend.parse_options({"num_warps": num_warps, "num_stages": num_stages,
                                              **source.parse_options()})
        stages = {}
        self.backend.add_stages(stages, options, source.language)
        context = ir.context()
        ir.load_dialects(context)
        self.backend.load_dialects(context)
        module = source.make_ir(self.target, options,
                                self.backend.get_codegen_implementation(options),
                                self.backend.get_module_map(), context)
        metadata = {"target": self.target, **options.__dict__}
        for name, stage in stages.items():
            module = stage(module, metadata)
            if name == "ptx":
                return module
        raise RuntimeError("Triton has no stage named ptx")


def triton_in_process(sample, target, repeat):
    """{kernel: ((wall, processor), ptx)}; empty, loudly, without Triton."""
    try:
        import triton
        stages = TritonStages(target)
    except ImportError as error:
        common.missing("Triton's compile time", error)
        return {}
    out = {}
    for name, case in sample.items():
        try:
            source = stages.source(case)
            compile_once = lambda _: stages.compile(source, case["warps"], case["stages"])
            ptx = compile_once(0)
            out[name] = (median_ms(compile_once, repeat), ptx)
        except Exception as error:
            common.missing(f"Triton {triton.__version__} on {name}",
                           f"{type(error).__name__}: {error}")
    return out


def tile_in_process(bundle, sample, target, repeat):
    if bundle.library is None:
        common.missing("Tile's compile time in process", f"no libtile.so under {bundle.folder}")
        return {}
    try:
        compiler = libtile.Compiler(bundle.library)
    except (OSError, AttributeError, libtile.TileError) as error:
        common.missing("Tile's compile time in process", error)
        return {}
    out = {}
    for name, case in sample.items():
        with open(case["file"]) as f:
            text = f.read()

        def compile_once(i):
            # A different text each time: the library also caches in memory.
            return compiler.compile(f"{text}\n# {i}\n", case["file"], case["kernel"],
                                    compile_sample.signature(case), case["const"], case["warps"],
                                    target, case["stages"])
        try:
            ptx = compile_once("first").ptx()
            out[name] = (median_ms(compile_once, repeat), ptx)
        except libtile.TileError as error:
            common.missing(f"Tile on {name}", str(error).splitlines()[0])
    return out


def whole_process(bundle, sample, target, repeat):
    """{kernel: ms} of running `tilec compile`."""
    if bundle.tilec is None:
        common.missing("`tilec compile` as a process", f"no bin/tilec under {bundle.folder}")
        return {}
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, case in sample.items():
            run = lambda _: libtile.tilec_compile(bundle.tilec, case["file"], case["kernel"],
                                                  compile_sample.signature(case), case["const"],
                                                  case["warps"], target,
                                                  os.path.join(folder, "out"))
            try:
                out[name] = median_ms(run, repeat, warm=2)[0]
            except (OSError, libtile.TileError) as error:
                common.missing(f"tilec on {name}", str(error).splitlines()[0])
    return out


class Driver:
    """The few driver calls that loading PTX takes."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.check(self.cuda.cuInit(0))
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.check(self.cuda.cuDeviceGet(ctypes.byref(device), 0))
        self.check(self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
        self.check(self.cuda.cuCtxSetCurrent(context))

    def check(self, result):
        if result != 0:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorName(result, ctypes.byref(text))
            raise OSError(f"driver: {(text.value or b'?').decode()}")

    def load(self, ptx):
        module = ctypes.c_void_p()
        self.check(self.cuda.cuModuleLoadData(ctypes.byref(module), ptx))
        self.check(self.cuda.cuModuleUnload(module))


def driver_load(sample, triton, tile, repeat):
    """{kernel: {side: ms}}, the sides in turns."""
    try:
        driver = Driver()
    except OSError as error:
        common.missing("driver load time", error)
        return {}
    out = {}
    for name in sample:
        texts = {side: table[name][1].encode() for side, table in
                 (("triton", triton), ("tile", tile)) if name in table}
        times = {side: [] for side in texts}
        for i in range(repeat + 1):
            for side in list(texts) if i % 2 else reversed(list(texts)):
                # A comment makes every text new to whatever may cache it.
                text = texts[side] + f"\n// {i}\n".encode() + b"\0"
                start = time.perf_counter()
                try:
                    driver.load(text)
                except OSError as error:
                    common.missing(f"loading {side}'s {name}", error)
                    break
                if i > 0:
                    times[side].append((time.perf_counter() - start) * 1e3)
        out[name] = {side: statistics.median(t) for side, t in times.items() if t}
    return out


def triton_launch_us(count=20000):
    try:
        import torch
        import triton  # noqa: F401
    except ImportError as error:
        common.missing("Triton's launch cost", error)
        return None
    if not torch.cuda.is_available():
        common.missing("Triton's launch cost", "PyTorch sees no CUDA device")
        return None
    kernel = common.load_as_python("vector_add").add
    x, y, out = (torch.zeros(1024, device="cuda") for _ in range(3))
    best = float("inf")
    for _ in range(5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for i in range(count // 5):
            kernel[(1,)](x, y, out, 1024, BLOCK=1024)
            if i % 500 == 499:
                torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - start) / (count // 5) * 1e6)
    return best


def tile_launch(bundle):
    """What tile-launch-overhead prints as JSON, or None."""
    if bundle.launch_bench is None or bundle.library is None:
        common.missing("the C API's launch cost",
                       f"tile-launch-overhead and libtile.so are not both under {bundle.folder}")
        return None
    result = subprocess.run([bundle.launch_bench, bundle.library,
                             common.kernel_path("vector_add")], capture_output=True, text=True)
    if result.returncode != 0:
        common.missing("the C API's launch cost", result.stderr.strip() or "it failed")
        return None
    return json.loads(result.stdout)


def geometric_mean(data, above, below):
    """Of the ratios of the kernels that both sides compiled, and how many those are."""
    ratios = [data[above][name] / data[below][name] for name in data[above] if name in data[below]]
    return (statistics.geometric_mean(ratios) if ratios else 0), len(ratios)


def print_summary(data, sample):
    number = lambda v: "-" if v is None else f"{v:.2f}"
    rows = []
    for name in sample:
        triton, tile = data["triton_ms"].get(name), data["tile_ms"].get(name)
        load = data["load_ms"].get(name, {})
        ratio = lambda a, b: f"{a / b:.2f}" if a and b else "-"
        cpu = ratio(data["triton_cpu_ms"].get(name), data["tile_cpu_ms"].get(name))
        rows.append([name, number(triton), number(tile), ratio(triton, tile), cpu,
                     number(data["process_ms"].get(name)), number(load.get("triton")),
                     number(load.get("tile")), ratio(load.get("triton"), load.get("tile"))])
    common.table(["kernel", "triton ms", "tile ms", "triton/tile", "by cpu", "tilec ms", "load triton",
                  "load tile", "triton/tile"], rows)
    wall, count = geometric_mean(data, "triton_ms", "tile_ms")
    cpu, _ = geometric_mean(data, "triton_cpu_ms", "tile_cpu_ms")
    print(f"geometric mean of {count} kernels: {wall:.2f} by the clock, {cpu:.2f} by processor time")
    launch = data["launch"]
    if launch["tile"]:
        print("launch through the C API:", ", ".join(f"{k} {v:.2f} us"
                                                     for k, v in launch["tile"].items()))
    if launch["triton_us"]:
        print(f"launch through Triton: {launch['triton_us']:.2f} us")


def main():
    parser = common.parser(__doc__, json="compile_time.json")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--cases", help="kernels from elsewhere: see compile_sample.py")
    args = parser.parse_args()
    bundle = libtile.Bundle(args.bundle)
    try:  # Triton's decorators say what the parameters of kernels are
        sample = (compile_sample.from_file(args.cases) if args.cases
                  else compile_sample.library())
    except ImportError as error:
        common.missing("everything", error)
        return common.SKIPPED
    detailed = {name: case for name, case in sample.items() if case.get("detailed")}
    triton = triton_in_process(sample, args.target, args.repeat)
    tile = tile_in_process(bundle, sample, args.target, args.repeat)
    data = {"target": args.target,
            "triton_ms": {k: v[0][0] for k, v in triton.items()},
            "tile_ms": {k: v[0][0] for k, v in tile.items()},
            "triton_cpu_ms": {k: v[0][1] for k, v in triton.items()},
            "tile_cpu_ms": {k: v[0][1] for k, v in tile.items()},
            "ptx_lines": {"triton": {k: v[1].count("\n") for k, v in triton.items()},
                          "tile": {k: v[1].count("\n") for k, v in tile.items()}},
            "process_ms": whole_process(bundle, detailed, args.target, args.repeat),
            "load_ms": driver_load(detailed, triton, tile, args.repeat),
            "launch": {"tile": tile_launch(bundle), "triton_us": triton_launch_us()}}
    with open(args.json, "w") as f:
        json.dump(data, f, indent=1)
    print_summary(data, sample)
    return 0 if data["tile_ms"] else (common.SKIPPED if not data["triton_ms"] else 1)


if __name__ == "__main__":
    sys.exit(main())
