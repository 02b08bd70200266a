"""ibu-boost 0.1.1: gradient histogram scatter, missing-value scatter and split search of boosted trees."""
from _common import *
from ibu_boost.kernels import screening_split_triton as st


@case((100000, 32, 8, 255), (1000000, 16, 32, 64))
def tree(n, f, nodes, bins):
    from ibu_boost.screening_split import ScreeningParams
    x = randint(0, bins, n, f, dtype=torch.uint8)
    x[::50] = 255
    g, h = randn(n, dtype=f32), rand(n, lo=0.1)
    node = randint(0, nodes, n, dtype=i32)
    G, H = st.build_histogram_triton(x, g, h, node, nodes, bins)
    Gm, Hm = st.build_missing_stats_triton(x, g, h, node, nodes)
    st.screening_split_triton(G, H, ScreeningParams(), Gm, Hm)
    st.screening_split_triton(G, H, ScreeningParams())
