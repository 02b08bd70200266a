import triton
import triton.language as tl


@triton.jit
def assembled(i):
    return tl.inline_asm_elementwise("mov.u32 $0, $1;", "=r,n", [i], dtype=tl.int32, is_pure=False, pack=1)
