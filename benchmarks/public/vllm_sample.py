"""vllm 0.33.0: top-k/top-p, temperature, Gumbel and watermarked sampling, penalties, bad words, logit bias, log-probabilities, rejection sampling."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import types
from vllm.v1.sample import rejection_sampler as rs
from vllm.v1.sample.ops import topk_topp_triton as tk
from vllm.v1.worker.gpu.metrics.logits import get_num_nans
from vllm.v1.worker.gpu.sample import bad_words, gumbel, logit_bias, logprob, min_p, penalties, prompt_logprob, watermark
from vllm.v1.worker.gpu.sample.output import SamplingMaskTensors
from vllm.v1.worker.gpu.spec_decode import rejection_sampler_utils as ru
from vllm.v1.worker.gpu.spec_decode.acceptance_estimator import OnlineAcceptanceEstimator
from vllm.v1.worker.gpu import structured_outputs as so

V = 128256


def idx(n):
    return torch.arange(n, device=DEV, dtype=i32)


@case((256, V), (1024, 32000))
def topk_topp(b, v):
    k, p = randint(20, 200, b, dtype=i32), rand(b, lo=0.8, hi=0.99)
    tk.apply_top_k_top_p_triton(randn(b, v, dtype=f32, scale=3.0), k, p)
    tk.apply_top_k_top_p_triton(randn(b, v, dtype=f32, scale=3.0), k, None)
    tk.apply_top_k_top_p_triton(randn(b, v, dtype=f32, scale=3.0), None, p)


@case((8, V), (4, 151936))
def topp_split(b, v):
    tk._apply_topp_split(randn(b, v, dtype=f32, scale=3.0), None, rand(b, lo=0.8, hi=0.99), float("-inf"), 132)


@case((256, V), (64, 151936))
def sampling(b, v):
    lg, i, t = randn(b, v, dtype=f32), idx(b), rand(b, lo=0.5, hi=1.5)
    gumbel.apply_temperature(lg, i, t)
    min_p.apply_min_p(lg, i, rand(b, lo=0.01, hi=0.1))
    lg = randn(b, v, dtype=f32)
    gumbel.gumbel_sample(lg, i, t, randint(0, 2 ** 31, b), torch.arange(b, device=DEV) + 100, True, False)
    watermark.philox_gumbel_sample(lg, randint(0, v, b, 4, dtype=i32), 123456789123)
    get_num_nans(lg)
    logprob.compute_topk_scores(lg, 20, randint(0, v, b))
    cu = torch.arange(b + 1, device=DEV, dtype=i32)
    SamplingMaskTensors.from_logits(torch.where(lg > 2.5, lg, float("-inf")), cu, torch.ones(b, device=DEV, dtype=i32), 2048)
    so._apply_grammar_bitmask_kernel[(b, (v + 8191) // 8192)](lg, lg.stride(0), i, cu, randint(-2 ** 31, 2 ** 31 - 1, b, (v + 31) // 32, dtype=i32),
                                                              (v + 31) // 32, v, MASK_STRIDE=1, BLOCK_SIZE=8192)


@case((256, V, 4096))
def penalty(b, v, n):
    toks = randint(0, v, b, n, dtype=i32)
    plen, total = randint(n // 4, n // 2, b, dtype=i32), randint(n // 2, n - 1, b, dtype=i32)
    mask, cnt, i, zero = zeros(b, (v + 31) // 32, dtype=i32), zeros(b, v, dtype=i32), idx(b), zeros(b, dtype=i32)
    penalties.bincount(i, toks, plen, total, mask, cnt, n)
    lg = randn(b, v, dtype=f32)
    penalties.apply_penalties(lg, i, toks[:, 0].contiguous(), zero, rand(b, lo=1.1, hi=1.3), rand(b), rand(b), mask, cnt)
    off = (torch.arange(65, device=DEV, dtype=i32) * 3).repeat(b, 1)
    bad_words.apply_bad_words(lg, i, randint(0, v, b, 192, dtype=i32), off, torch.full((b,), 64, device=DEV, dtype=i32), toks, plen, total,
                              toks[:, 0].contiguous(), zero, 64)
    logit_bias.apply_logit_bias(lg, i, total, torch.where(idx(b) % 2 == 0, 100, 0).to(i32), randint(0, v, b, 128, dtype=i32),
                                torch.full((b,), 64, device=DEV, dtype=i32), randint(0, v, b, 128, dtype=i32), randn(b, 128, dtype=f32), plen,
                                torch.full((b,), 4, device=DEV, dtype=i32), randint(0, v, b, dtype=i32) > v, randint(0, v, b, 8, dtype=i32))
    watermark._repeated_context_mask_kernel  # scans every request's history
    rep = zeros(b, dtype=torch.bool)
    ctx = randint(0, v, b, 4, dtype=i32)
    watermark._repeated_context_mask_kernel[(b,)](rep, toks, toks.stride(0), i, plen, total, None, 0, ctx, ctx.stride(0), None, None, 0, 0, None, 0, None,
                                                  CONTEXT_WIDTH=4, NUM_SPECULATIVE_STEPS=0, MAX_HISTORY=0, INCLUDE_PROMPT=True,
                                                  SKIP_PARTIAL_CONTEXT=False, HAS_HISTORY_OFFSETS=False, SPECULATIVE_CONTEXTS=False,
                                                  DRAFT_CONTEXTS=False, BLOCK=512)
    q = torch.arange(b + 1, device=DEV, dtype=i32) * (n // 4)
    prompt_logprob.get_prompt_logprobs_token_ids(b * (n // 4), q, i, zero, toks)


@case((64, 4, V), (32, 7, 32000))
def reject_v1(b, s, v):
    n = b * s
    meta = types.SimpleNamespace(all_greedy=False, all_random=False, temperature=torch.where(idx(b) % 4 == 0, 0.0, 1.0), generators={})
    cun = (torch.arange(b, device=DEV, dtype=i32) + 1) * s
    draft = torch.softmax(randn(n, v, dtype=f32), -1)
    rs.rejection_sample(randint(0, v, n, dtype=i32), [s] * b, s, cun, draft, randn(n, v, dtype=f32), randint(0, v, b, 1, dtype=i32), meta)
    rs.rejection_sample(randint(0, v, n, dtype=i32), [s] * b, s, cun, None, randn(n, v, dtype=f32), randint(0, v, b, 1, dtype=i32), meta,
                        fly_window_size=2, fly_entropy_threshold=0.3)
    rs.expand_batch_to_tokens(rand(b), cun, n)


@case((64, 4, V), (32, 7, 32000))
def reject_v2(b, s, v):
    n = b * (s + 1)
    e = torch.arange(b, device=DEV, dtype=i32).repeat_interleave(s + 1)
    loc = torch.arange(s + 1, device=DEV, dtype=i32).repeat(b)
    temp = torch.where(idx(b) % 4 == 0, 0.0, 1.0)
    cun = torch.arange(b + 1, device=DEV, dtype=i32) * (s + 1)
    dl = randn(b, s, v, dtype=f32)
    for block in (False, True):
        ru.rejection_sample(randn(n, v, dtype=f32), dl, randint(0, v, n), cun, torch.arange(n, device=DEV), idx(b), e, loc, temp,
                            randint(0, 2 ** 31, b), s, use_block_verification=block)


@case((256, V, 5))
def acceptance(b, v, s):
    est = OnlineAcceptanceEstimator(b, s, torch.device(DEV))
    est.REFIT_INTERVAL = 1
    est.predict(randn(b, v, dtype=f32), idx(b), torch.zeros((), device=DEV, dtype=i32), zeros(b, s, dtype=f32), rand(b, lo=0.5))
    est.step(idx(b), randint(1, s, b, dtype=i32), torch.ones(b, device=DEV, dtype=i32))
