"""What the benchmark scripts share: missing pieces reported loudly, kernels loaded as Python."""
import argparse
import importlib.machinery
import importlib.util
import json
import os
import sys
import tempfile
import types

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77


def kernel_path(name):
    """A file of kernels: in this folder, or of the library, beside it or where a bundle has it."""
    for folder in (HERE, os.path.join(HERE, "..", "kernels"),
                   os.path.join(HERE, "..", "share", "tile", "kernels"),
                   os.path.join(HERE, "..", "..", "kernels")):
        path = os.path.normpath(os.path.join(folder, name + ".tile"))
        if os.path.exists(path):
            return path
    raise FileNotFoundError(f"the kernel library has no {name}.tile beside {HERE}")


class _HostModule(types.ModuleType):
    """Stands for `tile` when a .tile file is loaded as Python: its decorators leave
    host functions as they are, and those are not called here."""

    def __getattr__(self, name):
        if name.startswith("__"):  # what Python itself asks of a module
            raise AttributeError(name)

        def decorator(*args, **keywords):
            plain = len(args) == 1 and not keywords and callable(args[0])
            return args[0] if plain else lambda function: function
        return decorator


def load_as_python(name):
    """A .tile file of the library as a module: to Triton it is an ordinary Python file."""
    return load_path_as_python(kernel_path(name))


def load_path_as_python(path):
    sys.modules.setdefault("tile", _HostModule("tile"))
    sys.dont_write_bytecode = True
    name = "tile_bench_" + os.path.splitext(os.path.basename(path))[0]
    loader = importlib.machinery.SourceFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(loader.name, path, loader=loader)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def missing(what, why):
    """One loud line on stderr for something that will not be measured."""
    print(f"!!! NOT MEASURED: {what}: {why}", file=sys.stderr, flush=True)


def parser(description, json=None, target=False):
    """Of a command line: BUNDLE, where the figures are written to, and the chip to compile for."""
    result = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("bundle")
    result.add_argument("--json", default=json)
    if target:
        result.add_argument("--target", metavar="sm_80",
                            help="an older chip both compilers write code for; it runs on this one")
    return result


def triton_for(target):
    """Lets Triton compile for an older chip (`sm_80`), up to PTX: that is assembled for this one, as
    the driver does it with Tile's. None: for this chip."""
    import triton  # noqa: F401
    if target is None:
        return
    from triton.backends.compiler import GPUTarget
    from triton.backends.nvidia.compiler import CUDABackend
    from triton.runtime import driver
    # What is assembled so is no machine code for that chip: nobody else is to find it.
    os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp(prefix="triton-")
    here = driver.active.get_current_target().arch
    other = GPUTarget("cuda", int(target.removeprefix("sm_")), 32)
    driver.active.get_current_target = lambda: other
    assemble = CUDABackend.make_cubin
    CUDABackend.make_cubin = lambda self, ptx, metadata, options, capability: assemble(
        self, ptx, metadata, options, here)


def has_device():
    """Whether PyTorch and a GPU are there to measure with; says loudly what is not."""
    try:
        import torch
    except ImportError as error:
        missing("everything", error)
        return False
    if not torch.cuda.is_available():
        missing("everything", "PyTorch sees no CUDA device")
        return False
    return True


def table(header, rows):
    """Prints columns aligned, numbers to the right."""
    cells = [[str(c) for c in row] for row in [header] + rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    for index, row in enumerate(cells):
        print("  ".join(c.ljust(w) if i == 0 else c.rjust(w)
                        for i, (c, w) in enumerate(zip(row, widths))).rstrip())
        if index == 0:
            print("  ".join("-" * w for w in widths))
    sys.stdout.flush()


def save(path, results, log):
    """Writes what was measured, if somebody wants it."""
    if path:
        with open(path, "w") as f:
            json.dump({"results": results, "log": log}, f, indent=1)


def geometric_mean(values):
    product, values = 1.0, list(values)
    for v in values:
        product *= v
    return product ** (1.0 / len(values)) if values else float("nan")
