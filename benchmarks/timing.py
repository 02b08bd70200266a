"""Event timing of GPU work: L2 flushed before each run, medians, sides alternating."""
import statistics

import torch

FLUSH_BYTES = 256 << 20


class Timer:
    def __init__(self):
        self.flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")

    def samples(self, function, count):
        """Microseconds of `count` runs. The flush keeps the device busy while the host
        enqueues the run, so the host's launch time is not in them."""
        events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True))
                  for _ in range(count)]
        for start, end in events:
            self.flush.zero_()
            start.record()
            function()
            end.record()
        torch.cuda.synchronize()
        return [start.elapsed_time(end) * 1e3 for start, end in events]

    def compare(self, functions, count=25, rounds=2):
        """{name: median us}. Each round measures every function, in turning order."""
        collected = {name: [] for name in functions}
        for name in functions:
            functions[name]()
        names = list(functions)
        for turn in range(rounds):
            for name in names if turn % 2 == 0 else reversed(names):
                self.samples(functions[name], 3)
                collected[name] += self.samples(functions[name], count)
        return {name: statistics.median(times) for name, times in collected.items()}
