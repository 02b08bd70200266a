"""flashinfer-python 0.7.4 (its triton folder): merging of attention states (pairs, sets, packed), positions of appended tokens, slots of paged states, packing for Ulysses exchanges, products on some processors (plain, persistent, descriptors), chunk sums, scaled norm and activation."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from _cut import cut
from _stub import stub
package("flashinfer")
package("flashinfer.triton")
package("flashinfer.triton.kernels")
stub("flashinfer.utils", get_compute_capability=lambda d: (9, 0), GPUArchitectureError=RuntimeError)
from flashinfer.triton import activation, cascade, gdn_paged, norm, page, sm_constraint_gemm as gm, ulysses
from flashinfer.triton.kernels.ssd_chunk_state import chunk_cumsum_fwd
cut("flashinfer.triton")


@case((8192, 32, 128), (4096, 64, 64))
def merge(n, h, d):
    v, s = randn(n, h, d, dtype=f16), randn(n, h, dtype=f32)
    cascade.merge_state(v, s, randn(n, h, d, dtype=f16), randn(n, h, dtype=f32))
    cascade.merge_state_in_place(v, s, randn(n, h, d, dtype=f16), randn(n, h, dtype=f32), torch.rand(n, device=DEV) > 0.3)


@case((2048, 8, 32, 128))
def merge_sets(n, k, h, d):
    cascade.merge_states(randn(n, k, h, d, dtype=f16), randn(n, k, h, dtype=f32))
    p = torch.cat([tensor([0]), randint(1, k * 2, n).cumsum(0).to(i32)])
    cascade.variable_length_merge_states(randn(int(p[-1]), h, d, dtype=f16), randn(int(p[-1]), h, dtype=f32), p)


@case((64, 2048), (8, 32768))
def positions(b, n):
    p = (torch.arange(b + 1, device=DEV) * n).to(i32)
    page.get_batch_indices_positions_kernel[(b,)](p, torch.full((b,), n + 100, device=DEV, dtype=i32), zeros(b * n, dtype=i32), zeros(b * n, dtype=i32), num_stages=2)


@case((65536, 16, 64))
def slots(b, pages, size):
    ptr = (torch.arange(b + 1, device=DEV) * pages).to(i32)
    idx, last = torch.randperm(b * pages, device=DEV).to(i32), randint(1, size + 1, b, dtype=i32)
    out = [zeros(b, dtype=i32) for _ in range(4)]
    cu = (torch.arange(b + 1, device=DEV) * size).to(i32)
    gdn_paged.gdn_paged_prefill_slots_kernel[(b // 128,)](cu, idx, ptr, last, *out, b, size, BLOCK=128)
    gdn_paged.gdn_paged_decode_slots_kernel[(b // 128,)](idx, ptr, last, out[0], out[1], b, BLOCK=128)


@case((1, 16384, 40, 128, 8), (2, 8192, 24, 128, 4))
def exchange(b, n, h, d, w):
    local, chunk = h // w, h // w
    q, k, v = (randn(b, n, h, d) for _ in range(3))
    ulysses._pack_ulysses_qkv_head_chunk(zeros(b, n, w * chunk, 3 * d), q, k, v, world_size=w, local_heads=local, head_offset=0, head_count=chunk)
    ulysses._pack_ulysses_qkv_head_chunk(zeros(w, b, n, chunk, 3 * d), q, k, v, world_size=w, local_heads=local, head_offset=0, head_count=chunk, nccl_layout=True)
    ulysses._pack_ulysses_output_sequence_chunk(zeros(w, b, n // w, chunk, d), randn(b, n, chunk, d), world_size=w)
    ulysses._merge_ulysses_output_head_chunk(randn(w, b, n // w, chunk, d), zeros(b, n // w, h, d), world_size=w, local_heads=local, head_offset=0)


@case((4096, 4096, 4096, f16), (1000, 8192, 2048, bf16))
def gemm(m, k, n, dtype):
    x, w = randn(m, k, dtype=dtype), randn(k, n, dtype=dtype)
    gm.gemm(x, w, randn(m, n, dtype=dtype), 1.5, 0.5)
    gm.gemm_persistent(x, w, num_sms=100)
    gm.gemm_descriptor_persistent(x, randn(n, k, dtype=dtype), num_sms=120)
    gm.gemm_descriptor_persistent(x, randn(n, k, dtype=dtype), EPILOGUE_SUBTILE=True)


@case((4, 8192, 80, 256), (2, 16384, 64, 128))
def chunk_sums(b, n, h, c):
    chunk_cumsum_fwd(randn(b, n, h), -rand(h), c, randn(h), True)


@case((8192, 4096), (2048, 11008))
def rows(m, n):
    x = randn(m, n, dtype=f16)
    norm.rms_norm(x, randn(n, dtype=f16), torch.empty(m, n, device=DEV, dtype=torch.float8_e4m3fn), 1e-6, out_scale=ones(1, dtype=f32))
    norm.rms_norm_add_residual(x, randn(m, n, dtype=f16), randn(n, dtype=f16), 1e-6, torch.empty_like(x))
    activation.silu_and_mul(randn(m, 2 * n, dtype=f16), ones(1, dtype=f32), ones(1, dtype=f32), torch.float8_e4m3fn)
