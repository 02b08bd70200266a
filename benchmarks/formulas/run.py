"""A second set of functions of whole tensors (the .tile files beside this) against torch.compile.

usage: run.py BUNDLE [--only TEXT] [--skip N] [--first N] [--mode MODE] [--no-torch] [--seconds N] [--row-seconds N]
                    [--beside N] [--profile] [--json FILE]

As benchmarks/functions.py: Tile through libtile's C interface, torch.compile's default mode, both captured into CUDA
graphs and replayed in turns; `bound` is what the row must read and write once, at the speed of a copy measured in the
same run; `of bound` is bound / tile, `ratio` torch / tile. Results, and arguments that a row writes, are compared with
the row in PyTorch of float32. Rows are in the order of interest: torch.compile of no row begins later than --seconds
after the start, and none takes longer than --row-seconds; --beside N compiles PyTorch's side of all rows first, in N
processes that fill Inductor's cache. A row that fails is reported; where it leaves the device
unusable, the rest runs in the same process begun again.
"""
import argparse
import contextlib
import ctypes
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import traceback

try:
    import torch
except ImportError:
    print("PyTorch is missing: nothing to compare with")
    sys.exit(77)

from rows import HERE, numbers, rows  # finds the folder of libtile and timing
import libtile
from functions import Options, Tensor, captured, profile
from timing import Timer

FOLDER = HERE
KNOWN = {"fp64": torch.float64, "fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16,
         "fp8e4nv": torch.float8_e4m3fn, "fp8e5": torch.float8_e5m2, "int1": torch.bool, "bool": torch.bool,
         "int8": torch.int8, "uint8": torch.uint8, "int16": torch.int16, "int32": torch.int32, "int64": torch.int64,
         "i1": torch.bool, "i8": torch.int8, "u8": torch.uint8, "i16": torch.int16, "i32": torch.int32,
         "i64": torch.int64}
NARROW = (torch.float8_e4m3fn, torch.float8_e5m2)


class Info(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("num_arguments", ctypes.c_int32), ("num_results", ctypes.c_int32),
                ("num_kernels", ctypes.c_int32), ("kernels_compiled", ctypes.c_int32)]


def passed(a):
    if torch.is_tensor(a):
        return Tensor.of(a)
    return ctypes.c_int32(a) if isinstance(a, int) else ctypes.c_float(a)


class Program:
    """A function of a file, compiled for a type, with its results and workspace for arguments."""

    def __init__(self, compiler, file, function, types, arguments, mode):
        self.compiler, self.lib = compiler, compiler.lib
        options = Options()
        self.lib.tile_program_options_init_sized(ctypes.byref(options), ctypes.c_size_t(ctypes.sizeof(options)))
        options.function, options.types, options.mode = function.encode(), types.encode(), mode.encode()
        self.handle = ctypes.c_void_p()
        compiler.check(self.lib.tile_program_compile_file(
            compiler.handle, os.path.join(FOLDER, file).encode(), ctypes.byref(options), ctypes.byref(self.handle)))
        self.arguments = arguments
        self.kept = [passed(a) for a in arguments]
        self.count = ctypes.c_size_t(len(self.kept))
        self.pointers = (ctypes.c_void_p * len(self.kept))(
            *[ctypes.cast(ctypes.byref(a), ctypes.c_void_p) for a in self.kept])
        self.allocate()

    def info(self):
        info = Info(ctypes.sizeof(Info))
        return info if not self.lib.tile_program_get_info(self.handle, ctypes.byref(info)) else None

    def allocate(self):
        self.results = []
        info = self.info()
        index = 0
        while info is None or index < info.num_results:
            shape, kind = Tensor(), ctypes.c_char_p()
            status = self.lib.tile_program_result(self.handle, self.pointers, self.count, ctypes.c_size_t(index),
                                                  ctypes.byref(shape), ctypes.byref(kind))
            if status and info is None:
                break
            self.compiler.check(status)
            self.results.append(torch.empty(list(shape.shape)[:shape.rank], device="cuda",
                                            dtype=KNOWN[kind.value.decode()]))
            index += 1
        self.outs = (Tensor * max(1, len(self.results)))(*[Tensor.of(r) for r in self.results])
        self.bytes = ctypes.c_size_t()
        self.compiler.check(self.lib.tile_program_workspace(self.handle, self.pointers, self.count,
                                                            ctypes.byref(self.bytes)))
        self.workspace = torch.empty(max(256, self.bytes.value), dtype=torch.int8, device="cuda")

    def run(self):
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.compiler.check(self.lib.tile_program_run(
            self.handle, stream, self.pointers, self.count, self.outs, ctypes.c_size_t(len(self.results)),
            ctypes.c_void_p(self.workspace.data_ptr()), self.bytes))


