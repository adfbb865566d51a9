"""The QA study of similarity functions (the T-trilinear paper), as slow loops in float64: one example.

h, u [d] are one passage and one question state; H [M, d], U [N, d].  Written from the paper, never from the package.
"""

from __future__ import annotations

import math

import numpy as np

Array = np.ndarray


def dot(a, b) -> float:
    return math.fsum(float(x) * float(y) for x, y in zip(a, b, strict=True))


def times(W: Array, x: Array) -> list[float]:
    return [dot(row, x) for row in W]


def relu(x) -> list[float]:
    return [max(0.0, float(one)) for one in x]


def bilinear(h, u, w_p, w_q):
    return dot(w_p, h) + dot(w_q, u)


def trilinear(h, u, w_p, w_q, w_pq):
    return dot(w_p, h) + dot(w_q, u) + math.fsum(c * a * b for c, a, b in zip(w_pq, h, u, strict=True))


def fnn(h, u, W_p, W_q, w):
    return dot(w, [math.tanh(a + b) for a, b in zip(times(W_p, h), times(W_q, u))])


def concat_fnn(h, u, W, w):
    return dot(w, [math.tanh(one) for one in times(W, [*h, *u])])


def cosine(h, u):
    return dot(h, u) / (math.sqrt(dot(h, h)) * math.sqrt(dot(u, u)))


def scaled_dot(h, u):
    return dot(h, u) / math.sqrt(len(h))


def general1(h, u, W):
    return math.fsum(h[i] * W[i, j] * u[j] for i in range(len(h)) for j in range(len(u)))


def general2(h, u, W_1, W_2):
    return dot(times(W_1, h), times(W_2, u))


def general3(h, u, W_1, W_2):
    return dot(relu(times(W_1, h)), relu(times(W_2, u)))


def hadamard(h, u, w):
    return math.fsum(c * a * b for c, a, b in zip(w, h, u, strict=True))


def t_trilinear(h, u, W_1, b_1, W_2, b_2, w_p, w_q, w_pq):
    left = relu(a + b for a, b in zip(times(W_1, h), b_1))
    right = relu(a + b for a, b in zip(times(W_2, u), b_2))
    return trilinear(left, right, w_p, w_q, w_pq)


def matrix(phi, H: Array, U: Array) -> Array:
    """S (Eq. 3)."""
    return np.array([[phi(h, u) for u in U] for h in H])


def attended(S: Array, H: Array, U: Array, output: str) -> tuple[Array, Array]:
    """A and O_1 or O_2 (Eqs. 4, 6, 8 and 9)."""
    A, O = np.zeros_like(S), []
    for i, h in enumerate(H):
        total = math.fsum(math.exp(s) for s in S[i])
        for j in range(len(U)):
            A[i, j] = math.exp(S[i, j]) / total
        summary = [math.fsum(A[i, j] * U[j][d] for j in range(len(U))) for d in range(len(h))]
        both = [a * b for a, b in zip(h, summary)] if output == "O_2" else []
        O.append([*h, *summary, *both])
    return A, np.array(O)


def best_spans(start: Array, end: Array, longest: int) -> list[tuple[float, int, int]]:
    """(p(start i) p(end j), i, j) of all spans of at most `longest` words, the best first; scores before softmax."""
    p, q = (np.exp(x - x.max()) / np.exp(x - x.max()).sum() for x in (start, end))
    spans = [(p[i] * q[j], i, j) for i in range(len(p)) for j in range(i, min(len(q), i + longest))]
    return sorted(spans, key=lambda one: (-one[0], one[1], one[2]))


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def lstm_step(x: Array, h: Array, c: Array, W: Array, R: Array, b: Array) -> tuple[Array, Array]:
    """The next h and c [h] of an LSTM; W [4 h, e], R [4 h, h] and b [4 h] in the order i, f, g, o."""
    i, f, g, o = np.split(W @ x + R @ h + b, 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def lstm(x: Array, W: Array, R: Array, b: Array) -> Array:
    """Hidden states of an LSTM over x [n, e]."""
    h, c, states = np.zeros(R.shape[1]), np.zeros(R.shape[1]), []
    for vector in x:
        h, c = lstm_step(vector, h, c, W, R, b)
        states.append(h)
    return np.array(states)


def bilstm(x: Array, weights: dict[str, Array], name: str) -> Array:
    """Both directions side by side."""

    def of(end: str) -> tuple[Array, Array, Array]:
        part = {key: weights[f"{name}.rnn.{key}_l0{end}"] for key in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
        return part["weight_ih"], part["weight_hh"], part["bias_ih"] + part["bias_hh"]

    return np.concatenate([lstm(x, *of("")), lstm(x[::-1], *of("_reverse"))[::-1]], -1)


def reader(passage: Array, question: Array, weights: dict[str, Array], output: str) -> tuple[Array, Array]:
    """Scores of start and end (Eqs. 1, 2 and 10 to 13) with t_trilinear; `weights` by the names of the package."""
    W, b = weights["project.weight"], weights["project.bias"]
    H, U = (bilstm(np.array([W @ one + b for one in x]), weights, "encode") for x in (passage, question))
    of = "attention.similarity."
    parts = [weights[f"{of}{name}"] for name in ("first.weight", "first.bias", "second.weight", "second.bias")]
    parts += [weights[f"{of}trilinear.{name}"] for name in ("w_p", "w_q", "w_pq")]
    O = attended(matrix(lambda h, u: t_trilinear(h, u, *parts), H, U), H, U, output)[1]
    Z = bilstm(O, weights, "model")
    G = bilstm(Z, weights, "second")
    start, end = (
        np.array([dot(weights[f"{name}.weight"][0], [*z, *h]) + weights[f"{name}.bias"][0] for z, h in zip(states, H)])
        for name, states in (("start", Z), ("end", G))
    )
    return start, end
