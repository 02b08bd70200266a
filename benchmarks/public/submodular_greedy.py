"""triton-submodular 0.1.0a1: naive, lazy and stochastic greedy kernels over four set functions."""
from _common import *
from triton_submodular.functions.facility_location import FacilityLocation
from triton_submodular.functions.feature_based import FeatureBased
from triton_submodular.functions.graph_cut import GraphCut
from triton_submodular.functions.max_coverage import MaxCoverage

MAKE = dict(fl=lambda n: FacilityLocation(rand(n, 64)), gc=lambda n: GraphCut(rand(n, 64)),
            fb=lambda n: FeatureBased(rand(n, 512), "log"), fs=lambda n: FeatureBased(rand(n, 512), "sqrt"),
            mc=lambda n: MaxCoverage((rand(n, 1024) > 0.9).float()))


@case(*[(k, o, 2048) for k in MAKE for o in ("NaiveGreedyTriton", "LazyGreedyTriton", "StochasticGreedyTriton")])
def greedy(kind, opt, n):
    kw = dict(seed=0) if opt.startswith("Stoch") else {}
    MAKE[kind](n).maximize(4, opt, **kw)
