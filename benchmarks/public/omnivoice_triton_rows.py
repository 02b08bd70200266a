"""omnivoice-triton 0.1.0: RMS norm, residual add with RMS norm, SwiGLU of a Qwen3-0.6B backbone."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib

package("omnivoice_triton")
K = importlib.import_module("omnivoice_triton.kernels")


@case((16384, 1024), (262144, 128), (8192, 4096))
def norm(n, d):
    K.triton_rms_norm(randn(n, d), randn(d))


@case((16384, 1024), (8192, 4096))
def add_norm(n, d):
    K.triton_fused_add_rms_norm(randn(n, d), randn(n, d), randn(d))


@case((16384, 3072), (8192, 12288))
def swiglu(n, d):
    K.triton_swiglu_forward(randn(n, d), randn(n, d))
