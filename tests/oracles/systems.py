"""BiDAF, DCN and QANet with their own similarities, as slow loops in float64: what they make of its matrix, DCN's
decoder, and each as a whole.

Of the whole ones passage [m, e] and question [n, e] are word vectors, `weights` go by the names of the package, and
what is given are the scores of start and end, [m] each.
"""

from __future__ import annotations

import math

import numpy as np

from tests.oracles.questions import bilstm, dot, lstm_step, matrix, relu, sigmoid, trilinear

Weights = dict[str, np.ndarray]
Array = np.ndarray


def softmax(values) -> list[float]:
    top = max(values)
    powers = [math.exp(value - top) for value in values]
    return [power / math.fsum(powers) for power in powers]


def over_passage(name: str, S: Array) -> Array:
    """How a question word attends to the passage [m, n]; with `attention_flow` all do alike: [m]."""
    if name == "attention_flow":
        return np.array(softmax([max(row) for row in S]))
    return np.array([softmax([S[i, j] for i in range(len(S))]) for j in range(len(S[0]))]).T


def mean(weights, vectors) -> list[float]:
    return [math.fsum(w * v[d] for w, v in zip(weights, vectors, strict=True)) for d in range(len(vectors[0]))]


def attention_flow(H: Array, U: Array, S: Array) -> Array:
    """Seo et al. 2017, section 2.4."""
    back = mean(softmax([max(row) for row in S]), H)
    rows = []
    for h, row in zip(H, S):
        u = mean(softmax(row), U)
        rows.append([*h, *u, *(a * b for a, b in zip(h, u)), *(a * b for a, b in zip(h, back))])
    return np.array(rows)


def coattention(D: Array, Q: Array, L: Array) -> Array:
    """Xiong et al. 2017, section 2.2; the sentinels are the last rows of D and Q."""
    of_question = [mean(softmax([L[i, j] for i in range(len(D))]), D) for j in range(len(Q))]
    both = [[*q, *c] for q, c in zip(Q, of_question)]
    return np.array([mean(softmax(L[i]), both) for i in range(len(D))])


def context_query(C: Array, Q: Array, S: Array) -> Array:
    """Yu et al. 2018, section 2.2."""
    columns = [softmax([S[i, j] for i in range(len(C))]) for j in range(len(Q))]
    rows = []
    for i, c in enumerate(C):
        row = softmax(S[i])
        a = mean(row, Q)
        b = np.zeros(len(c))
        for j, weight in enumerate(row):
            for k in range(len(C)):
                b += weight * columns[j][k] * C[k]
        rows.append([*c, *a, *(x * y for x, y in zip(c, a)), *(x * y for x, y in zip(c, b))])
    return np.array(rows)


def maxout(u: Array, state: Array, guess: Array, weights: dict[str, Array], pool: int) -> float:
    """Xiong et al. 2017, Eqs. 9 to 12, of one word."""
    d = len(state)
    r = [math.tanh(math.fsum(row * [*state, *guess])) for row in weights["given.weight"]]

    def most(name: str, given) -> list[float]:
        wide = [math.fsum(row * given) + b for row, b in zip(weights[f"{name}.weight"], weights[f"{name}.bias"])]
        return [max(wide[p * d + i] for p in range(pool)) for i in range(d)]

    first = most("one", np.array([*u, *r]))
    second = most("two", np.array(first))
    rows = zip(weights["both.weight"], weights["both.bias"])
    return max(math.fsum(row * np.array([*first, *second])) + b for row, b in rows)


def linear(x: Array, weights: Weights, name: str) -> Array:
    return np.array([weights[f"{name}.weight"] @ one + weights[f"{name}.bias"] for one in x])


def score_words(weights: Weights, name: str, *parts: Array) -> Array:
    """A score a word, of its features side by side."""
    return linear(np.concatenate(parts, -1), weights, name)[:, 0]


def highway(x: Array, weights: Weights) -> Array:
    """Srivastava et al. 2015, Eq. 3: the gate t takes the change and leaves 1 - t of what was."""
    for layer in (0, 1):
        gate = sigmoid(linear(x, weights, f"highway.gates.{layer}"))
        changed = np.array([relu(row) for row in linear(x, weights, f"highway.changes.{layer}")])
        x = gate * changed + (1 - gate) * x
    return x


def similarities(H: Array, U: Array, weights: Weights) -> Array:
    """By trilinear, which is BiDAF's and QANet's own."""
    parts = [weights[f"attention.similarity.{name}"] for name in ("w_p", "w_q", "w_pq")]
    return matrix(lambda h, u: trilinear(h, u, *parts), H, U)


