"""openai-whisper 20250625: word alignment: sliding median of attention maps (sorting network written into the kernel's source), dynamic time warping along anti-diagonals."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
package("whisper")
from whisper import triton_ops as wt


@case((6, 224, 1500, 7), (10, 448, 1500, 5))
def median(h, tokens, frames, w):
    wt.median_filter_cuda(torch.nn.functional.pad(rand(h, tokens, frames), (w // 2, w // 2)), w)


@case((224, 1500), (448, 1500), (900, 3000))
def dtw(m, n):
    x = torch.nn.functional.pad(randn(m, n, dtype=f32), (0, m + 1), value=float("inf")).flatten()[:m * (n + m)].reshape(m, n + m).T.contiguous()
    cost = torch.full((n + m + 2, m + 2), float("inf"), device=DEV)
    cost[0, 0] = 0
    trace = torch.zeros_like(cost, dtype=i32)
    wt.dtw_kernel[(1,)](cost, trace, x, x.stride(0), cost.stride(0), trace.stride(0), n, m, BLOCK_SIZE=1024)
