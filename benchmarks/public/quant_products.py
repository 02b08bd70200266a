"""aqlm 1.1.7, gptq-triton 0.0.4, autoawq 0.2.7.post3: products with codebooks, with 4-bit groups (alone, and gated twice), split along the sum; dequantisation."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from _cut import cut
from _stub import stub
for p in ("aqlm", "aqlm.inference_kernels", "gptq_triton", "awq", "awq.modules", "awq.modules.triton"):
    package(p)
stub("transformers.models.llama.modeling_llama", "transformers")
from aqlm.inference_kernels import triton_kernel as aq
from awq.modules.triton import gemm as aw
from gptq_triton import fused_mlp as gf, quant_linear as gq
cut("aqlm", pick=(4, 9, 15))
cut("gptq_triton", n=1, over=0)


@case((1, 4096, 4096, 2, 256, 8, f16), (4, 4096, 11008, 1, 65536, 8, f16), (1, 8192, 8192, 2, 256, 8, bf16))
def codebooks(m, k, n, books, size, g, dtype):
    t = torch.int16 if size > 256 else torch.uint8
    codes = randint(-32768, 32768, n, k // g, books, dtype=t) if size > 256 else randint(0, 256, n, k // g, books, dtype=t)
    aq.triton_matmul(randn(m, k, dtype=dtype), codes, randn(books, size, 1, g, dtype=dtype), rand(n, 1, 1, 1, lo=0.01, dtype=dtype), randn(n, dtype=dtype))


def groups(k, n, g):
    return randint(-2 ** 31, 2 ** 31 - 1, k // 8, n, dtype=i32), rand(k // g, n, lo=0.005, hi=0.02, dtype=f16), randint(-2 ** 31, 2 ** 31 - 1, k // g, n // 8, dtype=i32)


@case((16, 4096, 4096, 128), (512, 4096, 11008, 128))
def gptq(m, k, n, g):
    gq.triton_matmul4(g, randn(m, k, dtype=f16), *groups(k, n, g))


@case((16, 4096, 11008, 128), (256, 4096, 11008, 128))
def gptq_mlp(m, k, n, g):
    gf.triton_llama_mlp_4(g, randn(m, k, dtype=f16), *groups(k, n, g), *groups(k, n, g))


@case((16, 4096, 4096, 128, 8), (64, 4096, 11008, 128, 4))
def awq(m, k, n, g, split):
    w, s, z = randint(-2 ** 31, 2 ** 31 - 1, k, n // 8, dtype=i32), rand(k // g, n, lo=0.005, hi=0.02, dtype=f16), randint(-2 ** 31, 2 ** 31 - 1, k // g, n // 8, dtype=i32)
    aw.awq_gemm_triton(randn(m, k, dtype=f16), w, s, z, split)
    aw.awq_dequantize_triton(w, s, z)
