"""triton-qml 0.1.0: blocks of gates on 1 to 4 qubits fused into one kernel (complex state vectors in registers), forward and backward."""
from _common import *
from triton_qml import FunctionalQuantumSimulator


def state(batch, n):
    s = torch.complex(randn(batch, 2 ** n, dtype=f32), randn(batch, 2 ** n, dtype=f32))
    return (s / s.abs().square().sum(1, keepdim=True).sqrt()).requires_grad_()


def angle():
    return rand(1, lo=-3.0, hi=3.0, grad=True)


def back(out):
    out.abs().square().mul(torch.linspace(0, 1, out.shape[-1], device=out.device)).sum().backward()


@case((1, 20), (16, 16))
def one(b, n):
    sim = FunctionalQuantumSimulator(n, DEV)
    back(sim.apply_single_qubit_pauli_rotation_gate_sequence(state(b, n), ["rx", "ry", "rz", "rx"], 5, [angle() for _ in range(4)]))
    back(sim.apply_single_qubit_gate_sequence(state(b, n), ["h", "rx", "t", "ry", "sdag"], 7, [angle() for _ in range(2)]))


@case((20, (2, 9)), (20, (1, 5, 12)), (20, (0, 3, 8, 14)))
def pauli(n, q):
    """Rotations about one and two axes on the qubits q."""
    sim = FunctionalQuantumSimulator(n, DEV)
    ops = [[("rx", "ry", "rz")[i % 3], t, angle()] for i, t in enumerate(q)]
    ops += [[("rxx", "ryy", "rzz")[i % 3], [a, b], angle()] for i, (a, b) in enumerate(zip(q, q[1:]))]
    back(sim.apply_1q2q_pauli_rotation_gate_sequence(state(1, n), ops))


@case((20, (2, 9)), (20, (1, 5, 12)), (20, (0, 3, 8, 14)))
def mixed(n, q):
    """Hadamard, rotation, phase and controlled gates on the qubits q."""
    sim = FunctionalQuantumSimulator(n, DEV)
    ops = [["h", q[0]]] + [[("rx", "ry", "rz")[i % 3], t, angle()] for i, t in enumerate(q)]
    ops += [["cnot", [q[0], q[1]]], ["t", q[1]], ["crx", [q[1], q[0]], angle()], ["cz", [q[0], q[-1]]], ["ry", q[-1], angle()]]
    back(sim.apply_fused_gates(state(1, n), ops))
