"""Black-Scholes, implied volatility, Monte Carlo (European, Asian, Heston), binomial tree, pi, random walks, Mandelbrot, Julia, ray marching, polynomials in fp64."""
from _common import *
import triton, triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def _cdf(x):
    return 0.5 * (1.0 + tl.erf(x * 0.7071067811865476))


@triton.jit
def black_scholes_kernel(S, K, T, call, put, r, sigma, n, BLOCK_SIZE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n
    s = tl.load(S + offs, mask=mask, other=1.0)
    k = tl.load(K + offs, mask=mask, other=1.0)
    t = tl.load(T + offs, mask=mask, other=1.0)
    sq = sigma * tl.sqrt(t)
    d1 = (tl.log(s / k) + (r + 0.5 * sigma * sigma) * t) / sq
    d2 = d1 - sq
    disc = k * tl.exp(-r * t)
    tl.store(call + offs, s * _cdf(d1) - disc * _cdf(d2), mask=mask)
    tl.store(put + offs, disc * _cdf(-d2) - s * _cdf(-d1), mask=mask)


@case((16000000, f32), (4000000, torch.float64))
def black_scholes(n, dt):
    s, k, t = rand(n, dtype=dt, lo=5, hi=30), rand(n, dtype=dt, lo=1, hi=100), rand(n, dtype=dt, lo=0.25, hi=10)
    c, p = torch.empty_like(s), torch.empty_like(s)
    black_scholes_kernel[(triton.cdiv(n, 1024),)](s, k, t, c, p, 0.02, 0.3, n, BLOCK_SIZE=1024)


# Newton with a while loop until the whole block has converged
@triton.jit
def implied_vol(price, S, K, T, vol, iters, r, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    p = tl.load(price + i, mask=m, other=0.0)
    s = tl.load(S + i, mask=m, other=1.0)
    k = tl.load(K + i, mask=m, other=1.0)
    t = tl.load(T + i, mask=m, other=1.0)
    sig = tl.full((BLOCK,), 0.3, tl.float32)
    err = 1.0
    it = 0
    while (err > 1e-4) & (it < 32):
        st = sig * tl.sqrt(t)
        d1 = (tl.log(s / k) + (r + 0.5 * sig * sig) * t) / st
        d2 = d1 - st
        model = s * _cdf(d1) - k * tl.exp(-r * t) * _cdf(d2)
        vega = s * tl.sqrt(t) * 0.3989422804 * tl.exp(-0.5 * d1 * d1)
        diff = tl.where(m, model - p, 0.0)
        sig = tl.clamp(sig - diff / tl.maximum(vega, 1e-3), 0.01, 3.0)
        err = tl.max(tl.abs(diff))
        it += 1
    tl.store(vol + i, sig, mask=m)
    tl.store(iters + tl.program_id(0), it)


@case(2000000, 500000)
def implied(n):
    s, k, t = rand(n, lo=80, hi=120), rand(n, lo=80, hi=120), rand(n, lo=0.25, hi=2)
    p = rand(n, lo=5, hi=25)
    implied_vol[(triton.cdiv(n, 256),)](p, s, k, t, torch.empty_like(p), zeros(triton.cdiv(n, 256), dtype=i32), 0.01, n, BLOCK=256, num_warps=4)


@triton.jit
def mc_asian(seed, payoff, s0, strike, drift, vol, n_paths, n_steps, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    path = pid * BLOCK + tl.arange(0, BLOCK)
    logs = tl.zeros((BLOCK,), dtype=tl.float32)
    avg = tl.zeros((BLOCK,), dtype=tl.float32)
    for step in range(0, n_steps, 4):
        z0, z1, z2, z3 = tl.randn4x(seed, path * (n_steps // 4) + step // 4)
        logs += drift + vol * z0
        avg += tl.exp(logs)
        logs += drift + vol * z1
        avg += tl.exp(logs)
        logs += drift + vol * z2
        avg += tl.exp(logs)
        logs += drift + vol * z3
        avg += tl.exp(logs)
    pay = tl.maximum(s0 * avg / n_steps - strike, 0.0)
    pay = tl.where(path < n_paths, pay, 0.0)
    tl.store(payoff + pid, tl.sum(pay, axis=0))


@case((1000000, 64), (200000, 252))
def asian(n, steps):
    o = zeros(triton.cdiv(n, 512), dtype=f32)
    mc_asian[(triton.cdiv(n, 512),)](42, o, 100.0, 100.0, 0.0001, 0.01, n, steps, BLOCK=512)


@triton.jit
def heston_paths(out_s, out_v, seed, n, steps, dt, kappa, theta, xi, rho, BLOCK: tl.constexpr):
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.zeros((BLOCK,), tl.float32)
    v = tl.full((BLOCK,), 0.04, tl.float32)
    sq = tl.sqrt(dt)
    orth = tl.sqrt(1.0 - rho * rho)
    for t in tl.range(steps):
        z1 = tl.randn(seed, 2 * (t * n + p))
        z2 = tl.randn(seed, 2 * (t * n + p) + 1)
        vp = tl.maximum(v, 0.0)
        sv = tl.sqrt(vp)
        x += -0.5 * vp * dt + sv * sq * z1
        v += kappa * (theta - vp) * dt + xi * sv * sq * (rho * z1 + orth * z2)
    tl.store(out_s + p, tl.exp(x), mask=p < n)
    tl.store(out_v + p, v, mask=p < n)


@case((262144, 100))
def heston(n, steps):
    heston_paths[(triton.cdiv(n, 128),)](zeros(n, dtype=f32), zeros(n, dtype=f32), 99, n, steps, 0.01, 1.5, 0.04, 0.3, -0.7, BLOCK=128)


# American put by a binomial tree held in one vector a program; the shift by a gather
@triton.jit
def binomial_american(S, K, out, r_dt, u, pu, steps, N: tl.constexpr):
    pid = tl.program_id(0)
    s0 = tl.load(S + pid)
    k = tl.load(K + pid)
    j = tl.arange(0, N)
    lu = tl.log(u)
    disc = tl.exp(-r_dt)
    v = tl.maximum(k - s0 * tl.exp(lu * (2 * j - steps).to(tl.float32)), 0.0)
    nxt = tl.minimum(j + 1, N - 1)
    for back in range(steps):
        level = steps - 1 - back
        up = tl.gather(v, nxt, 0)
        cont = disc * (pu * up + (1.0 - pu) * v)
        ex = k - s0 * tl.exp(lu * (2 * j - level).to(tl.float32))
        v = tl.maximum(cont, ex)
    tl.store(out + pid, tl.sum(tl.where(j == 0, v, 0.0)))


@case((4096, 250), (2048, 500))
def binomial(n, steps):
    s, k = rand(n, lo=80, hi=120), rand(n, lo=80, hi=120); o = torch.empty_like(s)
    binomial_american[(n,)](s, k, o, 0.0001, 1.01, 0.505, steps, N=triton.next_power_of_2(steps + 1), num_warps=1)


@triton.jit
def pi_kernel(count, seed, n_iter, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, BLOCK)
    hits = tl.zeros((BLOCK,), tl.int32)
    for i in range(n_iter):
        c = (pid * n_iter + i) * BLOCK + lane
        x0, y0, x1, y1 = tl.rand4x(seed, c)
        hits += ((x0 * x0 + y0 * y0) < 1.0).to(tl.int32)
        hits += ((x1 * x1 + y1 * y1) < 1.0).to(tl.int32)
    tl.atomic_add(count, tl.sum(hits).to(tl.int64))


@case(32, 200)
def pi(iters):
    pi_kernel[(132 * 8,)](zeros(1, dtype=i64), 7, iters, BLOCK=1024)


# random walks on a CSR graph, one walker a lane
@triton.jit
def graph_walk(row_ptr, col, starts, walks, n_walkers, length, seed, BLOCK: tl.constexpr):
    w = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = w < n_walkers
    v = tl.load(starts + w, mask=m, other=0)
    tl.store(walks + w, v, mask=m)
    for s in range(1, length):
        lo = tl.load(row_ptr + v, mask=m, other=0)
        hi = tl.load(row_ptr + v + 1, mask=m, other=0)
        deg = hi - lo
        u = tl.rand(seed, w * length + s)
        pick = lo + tl.minimum((u * deg).to(tl.int32), deg - 1)
        nxt = tl.load(col + pick, mask=m & (deg > 0), other=0)
        v = tl.where(deg > 0, nxt, v)
        tl.store(walks + s * n_walkers + w, v, mask=m)


@case((1000000, 16), (200000, 80))
def random_walks(n, length):
    nodes, deg = 500000, 12
    rp = (torch.arange(nodes + 1, device=DEV, dtype=i32) * deg); col = randint(0, nodes, nodes * deg, dtype=i32)
    graph_walk[(triton.cdiv(n, 256),)](rp, col, randint(0, nodes, n, dtype=i32), zeros(length, n, dtype=i32), n, length, 3, BLOCK=256)


@triton.jit
def mandelbrot_kernel(out, W, H, x0, y0, dx, dy, max_iter, BX: tl.constexpr, BY: tl.constexpr):
    px = tl.program_id(0) * BX + tl.arange(0, BX)[None, :]
    py = tl.program_id(1) * BY + tl.arange(0, BY)[:, None]
    cr = x0 + px.to(tl.float32) * dx + tl.zeros((BY, BX), tl.float32)
    ci = y0 + py.to(tl.float32) * dy + tl.zeros((BY, BX), tl.float32)
    zr = tl.zeros((BY, BX), tl.float32)
    zi = tl.zeros((BY, BX), tl.float32)
    n = tl.zeros((BY, BX), tl.int32)
    i = 0
    alive = 1
    while (i < max_iter) & (alive > 0):
        zr2 = zr * zr
        zi2 = zi * zi
        inside = (zr2 + zi2) <= 4.0
        zi = tl.where(inside, 2.0 * zr * zi + ci, zi)
        zr = tl.where(inside, zr2 - zi2 + cr, zr)
        n += inside.to(tl.int32)
        alive = tl.sum(tl.sum(inside.to(tl.int32), axis=1), axis=0)
        i += 1
    tl.store(out + py * W + px, n, mask=(px < W) & (py < H))


@case((2048, 2048, 256), (1920, 1080, 1000))
def mandelbrot(w, h, it):
    o = zeros(h, w, dtype=i32)
    mandelbrot_kernel[(triton.cdiv(w, 32), triton.cdiv(h, 8))](o, w, h, -2.0, -1.25, 2.5 / w, 2.5 / h, it, BX=32, BY=8, num_warps=2)


@triton.jit
def julia_fixed(out, n, width, cr, ci, ITERS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    zr = (i % width).to(tl.float64) * (3.0 / width) - 1.5
    zi = (i // width).to(tl.float64) * (3.0 / width) - 1.5
    cnt = tl.zeros((BLOCK,), tl.int32)
    for _ in range(ITERS):
        t = zr * zr - zi * zi + cr
        zi = 2.0 * zr * zi + ci
        zr = t
        ok = zr * zr + zi * zi < 4.0
        zr = tl.where(ok, zr, 2.0)
        zi = tl.where(ok, zi, 2.0)
        cnt = tl.where(ok, cnt + 1, cnt)
    tl.store(out + i, tl.minimum(cnt, 255).to(tl.uint8), mask=i < n)


@case(1024, 2000)
def julia(w):
    o = zeros(w, w, dtype=torch.uint8)
    julia_fixed[(triton.cdiv(w * w, 256),)](o, w * w, w, -0.8, 0.156, ITERS=100, BLOCK=256)


# sphere tracing of a small scene with a shaded result
@triton.jit
def _scene(x, y, z):
    s1 = tl.sqrt(x * x + y * y + (z - 3.0) * (z - 3.0)) - 1.0
    qx = tl.sqrt((x - 1.2) * (x - 1.2) + (z - 3.0) * (z - 3.0)) - 0.6
    tor = tl.sqrt(qx * qx + y * y) - 0.2
    d = tl.minimum(s1, tor)
    return tl.minimum(d, y + 1.0)


@triton.jit
def ray_march(img, W, H, BLOCK: tl.constexpr, MAX_STEPS: tl.constexpr):
    pix = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = pix < W * H
    u = ((pix % W).to(tl.float32) - 0.5 * W) / H
    v = (0.5 * H - (pix // W).to(tl.float32)) / H
    inv = tl.rsqrt(u * u + v * v + 1.0)
    dx, dy, dz = u * inv, v * inv, inv
    t = tl.zeros((BLOCK,), tl.float32)
    go = m
    k = 0
    n_active = 1
    while (k < MAX_STEPS) & (n_active > 0):
        d = _scene(dx * t, dy * t, dz * t)
        t = tl.where(go, t + d, t)
        go = go & (d > 1e-3) & (t < 20.0)
        n_active = tl.sum(go.to(tl.int32))
        k += 1
    px, py, pz = dx * t, dy * t, dz * t
    e = 1e-3
    nx = _scene(px + e, py, pz) - _scene(px - e, py, pz)
    ny = _scene(px, py + e, pz) - _scene(px, py - e, pz)
    nz = _scene(px, py, pz + e) - _scene(px, py, pz - e)
    il = tl.rsqrt(nx * nx + ny * ny + nz * nz + 1e-12)
    lam = tl.maximum((nx * 0.577 + ny * 0.577 - nz * 0.577) * il, 0.0)
    c = tl.where(t < 20.0, 0.1 + 0.9 * lam, 0.2)
    for ch in tl.static_range(3):
        tl.store(img + pix * 3 + ch, (c * (255.0 - 20.0 * ch)).to(tl.uint8), mask=m)


@case((1920, 1080), (3840, 2160))
def raymarch(w, h):
    ray_march[(triton.cdiv(w * h, 128),)](zeros(h, w, 3, dtype=torch.uint8), w, h, BLOCK=128, MAX_STEPS=96)


@triton.jit
def horner_fp64(x, c, y, n, DEG: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + i, mask=m, other=0.0)
    acc = tl.zeros((BLOCK,), tl.float64) + tl.load(c + DEG)
    for k in tl.static_range(DEG):
        acc = tl.fma(acc, v, tl.load(c + (DEG - 1 - k)) + tl.zeros((BLOCK,), tl.float64))
    tl.store(y + i, acc, mask=m)


@case((8000000, 15), (3000000, 30))
def horner(n, deg):
    x = rand(n, dtype=torch.float64); y = torch.empty_like(x)
    horner_fp64[(triton.cdiv(n, 512),)](x, randn(deg + 1, dtype=torch.float64), y, n, DEG=deg, BLOCK=512)
