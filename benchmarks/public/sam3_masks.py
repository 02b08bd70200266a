"""sam3 0.1.4: masks: Euclidean distance transform by parabola envelopes, connected components (union-find with atomics, pointer jumping, sizes), sequential suppression, focal loss (plain and reduced, both passes)."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
for p in ("sam3", "sam3.model", "sam3.perflib", "sam3.perflib.triton", "sam3.train", "sam3.train.loss"):
    package(p)
from sam3.model.edt import edt_triton
from sam3.perflib.triton.connected_components import connected_components_triton
from sam3.perflib.triton.nms import nms_triton
from sam3.train.loss import sigmoid_focal_loss as fl


def blobs(b, h, w):
    x = torch.nn.functional.interpolate(randn(b, 1, h // 16, w // 16, dtype=f32), (h, w), mode="bilinear")
    return (x > 0.1).contiguous()


@case((32, 256, 256), (8, 512, 512))
def distance(b, h, w):
    edt_triton(blobs(b, h, w)[:, 0])


@case((16, 288, 288), (8, 1024, 1024))
def components(b, h, w):
    connected_components_triton(blobs(b, h, w).to(torch.uint8))


@case(500, 2000)
def nms(n):
    p = rand(n, 2, hi=700.0)
    q = p + rand(n, 2, lo=20, hi=200)
    i = (torch.minimum(q[:, None], q) - torch.maximum(p[:, None], p)).clamp(min=0).prod(-1)
    a = (q - p).prod(-1)
    nms_triton(i / (a[:, None] + a - i), rand(n), 0.4)


@case((64, 256, 256, bf16), (200, 288, 288, f32))
def focal(b, h, w, dtype):
    x, t = randn(b, h, w, dtype=dtype, grad=True), blobs(b, h // 16 * 16, w // 16 * 16)[:, 0].float()
    bwd(fl.triton_sigmoid_focal_loss(x, t, 0.25, 2.0))
    bwd(fl.triton_sigmoid_focal_loss_reduce(x, t, 0.25, 2.0))
