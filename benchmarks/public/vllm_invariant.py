"""vllm 0.33.0: batch-invariant products (persistent, descriptor, batched), softmax, log-softmax, mean, RMS norm, ordered sums; lightning attention; offload copies."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from vllm.model_executor.determinism import batch_invariant as bi
from vllm.model_executor.layers import lightning_attn as la


@case((4096, 4096, 4096, bf16), (64, 11008, 4096, bf16), (2048, 2048, 2048, f16), (2048, 2048, 1024, f32))
def persistent(m, n, k, dt):
    bi.matmul_persistent(randn(m, k, dtype=dt), randn(n, k, dtype=dt).t(), randn(n, dtype=dt))


@case((4096, 4096, 4096, bf16), (2048, 8192, 2048, f16))
def descriptor(m, n, k, dt):
    bi.matmul_descriptor_persistent(randn(m, k, dtype=dt), randn(n, k, dtype=dt).t())


@case((32, 1024, 1024, 128, bf16), (64, 512, 128, 2048, f16))
def bmm(b, m, n, k, dt):
    bi.bmm_batch_invariant(randn(b, m, k, dtype=dt), randn(b, k, n, dtype=dt))


@case((2048, 128256, bf16), (4096, 4096, f32), (512, 32000, f32))
def softmax(m, n, dt):
    bi.log_softmax(randn(m, n, dtype=dt))
    bi.softmax(randn(m, n, dtype=dt))


@case((32, 1024, 4096, 1), (8192, 16, 1024, 2), (8192, 1024, 4, 0))
def mean(a, b, c, dim):
    bi.mean_dim(randn(a, b, c), dim)


@case((8192, 4096), (4096, 8192))
def rms(m, n):
    bi.rms_norm_batch_invariant(randn(m, n), randn(n))
    bi.rms_norm_batch_invariant(randn(m, n), randn(n), residual=randn(m, n))


@case((4096 * 4096, 8))
def ordered_sum(n, w):
    bi._fixed_order_sum_kernel[((n + 1023) // 1024,)](randn(w, n), zeros(n), n, n, WORLD_SIZE=w, BLOCK_SIZE=1024, LARGE=False)


@case((2, 32, 4096, 128), (1, 64, 8192, 64))
def lightning(b, h, n, d):
    slopes = torch.exp2(-8.0 * torch.arange(1, h + 1, device=DEV, dtype=f32) / h)
    q, k, v = [randn(b, h, n, d, dtype=f32, scale=0.1) for _ in range(3)]
    la.lightning_attention(q, k, v, slopes, 256, zeros(b, h, d, d, dtype=f32))


@case((256, 32, 128))
def lightning_decode(b, h, d):
    la.linear_decode_forward_triton(randn(b, h, 1, d), randn(b, h, 1, d), randn(b, h, 1, d), randn(b, h, d, d, dtype=f32), rand(h),
                                    torch.arange(b, device=DEV))