@contextlib.contextmanager
def limited(seconds):
    def late(*_):
        raise TimeoutError(f"longer than {seconds:.0f} s")
    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def own(row, arguments):
    """Arguments of which those that the row writes are copies."""
    return [a.clone() if i in row.updates else a for i, a in enumerate(arguments)]


def tuple_of(results):
    return () if results is None else tuple(results) if isinstance(results, (tuple, list)) else (results,)


def called(row, function, arguments):
    """What calls the row in PyTorch, with the derivatives that it is for."""
    if not row.gradients:
        return lambda: tuple_of(function(*arguments))
    arguments = [a.detach().requires_grad_() if i in row.gradients else a for i, a in enumerate(arguments)]
    by = [arguments[i] for i in row.gradients]

    def run():
        value = function(*arguments)
        got = torch.autograd.grad(value, by)
        return (value.detach(), *got) if row.with_value else got
    return run


def expected(row, arguments):
    """Results, then written arguments, computed in float32."""
    wide = [a.float() if a.dtype in (torch.bfloat16, torch.float16) else a for a in own(row, arguments)]
    results = called(row, row.run, wide)()
    return [*results, *[wide[i] for i in row.updates]]


def difference(got, want, tolerance, whole=0.02, rounded=False):
    """Nothing, or how a result differs from what is wanted."""
    if got.shape != want.shape:
        return f"shape {list(got.shape)}, not {list(want.shape)}"
    if not got.dtype.is_floating_point:  # what is rounded to bytes may be one apart
        apart = (got.double() - want.double()).abs()
        off = (apart > (1 if rounded else 0)).double().mean().item()
        return f"{off:.2%} of whole numbers differ" if off > whole else ""
    a = (got.float() if got.dtype in NARROW else got).double()
    b = (want.float() if want.dtype in NARROW else want).double()
    both = (a == b) | (a.isnan() & b.isnan())  # infinities
    error = torch.where(both, 0.0, (a - b).abs()).max().item() if a.numel() else 0.0
    finite = torch.where(b.isfinite(), b.abs(), 0.0).max().item() if a.numel() else 0.0
    return "" if error <= tolerance * finite + 1e-7 else f"differs by {error:.3g} of {finite:.3g}"


def agree(row, program, wanted):
    if not row.same:
        return "" if all(bool(r.float().isfinite().all()) for r in program.results) else "not finite"
    got = [*program.results, *[program.arguments[i] for i in row.updates]]
    if len(got) != len(wanted):
        return f"{len(got)} results, not {len(wanted)}"
    wrong = [f"result {i} {text}" for i, (a, b) in enumerate(zip(got, wanted))
             if (text := difference(a, b, row.tolerance, row.whole, "int8" in row.function or "8bit" in row.function))]
    return "; ".join(wrong)


def bytes_of(tensors):
    return sum(t.numel() * t.element_size() for t in tensors)


