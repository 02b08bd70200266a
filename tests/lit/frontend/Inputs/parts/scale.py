import triton
from .inner import *
from .constants import *


@triton.jit
def scaled(x):
    return shifted(x) * BLOCK
