"""Finite-difference stencils: 2d/3d heat, 27-point, 8th-order wave, Jacobi with residual, shallow water, Burgers, variable-coefficient diffusion."""
from _common import *
import triton, triton.language as tl


# ---- 2d heat, flattened index, one program a chunk of cells
@triton.jit
def heat2d_flat_kernel(u_ptr, out_ptr, H, W, alpha, dt, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    idx = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = idx < H * W
    y = idx // W
    x = idx % W
    c = tl.load(u_ptr + idx, mask=mask, other=0.0)
    up = tl.load(u_ptr + idx - W, mask=mask & (y > 0), other=0.0)
    down = tl.load(u_ptr + idx + W, mask=mask & (y < H - 1), other=0.0)
    left = tl.load(u_ptr + idx - 1, mask=mask & (x > 0), other=0.0)
    right = tl.load(u_ptr + idx + 1, mask=mask & (x < W - 1), other=0.0)
    lap = up + down + left + right - 4.0 * c
    tl.store(out_ptr + idx, c + alpha * dt * lap, mask=mask)


@case((4096, 4096), (5000, 3001))
def heat2d_flat(h, w):
    u = randn(h, w, dtype=f32); v = torch.empty_like(u)
    for _ in range(2):
        heat2d_flat_kernel[(triton.cdiv(h * w, 1024),)](u, v, h, w, 0.1, 0.5, BLOCK_SIZE=1024)
        u, v = v, u


# ---- 3d 7-point, a tile in x and y that marches along z and keeps three planes
@triton.jit
def heat3d_march(u, v, nx, ny, nz, sy, sz, c0, c1, BX: tl.constexpr, BY: tl.constexpr, ZCHUNK: tl.constexpr):
    x = tl.program_id(0) * BX + tl.arange(0, BX)[None, :]
    y = tl.program_id(1) * BY + tl.arange(0, BY)[:, None]
    z0 = tl.program_id(2) * ZCHUNK
    inside = (x > 0) & (x < nx - 1) & (y > 0) & (y < ny - 1)
    inb = (x < nx) & (y < ny)
    base = y * sy + x
    prev = tl.load(u + base + (z0 - 1) * sz, mask=inb & (z0 > 0), other=0.0)
    cur = tl.load(u + base + z0 * sz, mask=inb, other=0.0)
    for k in range(ZCHUNK):
        z = z0 + k
        nxt = tl.load(u + base + (z + 1) * sz, mask=inb & (z + 1 < nz), other=0.0)
        near = inside & (z < nz)
        n = tl.load(u + base + z * sz - sy, mask=near, other=0.0)
        s = tl.load(u + base + z * sz + sy, mask=near, other=0.0)
        w = tl.load(u + base + z * sz - 1, mask=near, other=0.0)
        e = tl.load(u + base + z * sz + 1, mask=near, other=0.0)
        r = c0 * cur + c1 * (prev + nxt + n + s + w + e)
        ok = inside & (z > 0) & (z < nz - 1)
        tl.store(v + base + z * sz, tl.where(ok, r, cur), mask=inb & (z < nz))
        prev = cur
        cur = nxt


@case((256, 256, 256), (384, 320, 200))
def heat3d(nx, ny, nz):
    u = randn(nz, ny, nx, dtype=f32); v = torch.empty_like(u)
    grid = (triton.cdiv(nx, 64), triton.cdiv(ny, 8), triton.cdiv(nz, 32))
    heat3d_march[grid](u, v, nx, ny, nz, u.stride(1), u.stride(0), 0.4, 0.1, BX=64, BY=8, ZCHUNK=32, num_warps=4)


# ---- 27-point with static loops over the taps, weights by distance class, fp64
@triton.jit
def stencil27_kernel(a, b, w_ptr, n, BLOCK: tl.constexpr):
    j = tl.program_id(1) + 1
    k = tl.program_id(2) + 1
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) + 1
    m = i < n - 1
    acc = tl.zeros((BLOCK,), dtype=tl.float64)
    for dk in tl.static_range(-1, 2):
        for dj in tl.static_range(-1, 2):
            for di in tl.static_range(-1, 2):
                w = tl.load(w_ptr + (dk + 1) * 9 + (dj + 1) * 3 + (di + 1))
                acc += w * tl.load(a + ((k + dk) * n + (j + dj)) * n + i + di, mask=m, other=0.0)
    tl.store(b + (k * n + j) * n + i, acc, mask=m)


@case(192, 258)
def stencil27(n):
    a = randn(n, n, n, dtype=torch.float64); b = torch.empty_like(a)
    w = rand(27, dtype=torch.float64)
    stencil27_kernel[(triton.cdiv(n - 2, 256), n - 2, n - 2)](a, b, w, n, BLOCK=256, num_warps=2)


