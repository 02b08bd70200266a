"""megatron-core 0.19.2: latent-attention rope, routing maps, expert permutation and products, mxfp8, paged stash, state-space scans and convolutions, batch-invariant products."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib, types

try:
    import packaging.version
except ImportError:
    pv = types.ModuleType("packaging.version")
    pv.parse = lambda s: tuple(int(x) for x in re.findall(r"\d+", s)[:3])
    sys.modules["packaging"] = types.ModuleType("packaging")
    sys.modules["packaging"].version = sys.modules["packaging.version"] = pv

for p in ("", ".core", ".core.fusions", ".core.inference", ".core.inference.moe", ".core.inference.quantization", ".core.inference.contexts", ".core.ssm", ".core.ssm.ops",
          ".core.transformer", ".core.transformer.custom_layers", ".core.transformer.moe", ".core.transformer.moe.ops"):
    package("megatron" + p)
for name, what in (("utils", "null_decorator"), ("jit", "jit_fuser")):
    stub = sys.modules["megatron.core." + name] = types.ModuleType("megatron.core." + name)
    setattr(stub, what, lambda f, *a, **k: f)
M = lambda n: importlib.import_module("megatron.core." + n)


def cut(n, parts):
    return torch.arange(parts + 1, device=DEV, dtype=i32) * (n // parts)


@case((4096, 1, 128, 128, 64, False), (8192, 1, 32, 128, 64, True))
def mla_rope(s, b, h, d, e, packed):
    f = M("fusions.fused_mla_yarn_rope_apply")
    cos, sin = rand(s, 1, 1, e, lo=-1.0), rand(s, 1, 1, e, lo=-1.0)
    shape, cu = ((s,), cut(s, 4)) if packed else ((s, b), None)
    bwd(f.fused_apply_mla_rope_for_q(randn(*shape, h, d + e, grad=True) * 1.0, cos, sin, d, e, cu))
    bwd(f.fused_apply_mla_rope_for_kv(randn(*shape, h, 2 * d, grad=True), randn(*shape, 1, e, grad=True), cos, sin, e, d, d, cu))


@case((16384, 8, 256, 64), (32768, 6, 64, 16))
def multihot(n, k, experts, local):
    f = M("fusions.fused_indices_converter")
    ids = torch.rand(n, experts, device=DEV).topk(k).indices
    ids = torch.where(ids < local, ids, -1)
    bwd(f.fused_indices_to_multihot(ids, rand(n, k, grad=True), local))


@case((16384, 128, 16))
def pad_routing(n, e, multiple):
    M("fusions.fused_pad_routing_map").fused_pad_routing_map(torch.rand(n, e, device=DEV) < 0.06, multiple)


@case((4096, 2688, 6, 128, 1856, 32), (2048, 4096, 8, 64, 2048, 64))
def expert_rows(n, h, k, e, inner, local):
    p, a = M("inference.moe.permute"), M("inference.moe.activations")
    routing, probs, valid = torch.rand(n, e, device=DEV).topk(k).indices.to(i32), rand(n, k), tensor([n - 100])
    x = randn(n, h)
    y, pp, perm, offs = p.permute_tokens(x, probs, routing, 0, local, valid, 16)
    p.unpermute_tokens(y, pp, perm, n, offs[-1:], valid)
    p.permute_and_quantize_mxfp8(x, probs, routing, 0, local, valid)
    fc = randn(y.shape[0], inner)
    a.padded_squared_relu(fc, perm, offs[-1:])
    a.squared_relu_and_quantize_mxfp8(fc, perm, offs[-1:])
    p.compute_local_tokens_per_expert(routing, 0, local, valid, persistent=True)


@case((4096, 2688, 6, 128, 1856, 32), (64, 2688, 6, 128, 1856, 128), (2048, 4096, 8, 64, 2048, 16))
def expert_products(n, h, k, e, inner, local):
    f, t = M("inference.moe.vllm_fused_moe"), M("inference.moe.fused_moe").ActivationType
    routing = torch.rand(n, e, device=DEV).topk(k).indices.to(i32)
    f.vllm_fused_moe(randn(n, h), rand(n, k), randn(local, inner, h, scale=0.02), randn(local, h, inner, scale=0.02), t.SQUARED_RELU, local, 0, tensor([n]), routing)


@case((8192, 4096), (16384, 2688))
def mxfp8(m, k):
    M("inference.quantization.mxfp8_quantize").mxfp8_quantize(randn(m, k))


@case((16384, 4096, 64), (12000, 2688, 64))
def stash(n, h, page):
    f = M("transformer.moe.ops.paged_stash")
    pages = -(-n // page)
    cap = pages + 64
    store, back, src = zeros(cap * page, h), zeros(n, h), randn(n, h)
    n_, free, record = tensor([n], i64), torch.randperm(cap, device=DEV), torch.zeros(pages, device=DEV, dtype=i64)
    head, tail, size = tensor([0, 0], i64), tensor([cap, 0], i64), tensor([cap, 0], i64)
    flags = [tensor([0], i64) for _ in range(3)]
    f.paged_stash_copy_kernel[(2048,)](src, store, store, n_, free, free, head, tail, size, record, flags[0], flags[1], flags[2], tensor([0, 0], i64),
                                       PAGE_SIZE=page, HIDDEN_SIZE=h, BLOCK_SIZE=1024, HAS_HOST_BUFFER=0)
    f.paged_stash_pop_kernel[(2048,)](store, store, back, n_, record, flags[2], flags[0], free, free, tail, size, tensor([0, 0], i64), PAGE_SIZE=page, HIDDEN_SIZE=h, BLOCK_SIZE=1024)


@case((8192, 8, 128, 64))
def kv_append(n, h, d, block):
    blocks = n // block
    memory = zeros(2, 3, blocks, block, h, d)
    at = torch.randperm(n, device=DEV)
    M("inference.contexts.fused_kv_append_kernel").triton_append_key_value_cache(1, randn(n, 1, h, d), randn(n, 1, h, d), memory, n, at // block, at % block)


@case((8192, 64, 64, 8, 128, 128, 4), (4096, 128, 64, 8, 128, 256, 2))
def chunk_scan(n, h, d, groups, state, chunk, seqs):
    f = M("ssm.ops.ssd_combined")
    chunks = n // chunk
    x, out = randn(n, h, d), zeros(n, h, d)
    per = chunks // seqs
    raw = f.mamba_chunk_scan_combined_varlen(
        x, randn(n, h), -rand(h, lo=0.5, hi=2.0), randn(n, groups, state), randn(n, groups, state), chunk, cut(n, chunks), torch.arange(1, seqs + 1, device=DEV) * per - 1,
        (torch.arange(chunks, device=DEV) // per).to(i32), out, D=rand(h), z=None, dt_bias=rand(h), initial_states=randn(seqs, h, d, state), dt_softplus=True, return_raw_states=True)[1]
    e = M("ssm.ops.intermediate_extraction")
    e.scatter_intermediate_ssm(raw.contiguous(), torch.arange(16, device=DEV), tensor([16]), torch.empty(16, *raw.shape[1:], device=DEV, dtype=raw.dtype))


@case((8192, 6144, 4, 8), (16384, 10240, 4, 4))
def conv(n, c, w, seqs):
    M("ssm.ops.causal_conv1d_varlen").causal_conv1d_varlen_fn(randn(n, c), randn(c, w), randn(c), cut(n, seqs), randn(seqs, c, w - 1))
    M("ssm.ops.intermediate_extraction").scatter_intermediate_conv(randn(1, n, c), torch.arange(1, 257, device=DEV, dtype=i32) * 16, tensor([256]), zeros(256, c, w), w)
    M("ssm.ops.causal_conv1d_triton").causal_conv1d_update(randn(1024, c), randn(1024, c, w), randn(c, w), randn(c), "silu", torch.arange(1024, device=DEV, dtype=i32))


@case((256, 64, 64, 8, 128), (64, 128, 64, 8, 128))
def state_update(b, h, d, groups, n):
    per = lambda t, *shape: t.view(*t.shape, *([1] * len(shape))).expand(*t.shape, *shape)
    M("ssm.ops.mamba_ssm").selective_state_update(
        randn(b, h, d, n, dtype=f32), randn(b, h, d), per(randn(b, h), d), per(-rand(h, lo=0.5, hi=2.0), d, n), randn(b, groups, n), randn(b, groups, n),
        D=per(rand(h), d), z=None, dt_bias=per(rand(h), d), dt_softplus=True, state_batch_indices=torch.randperm(b, device=DEV).to(i32))


@case((4096, 4096, 4096, bf16), (2048, 2048, 2048, f32), (4096, 4096, 4096, f16))
def batch_invariant(m, n, k, dtype):
    f = M("transformer.custom_layers.batch_invariant_kernels")
    f.matmul_persistent(randn(m, k, dtype=dtype), randn(k, n, dtype=dtype), randn(n, dtype=dtype))
    f.matmul_persistent(randn(m, k, dtype=dtype), randn(n, k, dtype=dtype).t())
    f.log_softmax(randn(m // 4, 32000, dtype=dtype))
    f.mean_dim(randn(m, k, dtype=dtype), 1)
    f.mean_dim(randn(16, 1024, k // 4, dtype=dtype), 1)
