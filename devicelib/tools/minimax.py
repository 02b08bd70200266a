#!/usr/bin/env python3
"""Minimax polynomials with machine-precision coefficients.

minimax(f, a, b, powers, ...) finds the c_i that minimise
    max over [a, b] of |weight(x) * (f(x) - sum c_i x**powers[i])|
by Remez exchange in multiple precision. Coefficients are then rounded one at a
time, lowest power first, and the rest refitted around each rounded one, so that
the returned set is good *as rounded*, not only in exact arithmetic.

Needs mpmath (pip install mpmath). coefficients.py holds the list of what the
device library uses; run it to print the C constants again.
"""
import struct
import mpmath as mp

mp.mp.dps = 50


def to_f32(x):
    return mp.mpf(struct.unpack('f', struct.pack('f', float(x)))[0])


def to_f64(x):
    return mp.mpf(float(x))


def exact(x):
    return x


def hex_float(x, single):
    """C spelling of an f32/f64 value: hexadecimal, so nothing is rounded again."""
    text = float(x).hex()
    mantissa, exponent = text.split('p')
    if '.' in mantissa:
        mantissa = mantissa.rstrip('0').rstrip('.')
    return mantissa + 'p' + exponent + ('f' if single else '')


def _chebyshev(a, b, n):
    return [(a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * i / (n - 1)) for i in range(n)]


def _remez(samples, powers, iterations=40):
    """samples: list of (x, f(x), w(x)); returns (coefficients, max weighted error)."""
    n = len(powers)
    count = len(samples)
    reference = [round(i * (count - 1) / n) for i in range(n + 1)]
    table = [[x ** p for p in powers] for x, _, _ in samples]
    best = None
    for _ in range(iterations):
        matrix = mp.matrix(n + 1, n + 1)
        rhs = mp.matrix(n + 1, 1)
        for row, k in enumerate(reference):
            weight = samples[k][2]
            for j in range(n):
                matrix[row, j] = weight * table[k][j]
            matrix[row, n] = (-1) ** row
            rhs[row] = weight * samples[k][1]
        solution = mp.lu_solve(matrix, rhs)
        coefficients = [solution[j] for j in range(n)]
        errors = [w * (mp.fdot(coefficients, table[k]) - y)
                  for k, (x, y, w) in enumerate(samples)]
        worst = max(abs(e) for e in errors)
        if best is None or worst < best[1]:
            best = (coefficients, worst)
        level = abs(solution[n])
        if worst <= level * mp.mpf('1.0005'):
            break
        # One extremum per run of equal sign; drop the smaller end until n + 1 are left.
        runs = []
        for k, e in enumerate(errors):
            if runs and (errors[runs[-1]] > 0) == (e > 0):
                if abs(e) > abs(errors[runs[-1]]):
                    runs[-1] = k
            else:
                runs.append(k)
        while len(runs) > n + 1:
            runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
        if len(runs) < n + 1 or runs == reference:
            break
        reference = runs
    return best


def minimax(f, a, b, powers, weight=None, rounders=None, fixed=None, points=None,
            sequential=None):
    """Coefficients by power: a dict, and the max weighted error after rounding.

    weight:   error weight, default 1/f (relative error)
    rounders: list (one per power, in order) of to_f32/to_f64/exact; default to_f32
    fixed:    {power: value} coefficients chosen by the caller, on top of `powers`
    sequential: how many coefficients are rounded one by one (default all); the
              rest are rounded together, which is enough for high powers
    """
    a, b = mp.mpf(a), mp.mpf(b)
    weight = weight or (lambda x: 1 / abs(f(x)))
    fixed = dict(fixed or {})
    rounders = rounders or [to_f32] * len(powers)
    xs = _chebyshev(a, b, points or 40 * (len(powers) + 2))
    base = [(x, mp.mpf(f(x)), mp.mpf(weight(x))) for x in xs if x != 0]
    chosen = dict(fixed)
    sequential = len(powers) if sequential is None else sequential
    left = list(zip(powers, rounders))
    while left:
        # x**lowest is divided out: without the constant, powers of x are no
        # Chebyshev system on an interval around zero and the exchange can fail.
        lowest = left[0][0]
        samples = [((x, (y - sum(c * x ** p for p, c in chosen.items())) / x ** lowest,
                     w * abs(x) ** lowest)) for x, y, w in base]
        coefficients, _ = _remez(samples, [p - lowest for p, _ in left])
        if len(powers) - len(left) >= sequential:
            chosen.update({p: r(c) for (p, r), c in zip(left, coefficients)})
            left = []
        else:
            power, rounder = left.pop(0)
            chosen[power] = rounder(coefficients[0])
    error = max(abs(w * (y - sum(c * x ** p for p, c in chosen.items()))) for x, y, w in base)
    return chosen, error


def report(name, chosen, error, single):
    print(f'// {name}: max weighted error 2^{float(mp.log(error, 2)):.2f}')
    for power in sorted(chosen):
        print(f'//   x^{power}: {hex_float(chosen[power], single)}')
