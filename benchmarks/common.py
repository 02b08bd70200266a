"""What the benchmark scripts share: missing pieces reported loudly, kernels loaded as Python."""
import importlib.machinery
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77


def kernel_path(name):
    return os.path.join(HERE, "kernels", name + ".tile")


def load_as_python(name):
    """The .tile file as a module: to Triton it is an ordinary Python file."""
    path = kernel_path(name)
    loader = importlib.machinery.SourceFileLoader("tile_bench_" + name, path)
    spec = importlib.util.spec_from_file_location(loader.name, path, loader=loader)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def missing(what, why):
    """One loud line on stderr for something that will not be measured."""
    print(f"!!! NOT MEASURED: {what}: {why}", file=sys.stderr, flush=True)


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


def geometric_mean(values):
    product, values = 1.0, list(values)
    for v in values:
        product *= v
    return product ** (1.0 / len(values)) if values else float("nan")