# ---- acoustic wave, 2nd order in time and 8th in space, autotuned
@triton.autotune(
    configs=[
        triton.Config({"BX": 32, "BY": 16}, num_warps=4),
        triton.Config({"BX": 128, "BY": 4}, num_warps=4),
        triton.Config({"BX": 64, "BY": 16}, num_warps=8),
    ],
    key=["nx", "ny"],
)
@triton.jit
def wave8_kernel(p_now, p_old, vel, p_new, nx, ny, stride, inv_dx2, dt2, BX: tl.constexpr, BY: tl.constexpr):
    HALO: tl.constexpr = 4
    xs = tl.program_id(0) * BX + tl.arange(0, BX) + HALO
    ys = tl.program_id(1) * BY + tl.arange(0, BY) + HALO
    m = (xs < nx - HALO)[None, :] & (ys < ny - HALO)[:, None]
    off = ys[:, None] * stride + xs[None, :]
    c = tl.load(p_now + off, mask=m, other=0.0)
    lap = -2.0 * 2.84722222 * c
    for r in tl.static_range(1, 5):
        coef = 1.6 if r == 1 else (-0.2 if r == 2 else (0.02539683 if r == 3 else -0.00178571))
        lap += coef * (tl.load(p_now + off + r, mask=m, other=0.0) + tl.load(p_now + off - r, mask=m, other=0.0))
        lap += coef * (tl.load(p_now + off + r * stride, mask=m, other=0.0) + tl.load(p_now + off - r * stride, mask=m, other=0.0))
    v = tl.load(vel + off, mask=m, other=0.0)
    old = tl.load(p_old + off, mask=m, other=0.0)
    tl.store(p_new + off, 2.0 * c - old + dt2 * v * v * lap * inv_dx2, mask=m)


@case((4096, 4096), (6000, 2048))
def wave2d(nx, ny):
    p = [randn(ny, nx, dtype=f32) for _ in range(3)]
    vel = rand(ny, nx)
    grid = lambda meta: (triton.cdiv(nx - 8, meta["BX"]), triton.cdiv(ny - 8, meta["BY"]))
    wave8_kernel[grid](p[0], p[1], vel, p[2], nx, ny, nx, 0.01, 0.001)


# ---- Jacobi for Poisson with the squared residual summed by atomics
@triton.jit
def jacobi_residual(u_ptr, f_ptr, new_ptr, res_ptr, N, h2, BM: tl.constexpr, BN: tl.constexpr):
    pid = tl.program_id(0)
    tiles = tl.cdiv(N, BN)
    pm = pid // tiles
    pn = pid % tiles
    r = pm * BM + tl.arange(0, BM)[:, None]
    c = pn * BN + tl.arange(0, BN)[None, :]
    interior = (r > 0) & (r < N - 1) & (c > 0) & (c < N - 1)
    ptr = u_ptr + r * N + c
    mid = tl.load(ptr, mask=interior, other=0.0)
    nb = tl.load(ptr - N, mask=interior, other=0.0) + tl.load(ptr + N, mask=interior, other=0.0) \
        + tl.load(ptr - 1, mask=interior, other=0.0) + tl.load(ptr + 1, mask=interior, other=0.0)
    f = tl.load(f_ptr + r * N + c, mask=interior, other=0.0)
    new = 0.25 * (nb - h2 * f)
    d = tl.where(interior, new - mid, 0.0)
    tl.store(new_ptr + r * N + c, new, mask=interior)
    tl.atomic_add(res_ptr, tl.sum(tl.sum(d * d, axis=1), axis=0))


@case(2048, 4097)
def jacobi(n):
    u = randn(n, n, dtype=f32); f = randn(n, n, dtype=f32); new = torch.zeros_like(u); res = zeros(1, dtype=f32)
    jacobi_residual[(triton.cdiv(n, 32) * triton.cdiv(n, 64),)](u, f, new, res, n, 1e-4, 32, 64, num_warps=8)


# ---- shallow water, Lax-Friedrichs, periodic
@triton.jit
def _flux_x(h, hu, hv, g):
    u = hu / h
    return hu, hu * u + 0.5 * g * h * h, hv * u


@triton.jit
def _flux_y(h, hu, hv, g):
    v = hv / h
    return hv, hu * v, hv * v + 0.5 * g * h * h


@triton.jit
def _cell(q, plane, off, m):
    return tl.load(q + off, mask=m, other=1.0), tl.load(q + plane + off, mask=m, other=0.0), tl.load(q + 2 * plane + off, mask=m, other=0.0)


