"""flashrnn 1.0.8: LSTM and sLSTM over a sequence in one kernel, recurrent weights by heads, forward with gates and backward through time."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
for p in ("flashrnn", "flashrnn.flashrnn"):
    package(p)
from flashrnn.flashrnn.triton_fused import fwbw


def weights(b, t, nh, d, ns, dtype):
    return (zeros(ns, b, nh, d, dtype=dtype), randn(b, t, 4, nh, d, dtype=dtype, scale=0.5, grad=True), randn(4, nh, d, d, dtype=dtype, scale=d ** -0.5, grad=True),
            randn(4, nh, d, dtype=dtype, grad=True))


@case((16, 256, 12, 64, f32), (64, 128, 8, 32, f32))
def lstm(b, t, nh, d, dtype):
    h, _ = fwbw.lstm_tr_fwbw(*weights(b, t, nh, d, 2, dtype), None, {f16: "float16", bf16: "bfloat16", f32: "float32"}[dtype])
    h.backward(torch.randn_like(h))


@case((16, 256, 12, 64, f16), (64, 128, 8, 64, bf16), (16, 256, 12, 32, f32))
def slstm(b, t, nh, d, dtype):
    h, _ = fwbw.slstm_tr_fwbw(*weights(b, t, nh, d, 4, dtype), None, {f16: "float16", bf16: "bfloat16", f32: "float32"}[dtype])
    h.backward(torch.randn_like(h))