def measure(row, compiler, timer, torch_too, options):
    arguments, least = row.make()
    begin = time.perf_counter()
    mine = own(row, arguments)
    program = Program(compiler, row.file, row.function, row.types, [*mine, *numbers(row)], options.mode)
    program.run()
    torch.cuda.synchronize()
    line = {"row": row.name, "first_call_s": time.perf_counter() - begin, "wrong": ""}
    info = program.info()
    line["kernels"] = info.kernels_compiled if info else 0
    if not options.no_check:
        try:
            line["wrong"] = agree(row, program, expected(row, arguments))
        except torch.cuda.OutOfMemoryError:
            line["unchecked"] = "no memory to compare"
        except Exception as error:
            line["unchecked"] = f"PyTorch fails: {first_line(error)}"
        torch.cuda.empty_cache()
    if least is None:
        least = bytes_of(arguments) + bytes_of(program.results) + bytes_of([arguments[i] for i in row.updates])
        least -= row.unread
    line["bytes"] = least
    if options.profile:
        profile(program)
    half = torch.empty(max(1, least // 2), dtype=torch.int8, device="cuda")
    to = torch.empty_like(half)
    sides = {"copy": lambda: to.copy_(half), "tile": captured(program.run)}
    if torch_too:
        try:
            begin = time.perf_counter()
            with limited(options.row_seconds):
                compiled = torch.compile(row.run)
                run = called(row, compiled, own(row, arguments))
                run()
                torch.cuda.synchronize()
            line["torch_first_call_s"] = time.perf_counter() - begin
            sides["torch"] = captured(run)
        except Exception as error:  # Tile's time is wanted all the same
            line["torch_failed"] = first_line(error)
            torch.cuda.synchronize()
    line.update(timer.compare(sides, count=options.count))
    return line


def first_line(error):
    return (str(error).strip().splitlines() or [repr(error)])[0][:80]


def ratio(line):
    return line["torch"] / line["tile"] if "torch" in line and "tile" in line else None


def show(line):
    if "failed" in line:
        print(f"{line['row']:50} FAILED: {line['failed']}", flush=True)
        return
    remarks = [f"WRONG: {line['wrong']}"] if line["wrong"] else []
    remarks += [line["unchecked"]] if "unchecked" in line else []
    remarks += [f"torch: {line['torch_failed']}"] if "torch_failed" in line else []
    theirs = f"{line['torch']:9.1f}" if "torch" in line else f"{'failed' if 'torch_failed' in line else 'not run':>9}"
    better = f"{ratio(line):6.2f}" if ratio(line) else "     -"
    print(f"{line['row']:50} {line['copy']:8.1f} {line['tile']:9.1f} {line['copy'] / line['tile']:9.2f} {theirs} {better} "
          f"{line['kernels']:4} {line['first_call_s']:6.2f}  {'; '.join(remarks)}", flush=True)


def summary(lines):
    ratios = [ratio(line) for line in lines if ratio(line)]
    if ratios:
        print(f"geometric mean of {len(ratios)} rows {statistics.geometric_mean(ratios):.3f}, lowest {min(ratios):.3f}")
        below = sorted((ratio(line), line["row"]) for line in lines if ratio(line) and ratio(line) < 1.0)
        for value, name in below:
            print(f"  {value:.2f}  {name}")
    bad = [line["row"] for line in lines if line.get("failed") or line.get("wrong")]
    print(f"{len(lines)} rows, {len(bad)} failed or wrong{': ' if bad else ''}{', '.join(bad)}")


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("bundle")
    parser.add_argument("--only", default="", help="rows whose name, function or file has this; several with commas")
    parser.add_argument("--skip", type=int, default=0, help="so many rows at the beginning")
    parser.add_argument("--first", type=int, default=10**6, help="that many rows (behind those)")
    parser.add_argument("--mode", default="default", choices=["default", "max-autotune"])
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--no-check", action="store_true", help="results are not compared")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="torch.compile of no row begins later")
    parser.add_argument("--row-seconds", type=float, default=60, help="torch.compile of a row takes no longer")
    parser.add_argument("--beside", type=int, default=0, help="processes that fill Inductor's cache before")
    parser.add_argument("--share", type=int, help=argparse.SUPPRESS)  # of --beside: the process's number
    parser.add_argument("--count", type=int, default=15, help="runs of each side a round")
    parser.add_argument("--profile", action="store_true", help="times of the row's kernels")
    parser.add_argument("--json")
    parser.add_argument("--resume", help=argparse.SUPPRESS)  # a file: where another process has got to
    return parser.parse_args()


def fill(options, chosen):
    """Compiles PyTorch's side of every Nth row: what the rows cost the process behind is then read from the cache."""
    for row in chosen[options.share::options.beside]:
        try:
            arguments, _ = row.make()
            with limited(options.row_seconds * 4):
                called(row, torch.compile(row.run), own(row, arguments))()
                torch.cuda.synchronize()
        except Exception:  # said where it is measured
            if not alive():
                return
        torch.compiler.reset()
        torch.cuda.empty_cache()


def fill_beside(options):
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "2")
    shares = [subprocess.Popen([sys.executable, os.path.abspath(__file__), *sys.argv[1:], "--share", str(i)],
                               stderr=subprocess.DEVNULL) for i in range(options.beside)]
    end = time.time() + (options.seconds if options.seconds < 1e9 else 3600)
    for share in shares:
        try:
            share.wait(max(1, end - time.time()))
        except subprocess.TimeoutExpired:
            share.kill()


def alive():
    try:
        torch.cuda.synchronize()
        torch.zeros(1, device="cuda").add_(1).item()
        return True
    except Exception:
        return False


def begin_again(options, lines, done, began):
    """The device's context is lost: the rest of the rows in a fresh process of the same number."""
    handle, path = tempfile.mkstemp(suffix=".json")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump({"lines": lines, "done": done, "spent": time.time() - began}, file)
    arguments = [a for i, a in enumerate(sys.argv[1:]) if a != "--resume" and sys.argv[i] != "--resume"]
    print("  (the device's context is lost: begun again)", flush=True)
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, os.path.abspath(__file__), *arguments, "--resume", path])


