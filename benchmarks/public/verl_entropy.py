"""verl 0.9.1: linear layer, log probabilities and entropy in one pass over the vocabulary (host-side descriptors made in the kernel), the epilogues of one and of many ranks, three forms of its backward; fp8 by blocks, fp4 rounding of weights."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from _stub import stub
package("verl")
package("verl.utils")
package("verl.utils.kernel")
package("verl.utils.qat")
stub("verl.utils.device", get_device_capability=lambda *a: torch.cuda.get_device_capability(), get_device_name=lambda: "cuda", is_cuda_available=True, get_torch_device=lambda: torch.cuda)
from verl.utils.kernel import fp8_kernel, kernels as vk
from verl.utils.qat.linear import fp4_fake_quant_weight


@case((4096, 2048, 50257, 0), (2048, 4096, 32000, 1), (2048, 2048, 32000, 2))
def entropy(n, d, v, way):
    x, w, y = randn(n, d), randn(v, d, scale=d ** -0.5), randint(0, v, n)
    logp, ent, mx, acc, eb = vk.efficient_entropy_forward(x, w, y, 0, 1.2)
    vk.set_backward_method((vk.BackwardEnum._Split_Dlogits_N, vk.BackwardEnum._Total_Fuse_MN, vk.BackwardEnum._Total_Separate)[way])
    vk.efficient_entropy_backward(torch.randn_like(logp), torch.randn_like(ent), x, w, y, mx, acc, eb, 0, way == 1, 1.2)


@case((8192, 128), (4096, 149))
def ranks(n, s):
    """The epilogues for a vocabulary split over ranks."""
    mx, acc, eb = (rand(n, s, lo=0.5, hi=2.0) for _ in range(3))
    out = [zeros(n, dtype=f32) for _ in range(5)]
    grid = lambda meta: (-(-n // meta["BLOCK_SIZE_M"]),)
    vk.efficient_entropy_triton_kernel_epilogue_tp[grid](n, s, mx, *mx.stride(), mx.clone(), *mx.stride(), acc, *acc.stride(), eb, *eb.stride(), out[0], 1, out[1], 1, out[2], 1)
    vk.efficient_entropy_triton_epilogue_tp_update[grid](n, randn(n, dtype=f32), 1, out[0], 1, out[1] + 1.0, 1, out[2], 1, out[3], 1, out[4], 0)


@case((4096, 4096), (11008, 4096))
def formats(m, n):
    x = randn(m, n)
    fp8_kernel.scaled_fp8_blockwise_triton(x, (128, 128))
    fp8_kernel.blockwise_cast_to_fp8_triton(randn(n, m).t(), (128, 128))
    fp4_fake_quant_weight(x)
    fp4_fake_quant_weight(x.float(), block_size=32, tile_rows=32, tile_cols=128)
