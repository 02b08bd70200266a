"""The rows of what many fields compute (theirs_of_fields.py): sizes for the clock, and `small` ones to look at results."""
import math

import torch

import rows
from rows import bf16, f, f32, i32, i64, ints, mask, near1, r, rand, turns, w

f8, f16, i8, u8 = torch.float8_e4m3fn, torch.float16, torch.int8, torch.uint8


def h(*shape, scale=1.0):
    return f(*shape, scale=scale).to(f16)


def words(*shape):
    return ints(-2 ** 31, 2 ** 31, *shape, dtype=i32)


def narrow(*shape, scale=1.0):
    return f(*shape, scale=scale).to(f8)


def permutation(n):
    return torch.randperm(n, device="cuda")


def eye(n):
    return torch.eye(n, device="cuda")


def positive_definite(n, d):
    a = f(n, d, d)
    return a @ a.transpose(1, 2) + d * eye(d)


def lattice(n, box):
    """Points of a cubic lattice, shaken."""
    side = math.ceil(n ** (1 / 3))
    at = torch.arange(n, device="cuda")
    return torch.stack([at % side, at // side % side, at // side ** 2], -1).float() * (box / side) + 0.1 * f(n, 3)


def fields():
    made = []

    def row(name, file, function, make, full, small, least=None, **more):
        made.append(rows.Row(name, file + ".tile", function, lambda: (list(make(*full)), least), **more))
        made[-1].small = lambda: list(make(*small))

    # ---- blocks
    row("MLA absorbed queries 512 x 128 heads", "blocks", "mla_absorbed_queries",
        lambda t, n: (r(t, n, 192), r(n, 128, 512, scale=0.1), *[x.contiguous() for x in turns(t, 64)]), (512, 128), (5, 3))
    row("Mamba-2 step 64x80x64x128", "blocks", "mamba2_step",
        lambda b, n, p, s: (f(b, n, p, s), r(b, n, p), r(b, n), f(n, scale=0.3), r(b, s), r(b, s), f(n), f(n), r(b, n, p)),
        (64, 80, 64, 128), (2, 3, 8, 24), updates=(0,))
    row("Mamba step 128x5120x16", "blocks", "mamba1_step",
        lambda b, d, s: (f(b, d, s), r(b, d), r(b, d), f(d, s, scale=0.3), r(b, s), r(b, s), f(d)), (128, 5120, 16), (3, 40, 16), updates=(0,))
    row("conv state step 512x8192x4", "blocks", "conv_state_step",
        lambda b, d: (r(b, d, 4), r(b, d), r(d, 4), r(d)), (512, 8192), (3, 20), updates=(0,))
    row("RWKV time mix 8x512x2560", "blocks", "rwkv_time_mix",
        lambda b, t, c: (r(b, t, c), rand(3, c).to(bf16), *[w(c, c) for _ in range(3)]), (8, 512, 2560), (2, 7, 32))
    row("RWKV channel mix 4x512x2048, 7168", "blocks", "rwkv_channel_mix",
        lambda b, t, c, n: (r(b, t, c), rand(c).to(bf16), w(n, c), w(c, n)), (4, 512, 2048, 7168), (2, 7, 32, 48))
    row("WKV step 256x40x64x64", "blocks", "wkv_step",
        lambda b, n, k, v: (f(b, n, k, v), r(b, n, k), r(b, n, k), r(b, n, v), f(b, n, k), f(n, k)), (256, 40, 64, 64), (2, 3, 16, 24), updates=(0,))
    row("gated delta step 128x32x128x128", "blocks", "gated_delta_step",
        lambda b, n, k, v: (f(b, n, k, v), r(b, n, k), r(b, n, k), r(b, n, v), -rand(b, n), rand(b, n)), (128, 32, 128, 128), (2, 3, 16, 24), updates=(0,))
    row("differential combine 4x2048x12x128", "blocks", "differential_combine",
        lambda b, t, n, d: (r(b, t, n, d), r(b, t, n, d), *[f(64, scale=0.1) for _ in range(4)], near1(d)), (4, 2048, 12, 128), (2, 5, 3, 32))
    row("NSA combine 2x4096x2048, 16 heads of 128", "blocks", "nsa_combine",
        lambda b, t, c, n, d: (r(b, t, c), w(3 * n, c), *[r(b, t, n, d) for _ in range(3)]), (2, 4096, 2048, 16, 128), (2, 5, 32, 3, 16))
    row("NSA compress 2x8208x4x128", "blocks", "nsa_compress",
        lambda b, s, n: (r(b, s, n, 128), r(32, 128), w(128, 4096)), (2, 8208, 4), (2, 48, 2))
    row("partial rope 8x1000x32x128", "blocks", "partial_rope",
        lambda b, t, n: (r(b, t, n, 128), *[x[:, :16].contiguous() for x in turns(8192, 32, f32)], ints(0, 8192, b, t, dtype=i32)),
        (8, 1000, 32), (2, 5, 3))
    row("mrope 2x28x3000x128", "blocks", "mrope",
        lambda b, n, t: (r(b, n, t, 128), r(3, b, t, 128), r(3, b, t, 128)), (2, 28, 3000), (2, 3, 5))
    row("KV cache write 2048 of 65536x8x128", "blocks", "kv_cache_write",
        lambda s, t: (r(s, 8, 128), r(s, 8, 128), r(t, 8, 128), r(t, 8, 128), permutation(s)[:t]), (65536, 2048), (40, 7), least=2048 * (4 * 8 * 128 * 2 + 8), updates=(0, 1))
    row("paged decode 24 x 200 pages", "blocks", "paged_decode",
        lambda b, n, p: (r(b, 32, 128), r(p, 16, 8, 128), r(p, 16, 8, 128), permutation(p)[:b * n].view(b, n).to(i32), ints(16 * n - 30, 16 * n, b, dtype=i32)),
        (24, 200, 5000), (2, 3, 8))
    row("retention 2x16x1536x128, 256", "blocks", "retention",
        lambda b, n, t, d, e: (r(b, n, t, d), r(b, n, t, d), r(b, n, t, e)), (2, 16, 1536, 128, 256), (1, 2, 70, 32, 32))
    row("prefix LM 4x8x1280x128", "blocks", "prefix_lm",
        lambda b, n, t, d: (*[r(b, n, t, d) for _ in range(3)], ints(t // 4, t // 2, b, dtype=i32)), (4, 8, 1280, 128), (2, 2, 70, 32))
    row("cosine attention 512x6x64x32", "blocks", "cosine_attention",
        lambda b, n, t, d: (*[r(b, n, t, d) for _ in range(3)], f(n, 1, 1), r(n, t, t)), (512, 6, 64, 32), (3, 2, 20, 16))
    row("attention pool 256x384x768", "blocks", "attention_pool",
        lambda b, t, c: (r(b, t, c), mask(b, t) > 0, w(1, c)[0]), (256, 384, 768), (3, 9, 40))
    row("multi-token input 4x1024x2048", "blocks", "multi_token_input",
        lambda b, t, c: (r(b, t, c), ints(0, 1000, b, t), r(1000, c), near1(c), near1(c), w(c, 2 * c)), (4, 1024, 2048), (2, 5, 32))
    row("Medusa heads 48 x 4096", "blocks", "medusa_heads", lambda b, c: (r(b, c), r(4, c, c, scale=c ** -0.5), r(4, c)), (48, 4096), (3, 40))
    row("inverse CDF sample 96 x 50257", "blocks", "inverse_cdf_sample", lambda b, v: (r(b, v, scale=3), rand(b, 1)), (96, 50257), (5, 300), whole=0.1)
    row("frequency penalty 200 x 128256", "blocks", "frequency_penalty",
        lambda b, v: (r(b, v, scale=3), ints(0, 3, b, v, dtype=i32), rand(b), rand(b), f(v)), (200, 128256), (3, 300))
    # ---- routers
    row("MoE gather combine 6000x8 of 2048", "routers", "moe_gather_combine",
        lambda t, d: (r(8 * t, d), permutation(8 * t).view(t, 8), rand(t, 8), r(t, d)), (6000, 2048), (5, 24))
    row("MoE scatter combine 12000 to 3000 x 2048", "routers", "moe_scatter_combine",
        lambda n, t, d: (r(n, d), ints(0, t, n), rand(n), f(t, d)), (12000, 3000, 2048), (30, 7, 24), updates=(3,))
    row("MoE permutation 3000 x 4", "routers", "moe_permutation", lambda t: (ints(0, 64, t, 4),), (3000,), (40,))
    row("top two gating 6000 x 48", "routers", "top_two_gating", lambda t, e: (f(t, e),), (6000, 48), (50, 6), types="fp32", tolerance=1e-3)
    row("expert choice 4000 x 1024, 64 experts", "routers", "expert_choice", lambda t, d, e: (r(t, d), w(e, d)), (4000, 1024, 64), (80, 32, 4), whole=0.15,
        tolerance=10)
    row("bias update 32768 x 8", "routers", "bias_update", lambda t: (ints(0, 256, t, 8), f(256)), (32768,), (30,), updates=(1,), tolerance=1e-3)
    row("soft MoE 32x784x768", "routers", "soft_moe", lambda b, t, d: (r(b, t, d), w(128, d).T.contiguous()), (32, 784, 768), (2, 10, 32))
    # ---- quantized
    row("AWQ linear 24 x 5120 x 5120", "quantized", "awq_linear",
        lambda m, k, n: (h(m, k), words(k, n // 8), words(k // 128, n // 8), (rand(k // 128, n) * 0.01).to(f16)), (24, 5120, 5120), (3, 256, 40))
    row("GPTQ act order 12 x 4096 x 6144", "quantized", "gptq_act_order",
        lambda m, k, n: (h(m, k), words(k // 8, n), (rand(k // 128 + 1, n) * 0.01).to(f16), ints(0, 16, k // 128 + 1, n, dtype=i8),
                         (permutation(k) % (k // 128 + 1)).to(i32)), (12, 4096, 6144), (3, 256, 24))
    row("NF4 linear 40 x 4096 x 4096", "quantized", "nf4_linear",
        lambda m, k, n: (r(m, k), ints(0, 256, n, k // 2, dtype=u8), ints(0, 256, n, k // 64, dtype=u8), rand(n, high=0.1), rand(1, high=0.01), f(16)),
        (40, 4096, 4096), (3, 128, 24))
    row("SmoothQuant linear 300 x 4096 x 4096", "quantized", "smoothquant_linear",
        lambda m, k, n: (r(m, k), near1(k), ints(-127, 128, n, k, dtype=i8), rand(n, high=0.01)), (300, 4096, 4096), (5, 64, 24))
    row("fp8 block product 384 x 3072 x 2048", "quantized", "fp8_block_gemm",
        lambda m, k, n: (narrow(m, k), rand(m, k // 128), narrow(n, k), rand(n // 128, k // 128)), (384, 3072, 2048), (5, 256, 128))
    row("keys to int4 16x2048x8x128", "quantized", "kv_to_int4", lambda b, s, n: (r(b, s, n, 128),), (16, 2048, 8), (2, 5, 3))
    row("keys from int4 16x2048x8x64", "quantized", "kv_from_int4",
        lambda b, s, n: (ints(0, 256, b, s, n, 64, dtype=u8), h(b, s, n, 2)), (16, 2048, 8), (2, 5, 3))
    row("decode, int8 cache 24x1500x16x128", "quantized", "int8_cache_decode",
        lambda b, s, n, d: (r(b, n, d), ints(-127, 128, b, s, n, d, dtype=i8), rand(b, s, n, high=0.01), ints(-127, 128, b, s, n, d, dtype=i8), rand(b, s, n, high=0.01)),
        (24, 1500, 16, 128), (2, 20, 3, 32))
    row("MXFP4 to bf16 8192 x 7168", "quantized", "mxfp4_dequant",
        lambda n, k: (ints(0, 256, n, k // 2, dtype=u8), ints(120, 134, n, k // 32, dtype=u8)), (8192, 7168), (5, 96))
    row("MXFP8 quantize 6000 x 5120", "quantized", "mxfp8_quant", lambda m, k: (r(m, k),), (6000, 5120), (5, 96), whole=0.02, tolerance=0.1)
    row("fp8 of a tensor, turned 6144 x 4096", "quantized", "fp8_per_tensor", lambda m, n: (r(m, n),), (6144, 4096), (5, 24), tolerance=0.08)
    row("BitNet linear 20 x 4096 x 6912", "quantized", "bitnet_linear",
        lambda m, k, n: (r(m, k), ints(0, 256, n, k // 4, dtype=u8) & 0xAA, rand(1)), (20, 4096, 6912), (3, 64, 24))
    row("Hadamard to int4 6000 x 4096", "quantized", "hadamard_int4", lambda m, n: (r(m, n),), (6000, 4096), (3, 256))
    row("fake quantization backward 6000 x 4096", "quantized", "fake_quant_backward",
        lambda n, k: (f(n, k), rand(n, 1, low=0.1, high=0.3), f(n, k)), (6000, 4096), (5, 40), types="fp32", tolerance=1e-3)
    row("stochastic int8 6000 x 4096", "quantized", "stochastic_int8", lambda m, n: (f(m, n),), (6000, 4096), (3, 512), types="fp32", numbers=(7,), same=False)
    # ---- training
    row("PPO backward 500000 x 18", "training", "ppo_backward",
        lambda b, a: (f(b, a), f(b), ints(0, a, b), -rand(b, low=2, high=4), f(b), f(b), f(b)), (500000, 18), (40, 6), types="fp32", tolerance=1e-3)
    row("GAE 8192 x 128", "training", "gae", lambda b, t: (f(b, t), f(b, t + 1)), (8192, 128), (5, 20), types="fp32", tolerance=1e-2, numbers=(0.95 * 0.99,))
    row("MoCo loss 512 x 128, 65536", "training", "moco_loss", lambda b, d, k: (r(b, d), r(b, d), r(k, d, scale=d ** -0.5)), (512, 128, 65536), (5, 32, 70))
    row("SimPO backward 4x300x32000", "training", "simpo_backward",
        lambda b, t, v: (r(b, t, v, scale=3), ints(0, v, b, t), mask(b, t)), (4, 300, 32000), (4, 5, 60))
    row("GRPO backward 8x200x50257", "training", "grpo_backward",
        lambda b, t, v: (r(b, t, v), ints(0, v, b, t), -rand(b, t, low=9, high=12), -rand(b, t, low=9, high=12), f(b), mask(b, t)), (8, 200, 50257), (3, 5, 60))
    row("distillation of 64, 3000 x 50257", "training", "topk_distillation",
        lambda m, v: (r(m, v), torch.log_softmax(f(m, 70), -1)[:, :64].contiguous(), ints(0, v, m, 64)), (3000, 50257), (5, 300), tolerance=5e-2)
    row("CTC steps 2048 x 401", "training", "ctc_steps",
        lambda b, n, c: (torch.log_softmax(f(8, b, c), -1), -rand(b, n, high=50), ints(0, c, b, n), mask(b, n, share=0.5) > 0),
        (2048, 401, 64), (3, 21, 8), types="fp32", tolerance=1e-3)
    row("Sophia 20M", "training", "sophia_step", lambda n: (f(n), r(n), f(n), rand(n)), (20000000,), (300,), updates=(0, 2), numbers=(1e-3,), tolerance=1e-3)
    row("Shampoo 1024 x 1536", "training", "shampoo_step",
        lambda m, n: (f(m, n), f(m, n), f(m, m), f(n, n), eye(m) + 0.01 * f(m, m), eye(n) + 0.01 * f(n, n)), (1024, 1536), (24, 40), types="fp32",
        updates=(0, 2, 3), tolerance=5e-3)
    row("schedule-free AdamW 20M", "training", "schedule_free_adamw",
        lambda n: (r(n), f(n), rand(n), r(n)), (20000000,), (300,), updates=(0, 1, 2), numbers=(0.01, 1e-3))
    row("adaptive clip 6000 x 4096", "training", "adaptive_clip", lambda m, n: (r(m, n), r(m, n)), (6000, 4096), (5, 24), updates=(1,))
    row("batch-hard triplet 3000 x 128", "training", "batch_hard_triplet", lambda n, d: (f(n, d), ints(0, 50, n)), (3000, 128), (20, 8), types="fp32", tolerance=1e-3)
    row("ArcFace 512 x 512, 10572", "training", "arcface", lambda b, d, c: (r(b, d), r(c, d), ints(0, c, b)), (512, 512, 10572), (5, 32, 20))
    row("DINO loss 64 x 65536", "training", "dino_loss", lambda b, k: (r(4, b, k), r(2, b, k, scale=0.1), f(k, scale=0.01)), (64, 65536), (3, 70), updates=(2,))
    row("quantile Huber backward 2048 x 200", "training", "quantile_huber_backward", lambda b, n: (f(b, n), f(b, n)), (2048, 200), (3, 12), types="fp32", tolerance=1e-3)
    row("C51 projection 100000", "training", "c51_project", lambda b: (torch.softmax(f(b, 51), -1), f(b), (rand(b) < 0.1).float()), (100000,), (7,), types="fp32", tolerance=1e-3)
    row("GaLore 4096 x 2560", "training", "galore_step",
        lambda m, n: (f(m, n), f(m, n), f(m, 128, scale=m ** -0.5), f(128, n), rand(128, n)), (4096, 2560), (40, 24), types="fp32", updates=(0, 3, 4), tolerance=1e-2)
    row("mixup 256x3x224x224", "training", "mixup", lambda b, s: (r(b, 3, s, s), ints(0, 1000, b), rand(b), permutation(b)), (256, 224), (4, 6))
    row("SwiGLU MLP backward 768 x 1024, 2816", "training", "swiglu_mlp_backward",
        lambda t, d, n: (r(t, d), w(n, d), w(n, d), w(d, n), r(t, d)), (768, 1024, 2816), (5, 32, 48))
    row("LoRA backward 1000 x 2048 x 3072", "training", "lora_backward",
        lambda t, d, n: (r(t, d), w(n, d), w(16, d), w(n, 16), r(t, n)), (1000, 2048, 3072), (5, 32, 48))
    row("flow matching 48x16x96x96", "training", "flow_matching_loss", lambda b, s: (*[r(b, 16, s, s) for _ in range(3)], rand(b)), (48, 96), (3, 5))
    # ---- pictures
    row("depthwise NHWC 32x56x56x240", "pictures", "depthwise_nhwc", lambda n, s, c: (r(n, s, s, c), r(c, 1, 5, 5, scale=0.2), near1(c), r(c)), (32, 56, 240), (2, 6, 8))
    row("focus slices 32x3x640x640", "pictures", "focus_slices", lambda n, s: (r(n, 3, s, s),), (32, 640), (2, 6))
    row("grid sample 8x32x200x300", "pictures", "grid_sample", lambda n, c, y, x: (f(n, c, y, x), rand(n, y, x, 2, low=-1.1, high=1.1)), (8, 32, 200, 300), (2, 3, 5, 6),
        types="fp32", tolerance=1e-3)
    row("matrix NMS 3000", "pictures", "matrix_nms", lambda n: (rows.boxes(n), rand(n)), (3000,), (20,), types="fp32", tolerance=1e-3)
    row("RGB to HSV 48x3x512x512", "pictures", "rgb_to_hsv", lambda n, s: (rand(n, 3, s, s).to(bf16),), (48, 512), (2, 6))
    row("sRGB to Lab 24x500x500", "pictures", "srgb_to_lab",
        lambda n, s: (ints(0, 256, n, s, s, 3, dtype=u8), torch.tensor([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]], device="cuda"),
                      torch.tensor([0.9505, 1.0, 1.089], device="cuda")), (24, 500), (2, 6), types="fp32", tolerance=1e-3)
    row("unsharp mask 16x3x1080x1920", "pictures", "unsharp_mask", lambda n, y, x: (rand(n, 3, y, x).to(bf16),), (16, 1080, 1920), (2, 8, 12), numbers=(1.5,))
    row("batch norm, add, ReLU NHWC 64x28x28x512", "pictures", "batch_norm_add_relu_nhwc",
        lambda n, s, c: (r(n, s, s, c), r(n, s, s, c), f(c), f(c)), (64, 28, 512), (2, 5, 8))
    row("FiLM group norm 16x768x48x48", "pictures", "film_group_norm",
        lambda n, c, s: (r(n, c, s, s), r(n, 2 * c), near1(c), r(c)), (16, 768, 48), (2, 48, 5))
    row("shifted windows 32x64x64x180", "pictures", "shifted_windows", lambda n, s, c: (r(n, s, s, c), near1(c), r(c)), (32, 64, 180), (2, 16, 20))
    row("CBAM 32x256x60x60", "pictures", "cbam_spatial", lambda n, c, s: (r(n, c, s, s), r(1, 2, 7, 7, scale=0.2)), (32, 256, 60), (2, 8, 9))
    row("ECA 64x384x40x40", "pictures", "eca", lambda n, c, s: (r(n, c, s, s), r(1, 1, 5)), (64, 384, 40), (2, 12, 5))
    row("pixel shuffle, leaky ReLU 4x256x180x320", "pictures", "pixel_shuffle_lrelu",
        lambda n, c, y, x: (r(n, 4 * c, y, x), r(4 * c), r(n, c, 2 * y, 2 * x)), (4, 64, 180, 320), (2, 3, 4, 5))
    row("median of 3x3, 16x1080x1920", "pictures", "median3x3", lambda n, y, x: (ints(0, 256, n, y, x, dtype=u8),), (16, 1080, 1920), (2, 5, 6), whole=0)
    row("bilateral 2160x3840", "pictures", "bilateral5x5", lambda y, x: (rand(y, x),), (2160, 3840), (7, 9), types="fp32", tolerance=1e-3)
    row("YOLO decode 32x255x40x40", "pictures", "yolo_decode", lambda b, s: (r(b, 255, s, s), rand(3, 2, high=100)), (32, 40), (2, 4), numbers=(16.0,))
    row("equalize 32x480x640", "pictures", "equalize", lambda n, y, x: ((rand(n, y, x) ** 2 * 255).to(u8),), (32, 480, 640), (2, 6, 8))
    row("composite 2160x3840", "pictures", "composite", lambda y, x: (ints(0, 256, y, x, 4, dtype=u8), ints(0, 256, y, x, 3, dtype=u8)), (2160, 3840), (5, 6), whole=0)
    row("JPEG blocks 8x1024x1536", "pictures", "jpeg_blocks",
        lambda n, y, x: ((rand(n, y, x) * 255).to(bf16), f(8, 8), rand(8, 8, low=4, high=90)), (8, 1024, 1536), (2, 16, 24))
    row("morphological gradient 24x3x720x1280", "pictures", "morphological_gradient", lambda n, y, x: (r(n, 3, y, x),), (24, 720, 1280), (2, 5, 6))
    row("guided filter 4x720x1280", "pictures", "guided_filter", lambda n, y, x: (rand(n, y, x), rand(n, y, x)), (4, 720, 1280), (2, 6, 8), types="fp32", tolerance=1e-2)
    row("response norm 32x28x28x768", "pictures", "response_norm", lambda n, s, c: (r(n, s, s, c), r(c), r(c)), (32, 28, 768), (2, 5, 8))
    row("layer norm NCHW 32x192x60x60", "pictures", "layer_norm_nchw", lambda n, c, s: (r(n, c, s, s), near1(c), r(c)), (32, 192, 60), (2, 8, 5))
    # ---- audio
    row("mu law 64 x 480000", "audio", "mu_law", lambda b, n: (rand(b, n, low=-1),), (64, 480000), (2, 70), types="fp32")
    row("mu law inverse 64 x 480000", "audio", "mu_law_inverse", lambda b, n: (ints(0, 256, b, n, dtype=u8),), (64, 480000), (2, 70), types="fp32", tolerance=1e-3)
    row("STFT power 16 x 3000 frames", "audio", "stft_power", lambda b, n: (f(b, 160 * n + 240), f(400, 201), f(400, 201)), (16, 3000), (2, 5), types="fp32", tolerance=1e-2)
    row("overlap add 32x1200x512", "audio", "overlap_add", lambda b, n: (f(b, n, 512),), (32, 1200), (2, 3), types="fp32", tolerance=1e-3)
    row("spectral shape 24x513x800", "audio", "spectral_shape", lambda b, t: (rand(b, 513, t),), (24, 800), (2, 5), types="fp32", tolerance=1e-3)
    row("causal FIR 16x8x96000", "audio", "fir_causal", lambda b, c, n: (f(b, c, n), f(c, 1, 31)), (16, 8, 96000), (2, 3, 50), types="fp32", tolerance=1e-3)
    row("SI-SDR 32x2x160000", "audio", "si_sdr", lambda b, s, n: (f(b, s, n), f(b, s, n)), (32, 2, 160000), (2, 2, 50), types="fp32", tolerance=1e-3)
    row("MFCC 64x80x2000", "audio", "mfcc", lambda b, t: (rand(b, 80, t), f(20, 80)), (64, 2000), (2, 9), types="fp32", tolerance=1e-2)
    row("snake 16x256x12000", "audio", "snake", lambda b, c, t: (r(b, c, t), r(c, scale=0.3), r(c, scale=0.3)), (16, 256, 12000), (2, 5, 30))
    row("pitch lags 12000 x 1024", "audio", "pitch_lags", lambda n: (f(n, 1024),), (12000,), (3,), types="fp32", tolerance=1e-3)
    row("resample 64 x 48000", "audio", "resample_linear", lambda b, n: (f(b, n),), (64, 48000), (2, 1000), types="fp32", tolerance=1e-2)
    row("WaveNet gate 8x64x16000", "audio", "wavenet_gate", lambda b, t: (r(b, 64, t), r(128, 64, 2, scale=0.1), r(128), r(b, 128, t)), (8, 16000), (2, 20))
    # ---- physics
    row("heat 300x320x340", "physics", "heat_3d", lambda z, y, x: (f(z, y, x), rand(z, y, x)), (300, 320, 340), (4, 5, 6), types="fp32", updates=(0,), tolerance=1e-3)
    row("Lennard-Jones 4000", "physics", "lennard_jones", lambda n: (lattice(n, 20.0),), (4000,), (30,), types="fp32", numbers=(20.0,), tolerance=1e-2)
    row("shallow water 3000 x 3000", "physics", "shallow_water", lambda y, x: (rand(y, x), f(y, x), f(y, x)), (3000, 3000), (5, 6), types="fp32", tolerance=1e-3, numbers=(0.01,))
    row("FDTD 3000 x 4000", "physics", "fdtd_2d", lambda y, x: (f(y, x), f(y, x), f(y, x), rand(y, x, low=1, high=3)), (3000, 4000), (5, 6), types="fp32",
        updates=(0, 1, 2), tolerance=1e-3)
    row("red-black 4000 x 3000", "physics", "red_black", lambda y, x: (f(y, x), f(y, x)), (4000, 3000), (5, 6), types="fp32", tolerance=1e-3)
    row("Gray-Scott 8x1500x1500", "physics", "gray_scott", lambda n, y, x: (rand(n, y, x).to(bf16), rand(n, y, x).to(bf16)), (8, 1500, 1500), (2, 5, 6))
    row("splat colours 1.5M", "physics", "splat_colours", lambda n: (f(n, 16, 3), f(n, 3), f(3)), (1500000,), (20,), types="fp32", tolerance=1e-3)
    row("splat covariances 3M", "physics", "splat_covariance", lambda n: (f(n, 3), f(n, 4)), (3000000,), (20,), types="fp32", tolerance=1e-3)
    row("quaternions rotate 6M", "physics", "quaternion_rotate", lambda n: (f(n, 4), f(n, 3)), (6000000,), (20,), types="fp32", tolerance=1e-3)
    row("slerp 6M", "physics", "slerp", lambda n: (*[torch.nn.functional.normalize(f(n, 4), dim=-1) for _ in range(2)], rand(n, 1)), (6000000,), (20,), types="fp32", tolerance=1e-3)
    row("Heston 16 steps, 2M", "physics", "heston", lambda n: (f(16, 2, n),), (2000000,), (50,), types="fp32", tolerance=1e-3)
    row("Sinkhorn 64x300x300", "physics", "sinkhorn",
        lambda b, m, n: (rand(b, m, n), torch.softmax(f(b, m), -1), torch.softmax(f(b, n), -1)), (64, 300, 300), (2, 7, 9), types="fp32", tolerance=1e-2)
    row("mixture EM 200000 x 32, 64", "physics", "mixture_em",
        lambda n, d, k: (f(n, d), f(k, d), rand(k, d, low=0.5, high=2), torch.softmax(f(k), -1)), (200000, 32, 64), (50, 4, 3), types="fp32", tolerance=2e-2)
    row("principal directions 100000 x 256", "physics", "principal_directions", lambda n, d: (f(n, d), f(d, 8)), (100000, 256), (60, 12), types="fp32", tolerance=3e-2)
    row("inverse 3x3, 4M", "physics", "inverse_3x3", lambda n: (f(n, 3, 3) + 4 * eye(3),), (4000000,), (20,), types="fp32", tolerance=1e-2)
    row("Cholesky 4x4, 3M", "physics", "cholesky_4x4", lambda n: (positive_definite(n, 4),), (3000000,), (20,), types="fp32", tolerance=1e-3)
    row("resample particles 1000 x 1000", "physics", "systematic_resample", lambda b, n: (rand(b, n), f(b, n, 4), rand(b, 1)), (1000, 1000), (3, 20), types="fp32", tolerance=10)
    row("Lorenz, RK4 3M", "physics", "lorenz_rk4", lambda n: (f(3, n),), (3000000,), (20,), types="fp32", tolerance=1e-2, numbers=(0.01,))
    row("Ising sweep 6000 x 6000", "physics", "ising_sweep", lambda y, x: ((ints(0, 2, y, x) * 2 - 1).to(i8), rand(y, x)), (6000, 6000), (6, 8), tolerance=5e-2, numbers=(0.44,))
    row("hash encoding 1M", "physics", "hash_encoding", lambda n: (rand(n, 3), h(524288, 2)), (1000000,), (20,), types="fp32", numbers=(128.0,))
    row("sphere trace 2M", "physics", "sphere_trace",
        lambda n: (f(3), torch.nn.functional.normalize(f(n, 3), dim=-1), torch.cat([f(4, 3, scale=5), rand(4, 1, low=0.5, high=1)], 1)), (2000000,), (20,), types="fp32", tolerance=1e-2)
    row("FFT stage 64x1000x256", "physics", "fft_stage", lambda b, n, s: (f(b, n, s), f(b, n, s)), (64, 1000, 256), (2, 3, 8), types="fp32", tolerance=1e-3)
    # ---- graphs
    row("GCN 30000 x 128, 300000 edges", "graphs", "gcn_layer",
        lambda n, d, e: (f(n, d), ints(0, n, e), ints(0, n, e), rand(e)), (30000, 128, 300000), (10, 12, 30), types="fp32", tolerance=1e-3)
    row("segment mean 60000 x 200", "graphs", "segment_mean", lambda n, d: (f(n, d), torch.sort(ints(0, 256, n))[0]), (60000, 200), (40, 12), types="fp32", tolerance=1e-2)
    row("edge softmax 100000 x 4, 2048", "graphs", "edge_softmax", lambda e: (f(e, 4), ints(0, 2048, e)), (100000,), (60,), types="fp32", tolerance=1e-2)
    row("GAT 40000, 16 neighbours", "graphs", "gat_neighbours",
        lambda n: (r(n, 4, 32), ints(0, n, n, 16), torch.cat([mask(n, 15), torch.ones(n, 1, device="cuda")], 1) > 0, r(4, 32), r(4, 32)), (40000,), (12,))
    row("GraphSAGE 50000 x 256", "graphs", "sage_layer", lambda n, d, o: (r(n, d), ints(0, n, n, 10), w(o, 2 * d)), (50000, 256, 128), (15, 16, 12))
    row("RotatE 1000 x 256 x 200", "graphs", "rotate_scores",
        lambda b, k, d: (r(14000, 2 * d), r(200, d), ints(0, 14000, b), ints(0, 200, b), ints(0, 14000, b, k)), (1000, 256, 200), (3, 5, 8))
    row("Floyd-Warshall steps 3000", "graphs", "floyd_warshall_steps", lambda n: (rand(n, n),), (3000,), (9,), types="fp32", tolerance=1e-4)
    row("farthest point 64 x 50000", "graphs", "farthest_point", lambda b, n: (f(b, n, 3), rand(b, n, high=9), ints(0, n, b)), (64, 50000), (2, 30), types="fp32", updates=(1,), tolerance=1e-3)
    row("Chamfer 16x2500x2000", "graphs", "chamfer", lambda b, n, m: (f(b, n, 3), f(b, m, 3)), (16, 2500, 2000), (2, 9, 7), types="fp32", tolerance=1e-3)
    row("nearest sixteen 16x1000, 64", "graphs", "nearest_16", lambda b, n, c: (f(b, n, 3), r(b, n, c)), (16, 1000, 64), (2, 30, 6), tolerance=10)
    row("EGNN coordinates 200000", "graphs", "egnn_coordinates", lambda n: (f(n, 3), ints(0, n, n, 12), f(n, 12)), (200000,), (15,), types="fp32", tolerance=1e-3)
    # ---- statistics
    row("robust z-score 4000 x 365", "statistics", "robust_zscore", lambda m, n: (f(m, n),), (4000, 365), (3, 21), types="fp32", tolerance=1e-3)
    row("exponential smoothing 20000 x 500", "statistics", "exponential_smoothing", lambda m, t: (f(m, t),), (20000, 500), (3, 30), types="fp32", tolerance=1e-2, numbers=(0.05,))
    row("Bollinger bands 5000 x 1500", "statistics", "bollinger", lambda m, t: (f(m, t),), (5000, 1500), (3, 40), types="fp32", tolerance=1e-2)
    row("rolling extremes 5000 x 1500", "statistics", "rolling_extremes", lambda m, t: (f(m, t),), (5000, 1500), (3, 50), types="fp32", tolerance=1e-3)
    row("Spearman 2000 x 300", "statistics", "spearman", lambda m, n: (f(m, n), f(m, n)), (2000, 300), (3, 20), types="fp32", tolerance=1e-3)
    row("mutual information 3M", "statistics", "mutual_information", lambda n: (rand(n), rand(n)), (3000000,), (300,), types="fp32", tolerance=1e-2)
    row("Kolmogorov-Smirnov 1000 x 500", "statistics", "kolmogorov_smirnov", lambda m, n: (f(m, n), f(m, n)), (1000, 500), (3, 20), types="fp32", tolerance=1e-3)
    row("merge moments 500 x 20000", "statistics", "merge_moments", lambda p, n: (rand(p, n, low=10, high=90), f(p, n), rand(p, n)), (500, 20000), (5, 12), types="fp32", tolerance=1e-3)
    row("logistic Newton 300000 x 64", "statistics", "logistic_newton", lambda n, d: (f(n, d), (rand(n) < 0.5).float(), f(d, scale=0.1)), (300000, 64), (50, 6), types="fp32", tolerance=1e-2)
    row("winsorize 3000 x 600", "statistics", "winsorize", lambda m, n: (f(m, n),), (3000, 600), (3, 30), types="fp32", tolerance=1e-3)
    row("bootstrap 2000 x 5000", "statistics", "bootstrap_means", lambda n, b: (f(n), ints(0, n, b, n)), (5000, 2000), (30, 5), types="fp32", tolerance=1e-3)
    row("negative binomial 6000 x 5000", "statistics", "negative_binomial",
        lambda n, g: (rand(n, g, low=0.1, high=5).to(bf16), rand(g, low=0.5, high=5), ints(0, 20, n, g, dtype=i32)), (6000, 5000), (3, 20))
    row("impute, standardise 100000 x 300", "statistics", "impute_standardise",
        lambda n, k: (torch.where(rand(n, k) < 0.05, float("nan"), f(n, k)),), (100000, 300), (30, 5), types="fp32", tolerance=1e-3)
    row("autocorrelations 20000 x 1000", "statistics", "autocorrelations", lambda m, t: (f(m, t),), (20000, 1000), (3, 40), types="fp32", tolerance=1e-3)
    row("calibration 100000 x 100", "statistics", "calibration_error", lambda n, c: (torch.softmax(f(n, c), -1).to(bf16), ints(0, c, n)), (100000, 100), (40, 5))
    row("GARCH 64 x 500000", "statistics", "garch_filter",
        lambda n: (f(64, n), rand(n, low=0.05, high=0.1), rand(n, high=0.1), rand(n, low=0.7, high=0.85)), (500000,), (20,), types="fp32", tolerance=1e-3)
    # ---- recommenders
    row("factorization machine 20000 x 26", "recommenders", "factorization_machine",
        lambda b, v: (ints(0, v, b, 26), torch.arange(26, device="cuda") * v, f(26 * v, 16, scale=0.1), f(26 * v, 1, scale=0.1), f(1)), (20000, 10000), (5, 8), types="fp32", tolerance=1e-3)
    row("cross layers 4096 x 1040", "recommenders", "cross_layers", lambda b, d: (r(b, d), r(2, d, d, scale=d ** -0.5), r(2, d)), (4096, 1040), (5, 24))
    row("cross vectors 60000 x 500", "recommenders", "cross_layers_v1", lambda b, d: (r(b, d), r(3, d, scale=d ** -0.5), r(3, d)), (60000, 500), (5, 24))
    row("weighed bags 10000 x 50, 128", "recommenders", "bags_with_weights",
        lambda b, n, d: (ints(0, 100000, b, n) * ints(0, 2, b, n), rand(b, n), r(100000, d)), (10000, 50, 128), (3, 6, 16))
    row("target attention 2000x100x64", "recommenders", "target_attention",
        lambda b, t, d: (r(b, d), r(b, t, d), ints(1, t, b, dtype=i32), w(64, 4 * d), r(64), w(1, 64)), (2000, 100, 64), (3, 7, 16))
    row("two towers 4000 x 128", "recommenders", "two_towers", lambda b, d: (r(b, d), r(b, d), ints(0, 3000, b), f(b)), (4000, 128), (9, 16))
    row("BPR 50000 x 4 x 64", "recommenders", "bpr_loss",
        lambda b, k, d: (f(30000, d), f(20000, d), ints(0, 30000, b), ints(0, 20000, b), ints(0, 20000, b, k)), (50000, 4, 64), (5, 3, 8), types="fp32", tolerance=1e-3)
    row("experts with gates 4000 x 512 x 256", "recommenders", "experts_with_gates",
        lambda b, d, n: (r(b, d), r(8, d, n, scale=d ** -0.5), r(8, n), r(2, d, 8, scale=d ** -0.5)), (4000, 512, 256), (5, 16, 24))
    row("NDCG of ten 10000 x 1000", "recommenders", "ndcg_at_10", lambda b, n: (f(b, n), ints(0, 5, b, n).float()), (10000, 1000), (4, 30), types="fp32", tolerance=1e-3)
    row("quotient, remainder 30000 x 26 x 32", "recommenders", "quotient_remainder",
        lambda b, n, d: (ints(0, 4096 * 2000, b, n), r(2000, d), r(4096, d)), (30000, 26, 32), (4, 5, 8))
    row("sparse Adagrad 8192 of 500000 x 64", "recommenders", "sparse_adagrad",
        lambda v, b: (f(v, 64), rand(v), ints(0, v, b), f(b, 64)), (500000, 8192), (30, 12), types="fp32", updates=(0, 1), tolerance=1e-3)
    row("SASRec loss 512x200x64", "recommenders", "user_sequence_loss",
        lambda b, t, d: (r(b, t, d), r(50000, d), ints(0, 50000, b, t) * ints(0, 2, b, t), ints(0, 50000, b, t)), (512, 200, 64), (3, 7, 16))
    return made
