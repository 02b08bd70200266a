"""Particles: all-pairs n-body, Lennard-Jones by neighbour list, PIC deposit and push, RDF histogram, FEM assembly, quaternions, harmonics, tables."""
from _common import *
import triton, triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def nbody_forces(pos_ptr, mass_ptr, acc_ptr, n, eps2, BI: tl.constexpr, BJ: tl.constexpr):
    i = tl.program_id(0) * BI + tl.arange(0, BI)
    mi = i < n
    xi = tl.load(pos_ptr + i * 3 + 0, mask=mi, other=0.0)
    yi = tl.load(pos_ptr + i * 3 + 1, mask=mi, other=0.0)
    zi = tl.load(pos_ptr + i * 3 + 2, mask=mi, other=0.0)
    ax = tl.zeros((BI,), tl.float32)
    ay = tl.zeros((BI,), tl.float32)
    az = tl.zeros((BI,), tl.float32)
    for j0 in range(0, n, BJ):
        j = j0 + tl.arange(0, BJ)
        mj = j < n
        xj = tl.load(pos_ptr + j * 3 + 0, mask=mj, other=0.0)
        yj = tl.load(pos_ptr + j * 3 + 1, mask=mj, other=0.0)
        zj = tl.load(pos_ptr + j * 3 + 2, mask=mj, other=0.0)
        m = tl.load(mass_ptr + j, mask=mj, other=0.0)
        dx = xj[None, :] - xi[:, None]
        dy = yj[None, :] - yi[:, None]
        dz = zj[None, :] - zi[:, None]
        r2 = dx * dx + dy * dy + dz * dz + eps2
        inv = tl.rsqrt(r2)
        w = m[None, :] * inv * inv * inv
        ax += tl.sum(w * dx, axis=1)
        ay += tl.sum(w * dy, axis=1)
        az += tl.sum(w * dz, axis=1)
    tl.store(acc_ptr + i * 3 + 0, ax, mask=mi)
    tl.store(acc_ptr + i * 3 + 1, ay, mask=mi)
    tl.store(acc_ptr + i * 3 + 2, az, mask=mi)


@case(16384, 30000)
def nbody(n):
    p = randn(n, 3, dtype=f32); m = rand(n); a = torch.empty_like(p)
    nbody_forces[(triton.cdiv(n, 32),)](p, m, a, n, 1e-3, BI=32, BJ=64, num_warps=4)


