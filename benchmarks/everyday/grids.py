"""SpMV in CSR, ELL and COO, 7- and 27-point stencils, lattice Boltzmann D2Q9, N-body with a cutoff, Thomas and PCR, FFT of radix 2 and 4."""
from _common import *
import triton
import triton.language as tl


@triton.jit
def spmv_csr_kernel(row_ptr, col_idx, vals, x, y, n_rows, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    start = tl.load(row_ptr + row)
    end = tl.load(row_ptr + row + 1)
    acc = tl.zeros([BLOCK], dtype=tl.float64)
    for k in range(start, end, BLOCK):
        offs = k + tl.arange(0, BLOCK)
        m = offs < end
        c = tl.load(col_idx + offs, mask=m, other=0)
        v = tl.load(vals + offs, mask=m, other=0.0)
        acc += v * tl.load(x + c, mask=m, other=0.0)
    tl.store(y + row, tl.sum(acc, axis=0))


@case((500000, 27), (100000, 200))
def spmv_csr(n, per_row):
    rp = torch.arange(0, n * per_row + 1, per_row, device=DEV, dtype=i32)
    col = randint(0, n, n * per_row, dtype=i32)
    v, x, y = randn(n * per_row, dtype=torch.float64), randn(n, dtype=torch.float64), zeros(n, dtype=torch.float64)
    spmv_csr_kernel[(n,)](rp, col, v, x, y, n, BLOCK=triton.next_power_of_2(min(per_row, 128)), num_warps=1)


@triton.jit
def spmv_ell_kernel(cols, vals, x, y, alpha, beta, n, stride, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    # column-major ELL: entry j of row r lies at j * stride + r; -1 pads
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = r < n
    acc = tl.zeros([BLOCK], tl.float32)
    for j in tl.static_range(WIDTH):
        c = tl.load(cols + j * stride + r, mask=ok, other=-1)
        v = tl.load(vals + j * stride + r, mask=ok, other=0.0)
        acc = tl.where(c >= 0, acc + v * tl.load(x + c, mask=ok & (c >= 0), other=0.0), acc)
    old = tl.load(y + r, mask=ok)
    tl.store(y + r, alpha * acc + beta * old, mask=ok)


@triton.jit
def spmv_coo_atomic_kernel(rows, cols, vals, x, y, nnz, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < nnz
    r = tl.load(rows + i, mask=m, other=0)
    c = tl.load(cols + i, mask=m, other=0)
    prod = tl.load(vals + i, mask=m, other=0.0) * tl.load(x + c, mask=m, other=0.0)
    tl.atomic_add(y + r, prod, mask=m, sem="relaxed")


@case((1 << 20, 16), (3000001, 7))
def spmv_ell_coo(n, width):
    cols, vals = randint(-1, n, width, n, dtype=i32), randn(width, n, dtype=f32)
    x, y = randn(n, dtype=f32), zeros(n, dtype=f32)
    spmv_ell_kernel[(triton.cdiv(n, 256),)](cols, vals, x, y, 1.0, 0.5, n, n, WIDTH=width, BLOCK=256)
    nnz = 4 * n
    rows, cc, vv = randint(0, n, nnz), randint(0, n, nnz), randn(nnz, dtype=f32)
    spmv_coo_atomic_kernel[(triton.cdiv(nnz, 1024),)](rows, cc, vv, x, y, nnz, BLOCK=1024)


@triton.jit
def heat7_kernel(u, out, nx, ny, nz, alpha, BX: tl.constexpr, BY: tl.constexpr):
    # marches along z keeping three planes in registers
    ix = tl.program_id(0) * BX + tl.arange(0, BX)
    iy = tl.program_id(1) * BY + tl.arange(0, BY)
    plane = nx * ny
    inside = (ix[None, :] > 0) & (ix[None, :] < nx - 1) & (iy[:, None] > 0) & (iy[:, None] < ny - 1)
    ib = (ix[None, :] < nx) & (iy[:, None] < ny)
    off = iy[:, None] * nx + ix[None, :]
    below = tl.load(u + off, mask=ib, other=0.0)
    cur = tl.load(u + plane + off, mask=ib, other=0.0)
    for z in range(1, nz - 1):
        base = u + z * plane + off
        above = tl.load(base + plane, mask=ib, other=0.0)
        s = tl.load(base - 1, mask=inside, other=0.0) + tl.load(base + 1, mask=inside, other=0.0)
        s += tl.load(base - nx, mask=inside, other=0.0) + tl.load(base + nx, mask=inside, other=0.0)
        tl.store(out + z * plane + off, cur + alpha * (s + above + below - 6.0 * cur), mask=inside)
        below = cur
        cur = above


@triton.jit
def stencil27_kernel(u, coef, out, nx, ny, nz, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = i % nx
    y = (i // nx) % ny
    z = i // (nx * ny)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for dz in range(-1, 2):
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                ok = (x + dx >= 0) & (x + dx < nx) & (y + dy >= 0) & (y + dy < ny) & (z + dz >= 0) & (z + dz < nz) & (i < n)
                v = tl.load(u + i + dz * nx * ny + dy * nx + dx, mask=ok, other=0.0)
                acc += tl.load(coef + (dz + 1) * 9 + (dy + 1) * 3 + dx + 1) * v
    tl.store(out + i, acc, mask=i < n)


@case((256, 256, 256), (500, 300, 100))
def stencils_3d(nx, ny, nz):
    u = randn(nz, ny, nx, dtype=f32)
    o = torch.empty_like(u)
    heat7_kernel[(triton.cdiv(nx, 64), triton.cdiv(ny, 4))](u, o, nx, ny, nz, 0.1, BX=64, BY=4, num_warps=2)
    stencil27_kernel[(triton.cdiv(nx * ny * nz, 512),)](u, randn(27, dtype=f32), o, nx, ny, nz, nx * ny * nz, BLOCK=512)


@triton.jit
def _feq(rho, cu, usq, w):
    return w * rho * (1.0 + 3.0 * cu + 4.5 * cu * cu - 1.5 * usq)


@triton.jit
def lbm_d2q9_kernel(f_in, f_out, solid, nx, ny, omega, BLOCK: tl.constexpr):
    """pull scheme, BGK, periodic, bounce-back in solid cells"""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = nx * ny
    m = i < n
    x = i % nx
    y = i // nx
    xl = (x + nx - 1) % nx
    xr = (x + 1) % nx
    yd = (y + ny - 1) % ny
    yu = (y + 1) % ny
    f0 = tl.load(f_in + i, mask=m)
    f1 = tl.load(f_in + n + y * nx + xl, mask=m)
    f2 = tl.load(f_in + 2 * n + yd * nx + x, mask=m)
    f3 = tl.load(f_in + 3 * n + y * nx + xr, mask=m)
    f4 = tl.load(f_in + 4 * n + yu * nx + x, mask=m)
    f5 = tl.load(f_in + 5 * n + yd * nx + xl, mask=m)
    f6 = tl.load(f_in + 6 * n + yd * nx + xr, mask=m)
    f7 = tl.load(f_in + 7 * n + yu * nx + xr, mask=m)
    f8 = tl.load(f_in + 8 * n + yu * nx + xl, mask=m)
    s = tl.load(solid + i, mask=m, other=0) != 0
    rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8
    ux = (f1 + f5 + f8 - f3 - f6 - f7) / rho
    uy = (f2 + f5 + f6 - f4 - f7 - f8) / rho
    usq = ux * ux + uy * uy
    g0 = f0 + omega * (_feq(rho, 0.0 * ux, usq, 4.0 / 9.0) - f0)
    g1 = f1 + omega * (_feq(rho, ux, usq, 1.0 / 9.0) - f1)
    g2 = f2 + omega * (_feq(rho, uy, usq, 1.0 / 9.0) - f2)
    g3 = f3 + omega * (_feq(rho, -ux, usq, 1.0 / 9.0) - f3)
    g4 = f4 + omega * (_feq(rho, -uy, usq, 1.0 / 9.0) - f4)
    g5 = f5 + omega * (_feq(rho, ux + uy, usq, 1.0 / 36.0) - f5)
    g6 = f6 + omega * (_feq(rho, uy - ux, usq, 1.0 / 36.0) - f6)
    g7 = f7 + omega * (_feq(rho, -ux - uy, usq, 1.0 / 36.0) - f7)
    g8 = f8 + omega * (_feq(rho, ux - uy, usq, 1.0 / 36.0) - f8)
    tl.store(f_out + i, tl.where(s, f0, g0), mask=m)
    tl.store(f_out + n + i, tl.where(s, f3, g1), mask=m)
    tl.store(f_out + 2 * n + i, tl.where(s, f4, g2), mask=m)
    tl.store(f_out + 3 * n + i, tl.where(s, f1, g3), mask=m)
    tl.store(f_out + 4 * n + i, tl.where(s, f2, g4), mask=m)
    tl.store(f_out + 5 * n + i, tl.where(s, f7, g5), mask=m)
    tl.store(f_out + 6 * n + i, tl.where(s, f8, g6), mask=m)
    tl.store(f_out + 7 * n + i, tl.where(s, f5, g7), mask=m)
    tl.store(f_out + 8 * n + i, tl.where(s, f6, g8), mask=m)


@case((2048, 2048), (1000, 600))
def lattice_boltzmann(nx, ny):
    f = rand(9, ny, nx, lo=0.1, hi=0.2)
    g = torch.empty_like(f)
    solid = randint(0, 2, ny, nx, dtype=torch.int8)
    lbm_d2q9_kernel[(triton.cdiv(nx * ny, 128),)](f, g, solid, nx, ny, 1.7, BLOCK=128)


@triton.jit
def nbody_cutoff_kernel(pos, mass, acc_out, pot_out, n, rc2, eps2, BI: tl.constexpr, BJ: tl.constexpr):
    i = tl.program_id(0) * BI + tl.arange(0, BI)
    mi = i < n
    xi = tl.load(pos + i * 3, mask=mi, other=0.0)
    yi = tl.load(pos + i * 3 + 1, mask=mi, other=0.0)
    zi = tl.load(pos + i * 3 + 2, mask=mi, other=0.0)
    ax = tl.zeros([BI], tl.float32)
    ay = tl.zeros([BI], tl.float32)
    az = tl.zeros([BI], tl.float32)
    pot = tl.zeros([BI], tl.float32)
    for j0 in range(0, n, BJ):
        j = j0 + tl.arange(0, BJ)
        mj = j < n
        dx = tl.load(pos + j * 3, mask=mj, other=0.0)[None, :] - xi[:, None]
        dy = tl.load(pos + j * 3 + 1, mask=mj, other=0.0)[None, :] - yi[:, None]
        dz = tl.load(pos + j * 3 + 2, mask=mj, other=0.0)[None, :] - zi[:, None]
        m = tl.load(mass + j, mask=mj, other=0.0)
        r2 = dx * dx + dy * dy + dz * dz
        inv = tl.rsqrt(r2 + eps2)
        w = tl.where((r2 < rc2) & (i[:, None] != j[None, :]), m[None, :] * inv, 0.0)
        pot -= tl.sum(w, 1)
        w = w * inv * inv
        ax += tl.sum(w * dx, 1)
        ay += tl.sum(w * dy, 1)
        az += tl.sum(w * dz, 1)
    tl.store(acc_out + i * 3, ax, mask=mi)
    tl.store(acc_out + i * 3 + 1, ay, mask=mi)
    tl.store(acc_out + i * 3 + 2, az, mask=mi)
    tl.store(pot_out + i, pot, mask=mi)


@case((16384,), (5000,))
def nbody_cutoff(n):
    pos, mass = rand(n, 3), rand(n)
    nbody_cutoff_kernel[(triton.cdiv(n, 32),)](pos, mass, torch.empty_like(pos), torch.empty_like(mass), n, 0.04, 1e-6, BI=32, BJ=64, num_warps=4)


@triton.jit
def thomas_kernel(a, b, c, d, cp, x, nsys, n, BLOCK: tl.constexpr):
    # one system a lane, interleaved: element k of system s at k * nsys + s; cp is scratch
    s = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = s < nsys
    bb = tl.load(b + s, mask=m, other=1.0)
    cc = tl.load(c + s, mask=m, other=0.0) / bb
    dd = tl.load(d + s, mask=m, other=0.0) / bb
    tl.store(cp + s, cc, mask=m)
    tl.store(x + s, dd, mask=m)
    for k in range(1, n):
        o = k * nsys + s
        ak = tl.load(a + o, mask=m, other=0.0)
        inv = 1.0 / (tl.load(b + o, mask=m, other=1.0) - ak * cc)
        cc = tl.load(c + o, mask=m, other=0.0) * inv
        dd = (tl.load(d + o, mask=m, other=0.0) - ak * dd) * inv
        tl.store(cp + o, cc, mask=m)
        tl.store(x + o, dd, mask=m)
    k = n - 2
    while k >= 0:
        o = k * nsys + s
        dd = tl.load(x + o, mask=m, other=0.0) - tl.load(cp + o, mask=m, other=0.0) * dd
        tl.store(x + o, dd, mask=m)
        k -= 1


@triton.jit
def pcr_step_kernel(a, b, c, d, a2, b2, c2, d2, n, nsys, step, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.program_id(1) * n
    m = i < n
    lo = m & (i - step >= 0)
    hi = m & (i + step < n)
    ai = tl.load(a + row + i, mask=m, other=0.0)
    bi = tl.load(b + row + i, mask=m, other=1.0)
    ci = tl.load(c + row + i, mask=m, other=0.0)
    di = tl.load(d + row + i, mask=m, other=0.0)
    k1 = ai / tl.load(b + row + i - step, mask=lo, other=1.0)
    k2 = ci / tl.load(b + row + i + step, mask=hi, other=1.0)
    tl.store(a2 + row + i, -tl.load(a + row + i - step, mask=lo, other=0.0) * k1, mask=m)
    tl.store(b2 + row + i, bi - tl.load(c + row + i - step, mask=lo, other=0.0) * k1 - tl.load(a + row + i + step, mask=hi, other=0.0) * k2, mask=m)
    tl.store(c2 + row + i, -tl.load(c + row + i + step, mask=hi, other=0.0) * k2, mask=m)
    tl.store(d2 + row + i, di - tl.load(d + row + i - step, mask=lo, other=0.0) * k1 - tl.load(d + row + i + step, mask=hi, other=0.0) * k2, mask=m)


@case((65536, 128), (8192, 500))
def tridiagonal(nsys, n):
    a, c, d = [randn(n, nsys, dtype=f32) for _ in range(3)]
    b = rand(n, nsys, lo=4.0, hi=6.0)
    cp, x = torch.empty_like(a), torch.empty_like(a)
    thomas_kernel[(triton.cdiv(nsys, 64),)](a, b, c, d, cp, x, nsys, n, BLOCK=64, num_warps=2)
    out = [torch.empty_like(a) for _ in range(4)]
    pcr_step_kernel[(triton.cdiv(n, 128), 8192)](a, b, c, d, *out, n, 8192, 4, BLOCK=128)


@triton.jit
def fft_radix2_stage_kernel(re, im, half, n, BLOCK: tl.constexpr):
    # in-place decimation-in-time butterfly for one stage; bit reversal done before
    t = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    batch = tl.program_id(1).to(tl.int64)
    k = t % half
    i = (t // half) * 2 * half + k
    j = i + half
    ang = -3.141592653589793 * k.to(tl.float32) / half
    wr = tl.cos(ang)
    wi = tl.sin(ang)
    mk = t < n // 2
    base = batch * n
    ar = tl.load(re + base + i, mask=mk)
    ai = tl.load(im + base + i, mask=mk)
    br = tl.load(re + base + j, mask=mk)
    bi = tl.load(im + base + j, mask=mk)
    tr = br * wr - bi * wi
    ti = br * wi + bi * wr
    tl.store(re + base + i, ar + tr, mask=mk)
    tl.store(im + base + i, ai + ti, mask=mk)
    tl.store(re + base + j, ar - tr, mask=mk)
    tl.store(im + base + j, ai - ti, mask=mk)


@case((4096, 4096))
def fft_radix2(n, batch):
    re, im = randn(batch, n, dtype=f32), randn(batch, n, dtype=f32)
    for half in (1, 8, 64, 2048):
        fft_radix2_stage_kernel[(n // 2 // 512, batch)](re, im, half, n, BLOCK=512)


@triton.jit
def fft_radix4_kernel(x, y, tw, n, s, BLOCK: tl.constexpr):
    # Stockham, radix 4, interleaved complex; s = stride of this pass
    t = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    q = n // 4
    p = t // s
    r = t % s
    m = t < q
    x += tl.program_id(1) * n * 2
    y += tl.program_id(1) * n * 2
    ar = tl.load(x + 2 * t, mask=m)
    ai = tl.load(x + 2 * t + 1, mask=m)
    br = tl.load(x + 2 * (t + q), mask=m)
    bi = tl.load(x + 2 * (t + q) + 1, mask=m)
    cr = tl.load(x + 2 * (t + 2 * q), mask=m)
    ci = tl.load(x + 2 * (t + 2 * q) + 1, mask=m)
    dr = tl.load(x + 2 * (t + 3 * q), mask=m)
    di = tl.load(x + 2 * (t + 3 * q) + 1, mask=m)
    w1r = tl.load(tw + 2 * p * s, mask=m)
    w1i = tl.load(tw + 2 * p * s + 1, mask=m)
    w2r = w1r * w1r - w1i * w1i
    w2i = 2 * w1r * w1i
    w3r = w2r * w1r - w2i * w1i
    w3i = w2r * w1i + w2i * w1r
    apcr = ar + cr
    apci = ai + ci
    amcr = ar - cr
    amci = ai - ci
    bpdr = br + dr
    bpdi = bi + di
    jr = bi - di
    ji = dr - br
    o = p * 4 * s + r
    tl.store(y + 2 * o, apcr + bpdr, mask=m)
    tl.store(y + 2 * o + 1, apci + bpdi, mask=m)
    er = amcr + jr
    ei = amci + ji
    tl.store(y + 2 * (o + s), er * w1r - ei * w1i, mask=m)
    tl.store(y + 2 * (o + s) + 1, er * w1i + ei * w1r, mask=m)
    er = apcr - bpdr
    ei = apci - bpdi
    tl.store(y + 2 * (o + 2 * s), er * w2r - ei * w2i, mask=m)
    tl.store(y + 2 * (o + 2 * s) + 1, er * w2i + ei * w2r, mask=m)
    er = amcr - jr
    ei = amci - ji
    tl.store(y + 2 * (o + 3 * s), er * w3r - ei * w3i, mask=m)
    tl.store(y + 2 * (o + 3 * s) + 1, er * w3i + ei * w3r, mask=m)


@case((4096, 2048), (65536, 64))
def fft_radix4(n, batch):
    x, tw = randn(batch, n, 2, dtype=f32), randn(n, 2, dtype=f32)
    y = torch.empty_like(x)
    s = 1
    while s < n:
        fft_radix4_kernel[(triton.cdiv(n // 4, 256), batch)](x, y, tw, n, s, BLOCK=256)
        x, y = y, x
        s *= 4
