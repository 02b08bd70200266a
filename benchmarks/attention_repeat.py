#!/usr/bin/env python3
"""Whether attention's kernels give the same bits every time, while the GPU does other things.

    python3 benchmarks/attention_repeat.py BUNDLE [--launches N] [--only WORD]...

BUNDLE holds libtile.so. Each case of each configuration is launched N times (10,000 in all by
default, shared among them), with products of matrices and copies on another stream meanwhile, which
take multiprocessors and memory away at random. After every launch all that it wrote is compared
with what the first one wrote, on the device, and overwritten.
"""
import sys

import attention
import attention_cases
import common


def cases():
    make = {}
    for size in (64, 128):
        for causal in (False, True):
            word = f"d{size} " + ("causal" if causal else "full")
            make["forward " + word] = lambda s=size, c=causal: attention_cases.forward(
                "", 2, 8, 4, 1000 if c else 1024, s, c)
            make["backward " + word] = lambda s=size, c=causal: attention_cases.backward(
                "", 2, 8, 1024, s, c)
    make["fp8 d128"] = lambda: attention_cases.forward_fp8("", 2, 8, 1024, 128, True)
    make["decode"] = lambda: attention_cases.decode("", 4, 2048)
    return make


def tensors_of(launches):
    import torch
    found = {}
    for launch in launches:
        for value in launch.values:
            tensor = value.tensor if isinstance(value, attention_cases.Blocks) else value
            if torch.is_tensor(tensor):
                found[tensor.data_ptr()] = tensor
    return list(found.values())


def bits(tensor):
    import torch
    return tensor.view({1: torch.int8, 2: torch.int16, 4: torch.int32}[tensor.element_size()])


class Load:
    """Work on another stream: products that fill the GPU for some launches' time, and copies."""

    def __init__(self):
        import torch
        self.stream = torch.cuda.Stream()
        self.a, self.b = [torch.randn(1536, 1536, device="cuda").half() for _ in range(2)]
        self.bytes = torch.zeros(1 << 24, device="cuda", dtype=torch.int8)
        self.last = []

    def more(self, turn):
        import torch
        if len(self.last) > 8:
            self.last.pop(0).synchronize()
        with torch.cuda.stream(self.stream):
            if turn % 3:
                self.a @ self.b
            else:
                self.bytes.clone()
            self.last.append(self.stream.record_event())


def repeat(case, launches, prepare, load, count):
    """Launches that differed from the first."""
    import torch
    runs, tensors = [prepare(launch) for launch in launches], tensors_of(launches)
    case.clear()
    before = [t.clone() for t in tensors]
    for run in runs:
        run()
    torch.cuda.synchronize()
    if not case.error() < case.tolerance:
        raise RuntimeError(f"relative error {case.error()}")
    written = [t for t, old in zip(tensors, before) if not torch.equal(bits(t), bits(old))]
    first = [t.clone() for t in written]
    different = torch.zeros((), device="cuda", dtype=torch.int32)
    for turn in range(count):
        load.more(turn)
        for t in written:
            bits(t).fill_(-1)
        for run in runs:
            run()
        same = torch.stack([(bits(t) == bits(f)).all() for t, f in zip(written, first)]).all()
        different += ~same
    torch.cuda.synchronize()
    return int(different)


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--launches", type=int, default=10000)
    parser.add_argument("--only", action="append", default=[])
    options = parser.parse_args()
    if not common.has_device():
        return common.SKIPPED
    import libtile
    prepare = attention.Tile(libtile.Bundle(options.bundle)).prepare
    made = {name: make() for name, make in cases().items()
            if not options.only or any(word in name for word in options.only)}
    work = [(name, case, *configuration) for name, case in made.items()
            for configuration in case.configurations]
    load, failed, total = Load(), 0, 0
    count = max(1, -(-options.launches // max(1, len(work))))
    for name, case, label, launches in work:
        different = repeat(case, launches, prepare, load, count)
        total, failed = total + count, failed + different
        print(f"{name}, {label}: {different} of {count} differ", flush=True)
    print(f"{failed} of {total} launches differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
