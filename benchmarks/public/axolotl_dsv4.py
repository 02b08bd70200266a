"""axolotl 0.19.0: DeepSeek-V4 and GLM attention (sliding, compressed, gathered, absorbed), indexer, hyper-connections, pooling; both passes."""
from _common import *
import importlib
L = "axolotl.integrations.kernels.libs."
M = lambda n: importlib.import_module(L + n)


def tensors(B=1, H=32, S=1024, D=512, T=256):
    return randn(B, H, S, D, scale=0.3, grad=True), randn(B, 1, S, D, scale=0.3, grad=True), randn(B, 1, T, D, scale=0.3, grad=True), randn(H, grad=True)


@case()
def sliding():
    q, k, _, s = tensors(S=2048)
    bwd(M("dsv4.attention").sliding_attn(q, k, randn(1, 1, 2048, 512, scale=0.3, grad=True), s))


@case()
def csa():
    q, ks, kc, s = tensors()
    b = torch.where(rand(1, 1, 1024, 256) > 0.5, 0.0, float("-inf"))
    bwd(M("dsv4.attention_csa").csa_attn(q, ks, kc, b.to(bf16), s))


@case()
def csa_topk():
    q, ks, kc, s = tensors()
    bwd(M("dsv4.attention_gather").csa_attn_topk(q, ks, kc, randint(-1, 256, 1, 1024, 128, dtype=i32), s))


@case(8, 128)
def pool(W):
    bwd(M("dsv4.gated_pool").gated_softmax_pool(randn(16384 // W * 4, W, 512, grad=True), randn(16384 // W * 4, W, 512, grad=True)))


@case()
def indexer():
    M("dsv4.indexer").indexer_scores(randn(1, 2048, 64, 128), randn(1, 512, 128), randn(1, 2048, 64), 128 ** -0.5)
    M("glm_dsa.indexer").indexer_scores(randn(1, 2048, 32, 128), randn(1, 2048, 128), randn(1, 2048, 32), 128 ** -0.5)


@case()
def hyper():
    m = M("dsv4.mhc")
    norm = type("N", (), {"eps": 1e-6})
    x, fn = randn(4096, 4, 2048, grad=True), randn(24, 8192, scale=0.02, grad=True)
    out = m.hyperconnection_forward(x, norm, fn, randn(24, grad=True), randn(3, grad=True), 4, 20, 1e-6)
    bwd(out)


@case()
def rope():
    bwd(M("dsv4.rope").apply_rotary_pos_emb_triton(randn(1, 32, 4096, 512, grad=True), randn(1, 4096, 32), randn(1, 4096, 32)))


@case()
def absorb():
    S = 512
    idx = (rand(1, S, 256) * (torch.arange(S, device=DEV)[None, :, None] + 1)).to(i32)
    bwd(M("glm_dsa.attention_mla_absorb").mla_absorb_attn(randn(1, 32, S, 576, scale=0.3, grad=True), randn(1, S, 576, scale=0.3, grad=True), idx, 0.06))


@case()
def glm_topk():
    S = 512
    idx = (rand(1, S, 256) * (torch.arange(S, device=DEV)[None, :, None] + 1)).to(i32)
    bwd(M("glm_dsa.attention_topk").sparse_attn(randn(1, 8, S, 256, scale=0.3, grad=True), randn(1, 8, S, 256, scale=0.3, grad=True), randn(1, 8, S, 256, grad=True), idx, 0.06))
