#!/usr/bin/env python3
"""Attention: the kernel library against Triton on the same source, and both against cuDNN.

    python3 benchmarks/attention.py BUNDLE [--json FILE] [--only WORD]... [--no-triton] [--target sm_80]

BUNDLE holds libtile.so. Both compilers get the same .tile files and the same list of
configurations, of which each side's best counts. Every configuration is compared with
float64 on some rows before it is timed; cuDNN is PyTorch's scaled_dot_product_attention
with that backend alone. Decoding is measured against a copy of the bytes of K and V, too.
Ratios above 1: Tile is faster.
"""
import ctypes
import json
import sys

import attention_cases
import common


class Descriptor(ctypes.Structure):
    """What tile.h calls tile_descriptor."""
    _fields_ = [("base", ctypes.c_void_p), ("shape", ctypes.c_int64 * 5),
                ("strides", ctypes.c_int64 * 5), ("rank", ctypes.c_int32)]


def types():
    import torch
    return {torch.float16: "fp16", torch.bfloat16: "bf16", torch.float32: "fp32",
            torch.float8_e4m3fn: "fp8e4nv", torch.int32: "i32"}


def entry(value):
    """A value's place in a signature."""
    import torch
    if value is None:
        return "none"
    if isinstance(value, attention_cases.Blocks):
        return f"tensordesc<{types()[value.tensor.dtype]}[{','.join(map(str, value.block))}]>"
    if torch.is_tensor(value):
        return "*" + types()[value.dtype] + (":16" if value.data_ptr() % 16 == 0 else "")
    if isinstance(value, float):
        return "fp32"
    return "i32" + (":1" if value == 1 else ":16" if value % 16 == 0 else "")


def cell(value):
    import torch
    if isinstance(value, attention_cases.Blocks):
        d = Descriptor(base=value.tensor.data_ptr(), rank=value.tensor.dim())
        for i, (size, stride) in enumerate(zip(value.tensor.shape, value.tensor.stride())):
            d.shape[i], d.strides[i] = size, stride
        return d
    if value is None or torch.is_tensor(value):
        return ctypes.c_void_p(0 if value is None else value.data_ptr())
    return ctypes.c_float(value) if isinstance(value, float) else ctypes.c_int32(value)


class Tile:
    def __init__(self, bundle, target=None):
        import libtile
        self.compiler = libtile.Compiler(bundle.library, target)
        self.loaded, self.sources = {}, {}

    def prepare(self, launch):
        import torch
        if launch.file not in self.sources:
            with open(common.kernel_path(launch.file)) as f:
                self.sources[launch.file] = f.read()
        signature = [entry(v) for v in launch.values]
        key = (launch.file, launch.kernel, *signature, *launch.constants.items(), launch.warps,
               launch.stages)
        if key not in self.loaded:
            self.loaded[key] = self.compiler.compile(
                self.sources[launch.file], launch.file + ".tile", launch.kernel, signature,
                launch.constants, launch.warps, num_stages=launch.stages)
            self.loaded[key].load()
        return self.loaded[key].launcher(launch.grid, [cell(v) for v in launch.values],
                                         torch.cuda.current_stream().cuda_stream)


class Triton:
    def __init__(self):
        import torch
        import triton
        from triton.tools.tensor_descriptor import TensorDescriptor
        self.modules, self.descriptor = {}, TensorDescriptor
        # Descriptors that kernels make themselves are written to memory first.
        triton.set_allocator(lambda size, align, stream:
                             torch.empty(size, device="cuda", dtype=torch.int8))

    def prepare(self, launch):
        if launch.file not in self.modules:
            self.modules[launch.file] = common.load_as_python(launch.file)
        kernel = getattr(self.modules[launch.file], launch.kernel)[launch.grid]
        values = [self.descriptor(v.tensor, list(v.tensor.shape), list(v.tensor.stride()),
                                  list(v.block))
                  if isinstance(v, attention_cases.Blocks) else v for v in launch.values]
        return lambda: kernel(*values, **launch.constants, num_warps=launch.warps,
                              num_stages=launch.stages)


