"""piper-kernels 0.7.8: SageAttention2++ (int8 scores, fp8 values), its quantisation, sparse attention operands, summaries, scores and routes."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib, types
import triton

SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")
for folder, _, files in os.walk(os.path.join(SITE, "piper_kernels")):  # packages whose __init__ is not run (they import everything)
    name = os.path.relpath(folder, SITE).replace(os.sep, ".")
    if "__init__.py" in files and not name.endswith("stochastic_quantization") or name == "piper_kernels":
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [folder]


def load(name):
    return importlib.import_module("piper_kernels." + name)



i8, u8 = torch.int8, torch.uint8


def qkv(b, hq, hk, n, d, dtype=bf16):
    return randn(b, hq, n, d, dtype=dtype), randn(b, hk, n, d, dtype=dtype), randn(b, hk, n, d, dtype=dtype)


@case((1, 24, 4096, 128, False), (2, 16, 4096, 64, False), (1, 24, 4096, 128, True), (1, 16, 4000, 64, True))
def sage(b, h, n, d, causal):
    load("attention.sage_attention_2pp.triton")._run_sage_attention_2pp(*qkv(b, h, h, n, d), d ** -0.5, causal)


@case((1, 24, 4096, 128, False, True), (1, 24, 4096, 128, True, False), (2, 16, 4096, 64, False, True))
def sage_grouped(b, h, n, d, causal, descriptors):
    m = load("attention.sage_attention_2pp.triton")
    plan = load("attention.sage_attention_2pp._plan").SageAttention2ppExecutionPlan(
        block_m=128, grouped_qk=True, use_tensor_descriptors=descriptors, use_packed_probability_conversion=not descriptors)
    m._run_sage_attention_2pp(*qkv(b, h, h, n, d), d ** -0.5, causal, execution_plan=plan)


@case((1, 24, 24, 32768, 128, True), (1, 24, 8, 32768, 128, False), (2, 16, 16, 16384, 64, True))
def sparse_operands(b, hq, hk, n, d, summaries):
    q, k, v = qkv(b, hq, hk, n, d)
    load("attention.sparse_piper_attention.triton")._prepare_sparse_piper_operands(
        q, d ** -0.5, sparse_key_blocks=n // 64 - 4, combined_key=k, combined_value=v, emit_summaries=summaries)


@case((1, 24, 24, 32768, 128))
def sparse_operands_padded(b, hq, hk, n, d):
    q, k, v = qkv(b, hq, hk, n, d)
    load("attention.sparse_piper_attention.triton")._prepare_sparse_piper_operands(
        q, d ** -0.5, sparse_key_blocks=n // 64 - 4, combined_key=k, combined_value=v, emit_summaries=True,
        block_lengths=randint(20, 65, n // 64, dtype=i32))


@case((1, 24, 24, 32768, 128, 0), (1, 24, 8, 32768, 128, 1), (2, 16, 16, 16384, 64, 0))
def summaries(b, hq, hk, n, d, mode):
    q, k, _ = qkv(b, hq, hk, n, d)
    load("attention.sparse_piper_attention._summaries_triton").sequence_block_summaries(q, k, mode)


@case((1, 24, 24, 512, 512), (1, 24, 8, 1024, 1000))
def scores(b, hq, hk, nq, nk):
    load("attention.sparse_piper_attention._scores_triton").minmax_scores(
        randn(b, hq, nq, 128, dtype=f32), randn(b, hk, nk, 128, dtype=f32), randn(b, hk, nk, 128, dtype=f32), score_scale=0.088)


@case((1, 24, 512, 512), (1, 24, 1024, 1500))
def routes(b, h, nq, nk):
    m = load("attention.sparse_piper_attention._routes_triton")
    keep = randint(nk // 8, nk // 4, h, dtype=i32)
    heads = torch.cat([torch.zeros(1, device=DEV, dtype=i64), keep.cumsum(0)]).to(i32)
    out = torch.empty(b, nq, int(heads[-1]), device=DEV, dtype=torch.uint16)
    m.tiled_radix_select_packed_routes(randn(b, h, nq, nk, dtype=f32), out, keep, heads, query_block_offset=0)
    m.fill_full_keep_routes(torch.empty(b, nq, h * nk, device=DEV, dtype=torch.uint16), nk)