# one body a lane, the others as scalars, structure of arrays
@triton.jit
def nbody_scalar_j(x, y, z, gm, phi, n, soft, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    xi = tl.load(x + i, ok)
    yi = tl.load(y + i, ok)
    zi = tl.load(z + i, ok)
    pot = tl.zeros_like(xi)
    for j in range(n):
        dx = tl.load(x + j) - xi
        dy = tl.load(y + j) - yi
        dz = tl.load(z + j) - zi
        r = tl.sqrt(dx * dx + dy * dy + dz * dz + soft)
        pot -= tl.load(gm + j) / r
    tl.store(phi + i, pot, ok)


@case(8192, 12000)
def potential(n):
    x, y, z, g = (rand(n) for _ in range(4)); phi = torch.empty_like(x)
    nbody_scalar_j[(triton.cdiv(n, 64),)](x, y, z, g, phi, n, 1e-4, BLOCK=64, num_warps=2)


@triton.jit
def lj_neighbor_kernel(pos, neigh, n_neigh, force, energy, n_atoms, max_neigh, box, eps, sigma2, cutoff2, BLOCK: tl.constexpr):
    a = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = a < n_atoms
    px = tl.load(pos + a * 4, mask=live, other=0.0)
    py = tl.load(pos + a * 4 + 1, mask=live, other=0.0)
    pz = tl.load(pos + a * 4 + 2, mask=live, other=0.0)
    cnt = tl.load(n_neigh + a, mask=live, other=0)
    fx = tl.zeros((BLOCK,), tl.float32)
    fy = tl.zeros((BLOCK,), tl.float32)
    fz = tl.zeros((BLOCK,), tl.float32)
    e = tl.zeros((BLOCK,), tl.float32)
    top = tl.max(cnt, axis=0)
    for k in range(0, top):
        mk = k < cnt
        j = tl.load(neigh + k * n_atoms + a, mask=mk, other=0)
        dx = px - tl.load(pos + j * 4, mask=mk, other=0.0)
        dy = py - tl.load(pos + j * 4 + 1, mask=mk, other=0.0)
        dz = pz - tl.load(pos + j * 4 + 2, mask=mk, other=0.0)
        dx -= box * libdevice.rint(dx / box)
        dy -= box * libdevice.rint(dy / box)
        dz -= box * libdevice.rint(dz / box)
        r2 = dx * dx + dy * dy + dz * dz
        use = mk & (r2 < cutoff2) & (r2 > 0.0)
        ir2 = tl.where(use, 1.0 / r2, 0.0)
        s6 = sigma2 * ir2
        s6 = s6 * s6 * s6
        ff = 24.0 * eps * ir2 * s6 * (2.0 * s6 - 1.0)
        e += 2.0 * eps * s6 * (s6 - 1.0)
        fx += ff * dx
        fy += ff * dy
        fz += ff * dz
    tl.store(force + a * 4, fx, mask=live)
    tl.store(force + a * 4 + 1, fy, mask=live)
    tl.store(force + a * 4 + 2, fz, mask=live)
    tl.store(energy + a, e, mask=live)


@case((100000, 96), (262144, 64))
def lennard_jones(n, k):
    pos = rand(n, 4, hi=50.0)
    # neighbours close in index, as after a spatial sort
    neigh = (torch.arange(n, device=DEV, dtype=i64)[None, :] + randint(-200, 200, k, n)) % n
    neigh = neigh.to(i32); cnt = randint(k // 2, k + 1, n, dtype=i32)
    f = torch.empty_like(pos); e = zeros(n, dtype=f32)
    lj_neighbor_kernel[(triton.cdiv(n, 128),)](pos, neigh, cnt, f, e, n, k, 50.0, 1.0, 1.0, 6.25, BLOCK=128)


# cloud-in-cell charge deposit with atomics
@triton.jit
def pic_deposit(px, py, q, rho, n_part, nx, ny, inv_h, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n_part
    x = tl.load(px + i, mask=m, other=0.0) * inv_h
    y = tl.load(py + i, mask=m, other=0.0) * inv_h
    w = tl.load(q + i, mask=m, other=0.0)
    fx = tl.floor(x)
    fy = tl.floor(y)
    ix = fx.to(tl.int32)
    iy = fy.to(tl.int32)
    tx = x - fx
    ty = y - fy
    ix1 = (ix + 1) % nx
    iy1 = (iy + 1) % ny
    tl.atomic_add(rho + iy * nx + ix, w * (1 - tx) * (1 - ty), mask=m, sem="relaxed")
    tl.atomic_add(rho + iy * nx + ix1, w * tx * (1 - ty), mask=m, sem="relaxed")
    tl.atomic_add(rho + iy1 * nx + ix, w * (1 - tx) * ty, mask=m, sem="relaxed")
    tl.atomic_add(rho + iy1 * nx + ix1, w * tx * ty, mask=m, sem="relaxed")


@case((4000000, 512), (1000000, 256))
def deposit(n, g):
    x, y, q = rand(n, hi=0.999), rand(n, hi=0.999), rand(n); rho = zeros(g, g, dtype=f32)
    pic_deposit[(triton.cdiv(n, 1024),)](x, y, q, rho, n, g, g, float(g), BLOCK=1024, num_warps=8)


# Boris push, fields gathered with trilinear weights from a [nz, ny, nx, 8] array (E, B and two pads)
@triton.jit
def _gather_field(f, comp: tl.constexpr, base, sx, sy, sz, wx, wy, wz, m):
    acc = tl.zeros_like(wx)
    for c in tl.static_range(8):
        w = (wx if c % 2 else 1.0 - wx) * (wy if (c // 2) % 2 else 1.0 - wy) * (wz if c // 4 else 1.0 - wz)
        acc += w * tl.load(f + (base + (c % 2) * sx + ((c // 2) % 2) * sy + (c // 4) * sz) * 8 + comp, mask=m, other=0.0)
    return acc


@triton.jit
def boris_push(pos, vel, fields, n, g, qmdt2, dt, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    x = tl.load(pos + i, mask=m, other=0.0)
    y = tl.load(pos + n + i, mask=m, other=0.0)
    z = tl.load(pos + 2 * n + i, mask=m, other=0.0)
    ix = tl.minimum(x.to(tl.int32), g - 2)
    iy = tl.minimum(y.to(tl.int32), g - 2)
    iz = tl.minimum(z.to(tl.int32), g - 2)
    wx = x - ix
    wy = y - iy
    wz = z - iz
    base = (iz * g + iy) * g + ix
    ex = _gather_field(fields, 0, base, 1, g, g * g, wx, wy, wz, m) * qmdt2
    ey = _gather_field(fields, 1, base, 1, g, g * g, wx, wy, wz, m) * qmdt2
    ez = _gather_field(fields, 2, base, 1, g, g * g, wx, wy, wz, m) * qmdt2
    tx = _gather_field(fields, 3, base, 1, g, g * g, wx, wy, wz, m) * qmdt2
    ty = _gather_field(fields, 4, base, 1, g, g * g, wx, wy, wz, m) * qmdt2
    tz = _gather_field(fields, 5, base, 1, g, g * g, wx, wy, wz, m) * qmdt2
    vx = tl.load(vel + i, mask=m, other=0.0) + ex
    vy = tl.load(vel + n + i, mask=m, other=0.0) + ey
    vz = tl.load(vel + 2 * n + i, mask=m, other=0.0) + ez
    s = 2.0 / (1.0 + tx * tx + ty * ty + tz * tz)
    ux = vx + vy * tz - vz * ty
    uy = vy + vz * tx - vx * tz
    uz = vz + vx * ty - vy * tx
    vx += s * (uy * tz - uz * ty) + ex
    vy += s * (uz * tx - ux * tz) + ey
    vz += s * (ux * ty - uy * tx) + ez
    tl.store(vel + i, vx, mask=m)
    tl.store(vel + n + i, vy, mask=m)
    tl.store(vel + 2 * n + i, vz, mask=m)
    lim = g - 1.001
    tl.store(pos + i, tl.clamp(x + dt * vx, 0.0, lim), mask=m)
    tl.store(pos + n + i, tl.clamp(y + dt * vy, 0.0, lim), mask=m)
    tl.store(pos + 2 * n + i, tl.clamp(z + dt * vz, 0.0, lim), mask=m)


@case((1000000, 64))
def push(n, g):
    pos = rand(3, n, hi=g - 1.01); vel = randn(3, n, dtype=f32); fld = randn(g, g, g, 8, dtype=f32)
    boris_push[(triton.cdiv(n, 128),)](pos, vel, fld, n, g, 0.05, 0.1, BLOCK=128)


# pair-distance histogram (RDF): a tile of pairs into bins
@triton.jit
def rdf_kernel(xyz, hist, n, inv_dr, NB: tl.constexpr, B: tl.constexpr):
    bi = tl.program_id(0)
    bj = tl.program_id(1)
    if bj < bi:
        return
    i = bi * B + tl.arange(0, B)
    j = bj * B + tl.arange(0, B)
    d2 = tl.zeros((B, B), dtype=tl.float32)
    for d in tl.static_range(3):
        a = tl.load(xyz + d * n + i, mask=i < n, other=0.0)
        b = tl.load(xyz + d * n + j, mask=j < n, other=0.0)
        t = a[:, None] - b[None, :]
        t = t - tl.floor(t + 0.5)
        d2 += t * t
    bin_ = (tl.sqrt(d2) * inv_dr).to(tl.int32)
    good = (i[:, None] < j[None, :]) & (j[None, :] < n) & (bin_ < NB)
    h = tl.histogram(tl.reshape(bin_, (B * B,)), NB, mask=tl.reshape(good, (B * B,)))
    tl.atomic_add(hist + tl.arange(0, NB), h)


@case(8192, 20000)
def rdf(n):
    p = rand(3, n); h = zeros(256, dtype=i32)
    g = triton.cdiv(n, 64)
    rdf_kernel[(g, g)](p, h, n, 512.0, NB=256, B=64)


# linear triangles: element stiffness and scatter of K*u by atomics, fp64
@triton.jit
def fem_apply(nodes, tri, u, y, n_elem, BLOCK: tl.constexpr):
    e = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = e < n_elem
    a = tl.load(tri + 3 * e, mask=m, other=0)
    b = tl.load(tri + 3 * e + 1, mask=m, other=0)
    c = tl.load(tri + 3 * e + 2, mask=m, other=0)
    xa, ya = tl.load(nodes + 2 * a, mask=m), tl.load(nodes + 2 * a + 1, mask=m)
    xb, yb = tl.load(nodes + 2 * b, mask=m), tl.load(nodes + 2 * b + 1, mask=m)
    xc, yc = tl.load(nodes + 2 * c, mask=m), tl.load(nodes + 2 * c + 1, mask=m)
    b0, b1, b2 = yb - yc, yc - ya, ya - yb
    c0, c1, c2 = xc - xb, xa - xc, xb - xa
    area2 = b1 * c2 - b2 * c1
    s = 0.5 / (tl.abs(area2) + 1e-12)
    ua, ub, uc = tl.load(u + a, mask=m), tl.load(u + b, mask=m), tl.load(u + c, mask=m)
    gx = b0 * ua + b1 * ub + b2 * uc
    gy = c0 * ua + c1 * ub + c2 * uc
    tl.atomic_add(y + a, s * (b0 * gx + c0 * gy), mask=m)
    tl.atomic_add(y + b, s * (b1 * gx + c1 * gy), mask=m)
    tl.atomic_add(y + c, s * (b2 * gx + c2 * gy), mask=m)


@case((1000000, 2000000))
def fem(nodes, elems):
    xy = rand(nodes, 2, dtype=torch.float64); u = rand(nodes, dtype=torch.float64); y = zeros(nodes, dtype=torch.float64)
    tri = (torch.arange(elems, device=DEV)[:, None] // 2 + randint(0, 1000, elems, 3)) % nodes
    fem_apply[(triton.cdiv(elems, 256),)](xy, tri, u, y, elems, BLOCK=256)


@triton.jit
def quat_rotate(q_ptr, v_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    q = tl.load(q_ptr + i[:, None] * 4 + tl.arange(0, 4)[None, :], mask=m[:, None], other=0.0)
    q = q / tl.sqrt(tl.sum(q * q, axis=1, keep_dims=True) + 1e-12)
    qa, qb = tl.split(tl.reshape(q, (BLOCK, 2, 2)))
    w, y = tl.split(qa)
    x, z = tl.split(qb)
    vx = tl.load(v_ptr + i * 3, mask=m)
    vy = tl.load(v_ptr + i * 3 + 1, mask=m)
    vz = tl.load(v_ptr + i * 3 + 2, mask=m)
    tx = 2 * (y * vz - z * vy)
    ty = 2 * (z * vx - x * vz)
    tz = 2 * (x * vy - y * vx)
    tl.store(o_ptr + i * 3, vx + w * tx + y * tz - z * ty, mask=m)
    tl.store(o_ptr + i * 3 + 1, vy + w * ty + z * tx - x * tz, mask=m)
    tl.store(o_ptr + i * 3 + 2, vz + w * tz + x * ty - y * tx, mask=m)


@case(4000000, 1234567)
def quaternions(n):
    q = randn(n, 4, dtype=f32); v = randn(n, 3, dtype=f32); o = torch.empty_like(v)
    quat_rotate[(triton.cdiv(n, 256),)](q, v, o, n, BLOCK=256)


# spherical harmonics to degree 3 and the colour of a gaussian splat: 16 coefficients x 3 channels, half
@triton.jit
def sh_color(dirs, coef, rgb, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    x = tl.load(dirs + 3 * i, mask=m, other=1.0)
    y = tl.load(dirs + 3 * i + 1, mask=m, other=0.0)
    z = tl.load(dirs + 3 * i + 2, mask=m, other=0.0)
    r = tl.rsqrt(x * x + y * y + z * z)
    x *= r
    y *= r
    z *= r
    xx, yy, zz = x * x, y * y, z * z
    for ch in tl.static_range(3):
        c = coef + i * 48 + ch
        v = 0.28209479 * tl.load(c, mask=m, other=0.0).to(tl.float32)
        v += 0.48860251 * (-y * tl.load(c + 3, mask=m, other=0.0) + z * tl.load(c + 6, mask=m, other=0.0) - x * tl.load(c + 9, mask=m, other=0.0))
        v += 1.09254843 * (x * y * tl.load(c + 12, mask=m, other=0.0) - y * z * tl.load(c + 15, mask=m, other=0.0) - x * z * tl.load(c + 21, mask=m, other=0.0))
        v += 0.31539156 * (2.0 * zz - xx - yy) * tl.load(c + 18, mask=m, other=0.0)
        v += 0.54627421 * (xx - yy) * tl.load(c + 24, mask=m, other=0.0)
        v += -0.59004358 * y * (3.0 * xx - yy) * tl.load(c + 27, mask=m, other=0.0)
        v += 2.89061144 * x * y * z * tl.load(c + 30, mask=m, other=0.0)
        v += -0.45704579 * y * (4.0 * zz - xx - yy) * tl.load(c + 33, mask=m, other=0.0)
        v += 0.37317633 * z * (2.0 * zz - 3.0 * xx - 3.0 * yy) * tl.load(c + 36, mask=m, other=0.0)
        v += -0.45704579 * x * (4.0 * zz - xx - yy) * tl.load(c + 39, mask=m, other=0.0)
        v += 1.44530572 * z * (xx - yy) * tl.load(c + 42, mask=m, other=0.0)
        v += -0.59004358 * x * (xx - 3.0 * yy) * tl.load(c + 45, mask=m, other=0.0)
        tl.store(rgb + 3 * i + ch, tl.maximum(v + 0.5, 0.0), mask=m)


@case(1000000, 300000)
def spherical_harmonics(n):
    d = randn(n, 3, dtype=f32); c = randn(n, 16, 3, dtype=f16); o = zeros(n, 3, dtype=f32)
    sh_color[(triton.cdiv(n, 128),)](d, c, o, n, BLOCK=128, num_warps=4)


# cubic spline table look-up, table in memory
@triton.jit
def spline_table(r_ptr, tab, e_ptr, f_ptr, n, inv_dr, last, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    step = tl.num_programs(0) * BLOCK
    for s in range(start, n, step):
        i = s + tl.arange(0, BLOCK)
        m = i < n
        t = tl.load(r_ptr + i, mask=m, other=0.0) * inv_dr
        k = tl.minimum(t.to(tl.int32), last)
        t = t - k.to(tl.float32)
        a = tl.load(tab + 4 * k, mask=m, other=0.0)
        b = tl.load(tab + 4 * k + 1, mask=m, other=0.0)
        c = tl.load(tab + 4 * k + 2, mask=m, other=0.0)
        d = tl.load(tab + 4 * k + 3, mask=m, other=0.0)
        tl.store(e_ptr + i, a + t * (b + t * (c + t * d)), mask=m)
        tl.store(f_ptr + i, -(b + t * (2.0 * c + 3.0 * t * d)) * inv_dr, mask=m)


@case((10000000, 1024), (3000000, 20000))
def table(n, entries):
    r = rand(n, hi=10.0); tab = randn(entries, 4, dtype=f32); e, f = torch.empty_like(r), torch.empty_like(r)
    spline_table[(132 * 4,)](r, tab, e, f, n, entries / 10.0, entries - 1, BLOCK=512)
