#!/usr/bin/env python3
"""Memory-bound kernels: Tile against Triton on the same source, in one process.

    python3 benchmarks/memory_bound.py BUNDLE [--json FILE] [--only TEXT] [--quick] [--plain] [--target sm_80]

BUNDLE holds libtile.so (an unpacked release bundle, or a build folder). Each
side tries every configuration of a case, each checked for correct results; the
best of each side and a copy of the same bytes are then timed again in turns.
"triton/tile" is Triton's time over Tile's: above 1, Tile is faster.
"""
import ctypes
import gc
import json
import sys
import time
import traceback

import common


class TritonSide:
    name = "triton"

    def __init__(self):
        self.modules = {}

    def prepare(self, case, config):
        if case.module not in self.modules:
            self.modules[case.module] = common.load_as_python(case.module)
        module = self.modules[case.module]
        steps = [(getattr(module, l.kernel)[l.grid], l) for l in config.launches]

        def run():
            for kernel, l in steps:
                kernel(*l.arguments, **l.constexprs, num_warps=l.num_warps, maxnreg=l.maxnreg)
        return run


class TileSide:
    name = "tile"

    def __init__(self, bundle, target):
        import libtile
        self.compiler = libtile.Compiler(bundle.library, target)

    def launcher(self, case, launch):
        import torch
        with open(common.kernel_path(case.module)) as f:
            source = f.read()
        kernel = self.compiler.compile(source, case.module + ".tile", launch.kernel,
                                       launch.signature(), launch.constexprs, launch.num_warps,
                                       max_registers=launch.maxnreg or 0)
        kernel.load()
        values = []
        for a in launch.arguments:
            if a is None:
                values.append(ctypes.c_void_p())
            elif torch.is_tensor(a):
                values.append(ctypes.c_void_p(a.data_ptr()))
            else:
                values.append(ctypes.c_float(a) if isinstance(a, float) else ctypes.c_int32(a))
        return kernel.launcher(launch.grid, values, torch.cuda.current_stream().cuda_stream)

    def prepare(self, case, config):
        steps = [self.launcher(case, launch) for launch in config.launches]
        if len(steps) == 1:
            return steps[0]

        def run():
            for step in steps:
                step()
        return run


def best_config(side, case, timer, log):
    """(us, label, callable) of the fastest correct configuration, or None; and the
    time of the fastest in which one program computes a row."""
    best, best_single = None, None
    for config in case.configs:
        try:
            run = side.prepare(case, config)
            case.reset()
            run()
            wrong = case.check()
        except Exception as error:  # one failing configuration must not end the run
            wrong = f"{type(error).__name__}: {error}"
            if not str(error):
                traceback.print_exc()
        if wrong:
            log.append({"case": case.name, "side": side.name, "config": config.label(),
                        "error": wrong})
            common.missing(f"{case.name}, {side.name} {config.label()}", wrong.splitlines()[0])
            continue
        us = timer.compare({"run": run}, count=15, rounds=1)["run"]
        log.append({"case": case.name, "side": side.name, "config": config.label(), "us": us})
        if best is None or us < best[0]:
            best = (us, config.label(), run)
        if config.single_program() and (best_single is None or us < best_single):
            best_single = us
    return best, best_single


def measure_case(case, sides, timer, log, rounds):
    finalists, single = {}, {}
    for side in sides:
        finalists[side.name], single[side.name] = best_config(side, case, timer, log)
    destination = case.copy_from.new_empty(case.copy_from.shape)
    functions = {"copy": lambda: destination.copy_(case.copy_from)}
    functions.update({name: best[2] for name, best in finalists.items() if best})
    times = timer.compare(functions, count=50, rounds=rounds)
    result = {"case": case.name, "sets": case.sets(), "bytes": case.bytes, "us": times,
              "best": {name: best[1] for name, best in finalists.items() if best}}
    if "triton" in times:
        result["triton/copy"] = times["triton"] / times["copy"]
    if "tile" in times:
        result["copy/tile"] = times["copy"] / times["tile"]
        if "triton" in times:
            result["triton/tile"] = times["triton"] / times["tile"]
        if single.get("triton") and any(not c.single_program() for c in case.configs):
            result["triton single/tile"] = single["triton"] / times["tile"]
    return result


def print_summary(results):
    rows = []
    for r in results:
        show = lambda key: f"{r['us'][key]:.2f}" if key in r["us"] else "-"
        ratio = lambda key: f"{r[key]:.3f}" if key in r else "-"
        speed = f"{r['bytes'] / r['us']['tile'] / 1e6:.2f}" if "tile" in r["us"] else "-"
        rows.append([r["case"], show("copy"), show("triton"), show("tile"), speed,
                     ratio("copy/tile"), ratio("triton/tile"), r["best"].get("triton", "-"),
                     r["best"].get("tile", "-")])
    common.table(["case", "copy us", "triton us", "tile us", "TB/s", "copy/tile", "triton/tile",
                  "triton's best", "tile's best"], rows)
    for kind in ("triton/tile", "triton/copy", "copy/tile", "triton single/tile"):
        for name in dict.fromkeys(s for r in results for s in r["sets"]):
            ratios = [r[kind] for r in results if name in r["sets"] and kind in r]
            if ratios:
                print(f"{kind}, {name}: geometric mean {common.geometric_mean(ratios):.3f} over "
                      f"{len(ratios)} cases, lowest {min(ratios):.3f}")
    print("triton/copy is what triton/tile would be with kernels as fast as the copy")


def make_sides(bundle_folder, target):
    """What can be measured here; says loudly what cannot."""
    sides = []
    try:
        common.triton_for(target)
        sides.append(TritonSide())
    except ImportError as error:
        common.missing("the Triton side", error)
    import libtile
    bundle = libtile.Bundle(bundle_folder)
    if bundle.library is None:
        common.missing("the Tile side", f"no libtile.so under {bundle.folder}")
    else:
        try:
            sides.append(TileSide(bundle, target))
        except (OSError, libtile.TileError, AttributeError) as error:
            common.missing("the Tile side", error)
    return sides


def main():
    parser = common.parser(__doc__, json="memory_bound.json", target=True)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--plain", action="store_true",
                        help="rows as tutorials write them (plain.tile), not the library's kernels")
    args = parser.parse_args()
    if not common.has_device():
        return common.SKIPPED
    import torch
    import cases
    import timing
    sides = make_sides(args.bundle, args.target)
    torch.manual_seed(0)
    timer, results, log = timing.Timer(), [], []
    for make in cases.PLAIN if args.plain else cases.ALL:
        started = time.time()
        case = make()
        if args.only not in case.name:
            continue
        result = measure_case(case, sides, timer, log, 2 if args.quick else 4)
        results.append(result)
        print(f"{case.name}: {', '.join(f'{k} {v:.2f} us' for k, v in result['us'].items())}"
              f"  ({time.time() - started:.1f} s)", flush=True)
        del case
        gc.collect()
        torch.cuda.empty_cache()
        # Written after every case, so that a run cut short leaves what it has.
        with open(args.json, "w") as f:
            json.dump({"device": torch.cuda.get_device_name(), "results": results,
                       "configs": log}, f, indent=1)
    print_summary(results)
    complete = all("triton/tile" in r for r in results)
    return 0 if results and complete else 1


if __name__ == "__main__":
    sys.exit(main())
