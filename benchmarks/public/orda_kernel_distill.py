"""orda-kernel 0.1.0: distillation losses fused with the output head (cross entropy and 15 divergences, in-place gradients), tied, separate, cached and span teachers."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import orda_kernel as orda

CONFIG = orda.KernelConfig(autotune=False, num_chunks=1)


def inputs(n, v, h):
    labels = randint(0, v, n)
    labels[::17] = -100
    return randn(n, h, grad=True), randn(v, h, scale=0.03, grad=True), labels


def loss(x, w, y, teacher, **options):
    orda.distillation_loss(x, w, y, teacher, backend="triton", config=CONFIG, **options).loss.backward()


@case(*[(2048, 32768, 1024, kind, t) for kind, t in (
    ("forward", 1.0), ("forward", 2.0), ("reverse", 1.0), ("reverse", 2.0), ("jeffreys", 2.0), ("alpha_divergence", 1.0), ("skew_forward", 1.0),
    ("skew_reverse", 2.0), ("skew_js", 1.0), ("entropy_adaptive", 2.0), ("renyi", 1.0), ("renyi_reverse", 2.0), ("dkd", 2.0), ("abkd", 1.0),
    ("triangular", 1.0))])
def frozen(n, v, h, kind, temperature):
    x, w, y = inputs(n, v, h)
    loss(x, w, y, orda.SeparateTeacher(randn(n, 2 * h), randn(v, 2 * h, scale=0.02)), kl_weight=1.0, kl_divergence=kind, kl_temperature=temperature)


@case((2048, 32768, 1024, "mutual", 2.0), (2048, 32768, 1024, "cojeffreys", 1.0), (2048, 32768, 1024, "forward", 2.0))
def trained(n, v, h, kind, temperature):
    x, w, y = inputs(n, v, h)
    teacher = orda.SeparateTeacher(randn(n, 2 * h, grad=True), randn(v, 2 * h, scale=0.02, grad=True))
    loss(x, w, y, teacher, teacher_ce_weight=0.5, kl_weight=1.0, kl_divergence=kind, kl_temperature=temperature)


@case((2048, 32768, 1024, "forward", 2.0, None), (2048, 32768, 1024, "skew_js", 1.0, 0.0), (2048, 32768, 1024, "mutual", 1.0, None))
def tied(n, v, h, kind, temperature, ce):
    x, w, y = inputs(n, v, h)
    loss(x, w, y, orda.TiedTeacher(randn(n, h, grad=True)), teacher_ce_weight=ce, kl_weight=1.0, kl_divergence=kind, kl_temperature=temperature)


@case((2048, 32768, 1024, "forward", 2.0), (2048, 50257, 1024, "reverse", 1.0), (1024, 128256, 1024, "jeffreys", 1.0))
def cached(n, v, h, kind, temperature):
    x, w, y = inputs(n, v, h)
    loss(x, w, y, orda.PrecomputedTeacher(logits=randn(n, v)), kl_weight=1.0, kl_divergence=kind, kl_temperature=temperature)


@case((4096, 32768, 1024))
def cross_entropy(n, v, h):
    x, w, y = inputs(n, v, h)
    loss(x, w, y, orda.SeparateTeacher(randn(n, h), randn(v, h, scale=0.03)), kl_weight=0.0)


@case((4096, 32768, 1024, "binary_kl"), (4096, 32768, 1024, "binary_ce"))
def spans(n, v, h, objective):
    x, w, y = inputs(n, v, h)
    start = torch.arange(0, n, 4, device=DEV)
    ranges = torch.stack([start, start + 4], 1)
    teacher = orda.PrecomputedSpanTeacher(-rand(len(start), lo=0.1, hi=20.0), trust_teacher_ranges=True)
    orda.aligned_span_distillation_loss(x, w, y, teacher, orda.AlignedSpanPairs(ranges, ranges), orda.AlignedLikelihoodConfig(objective=objective),
                                        backend="triton", kernel_config=CONFIG).loss.backward()