def main():
    options = parsed()
    if not torch.cuda.is_available():
        print("no GPU: nothing to measure")
        return 77
    torch.manual_seed(0)
    began, lines, done = time.time(), [], 0
    if options.resume:
        with open(options.resume, encoding="utf-8") as file:
            kept = json.load(file)
        lines, done, began = kept["lines"], kept["done"], time.time() - kept["spent"]
        os.unlink(options.resume)
    wanted = [t for t in options.only.split(",") if t]
    chosen = [row for row in rows() if not wanted or any(t in row.name or t in (row.function, row.file) for t in wanted)]
    chosen = chosen[options.skip:][:options.first]
    if options.share is not None:
        return fill(options, chosen)
    if options.beside and not options.resume:
        fill_beside(options)
        print(f"PyTorch's side compiled in {time.time() - began:.0f} s", flush=True)
        began = time.time()
    compiler = libtile.Compiler(libtile.Bundle(options.bundle).library)
    timer = Timer()
    if not options.resume:
        print(f"{'microseconds':50} {'bound':>8} {'tile':>9} {'of bound':>9} {'torch':>9} {'ratio':>6} {'kern':>4} {'1st s':>6}")
    for index, row in enumerate(chosen):
        if index < done:
            continue
        torch_too = not options.no_torch and time.time() - began < options.seconds
        try:
            line = measure(row, compiler, timer, torch_too, options)
        except Exception as error:  # one row must not end the others
            line = {"row": row.name, "failed": (str(error).strip().splitlines() or [repr(error)])[-1][:200]}
            if os.environ.get("TRACE"):
                traceback.print_exc(limit=4)
        lines.append(line)
        show(line)
        if not alive():
            begin_again(options, lines, index + 1, began)
        torch.cuda.empty_cache()
        torch.compiler.reset()
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump(lines, file, indent=1)
    summary(lines)
    return 1 if any(line.get("failed") or line.get("wrong") for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
