"""voyager-index 0.1.6 and colsearch 0.1.7: late-interaction scores from fp16, int8, 8-, 4-, 2-, 1.58- and 1-bit codes, centroid proxies."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib

for v in ("voyager_index", "colsearch"):
    package(v)
    package(v + "._internal")
    package(v + "._internal.kernels")
package("voyager_index._internal.inference")
package("voyager_index._internal.inference.index_core")
V = lambda n, p="voyager_index": importlib.import_module(f"{p}._internal.{n}")
u8 = torch.uint8


def words(*shape):
    return randint(-2**31, 2**31, *shape, dtype=i32)


def meta(*shape):
    return rand(*shape, 4, lo=0.01, hi=0.1)


@case(("voyager_index", 8, 32, 1000, 256, 128, ""), ("voyager_index", 8, 32, 1000, 200, 128, "int8"), ("colsearch", 4, 32, 2000, 300, 128, "masks"), ("colsearch", 16, 16, 1000, 512, 128, "int8"))
def maxsim(pkg, a, s, b, t, h, how):
    f = V("kernels.triton_maxsim", pkg)
    dm = (torch.arange(t, device=DEV)[None] < randint(t // 2, t, b, 1)).float() if how == "masks" else None
    qm = torch.ones(a, s, device=DEV) if how == "masks" else None
    f.fast_colbert_scores(randn(a, s, h, dtype=f16), randn(b, t, h, dtype=f16), qm, dm, use_quantization=how == "int8")


@case(("voyager_index", 4096, 32, 256, 128, False), ("colsearch", 4096, 32, 256, 128, True))
def pairwise(pkg, b, s, t, h, masks):
    f = V("kernels.triton_maxsim", pkg)
    m = (torch.ones(b, s, device=DEV), torch.ones(b, t, device=DEV)) if masks else (None, None)
    f.fast_colbert_scores_pairwise(randn(b, s, h, dtype=f16), randn(b, t, h, dtype=f16), *m)


@case((4, 32, 1000, 128, 128))
def codes(a, s, b, t, d):
    f = V("kernels.triton_roq")
    byte = lambda *shape: randint(0, 256, *shape, dtype=u8)
    f.roq_maxsim_8bit(byte(a, s, d), meta(a, s), byte(b, t, d), meta(b, t))
    f.roq_maxsim_4bit(byte(a, s, d // 2), meta(a, s), byte(b, t, d // 2), meta(b, t))
    f.roq_maxsim_4bit(byte(a, s, d // 2), meta(a, s), byte(b, t, d // 2), meta(b, t), documents_mask=torch.ones(b, t, device=DEV))
    f.roq_maxsim_4bit(byte(a, s, d // 2), meta(a, s), byte(b, t, d // 2), meta(b, t), queries_mask=torch.ones(a, s, device=DEV))
    f.roq_maxsim_2bit(byte(a, s, d // 4), meta(a, s), byte(b, t, d // 4), meta(b, t))
    f.roq_maxsim_1bit(byte(a, s, d // 8), byte(b, t, d // 8))
    f.roq_maxsim_1bit(words(a, s, 4, d // 32), words(b, t, d // 32), meta(a, s))


@case(("voyager_index", 4, 32, 1000, 128, 128, 4), ("colsearch", 4, 32, 2000, 64, 128, 4))
def ternary(pkg, a, s, b, t, d, bits):
    f = V("kernels.triton_roq_rroq158", pkg)
    f.roq_maxsim_rroq158(words(a, s, bits, d // 32), rand(a, s, 2, lo=0.01, hi=0.1), randn(a, s, 1024, dtype=f32), randint(0, 1024, b, t, dtype=i32), rand(b, t), rand(b, t),
                         words(b, t, d // 32), words(b, t, d // 32), rand(b, t, d // 32, lo=0.01, hi=0.1))


@case((4, 32, 1000, 128, 128, 32))
def riemann(a, s, b, t, d, g):
    f = V("kernels.triton_roq_rroq4_riem")
    q = randn(a, s, d, dtype=f32)
    f.roq_maxsim_rroq4_riem(q, q.view(a, s, d // g, g).sum(-1), randn(a, s, 1024, dtype=f32), randint(0, 1024, b, t, dtype=i32), rand(b, t), rand(b, t),
                            randint(0, 256, b, t, d // 2, dtype=u8), rand(b, t, d // g, lo=-0.1, hi=0.0), rand(b, t, d // g, lo=0.01, hi=0.02))


@case((20000, 32, 4096, 60))
def proxy(docs, nq, fine, most):
    f = V("inference.index_core.triton_qch_kernel")
    lengths = randint(most // 2, most, docs, dtype=i32)
    offsets = (torch.cumsum(lengths, 0) - lengths).to(i32)
    cs = randint(0, fine, int(lengths.sum()), dtype=i32)
    f.qch_max_gather_gpu(randn(nq * fine, dtype=f32), cs, offsets, lengths, nq, fine)
    f.qch_pairwise_batch_gpu(rand(fine * fine, hi=1.4), cs, offsets, lengths, randint(0, docs, 8192, dtype=i32), randint(0, docs, 8192, dtype=i32), fine)
