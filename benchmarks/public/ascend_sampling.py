"""vllm-ascend 0.23.0: sampling over persistent programs: token counts, penalties, grammar masks, minimal probability, ranks, log probabilities (launched without the options of that device)."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from _stub import stub
import triton, triton.language as tl
package("vllm_ascend")
for p in ("ops", "ops.triton", "ops.triton.activation", "worker", "worker.v2", "worker.v2.sample"):
    package("vllm_ascend." + p)
stub("vllm.triton_utils", tl=tl, triton=triton)
stub("vllm.distributed.parallel_state", "vllm_ascend.ascend_config", "vllm.v1.outputs")
stub("vllm_ascend.ops.triton.triton_utils", get_vectorcore_num=lambda: 132)
from vllm_ascend.ops.triton import bincount as bc, penalty as pe
from vllm_ascend.worker.v2 import structured_outputs as so
from vllm_ascend.worker.v2.sample import gumbel as gu, logprob as lp, min_p as mp


@case((256, 32000, 4096), (64, 151936, 8192))
def counts(b, v, n):
    t, c = randint(0, v, b, n), zeros(b, v, dtype=i32)
    bc.token_bin_counts_and_mask_kernel[(132,)](t, *t.stride(), b, n, v, c, 0, *c.stride(), b * -(-n // 256), SEQ_BLOCK=256)
    x, m = randn(b, v, dtype=f32), c > 0
    pe.apply_all_penalties_kernel[(min(b, 132), 1, 1)](x, m, m, c, rand(b, lo=1.0, hi=1.3), rand(b), rand(b), b, v, *x.stride(), *m.stride(), *m.stride(), *c.stride(), BLOCK_SIZE=4096)


@case((512, 151936), (128, 32000))
def grammar(b, v):
    x, m = randn(b, v, dtype=f32), randint(-2 ** 31, 2 ** 31 - 1, b, -(-v // 32), dtype=i32)
    so._apply_grammar_bitmask_kernel[(b, -(-v // 8192))](x, x.stride(0), torch.arange(b, device=DEV, dtype=i32), m, m.stride(0), v, BLOCK_SIZE=8192)


@case((512, 151936), (1024, 32000))
def sampling(b, v):
    x, idx = randn(b, v, dtype=f32), torch.arange(b, device=DEV, dtype=i32)
    mp._min_p_kernel[(132,)](x, x, v, idx, rand(b, hi=0.1), v, b, BLOCK_SIZE=8192)
    ids = x.topk(20)[1]
    lp._topk_log_softmax_kernel[(b,)](zeros(b, 20, dtype=f32), x, v, ids, 20, v, BLOCK_SIZE=8192, PADDED_TOPK=32)
    lp._ranks_kernel[(132,)](zeros(b, dtype=i64), x, v, ids[:, 3].contiguous(), v, b, -(-b // 132), BLOCK_SIZE=8192)
    gu._temperature_kernel[(b, -(-v // 8192))](x, v, idx, rand(b, lo=0.5), v, BLOCK_SIZE=8192)
