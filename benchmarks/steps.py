#!/usr/bin/env python3
"""What each step of the tutorial brings, beside PyTorch's own operations, one after the other (eager).

    python3 benchmarks/steps.py BUNDLE [--json FILE]

Runs `tilec bench steps.tile` (which times both forms with the cache of the chip emptied before each run), and times
the same work in PyTorch as benchmarks do here (timing.py). Milliseconds; "times" is before / after.
"""
import json
import os
import subprocess
import sys
import tempfile

import common
import libtile


def eager():
    """{bench: a function in PyTorch}."""
    import torch
    import torch.nn.functional as F
    single = lambda *shape: torch.randn(shape, device="cuda")
    half = lambda *shape: single(*shape).half()
    square, rows, x, y = single(4096, 4096), single(16384, 4096), single(2 ** 26), single(2 ** 26)
    narrow, a, b = half(2 ** 26), half(4096, 4096), half(4096, 4096)
    out = torch.empty_like(square)
    image, filters = (t.contiguous(memory_format=torch.channels_last)
                      for t in (half(32, 128, 28, 28), half(128, 128, 3, 3)))

    def softmax():
        shifted = torch.exp(rows - rows.max(1, keepdim=True).values)
        return shifted / shifted.sum(1, keepdim=True)
    return {"neighbours": lambda: out.copy_(square),
            "centered": lambda: rows - rows.mean(1, keepdim=True),
            "fused": lambda: torch.relu(x + y) * y,
            "softmax_rows": softmax,
            "dropout": lambda: F.dropout(narrow, 0.5),
            "tiles": lambda: a @ b,
            "convolution": lambda: F.conv2d(image, filters, padding=1)}


def ours(bundle):
    """{bench: {label: milliseconds}}."""
    path = common.kernel_path("steps")
    with tempfile.TemporaryDirectory() as folder:
        results = os.path.join(folder, "results.json")
        run = subprocess.run([bundle.tilec, "bench", path, "-I", os.path.dirname(common.kernel_path("dropout")),
                              "--device", "cuda", "-o", results], capture_output=True, text=True)
        if run.returncode != 0:
            raise RuntimeError((run.stderr + run.stdout).strip()[-300:])
        with open(results) as f:
            return read(json.load(f))


def read(data):
    return {bench["name"]: {row["provider"]: row["ms"] for row in bench["results"]}
            for bench in data["benches"]}


def main():
    args = common.parser(__doc__).parse_args()
    bundle = libtile.Bundle(args.bundle)
    if not common.has_device():
        return common.SKIPPED
    try:
        results = ours(bundle)
    except RuntimeError as error:
        common.missing("the steps", error)
        return 1
    import timing
    timer = timing.Timer()
    for name, function in eager().items():
        times = timer.compare({"eager": function})
        results.setdefault(name, {})["eager"] = times["eager"] * 1e-3
    number = lambda row, label: f"{row[label]:.3f}" if label in row else "-"
    ratio = lambda row, label: f"{row[label] / row['after']:.2f}" if {label, "after"} <= set(row) else "-"
    common.table(["ms", "before", "after", "times", "PyTorch", "times"],
                 [[name, number(row, "before"), number(row, "after"), ratio(row, "before"),
                   number(row, "eager"), ratio(row, "eager")] for name, row in results.items()])
    common.save(args.json, results, [])
    return 0


if __name__ == "__main__":
    sys.exit(main())
