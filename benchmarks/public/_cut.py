"""Cuts the lists of configurations of a package's autotuned kernels."""
import sys


def cut(prefix, n=3, over=4, pick=None):
    for name, m in list(sys.modules.items()):
        if name.startswith(prefix) and m is not None:
            for v in list(vars(m).values()):
                for k in (v.values() if isinstance(v, dict) else (v,)):
                    while k is not None and not isinstance(k, type):
                        if isinstance(getattr(k, "configs", None), list) and hasattr(k, "cache") and len(k.configs) > over:
                            k.configs = [k.configs[i] for i in pick if i < len(k.configs)] if pick else k.configs[:n]
                        k = getattr(k, "fn", None) if hasattr(k, "configs") or hasattr(k, "values") and hasattr(k, "fn") else None
