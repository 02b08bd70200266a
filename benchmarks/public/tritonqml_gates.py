"""triton-qml 0.1.0: quantum state vectors (complex, 16 to 22 qubits): single gates, controlled gates, layers of CZ/CNOT, expectation values; both passes."""
from _common import *
from triton_qml import FunctionalQuantumSimulator


def state(batch, n):
    s = torch.complex(randn(batch, 2 ** n, dtype=f32), randn(batch, 2 ** n, dtype=f32))
    return (s / s.abs().square().sum(1, keepdim=True).sqrt()).requires_grad_()


def angle(batch=1):
    return rand(batch, lo=-3.0, hi=3.0, grad=True)


def back(out):
    out.abs().square().mul(torch.linspace(0, 1, out.shape[-1], device=out.device)).sum().backward()


@case((1, 22), (16, 17))
def constant(b, n):
    sim, s = FunctionalQuantumSimulator(n, DEV), state(b, n)
    x = sim.apply_H_gate(s, 3)
    x = sim.apply_sqrtX_gate(x, n - 2)
    x = sim.apply_S_gate(x, 5)
    x = sim.apply_T_gate(x, 0)
    x = sim.apply_multi_X_gate(x, [1, 7, n - 1])
    x = sim.apply_multi_Y_gate(x, [0, 4])
    x = sim.apply_multi_Z_gate(x, [2, 3, 9])
    x = sim.apply_cz_gate(x, 1, 8)
    x = sim.apply_cnot_gate(x, 12, 3)
    x = sim.apply_swap_gate(x, 2, 11)
    x = sim.apply_ccx_gate(x, 0, 6, 13)
    back(x)


@case((1, 22, 1), (16, 17, 16))
def rotations(b, n, angles):
    sim, s = FunctionalQuantumSimulator(n, DEV), state(b, n)
    x = sim.apply_Rx_gate(s, angle(angles), 4)
    x = sim.apply_Ry_gate(x, angle(angles), n - 1)
    x = sim.apply_Rz_gate(x, angle(angles), 0)
    back(x)


@case((1, 22), (16, 17))
def rotations2(b, n):
    sim, s = FunctionalQuantumSimulator(n, DEV), state(b, n)
    x = sim.apply_Rxx_gate(s, angle(), 4, 9)
    x = sim.apply_Ryy_gate(x, angle(), 0, 10)
    x = sim.apply_Rzz_gate(x, angle(), 2, 3)
    x = sim.apply_crx_gate(x, angle(), 4, 9)
    x = sim.apply_crz_gate(x, angle(), 5, 1)
    x = sim.apply_cp_gate(x, angle(), 5, 1)
    back(x)


@case((1, 22), (8, 18))
def layers(b, n):
    sim, s = FunctionalQuantumSimulator(n, DEV), state(b, n)
    ring = [[i, (i + 1) % n] for i in range(n)]
    back(sim.apply_fused_cnot_gate(sim.apply_fused_cz_gate(s, ring), ring))


@case((1, 22), (64, 14))
def expectation(b, n):
    sim = FunctionalQuantumSimulator(n, DEV)
    for obs in ("Z" * n, "XYZI" * (n // 4) + "I" * (n % 4)):
        s = state(b, n)
        sim.calc_exp_val(s, obs).sum().backward()
