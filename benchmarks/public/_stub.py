"""Stands in for modules that a package imports beside its kernels: every name is a class that accepts anything."""
import sys
import types


class _Meta(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub

    def __or__(cls, other):
        return cls

    __ror__ = __or__


class Stub(metaclass=_Meta):
    def __new__(cls, *a, **k):
        return object.__new__(cls)

    def __init__(self, *a, **k):
        pass

    def __call__(self, *a, **k):
        return a[0] if a and callable(a[0]) else self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub()

    def __class_getitem__(cls, item):
        return cls

    def __or__(self, other):
        return self

    __ror__ = __or__


class StubModule(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub


def stub(*names, **attributes):
    for n in names:
        parts = n.split(".")
        for i in range(1, len(parts) + 1):
            q = ".".join(parts[:i])
            if q not in sys.modules:
                sys.modules[q] = StubModule(q)
                if i > 1:
                    setattr(sys.modules[".".join(parts[:i - 1])], parts[i - 1], sys.modules[q])
        for k, v in attributes.items():
            setattr(sys.modules[n], k, v)
