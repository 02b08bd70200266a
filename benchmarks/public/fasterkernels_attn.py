"""fasterkernels 0.2.0: attention forward, grouped-query decode over packed and dense caches (one pass, splits with reduction), and over fp8 caches."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib
import types
for name in ("transformers", "transformers.models", "transformers.models.qwen3", "transformers.models.qwen3.modeling_qwen3"):
    m = sys.modules[name] = types.ModuleType(name)
    m.__path__ = []
m.eager_attention_forward = None
M = lambda n: importlib.import_module("fskernels." + n)


@case((2, 16, 4096, 128, f16), (2, 16, 4000, 64, bf16))
def fwd(b, h, n, d, dtype):
    M("triton.triton_fa2").flash_attention_2_fwd(*(randn(b, h, n, d, dtype=dtype) for _ in range(3)))


@case((16, 32, 8, 4096, 128, False), (8, 32, 4, 8192, 128, True))
def packed(b, h, hk, n, d, sink):
    lens = [n - 37 * i for i in range(b)]
    cu = tensor([sum(lens[:i]) for i in range(b + 1)])
    M("triton.triton_gqa_decode").flash_decode_gqa_varlen(randn(b, h, d, dtype=f16), randn(sum(lens), hk, d, dtype=f16), randn(sum(lens), hk, d, dtype=f16), cu,
                                                          s_aux=rand(h) if sink else None)


@case((16, 32, 8, 4096, 128, 1), (2, 32, 8, 16384, 128, 8))
def dense(b, h, hk, n, d, splits):
    m = M("triton.triton_gqa_decode_hf")
    m._GLOBAL_SPLIT_OUT = None
    m.flash_decode_gqa_hf_dense_optimized(randn(b, h, d), randn(b, hk, n, d), randn(b, hk, n, d), tensor([n - 5 * i for i in range(b)]), num_splits=splits)


@case((8, 32, 8, 16384, 128, 4096))
def window(b, h, hk, n, d, w):
    M("triton.triton_gqa_decode_hf").flash_decode_gqa_hf_dense_optimized(
        randn(b, h, d), randn(b, hk, n, d), randn(b, hk, n, d), tensor([n] * b), start_k_offsets=tensor([n - w] * b), num_splits=1)


@case((16, 32, 8, 4096, 128, 1), (2, 32, 8, 16384, 128, 8))
def fp8(b, h, hk, n, d, splits):
    m = M("triton.triton_gqa_decode_hf_fp8")
    m.set_num_splits_fp8(splits)
    m._GLOBAL_SPLIT_OUT_FP8 = None
    (q, sq), (k, sk), (v, sv) = (m.quantize_to_fp8(randn(*s)) for s in ((b, h, d), (b, hk, n, d), (b, hk, n, d)))
    m.flash_decode_gqa_hf_fp8(q, k, v, tensor([n - 5 * i for i in range(b)]), sq.float(), sk.float(), sv.float(), f16)
