"""dlblas 0.0.7: top-k gating with capacity (forward, backward, rearranged), permute and recover of tokens, grouped products by depth, selective scan, layer norms, LoRA products, fp8."""
from _common import *
import importlib
M = lambda n: importlib.import_module("dlblas.kernels." + n)


@case((8192, 64, 2, False), (4096, 16, 4, True))
def gating(n, experts, k, opt):
    out = M("topk_gating").call(randn(n, experts, dtype=f32, grad=True), k, 1.0, 4, opt)
    bwd([o for o in out if isinstance(o, torch.Tensor) and o.is_floating_point() and o.requires_grad])


@case((8192, 64, 2))
def gating_parts(n, experts, k):
    gates, masks = M("topk_gating_fwd_part1").call(randn(n, experts, dtype=f32), k)[:2]
    M("topk_gating_fwd_part2").call(rand(n, experts), (rand(k, n, experts) > 0.98).to(i64), k)


@case((8192, 4096, 4, 32))
def permute(n, d, topk, experts):
    k = M("permute.moe_triton_kernels")
    x, idx = randn(n, d), randint(0, experts, n, topk, dtype=i32)
    rows = torch.argsort(idx.reshape(-1)).to(i32)
    where = torch.argsort(rows).to(i32)
    k.moe_permute_topK_kernel_launcher_triton(False, randn(n * topk, d), zeros(n, d), rows, where, None, n, topk, d, n * topk)
    k.moe_permute_topK_kernel_launcher_triton(False, randn(n * topk, d), zeros(n, d), rows, where, rand(n, topk), n, topk, d, n * topk)
    k.moe_recover_topk_op_triton(randn(n * topk, d), where, rand(n, topk), n, topk)
    k.moe_recover_topk_bwd_op_triton(randn(n, d), randn(n * topk, d), where, rand(n, topk))


@case((8192, 2048, 4096, 16))
def k_grouped(k_, m, n, groups):
    k = M("grouped_gemm.BF16.k_grouped_gemm")
    sizes = tensor([k_ // groups] * groups, i64)
    k.k_grouped_gemm_general(randn(k_, m), randn(k_, n), sizes)


@case((4, 2048, 2048, 16), (32, 512, 1024, 16))
def scan(b, t, d, k):
    f = M("selective_scan")
    u, delta = randn(b, t, d, dtype=f32, grad=True), rand(b, t, d, hi=0.1, grad=True)
    bwd(f.call(u, delta, rand(d, k, lo=-1.0, hi=-0.1, grad=True), randn(b, t, k, dtype=f32, grad=True), randn(b, t, k, dtype=f32, grad=True), randn(d, dtype=f32))[0])


@case("normal", "normal_loop", "opt", "opt_2D", "opt_mask")
def layer_norm(kind):
    f = M("layer_norm.layernorm_" + kind)
    f.call(randn(8192, 4096), randn(4096), randn(4096), 1e-5)
    f.call(randn(32768, 768), randn(768), randn(768), 1e-5)


@case((1024, 4096, 11008))
def ffn(n, d, f):
    M("ffn").call(randn(1, n, d, dtype=f16), randn(f, d, dtype=f16, scale=0.02), randn(f, d, dtype=f16, scale=0.02), randn(d, dtype=f16))


@case((16, 512, 4096, 4096, 16), (64, 1, 4096, 4096, 64))
def lora(b, n, d, out, r):
    rows, k = b * n, M("mbgmm") if n > 1 else M("mbgmv")
    x = randn(rows, d)
    a, bw = randn(4 * r, d), randn(4 * r, out)
    ids, off, ranks, sc = randint(0, 4, b), torch.arange(4, device=DEV) * r, tensor([r] * 4, i64), rand(4)
    loc, lens = torch.arange(b, device=DEV) * n, tensor([n] * b, i64)
    if n > 1:
        xa = k.mbgmm_a(x, a, loc, lens, ids, off, ranks, n, r)
        k.mbgmm_b(randn(rows, r), bw, loc, lens, ids, sc, off, ranks, n, r)
    else:
        k.mbgmv_a(x, a, ids, off, ranks, r)
        k.mbgmv_b(randn(rows, r), bw, ids, sc, off, ranks, r)
    M("rearange_all_gather").rearange_all_gather(randn(rows, r), loc, lens, ids, ranks, 2, n)


@case((8192, 4096))
def fp8(m, n):
    k = M("quant_dequant")
    k.per_channel_dequant_bf16(randn(m, n).to(torch.float8_e4m3fn), rand(n))


@case((8192, 256, 8, 8, 4))
def route(n, experts, topk, groups, best):
    k = M("moe")
    k.biased_grouped_topk(randn(n, 1024), randn(n, experts, dtype=f32), randn(experts, dtype=f32), topk, True, groups, best)


@case((4096, 4096, 4096))
def persistent(m, n, k):
    M("persistent_matmul").call(randn(m, k, dtype=f16), randn(k, n, dtype=f16))


@case((2, 1024, 32000))
def grpo(b, t, v):
    k = M("grpo_compute_loss_logits")
    a = [randn(b * t, v, dtype=f32, grad=i == 0) for i in range(3)]
    bwd(k.GRPO_Loss_Optimized.apply(*a, randint(0, v, b * t), randn(b * t, dtype=f32), (rand(b * t) > 0.1).float(), 0.1, "grpo", 0.2, 0.2, 8192, None, 1.0))
