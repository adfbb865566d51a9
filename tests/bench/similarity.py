"""Each similarity function of the QA study against its plain broadcast form: time and peak memory, in turns.

M = 400 passage and N = 40 question words of d = 200, batch 16.  The plain form makes every pair (h_i, u_j): of fnn,
concat_fnn, trilinear and t_trilinear it is the equation on [M, N, 2d] or [M, N, 3d] as Table 1 writes it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from tests.bench.attention import with_backward
from tests.bench.measure import Measured, in_turn
from triattn_core.attention.qa_similarity import QA_SIMILARITIES
from triattn_core.inference.device import describe_device, keep_freed_memory

B, M, N, D = 16, 400, 40, 200


def trilinear(module: nn.Module, h: Tensor, u: Tensor) -> Tensor:
    """`w [h; u; h * u]` with one vector of three."""
    return torch.cat([h, u, h * u], -1) @ torch.cat([module.w_p, module.w_q, module.w_pq])


PLAIN: dict[str, Callable[[nn.Module, Tensor, Tensor], Tensor]] = {
    "trilinear": trilinear,
    "t_trilinear": lambda of, h, u: trilinear(of.trilinear, relu(of.first(h)), relu(of.second(u))),
    "fnn": lambda of, h, u: torch.tanh(h @ of.W_p.mT + u @ of.W_q.mT) @ of.w,
    "concat_fnn": lambda of, h, u: torch.tanh(torch.cat([h, u], -1) @ of.W.mT) @ of.w,
}


def plain(name: str, module: nn.Module, H: Tensor, U: Tensor) -> Tensor:
    """[B, M, N] by every pair of words; of the functions that are not in PLAIN by the sum of their terms."""
    shape = *H.shape[:2], U.shape[1], H.shape[2]
    h, u = H[:, :, None].expand(shape), U[:, None].expand(shape)
    if name in PLAIN:
        return PLAIN[name](module, h, u)
    return sum(term.sum(-1) for term in module.terms(h, u).values())


def measured(name: str, batch: int, device: str, backward: bool) -> dict[str, Measured]:
    """Ours and the plain form, which must agree."""
    torch.manual_seed(1)
    module = QA_SIMILARITIES[name](D).to(device)
    H, U = (torch.randn(batch, size, D, device=device, requires_grad=backward) for size in (M, N))
    with torch.set_grad_enabled(backward):
        calls = {"ours": lambda: module(H, U), "plain": lambda: plain(name, module, H, U)}
        torch.testing.assert_close(calls["ours"](), calls["plain"](), rtol=1e-3, atol=1e-3)
        leaves = [H, U, *module.parameters()]
        timed = {key: with_backward(call, leaves) if backward else call for key, call in calls.items()}
        return in_turn(timed, device)


def main() -> None:
    """Prints the table as Markdown."""
    options = argparse.ArgumentParser(prog="python -m tests.bench.similarity", description=__doc__)
    options.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    options.add_argument("--only", nargs="+", default=list(QA_SIMILARITIES), choices=QA_SIMILARITIES)
    options.add_argument("--batch", type=int, default=B)
    chosen = options.parse_args()
    keep_freed_memory()
    machine = describe_device(chosen.device)
    print(f"{machine.title}, {machine.cores} cores, {torch.get_num_threads()} threads, batch {chosen.batch}\n")
    print("| function | pass | ms | MB | plain, ms | plain, MB | × time | × memory |\n|---|---|" + "---:|" * 6)
    for name in chosen.only:
        for backward in (False, True):
            timings = measured(name, chosen.batch, chosen.device, backward)
            ours, other = timings["ours"], timings["plain"]
            numbers = [f"{1000 * ours.seconds:.1f}", f"{ours.peak / 1e6:,.1f}", f"{1000 * other.seconds:.1f}"]
            numbers += [f"{other.peak / 1e6:,.0f}", f"{other.seconds / ours.seconds:.1f}"]
            numbers += [f"{other.peak / max(1, ours.peak):.1f}"]
            print("|", " | ".join([name, "forward + backward" if backward else "forward", *numbers]), "|", flush=True)


if __name__ == "__main__":
    main()