def fits(launches, side):
    """Triton's blocks and warps are powers of two."""
    return side == "tile" or all(
        n & (n - 1) == 0 for l in launches
        for n in [l.warps] + [v for k, v in l.constants.items() if k.startswith("BLOCK")])


def measure(case, sides, timer):
    import torch
    functions, errors, best = {}, {}, {}
    if case.reference:
        try:
            case.reference()
            functions["cudnn"] = case.reference
            errors["cudnn"] = case.reference_error()
        except Exception as error:
            common.missing(case.name + " by cuDNN", str(error).splitlines()[0])
    if case.copy:
        functions["copy"] = case.copy
    for side, prepare in sides.items():
        for label, launches in case.configurations:
            if not fits(launches, side):
                continue
            try:
                runs = [prepare(launch) for launch in launches]

                def run(runs=runs):
                    for r in runs:
                        r()
                case.clear()
                run()
                torch.cuda.synchronize()
                error = case.error()
                if not error < case.tolerance:
                    raise RuntimeError(f"relative error {error}")
                us = timer.compare({"run": run}, count=4, rounds=1)["run"]
            except Exception as error:  # one failing configuration must not end the run
                common.missing(f"{case.name} by {side}, {label}",
                               (str(error).splitlines() or [repr(error)])[0])
                continue
            if side not in best or us < best[side][0]:
                best[side] = (us, label)
                functions[side], errors[side] = run, error
    us = timer.compare(functions, count=8, rounds=2)
    return {"name": case.name, "us": us, "errors": errors, "flops": case.flops,
            "bytes": case.bytes, "best": {side: label for side, (_, label) in best.items()}}


def row_of(result, ratios):
    us, row = result["us"], [result["name"]]
    rate = (result["bytes"] / 1e3) if result["bytes"] else result["flops"] / 1e6
    for side in ("cudnn", "triton", "tile", "copy"):
        row.append(f"{rate / us[side]:.0f}" if side in us else "-")
    for side in ("triton", "cudnn", "copy"):
        known = side in us and "tile" in us
        if known:
            kind = result["name"].split()[0]
            ratios.setdefault(f"{kind}, tile/{side}", []).append(us[side] / us["tile"])
        row.append(f"{us[side] / us['tile']:.3f}" if known else "-")
    for side in ("cudnn", "tile"):
        row.append(f"{result['errors'][side]:.1e}" if side in result["errors"] else "-")
    return row + [result["best"].get("tile", "-"), result["best"].get("triton", "-")]


def main():
    parser = common.parser(__doc__, target=True)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--no-triton", action="store_true")
    options = parser.parse_args()
    if not common.has_device():
        return common.SKIPPED
    import libtile
    import timing
    sides = {"tile": Tile(libtile.Bundle(options.bundle), options.target).prepare}
    if not options.no_triton:
        try:
            common.triton_for(options.target)
            sides["triton"] = Triton().prepare
        except ImportError as error:
            common.missing("Triton", error)
    timer, results, rows, ratios = timing.Timer(), [], [], {}
    for name, make in attention_cases.CASES.items():
        if options.only and not any(word in name for word in options.only):
            continue
        results.append(measure(make(), sides, timer))
        rows.append(row_of(results[-1], ratios))
        print("  ".join(rows[-1]), file=sys.stderr, flush=True)
    print("TFLOP/s; of decoding GB/s of K and V. err: Frobenius norm against float64")
    common.table(["", "cudnn", "triton", "tile", "copy", "tile/triton", "tile/cudnn", "tile/copy",
                  "cudnn err", "tile err", "tile's best", "triton's best"], rows)
    for name, values in ratios.items():
        print(f"geometric mean of {name}: {common.geometric_mean(values):.3f}, "
              f"lowest {min(values):.3f}")
    if options.json:
        with open(options.json, "w") as f:
            json.dump(results, f, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
