"""dsalt 1.0.0: attention over an adaptive window and chosen landmarks, inference and training kernels with their backwards; chunked linear cross entropy."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import functools
import importlib
import types

pkg = sys.modules["dsalt"] = types.ModuleType("dsalt")
pkg.__path__ = [os.path.join(sys.path[0], "dsalt")]
try:
    import packaging.version
except ImportError:
    @functools.total_ordering
    class Version:
        def __init__(self, text):
            self.key = tuple(int(x) for x in re.findall(r"\d+", text.split("+")[0])[:3])

        def __eq__(self, other):
            return self.key == other.key

        def __lt__(self, other):
            return self.key < other.key

    v = sys.modules["packaging.version"] = types.ModuleType("packaging.version")
    v.Version = v.parse = Version
    p = sys.modules["packaging"] = types.ModuleType("packaging")
    p.version, p.__path__ = v, []
M = lambda n: importlib.import_module("dsalt.kernels." + n)


def tuned(d):
    """The package's heuristic blocks, in place of its timing loop."""
    a, dev = M("autotune"), torch.device("cuda", 0)
    key = a._device_key(d, dev)
    a._TUNED_CONFIG[key] = a._heuristic_config(d, dev)
    return key, a._TUNED_CONFIG[key]


def inputs(lens, h, d, k):
    """Packed queries, keys, values; landmarks by head and sequence; lengths' cumulative sum."""
    n = sum(lens)
    cu = [0]
    for x in lens:
        cu.append(cu[-1] + x)
    lmk = torch.stack([torch.stack([torch.randperm(x // 2, device=DEV)[:k] for x in lens]) for _ in range(h)])
    return [randn(n, h, d, grad=True) for _ in range(3)] + [lmk, randn(h, len(lens), k, dtype=f32, grad=True), tensor(cu)], n, cu


@case(((4096, 4096), 16, 64, 32, 512), ((2048, 1536, 512), 16, 128, 16, 256))
def inference(lens, h, d, k, window):
    tuned(d)
    (q, kk, v, lmk, bias, cu), n, _ = inputs(lens, h, d, k)
    bwd(M("dsalt_triton_attn").dsalt_triton_attention(q, kk, v, lmk, bias, randint(window // 2, window + 1, n), cu))


@case(((4096, 4096), 16, 64, 32, 512), ((2048, 1536, 512), 16, 128, 8, 256))
def training(lens, h, d, k, window):
    m = M("dsalt_triton_train")
    key, cfg = tuned(d)
    m._TRAIN_TUNED[key] = cfg
    (q, kk, v, lmk, logw, cu), n, cu_list = inputs(lens, h, d, k)
    w = rand(n, lo=window / 2, hi=float(window), grad=True)
    bwd(m.dsalt_triton_train_attention(q, kk, v, lmk, logw, w, cu, tau_win=1.0, win_edge=4.0, n_max=window, cu_list=cu_list))


@case((2048, 4096, 16384))
def loss(n, d, vocab):
    f = M("cross_entropy").LigerFusedLinearCrossEntropyFunction
    bwd(f.apply(randn(n, d, grad=True), randn(vocab, d, scale=0.02, grad=True), randint(0, vocab, n))[0])
