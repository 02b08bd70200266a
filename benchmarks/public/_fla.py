"""Lets the gated backward of fla run: fla-core 0.6.0 refuses it on Hopper with Triton 3.4 to 3.7.0, whose code for
chunk_bwd_kernel_dqkwg it says gives wrong results (a mismatch of that kernel may be Triton's)."""
import fla.ops.common.chunk_o as chunk_o

chunk_o.TRITON_ABOVE_3_7_1 = True
