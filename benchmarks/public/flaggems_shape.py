"""flag-gems 5.0.2: random generators, and operators that move data (repeat, tile, stack, cat, pad, copies, slices, indexing, embedding)."""
from _gems import *
D = dict(device=torch.device(DEV))
em, sc = mod("ops.embedding"), mod("ops.scatter_add_")


def embed():
    w, i = X(32000, 1024, dt=bf16), randint(0, 32000, 8192)
    em.embedding(w, i)
    em.embedding_backward(X(8192, 1024, dt=f32), i, 32000, -1, True)


def drop():
    y, m = fg.dropout(X(4096, 4096), 0.1, True)
    fg.dropout_backward(X(4096, 4096), rand(4096, 4096) > 0.1, 1.11)


drive(dict(
    rand=lambda: fg.rand([4096, 4096], **D), randn=lambda: fg.randn([4096, 4096], **D), expo=lambda: fg.exponential_(X(4096, 4096)), normal=lambda: fg.normal_tensor_tensor(X(4096, 1024), rand(4096, 1024)),
    uniform=lambda: fg.uniform_(X(4096, 4096), -1.0, 1.0), bernoulli=lambda: mod("ops.bernoulli_").bernoulli_(X(4096, 4096), 0.3), drop=drop, multinomial=lambda: fg.multinomial(rand(64, 32000), 8, False),
    repeat=lambda: fg.repeat(X(512, 1024), [4, 2]), tile=lambda: fg.tile(X(64, 128, 128), [2, 4, 2]), stack=lambda: fg.stack([X(2048, 1024) for _ in range(5)], 1), cat=lambda: fg.cat([X(1024, 2048), X(512, 2048), X(2048, 2048)], 0),
    cat1=lambda: fg.cat([X(4096, 512), X(4096, 300), X(4096, 100)], 1), hstack=lambda: fg.hstack([X(2048, 512), X(2048, 700)]), vstack=lambda: fg.vstack([X(2048, 512), X(700, 512), X(1000, 512)]),
    pad=lambda: fg.pad(X(8, 64, 112, 112), [1, 2, 3, 1]), pad_reflect=lambda: fg.pad(X(8, 64, 112, 112), [2, 2, 2, 2], mode="reflect"), pad_circ=lambda: fg.pad(X(8, 64, 112, 112), [2, 2, 2, 2], mode="circular"), t_copy=lambda: mod("ops.t_copy").t_copy(X(4096, 4096, dt=bf16)),
    contig=lambda: fg.contiguous(X(16, 1024, 32, 64, dt=bf16).transpose(1, 2)), to=lambda: fg.to_copy(X(4096, 4096), dtype=bf16), permute=lambda: mod("experimental_ops.permute_copy").permute_copy(X(64, 128, 512), (2, 0, 1)),
    select_sc=lambda: fg.select_scatter(X(64, 512, 512), X(64, 512), 1, 7), slice_sc=lambda: fg.slice_scatter(X(64, 512, 512), X(64, 128, 512), 1, 10, 266, 2), slice_bwd=lambda: mod("ops.slice_backward").slice_backward(X(64, 128, 512), [64, 512, 512], 1, 10, 266, 2),
    unfold_bwd=lambda: mod("ops.unfold_backward").unfold_backward(X(64, 63, 128, 32), [64, 1024, 128], 1, 32, 16), one_hot=lambda: mod("ops.one_hot").one_hot(randint(0, 1000, 8192), 1000), tril=lambda: fg.tril(X(16, 1024, 1024), -1), triu_b=lambda: fg.triu(X(16, 1024, 1024), 2),
    diag2=lambda: fg.diag(X(4096, 4096)), diag_embed=lambda: fg.diag_embed(X(64, 512)), diag_bwd=lambda: fg.diagonal_backward(X(64, 512), [64, 512, 512], 0, 1, 2), rep_tensor=lambda: fg.repeat_interleave_self_tensor(X(4096, 512), randint(0, 5, 4096), dim=0),
    embed=embed, scatter_add=lambda: sc.scatter_add_(X(4096, 4096), 1, randint(0, 4096, 4096, 1024), X(4096, 1024)), scatter_red=lambda: fg.scatter(X(2048, 2048), 0, randint(0, 2048, 1024, 2048), X(1024, 2048), reduce="add"),
    index=lambda: fg.index(X(512, 512, 64), [randint(0, 512, 4096), randint(0, 512, 4096)]), take=lambda: mod("experimental_ops.take").take(X(4096, 4096), randint(0, 1 << 24, 1 << 20)), m_scatter=lambda: fg.masked_scatter(X(4096, 2048), rand(4096, 2048) > 0.5, X(4096, 2048)),
    m_fill=lambda: fg.masked_fill(X(4096, 4096), rand(4096, 4096) > 0.5, -1e9), emb_scale=lambda: fg.embedding_dense_backward(X(8192, 1024), randint(0, 2000, 8192), 32000, -1, True), linspace=lambda: fg.linspace(0, 1, 1 << 22, **D), logspace=lambda: fg.logspace(0, 1, 1 << 20, **D), eye=lambda: fg.eye_m(4096, 2048, **D),
    index_put_acc=lambda: fg.index_put(X(512, 512, 64), [randint(0, 512, 4096), randint(0, 512, 4096)], X(4096, 64), True), kron=lambda: fg.kron(X(64, 32), X(32, 64)), isin_sort=lambda: fg.isin(randint(0, 1 << 20, 1 << 20), randint(0, 1 << 20, 1 << 15)),
))
