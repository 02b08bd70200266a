"""blksprs 2.5: block-sparse tensors in packed blocks: conversion, product, softmax (fused and by rows), row reductions, gather/scatter, transpose and partition flows, flash attention; both passes."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
os.environ["BLKSPRS_AUTOTUNE"] = "TEST"
import blksprs as bs
from blksprs import BlksprsTensor


def layout(b, r, c, p):
    m = torch.rand(b, r, c, device=DEV) < p
    m[..., 0] = True
    m[:, 0] = True
    return m


def blocks(m, s, dtype=f16, grad=False):
    return BlksprsTensor.wrap(randn(int(m.sum()), s, s, dtype=dtype)).requires_grad_(grad)


@case((8, 2048, 0.3, 64), (16, 1024, 0.5, 32))
def convert(b, n, p, s):
    m = layout(b, n // s, n // s, p)
    x = randn(b, n, n, dtype=f32) * m.repeat_interleave(s, 1).repeat_interleave(s, 2)
    bs.layouting.build_sparsity_layout(x, s)
    t = bs.ops.to_sparse(x.requires_grad_(True), m, s)
    bwd(bs.ops.to_dense(t, m, s))
    bs.ops.adapt_layout(t.detach(), m, s, s // 2)
    bs.layouting.build_sparsity_layout_adaption(t.detach(), m, s, s // 2)


@case((8, 2048, 2048, 2048, 0.25, 64), (16, 1024, 512, 2048, 0.5, 32))
def matmul(b, n, k, m, p, s):
    lx, ly = layout(b, n // s, k // s, p), layout(b, k // s, m // s, p)
    lo = torch.ones(b, n // s, m // s, dtype=torch.bool, device=DEV)
    bwd(bs.ops.matmul(blocks(lx, s, grad=True), lx, blocks(ly, s, grad=True), ly, lo, s))


@case((16, 2048, 0.3, 64, True), (16, 2048, 0.3, 64, False), (32, 1024, 0.5, 32, True))
def softmax(b, n, p, s, fused):
    m = layout(b, n // s, n // s, p)
    x = blocks(m, s, f32, True)
    bwd(bs.ops.softmax(x, m, s, flag_fused=fused))


@case((16, 2048, 0.3, 64), (16, 2048, 0.3, 32))
def rows(b, n, p, s):
    m = layout(b, n // s, n // s, p)
    x = blocks(m, s, f32)
    y, _ = bs.ops.misc.row_wise_sum(x, m, s)
    bs.ops.misc.row_wise_max(x, m, s, flag_slice_only=True)
    bs.ops.misc.row_wise_add(x, m, y, s)
    bs.ops.misc.broadcast_add(randn(b, n, dtype=f32), randn(b, n, dtype=f32), m, s)


@case((8, 2048, 0.3, 64))
def distribute(b, n, p, s):
    m = layout(b, n // s, n // s, p)
    full = torch.ones_like(m)
    x = blocks(full, s, f32, True)
    i = BlksprsTensor.wrap(randint(0, n, int(m.sum()), s, s))
    bwd(bs.ops.gather(x, full, 2, i, m, s))
    bs.ops.scatter_reduce(blocks(m, s, f32), m, 2, i, full, s, reduce_op="sum")
    bs.layouting.build_distribution_layout(i, m, 2, torch.Size((b, n, n)), s)


@case((16, 2048, 0.3, 64))
def flow(b, n, p, s):
    m = layout(b, n // s, n // s, p)
    x = blocks(m, s, f16, True)
    bwd(bs.ops.transpose(x, m, s)[0])
    bwd(bs.ops.repeat(x, m, (2, 1, 2), s)[0])
    bwd(bs.ops.split(x, m, 4, 2, s)[0])


@case((16, 4096, 64, 0.2, 64), (32, 2048, 128, 0.4, 64))
def attention(b, n, d, p, s):
    lq = torch.ones(b, n // s, d // s, dtype=torch.bool, device=DEV)
    a = layout(b, n // s, n // s, p)
    a |= torch.eye(n // s, dtype=torch.bool, device=DEV)
    bwd(bs.ops.flash_attention(blocks(lq, s, grad=True), lq, blocks(lq, s, grad=True), lq, blocks(lq, s, grad=True), lq, a, s))
