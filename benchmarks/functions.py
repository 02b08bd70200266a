"""Functions of whole tensors (kernels/functions/) beside torch.compile.

usage: functions.py BUNDLE [--only TEXT] [--mode MODE] [--no-torch] [--all-torch] [--autotune]
                    [--profile] [--json FILE]

Each row is run through libtile's C interface and through torch.compile's default mode, with
`--autotune` also its mode max-autotune, Tile in the mode of `--mode`, all captured into CUDA graphs and replayed, in turns.
`bound` is what the row must read and write once, at the speed of a copy measured in the same run;
`of bound` is bound / time, `ratio` the better of torch's times / Tile's, whose geometric mean
stands below. Results are compared with those of the row in PyTorch, norms with float64, before they
are timed. A row that fails is reported, and the others go on; where torch.compile alone fails, the
row says why. It compiles the rows of COMPILED, or all with `--all-torch`, and begins none later
than `--seconds` after the start; of others its column says `not run`.
`--profile` also prints how long each kernel of a row takes.
"""
import argparse
import ctypes
import json
import os
import statistics
import sys
import time
import traceback

try:
    import torch
except ImportError:
    print("PyTorch is missing: nothing to compare with")
    sys.exit(77)

import libtile
from function_rows import numbers, rows
from timing import Timer

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernels", "functions")
TYPES = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16"}
# Columns of torch.compile: their graphs are captured here, as Tile's are.
MODES = {"torch": "default", "autotuned": "max-autotune-no-cudagraphs"}


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
                ("types", ctypes.c_char_p), ("target", ctypes.c_char_p),
                ("mode", ctypes.c_char_p)]


class Program:
    """A function of a file, compiled for a type, with its results and workspace for arguments."""

    def __init__(self, compiler, file, function, types, arguments, mode):
        self.compiler, self.lib = compiler, compiler.lib
        options = Options()
        self.lib.tile_program_options_init_sized(ctypes.byref(options),
                                                 ctypes.c_size_t(ctypes.sizeof(options)))
        options.function, options.types = function.encode(), types.encode()
        options.mode = mode.encode()
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


# What torch.compile is asked for, so that the whole takes little more than a minute.
COMPILED = ("softmax", "RMS norm b", "cross", "row max", "gated MLP, 16", "bias",
            "decoder block, 64", "RMS norm, l")


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


def measure(row, compiler, timer, modes, profiled, mode):
    arguments, least = row.make()
    begin = time.perf_counter()
    program = Program(compiler, row.file, row.function, row.types, [*arguments, *numbers(row)],
                      mode)
    program.run()
    torch.cuda.synchronize()
    line = {"row": row.name, "bytes": least, "first_call_s": time.perf_counter() - begin}
    line["wrong"] = agree(row, program.results, arguments)
    if profiled:
        profile(program)
    half = torch.empty(least // 2, dtype=torch.int8, device="cuda")
    to = torch.empty_like(half)
    sides = {"copy": lambda: to.copy_(half), "tile": captured(program.run)}
    for mode in modes:
        try:
            sides[mode], line[mode + "_first_call_s"] = compiled_by_torch(row, arguments, mode)
        except Exception as error:  # Tile's time is wanted all the same
            line[mode + "_failed"] = (str(error).strip().splitlines() or [repr(error)])[0][:60]
    line.update(timer.compare(sides, count=15))
    return line


def compiled_by_torch(row, arguments, mode):
    """What replays the row as torch.compile has it, and how long its first call took."""
    torch.compiler.reset()
    begin = time.perf_counter()
    compiled = torch.compile(row.run, mode=MODES[mode])
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


def ratio(line):
    """Of the better of torch's times, or nothing."""
    times = [line[mode] for mode in MODES if mode in line]
    return min(times) / line["tile"] if times else None


def show(line):
    bound = line["copy"]
    remarks = [line["wrong"]] if line["wrong"] else []
    columns = ""
    for mode in MODES:
        missing = "failed" if mode + "_failed" in line else "not run"
        columns += f" {line[mode]:9.1f}" if mode in line else f" {missing:>9}"
        if mode + "_failed" in line:
            remarks.append(f"torch.compile: {line[mode + '_failed']}")
    better = f"{ratio(line):6.2f}" if ratio(line) else "     -"
    print(f"{line['row']:46} {bound:8.1f} {line['tile']:9.1f} {bound / line['tile']:9.2f}"
          f"{columns} {better}  {line['first_call_s']:6.2f}  {'; '.join(remarks)}", flush=True)


def summary(lines):
    ratios = [ratio(line) for line in lines if ratio(line)]
    if ratios:
        print(f"geometric mean of {len(ratios)} rows {statistics.geometric_mean(ratios):.3f}, "
              f"lowest {min(ratios):.3f}")


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("bundle")
    parser.add_argument("--only", default="")
    parser.add_argument("--mode", default="default", choices=["default", "max-autotune"],
                        help="of Tile: max-autotune measures cuts in the first call")
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--all-torch", action="store_true", help="torch.compile for every row")
    parser.add_argument("--autotune", action="store_true", help="max-autotune, too")
    parser.add_argument("--seconds", type=float, default=float("inf"),
                        help="torch.compile of no row begins later")
    parser.add_argument("--profile", action="store_true", help="times of the row's kernels")
    parser.add_argument("--json")
    return parser.parse_args()


def main():
    options = parsed()
    if not torch.cuda.is_available():
        print("no GPU: nothing to measure")
        return 77
    torch.manual_seed(0)
    begin = time.perf_counter()
    compiler = libtile.Compiler(libtile.Bundle(options.bundle).library)
    timer, lines, failed = Timer(), [], 0
    print(f"{'microseconds':46} {'bound':>8} {'tile':>9} {'of bound':>9} {'torch':>9} "
          f"{'autotuned':>9} {'ratio':>6}  {'1st s':>6}")
    for row in rows():
        if options.only not in row.name:
            continue
        wanted = not options.no_torch and (options.all_torch or row.name.startswith(COMPILED))
        wanted &= time.perf_counter() - begin < options.seconds
        modes = list(MODES)[:1 + options.autotune] if wanted else []
        try:
            lines.append(measure(row, compiler, timer, modes, options.profile, options.mode))
            show(lines[-1])
            failed += bool(lines[-1]["wrong"])
        except Exception as error:  # one row must not end the others
            failed += 1
            print(f"{row.name:46} FAILED: {str(error).strip().splitlines()[-1:]}", flush=True)
            traceback.print_exc(limit=2)
        torch.cuda.empty_cache()
        torch.compiler.reset()
    summary(lines)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(lines, file, indent=1)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
