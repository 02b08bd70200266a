"""Lattice codes: LBM D2Q9, Gray-Scott, Game of Life (bytes and bit-packed), rule 110, Ising checkerboard, forest fire."""
from _common import *
import triton, triton.language as tl


@triton.jit
def _feq(rho, ux, uy, w, cx, cy):
    cu = 3.0 * (cx * ux + cy * uy)
    return w * rho * (1.0 + cu + 0.5 * cu * cu - 1.5 * (ux * ux + uy * uy))


@triton.jit
def lbm_d2q9_kernel(fin, fout, solid, nx, ny, omega, BLOCK: tl.constexpr):
    idx = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = nx * ny
    m = idx < n
    x = idx % nx
    y = idx // nx
    xm = tl.where(x > 0, x - 1, nx - 1)
    xp = tl.where(x < nx - 1, x + 1, 0)
    ym = tl.where(y > 0, y - 1, ny - 1)
    yp = tl.where(y < ny - 1, y + 1, 0)
    # pull
    f0 = tl.load(fin + y * nx + x, mask=m)
    f1 = tl.load(fin + 1 * n + y * nx + xm, mask=m)
    f2 = tl.load(fin + 2 * n + ym * nx + x, mask=m)
    f3 = tl.load(fin + 3 * n + y * nx + xp, mask=m)
    f4 = tl.load(fin + 4 * n + yp * nx + x, mask=m)
    f5 = tl.load(fin + 5 * n + ym * nx + xm, mask=m)
    f6 = tl.load(fin + 6 * n + ym * nx + xp, mask=m)
    f7 = tl.load(fin + 7 * n + yp * nx + xp, mask=m)
    f8 = tl.load(fin + 8 * n + yp * nx + xm, mask=m)
    rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8
    ux = (f1 + f5 + f8 - f3 - f6 - f7) / rho
    uy = (f2 + f5 + f6 - f4 - f7 - f8) / rho
    s = tl.load(solid + idx, mask=m, other=0) != 0
    tl.store(fout + idx, tl.where(s, f0, f0 + omega * (_feq(rho, ux, uy, 4.0 / 9, 0.0, 0.0) - f0)), mask=m)
    tl.store(fout + n + idx, tl.where(s, f3, f1 + omega * (_feq(rho, ux, uy, 1.0 / 9, 1.0, 0.0) - f1)), mask=m)
    tl.store(fout + 2 * n + idx, tl.where(s, f4, f2 + omega * (_feq(rho, ux, uy, 1.0 / 9, 0.0, 1.0) - f2)), mask=m)
    tl.store(fout + 3 * n + idx, tl.where(s, f1, f3 + omega * (_feq(rho, ux, uy, 1.0 / 9, -1.0, 0.0) - f3)), mask=m)
    tl.store(fout + 4 * n + idx, tl.where(s, f2, f4 + omega * (_feq(rho, ux, uy, 1.0 / 9, 0.0, -1.0) - f4)), mask=m)
    tl.store(fout + 5 * n + idx, tl.where(s, f7, f5 + omega * (_feq(rho, ux, uy, 1.0 / 36, 1.0, 1.0) - f5)), mask=m)
    tl.store(fout + 6 * n + idx, tl.where(s, f8, f6 + omega * (_feq(rho, ux, uy, 1.0 / 36, -1.0, 1.0) - f6)), mask=m)
    tl.store(fout + 7 * n + idx, tl.where(s, f5, f7 + omega * (_feq(rho, ux, uy, 1.0 / 36, -1.0, -1.0) - f7)), mask=m)
    tl.store(fout + 8 * n + idx, tl.where(s, f6, f8 + omega * (_feq(rho, ux, uy, 1.0 / 36, 1.0, -1.0) - f8)), mask=m)


@case((2048, 2048), (3000, 1024))
def lbm(nx, ny):
    f = rand(9, ny, nx, lo=0.05, hi=0.15); g = torch.empty_like(f)
    solid = (rand(ny, nx) > 0.95).to(torch.uint8)
    lbm_d2q9_kernel[(triton.cdiv(nx * ny, 256),)](f, g, solid, nx, ny, 1.7, BLOCK=256)


