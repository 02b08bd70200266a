"""flag-gems 5.0.2: sort, topk, unique, scans, scatter, gather, nonzero, masked and index operators (not registered in aten)."""
from _common import *
os.environ.setdefault("GEMS_VENDOR", "nvidia")
import flag_gems as fg

X = lambda *s, dt=f32: randn(*s, dtype=dt)
C = dict(
    sort=lambda: fg.sort(X(1024, 4096)), topk=lambda: fg.topk(X(256, 32000), 16), unique=lambda: fg._unique2(randint(0, 5000, 1 << 20)),
    cumsum=lambda: fg.cumsum(X(4096, 4096), 1), cummax=lambda: fg.cummax(X(1024, 4096), 1), cummin=lambda: fg.cummin(X(64, 65536), 1),
    argmax=lambda: fg.argmax(X(4096, 8192), 1), argmin=lambda: fg.argmin(X(1 << 22)), aminmax=lambda: fg.aminmax(X(4096, 4096)),
    nonzero=lambda: fg.nonzero((rand(4096, 1024) > 0.9)), masked_select=lambda: fg.masked_select(X(4096, 2048), rand(4096, 2048) > 0.5),
    index_select=lambda: fg.index_select(X(32000, 1024), 0, randint(0, 32000, 8192)),
    index_add=lambda: fg.index_add(X(8192, 1024), 0, randint(0, 8192, 4096), X(4096, 1024)),
    gather=lambda: fg.gather(X(4096, 4096), 1, randint(0, 4096, 4096, 1024)),
    scatter=lambda: fg.scatter(X(4096, 4096), 1, randint(0, 4096, 4096, 1024), X(4096, 1024)),
    index_put=lambda: fg.index_put(X(8192, 512), [randint(0, 8192, 4096)], X(4096, 512), True),
    embed_bwd=lambda: fg.embedding_dense_backward(X(8192, 1024), randint(0, 32000, 8192), 32000, -1, False),
    isin=lambda: fg.isin(randint(0, 10000, 1 << 20), randint(0, 10000, 500)), repeat=lambda: fg.repeat_interleave_self_int(X(4096, 512), 4, 0),
    multinomial=lambda: fg.multinomial(rand(256, 32000), 4, True), quantile=lambda: fg.quantile(X(512, 4096), 0.3, 1),
    flip=lambda: fg.flip(X(4096, 2048), [0, 1]), roll=lambda: fg.roll(X(4096, 2048), 7, 1), kron=lambda: fg.kron(X(64, 64), X(64, 64)),
    randperm=lambda: fg.randperm(1 << 20, device=torch.device(DEV)), diag=lambda: fg.diag(X(4096)), triu=lambda: fg.triu(X(4096, 4096), 1))


@case(*C)
def op(name):
    C[name]()
