from .scale import scaled
from .constants import BLOCK