# cell-major layout, a [cells, 16] tile, moments by masked sums along the direction axis
@triton.jit
def lbm_collide_aos(f_ptr, cx_ptr, cy_ptr, w_ptr, n_cells, tau, CELLS: tl.constexpr, Q: tl.constexpr):
    c = tl.program_id(0) * CELLS + tl.arange(0, CELLS)
    q = tl.arange(0, 16)
    mq = q < Q
    cx = tl.load(cx_ptr + q, mask=mq, other=0.0)
    cy = tl.load(cy_ptr + q, mask=mq, other=0.0)
    w = tl.load(w_ptr + q, mask=mq, other=0.0)
    mask = (c < n_cells)[:, None] & mq[None, :]
    ptrs = f_ptr + c[:, None] * Q + q[None, :]
    f = tl.load(ptrs, mask=mask, other=0.0)
    rho = tl.sum(f, 1)
    safe = tl.where(rho == 0.0, 1.0, rho)
    ux = tl.sum(f * cx[None, :], 1) / safe
    uy = tl.sum(f * cy[None, :], 1) / safe
    cu = ux[:, None] * cx[None, :] + uy[:, None] * cy[None, :]
    usq = (ux * ux + uy * uy)[:, None]
    feq = w[None, :] * rho[:, None] * (1.0 + 3.0 * cu + 4.5 * cu * cu - 1.5 * usq)
    tl.store(ptrs, f - (f - feq) / tau, mask=mask)