def bidaf(passage: Array, question: Array, weights: Weights) -> tuple[Array, Array]:
    """Seo et al. 2017, section 2: the start is told from M, the end from M2, which a further LSTM makes of M."""
    H, U = (bilstm(highway(linear(x, weights, "project"), weights), weights, "encode") for x in (passage, question))
    G = attention_flow(H, U, similarities(H, U, weights))
    M = bilstm(bilstm(G, weights, "first"), weights, "second")
    M2 = bilstm(M, weights, "last")
    return score_words(weights, "start", G, M), score_words(weights, "end", G, M2)


def dcn(passage: Array, question: Array, weights: Weights, pool: int, guesses: int) -> tuple[Array, Array]:
    """Xiong et al. 2017, sections 2 and 3, with dot; the end of a guess is told from its start."""
    D, Q = (bilstm(linear(x, weights, "project"), weights, "encode") for x in (passage, question))
    Q, m = np.tanh(linear(Q, weights, "asked")), len(D)
    of_passage, of_question = weights["sentinels"]
    both = np.array([*D, of_passage]), np.array([*Q, of_question])
    C = coattention(*both, matrix(dot, *both))[:m]
    U = bilstm(np.concatenate([D, C], -1), weights, "fuse")
    W, R = weights["decode.weight_ih"], weights["decode.weight_hh"]
    b, first, last = weights["decode.bias_ih"] + weights["decode.bias_hh"], 0, m - 1
    h = c = np.zeros(R.shape[1])
    for _ in range(guesses):
        guess = np.array([*U[first], *U[last]])
        h, c = lstm_step(guess, h, c, W, R, b)
        start = np.array([maxout(u, h, guess, under(weights, "start"), pool) for u in U])
        first = int(start.argmax())
        guess = np.array([*U[first], *U[last]])
        end = np.array([maxout(u, h, guess, under(weights, "end"), pool) for u in U])
        last = int(end.argmax())
    return start, end


def under(weights: Weights, name: str) -> Weights:
    """Those of one part, by their names in it."""
    return {key.removeprefix(f"{name}."): tensor for key, tensor in weights.items() if key.startswith(f"{name}.")}


def convolved(x: Array, weights: Weights) -> Array:
    """Depthwise separable (section 2.2 of Yu et al. 2018), zeros beyond both ends."""
    depth, sums = weights["depth.weight"], np.zeros(x.shape)
    size = depth.shape[2]
    for t in range(len(x)):
        for k in range(size):
            at = t + k - size // 2
            if 0 <= at < len(x):
                sums[t] += depth[:, 0, k] * x[at]
        sums[t] += weights["depth.bias"]
    return np.array([relu(row) for row in linear(sums, weights, "point")])


def self_attention(x: Array, weights: Weights, heads: int) -> Array:
    """Vaswani et al. 2017, section 3.2."""
    q, k, v = np.split(linear(x, weights, "taken"), 3, -1)
    size, output = x.shape[1] // heads, np.zeros(x.shape)
    for at in (slice(head * size, (head + 1) * size) for head in range(heads)):
        for i in range(len(x)):
            output[i, at] = mean(softmax([dot(q[i, at], one) / math.sqrt(size) for one in k[:, at]]), v[:, at])
    return linear(output, weights, "out")


def block(x: Array, weights: Weights, convolutions: int, heads: int) -> Array:
    """Yu et al. 2018, Figure 1: positions, then `x + f(norm(x))` for each sublayer."""
    d = x.shape[1]
    turns = np.array([[p / 10_000 ** (2 * (i // 2) / d) for i in range(d)] for p in range(len(x))])
    x = x + np.where(np.arange(d) % 2, np.cos(turns), np.sin(turns))
    for at in range(convolutions + 2):
        part, scale, shift = under(weights, f"parts.{at}"), weights[f"norms.{at}.weight"], weights[f"norms.{at}.bias"]
        normed = np.array([(one - one.mean()) / math.sqrt(one.var() + 1e-5) * scale + shift for one in x])
        if at < convolutions:
            x = x + convolved(normed, part)
        elif at == convolutions:
            x = x + self_attention(normed, part, heads)
        else:
            x = x + linear(np.array([relu(row) for row in linear(normed, part, "one")]), part, "two")
    return x


def qanet(passage: Array, question: Array, weights: Weights, heads: int, blocks: int) -> tuple[Array, Array]:
    """Yu et al. 2018, section 2.2: three passes through the same blocks; start of passes 1 and 2, end of 1 and 3."""
    wide = [linear(highway(linear(x, weights, "project"), weights), weights, "widen") for x in (passage, question)]
    C, Q = (block(x, under(weights, "encode"), 4, heads) for x in wide)
    x, passes = linear(context_query(C, Q, similarities(C, Q, weights)), weights, "narrow"), []
    for _ in range(3):
        for number in range(blocks):
            x = block(x, under(weights, f"blocks.{number}"), 2, heads)
        passes.append(x)
    one, two, three = passes
    return score_words(weights, "start", one, two), score_words(weights, "end", one, three)
