"""lmdeploy 0.18.0 (pytorch engine): bitonic and radix top-k, multinomial and rejection sampling, causal indexer, DeepSeek-v4 bits."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from lmdeploy.pytorch.kernels.cuda.bitonic_topk import bitonic_topk
from lmdeploy.pytorch.kernels.cuda.ds_index import fp8_index
from lmdeploy.pytorch.kernels.cuda.dsv4.hc_prepost import hc_post_expand, hc_pre_reduce
from lmdeploy.pytorch.kernels.cuda.gated_delta_preprocess import gated_delta_preprocess
from lmdeploy.pytorch.kernels.cuda.multinomial_sampling import multinomial_sampling
from lmdeploy.pytorch.kernels.cuda.rejection_sampling import (greedy_rejection_sample, random_rejection_sample,
                                                              sample_recovered_tokens)
from lmdeploy.pytorch.kernels.cuda.dsa_indexer_preprocess import prepare_dsa_indexer_q


@case((64, 16384, 2048), (256, 8192, 512))
def topk(n, kv, k):
    lens = randint(kv // 2, kv + 1, n, dtype=i32)
    bitonic_topk(randn(n, kv, dtype=f32), torch.ones_like(lens), lens, k)


@case((64, 32000), (256, 151936))
def multinomial(b, v):
    s = torch.softmax(randn(b, v, dtype=f32), -1)
    multinomial_sampling(s, randint(0, 1 << 20, b), randint(0, 1000, b))
    p, i = s.topk(1024, -1)
    multinomial_sampling((p / p.sum(-1, True)).contiguous(), randint(0, 1 << 20, b), randint(0, 1000, b), i.contiguous())


@case((64, 4, 32000), (32, 7, 151936))
def rejection(b, n, v):
    dp, tp = [torch.softmax(randn(b, n, v, dtype=f32), -1) for _ in range(2)]
    draft, tgt, bonus = randint(0, v, b, n), randint(0, v, b, n), randint(0, v, b)
    out, rej, last = torch.full((b, n + 1), -1, device=DEV), zeros(b, dtype=i64), zeros(b, dtype=i64)
    rec = randint(0, v, b, n)
    try:
        sample_recovered_tokens(rec, draft, dp, tp, rand(b, v, lo=0.1, hi=5.0))
    except Exception:
        traceback.print_exc()
    greedy_rejection_sample(out, rej, last, draft, tgt, bonus, None)
    random_rejection_sample(out.clone(), rej, last, draft, dp, tp, bonus, rec, rand(b, n), None)


@case((2048, 32, 2, 2048), (64, 32, 32, 8192))
def index(n, h, b, kv):
    per = kv // 64
    kc = randn(b * per, 64, 128).to(torch.float8_e4m3fn)
    cu = torch.arange(b + 1, device=DEV, dtype=i32) * (n // b)
    bt = torch.randperm(b * per, device=DEV).to(i32).view(b, per)
    fp8_index(randn(n, h, 128).to(torch.float8_e4m3fn), rand(n, h), kc, rand(b * per, 64), cu,
              torch.full((b,), kv, device=DEV, dtype=i32), bt, max_q_seqlen=n // b, max_k_seqlen=kv, causal=True)


@case((4096, 4096, 4), (256, 7168, 4))
def hyper(n, d, m):
    x = randn(n, m, d)
    hc_pre_reduce(x, rand(n, m), m)
    hc_post_expand(randn(n, d), x, rand(n, m), rand(n, m, m), m)


@case((4096, 16, 32, 128))
def delta(n, hk, hv, d):
    gated_delta_preprocess(randn(1, n, hk, d), randn(1, n, hk, d), randn(1, n, hv), randn(1, n, hv), randn(hv, dtype=f32),
                           rand(hv), hv // hk)


@case((4096, 64))
def indexer_q(n, h):
    prepare_dsa_indexer_q(randn(n, h, 128), randn(n, h), randn(n, 64), randn(n, 64), 0.1, torch.float8_e4m3fn, False)