@triton.jit
def shallow_water_lf(q, out, nx, ny, lam, g, BLOCK: tl.constexpr):
    y = tl.program_id(1)
    x = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = x < nx
    plane = nx * ny
    xl = tl.where(x == 0, nx - 1, x - 1)
    xr = tl.where(x == nx - 1, 0, x + 1)
    yu = (y + ny - 1) % ny
    yd = (y + 1) % ny
    hl, hul, hvl = _cell(q, plane, y * nx + xl, m)
    hr, hur, hvr = _cell(q, plane, y * nx + xr, m)
    ht, hut, hvt = _cell(q, plane, yu * nx + x, m)
    hb, hub, hvb = _cell(q, plane, yd * nx + x, m)
    fl0, fl1, fl2 = _flux_x(hl, hul, hvl, g)
    fr0, fr1, fr2 = _flux_x(hr, hur, hvr, g)
    gt0, gt1, gt2 = _flux_y(ht, hut, hvt, g)
    gb0, gb1, gb2 = _flux_y(hb, hub, hvb, g)
    o = y * nx + x
    tl.store(out + o, 0.25 * (hl + hr + ht + hb) - lam * (fr0 - fl0 + gb0 - gt0), mask=m)
    tl.store(out + plane + o, 0.25 * (hul + hur + hut + hub) - lam * (fr1 - fl1 + gb1 - gt1), mask=m)
    tl.store(out + 2 * plane + o, 0.25 * (hvl + hvr + hvt + hvb) - lam * (fr2 - fl2 + gb2 - gt2), mask=m)


@case((2048, 2048), (3000, 1000))
def shallow_water(nx, ny):
    q = rand(3, ny, nx, lo=0.5, hi=1.5); out = torch.empty_like(q)
    shallow_water_lf[(triton.cdiv(nx, 512), ny)](q, out, nx, ny, 0.05, 9.81, BLOCK=512)


# ---- anisotropic diffusion with a coefficient field, block pointers, half precision data
@triton.jit
def vardiff_kernel(u, kappa, out, M, N, dt, BM: tl.constexpr, BN: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    pc = tl.make_block_ptr(u, (M, N), (N, 1), (pm * BM, pn * BN), (BM, BN), (1, 0))
    pk = tl.make_block_ptr(kappa, (M, N), (N, 1), (pm * BM, pn * BN), (BM, BN), (1, 0))
    c = tl.load(pc, boundary_check=(0, 1), padding_option="zero").to(tl.float32)
    n = tl.load(tl.advance(pc, (-1, 0)), boundary_check=(0, 1), padding_option="zero").to(tl.float32)
    s = tl.load(tl.advance(pc, (1, 0)), boundary_check=(0, 1), padding_option="zero").to(tl.float32)
    w = tl.load(tl.advance(pc, (0, -1)), boundary_check=(0, 1), padding_option="zero").to(tl.float32)
    e = tl.load(tl.advance(pc, (0, 1)), boundary_check=(0, 1), padding_option="zero").to(tl.float32)
    k = tl.load(pk, boundary_check=(0, 1), padding_option="zero").to(tl.float32)
    dn, ds, dw, de = n - c, s - c, w - c, e - c
    inv = 1.0 / (k * k + 1e-3)
    upd = dn * tl.exp(-dn * dn * inv) + ds * tl.exp(-ds * ds * inv) + dw * tl.exp(-dw * dw * inv) + de * tl.exp(-de * de * inv)
    po = tl.make_block_ptr(out, (M, N), (N, 1), (pm * BM, pn * BN), (BM, BN), (1, 0))
    tl.store(po, (c + dt * upd).to(out.dtype.element_ty), boundary_check=(0, 1))


@case((4096, 4096), (2160, 3840))
def perona_malik(m, n):
    u = randn(m, n, dtype=f16); k = rand(m, n, dtype=f16); out = torch.empty_like(u)
    vardiff_kernel[(triton.cdiv(m, 16), triton.cdiv(n, 128))](u, k, out, m, n, 0.2, 16, 128)


# ---- Burgers, many independent 1d problems, several time steps with the row in registers (neighbours by gather)
@triton.jit
def burgers_rows(u_ptr, out_ptr, steps, lam, nu, N: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, N)
    u = tl.load(u_ptr + row * N + i)
    li = (i + N - 1) % N
    ri = (i + 1) % N
    for _ in range(steps):
        l = tl.gather(u, li, 0)
        r = tl.gather(u, ri, 0)
        adv = tl.where(u > 0, u * (u - l), u * (r - u))
        u = u - lam * adv + nu * (l - 2.0 * u + r)
    tl.store(out_ptr + row * N + i, u)


@case((8192, 1024, 8), (20000, 512, 10))
def burgers(b, n, steps):
    u = randn(b, n, dtype=f32); o = torch.empty_like(u)
    burgers_rows[(b,)](u, o, steps, 0.1, 0.05, N=n, num_warps=4)