@case(2000000, 5000000)
def lbm_aos(n):
    f = rand(n, 9)
    cx = tensor([0., 1, 0, -1, 0, 1, -1, -1, 1], f32); cy = tensor([0., 0, 1, 0, -1, 1, 1, -1, -1], f32)
    w = tensor([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4, f32)
    lbm_collide_aos[(triton.cdiv(n, 64),)](f, cx, cy, w, n, 0.6, CELLS=64, Q=9)


@triton.jit
def gray_scott(U, V, U2, V2, H, W, Du, Dv, F, K, BH: tl.constexpr, BW: tl.constexpr):
    rows = (tl.program_id(1) * BH + tl.arange(0, BH))[:, None]
    cols = (tl.program_id(0) * BW + tl.arange(0, BW))[None, :]
    m = (rows < H) & (cols < W)
    lap_u = tl.zeros((BH, BW), tl.float32)
    lap_v = tl.zeros((BH, BW), tl.float32)
    for dy in tl.static_range(-1, 2):
        for dx in tl.static_range(-1, 2):
            r = (rows + dy + H) % H
            c = (cols + dx + W) % W
            wgt = -1.0 if (dx == 0 and dy == 0) else (0.2 if (dx == 0 or dy == 0) else 0.05)
            lap_u += wgt * tl.load(U + r * W + c, mask=m, other=0.0)
            lap_v += wgt * tl.load(V + r * W + c, mask=m, other=0.0)
    u = tl.load(U + rows * W + cols, mask=m, other=0.0)
    v = tl.load(V + rows * W + cols, mask=m, other=0.0)
    uvv = u * v * v
    tl.store(U2 + rows * W + cols, u + Du * lap_u - uvv + F * (1.0 - u), mask=m)
    tl.store(V2 + rows * W + cols, v + Dv * lap_v + uvv - (F + K) * v, mask=m)


@case((2048, 2048), (1080, 1920))
def reaction_diffusion(h, w):
    u, v = rand(h, w), rand(h, w); u2, v2 = torch.empty_like(u), torch.empty_like(v)
    gray_scott[(triton.cdiv(w, 64), triton.cdiv(h, 16))](u, v, u2, v2, h, w, 0.16, 0.08, 0.035, 0.06, BH=16, BW=64)


@triton.jit
def life_bytes(src, dst, H, W, BLOCK: tl.constexpr):
    y = tl.program_id(0)
    for x0 in range(0, W, BLOCK):
        x = x0 + tl.arange(0, BLOCK)
        m = x < W
        cnt = tl.zeros((BLOCK,), tl.int32)
        for dy in range(-1, 2):
            yy = y + dy
            row_ok = (yy >= 0) & (yy < H)
            for dx in tl.static_range(-1, 2):
                if dx != 0:
                    cnt += tl.load(src + yy * W + x + dx, mask=m & row_ok & (x + dx >= 0) & (x + dx < W), other=0).to(tl.int32)
                else:
                    cnt += tl.where(dy == 0, 0, tl.load(src + yy * W + x, mask=m & row_ok, other=0).to(tl.int32))
        alive = tl.load(src + y * W + x, mask=m, other=0)
        new = (cnt == 3) | ((cnt == 2) & (alive == 1))
        tl.store(dst + y * W + x, new.to(tl.int8), mask=m)


@case((8192, 8192), (4000, 6000))
def game_of_life(h, w):
    a = randint(0, 2, h, w, dtype=torch.int8); b = torch.empty_like(a)
    life_bytes[(h,)](a, b, h, w, BLOCK=1024, num_warps=8)


@triton.jit
def _half_add(a, b):
    return a ^ b, a & b


@triton.jit
def _full_add(a, b, c):
    t = a ^ b
    return t ^ c, (a & b) | (t & c)


@triton.jit
def _three_rows(p, off, x, words, m):
    c = tl.load(p + off, mask=m, other=0)
    l = tl.load(p + off - 1, mask=m & (x > 0), other=0)
    r = tl.load(p + off + 1, mask=m & (x < words - 1), other=0)
    left = (c << 1) | (l >> 31)
    right = (c >> 1) | (r << 31)
    return left, c, right


@triton.jit
def life_bitpacked(src, dst, H, words, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = i // words
    x = i % words
    m = y < H
    a0, a1, a2 = _three_rows(src, i - words, x, words, m & (y > 0))
    b0, b1, b2 = _three_rows(src, i, x, words, m)
    c0, c1, c2 = _three_rows(src, i + words, x, words, m & (y < H - 1))
    s0, k0 = _full_add(a0, a1, a2)
    s1, k1 = _half_add(b0, b2)
    s2, k2 = _full_add(c0, c1, c2)
    ones_, k3 = _full_add(s0, s1, s2)
    t0, f0 = _full_add(k0, k1, k2)
    twos, f1 = _half_add(t0, k3)
    fours = f0 | f1
    out = twos & (~fours) & (ones_ | b1)
    tl.store(dst + i, out, mask=m)


@case((16384, 1024), (32768, 2000))
def life_packed(h, words):
    a = randint(0, 2**31 - 1, h, words, dtype=i32).view(torch.uint32); b = torch.empty_like(a)
    life_bitpacked[(triton.cdiv(h * words, 512),)](a, b, h, words, BLOCK=512)


# checkerboard Metropolis with random numbers of the index
@triton.jit
def ising_half_sweep(spin, L, beta, parity, seed, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    half = L // 2
    y = k // half
    x = 2 * (k % half) + ((y + parity) & 1)
    m = y < L
    s = tl.load(spin + y * L + x, mask=m, other=0).to(tl.float32)
    nn = tl.load(spin + ((y + 1) % L) * L + x, mask=m, other=0).to(tl.float32)
    nn += tl.load(spin + ((y + L - 1) % L) * L + x, mask=m, other=0).to(tl.float32)
    nn += tl.load(spin + y * L + (x + 1) % L, mask=m, other=0).to(tl.float32)
    nn += tl.load(spin + y * L + (x + L - 1) % L, mask=m, other=0).to(tl.float32)
    de = 2.0 * s * nn
    u = tl.rand(seed, k)
    flip = u < tl.exp(-beta * de)
    tl.store(spin + y * L + x, tl.where(flip, -s, s).to(tl.int8), mask=m)


@case(4096, 10000)
def ising(L):
    s = (randint(0, 2, L, L, dtype=torch.int8) * 2 - 1)
    for p in (0, 1):
        ising_half_sweep[(triton.cdiv(L * L // 2, 1024),)](s, L, 0.44, p, 1234 + p, BLOCK=1024)


@triton.jit
def forest_fire(grid_in, grid_out, H, W, p_grow, p_spark, seed, BH: tl.constexpr, BW: tl.constexpr):
    pid = tl.program_id(0)
    nw = (W + BW - 1) // BW
    y = (pid // nw) * BH + tl.arange(0, BH)
    x = (pid % nw) * BW + tl.arange(0, BW)
    o = y[:, None] * W + x[None, :]
    m = (y[:, None] < H) & (x[None, :] < W)
    s = tl.load(grid_in + o, mask=m, other=0)
    burning = tl.load(grid_in + o - W, mask=m & (y[:, None] > 0), other=0) == 2
    burning |= tl.load(grid_in + o + W, mask=m & (y[:, None] < H - 1), other=0) == 2
    burning |= tl.load(grid_in + o - 1, mask=m & (x[None, :] > 0), other=0) == 2
    burning |= tl.load(grid_in + o + 1, mask=m & (x[None, :] < W - 1), other=0) == 2
    r0, r1, r2, r3 = tl.rand4x(seed, o)
    new = tl.where(s == 2, 0, tl.where(s == 1, tl.where(burning | (r0 < p_spark), 2, 1), tl.where(r1 < p_grow, 1, 0)))
    tl.store(grid_out + o, new, mask=m)


@case((4096, 4096), (3000, 5000))
def forest(h, w):
    a = randint(0, 3, h, w, dtype=i32); b = torch.empty_like(a)
    forest_fire[(triton.cdiv(h, 8) * triton.cdiv(w, 128),)](a, b, h, w, 0.01, 0.0001, 7, BH=8, BW=128)
