"""The whole step as compiled code: all layers, the cache and the heads, on one thread.

Letters as in `layout`. Everything is float32 but the products: with int8 weights a vector is
rounded to int16 before it meets a matrix, so the sums are whole numbers and exact, in whatever
order they are made: a prompt read in blocks leaves the very same cache as one read event by event.
With float32 weights nothing is rounded; the same text is compiled for both.

What takes `sizes`, `weights`, `cache` or `work` as a whole is joined into its caller: as arguments
these are some two hundred numbers, which takes longer to compile than what is done with them.

This module imports numba: import it only where something is to be computed.
"""
# ruff: noqa: ANN001, ANN201  numba takes the types from what is passed in

from __future__ import annotations

from musicgen.engine.attention import attend, call_back_lines
from musicgen.engine.board import end_phase
from musicgen.engine.numerics import add, are_ids, copy, gate, rms_norm, sum_rows
from musicgen.engine.opening import opened, opened_take
from musicgen.engine.products import narrowed, project, ready
from musicgen.engine.vectors import part


def read_events(plan, matrix, narrow_, ids, takes, board):
    """Read T ≤ TOKENS events (T, K), of one take or of several, and leave each take's state.

    A weight is fetched once for all of them. Which events are read together changes nothing:
    the sums of a row are made in the same order for one event as for many.

    Args:
        plan: Of any of the takes: in its room is computed.
        matrix: `Weights.matrix`.
        narrow_: `Work.narrow` of the plan.
        ids: int64 (T, K), each within its vocabulary; the events of a take in their order.
        takes: int64 (T · PLACE), see `opened_take`.
        board: The helper's, of no size where it has no part in this call. None where there is no
            helper: then nothing that concerns one is compiled, which takes a third of the time.
    """
    sizes, weights, work = opened(plan, matrix, narrow_)
    d, n_ff, n_tokens = sizes.d_model, sizes.d_ff, ids.shape[0]
    for t in range(n_tokens):
        x = part(work.x, t * sizes.stride, d)
        sum_rows(weights.embedding, weights.first_id, ids[t], x)
        rms_norm(x, part(weights.ones, 0, d), x)
    for layer in range(sizes.n_layers):
        at, row = layer * sizes.layer_weights, layer * sizes.layer_rows
        norm = layer * sizes.layer_norms
        for branch in range(2):
            for t in range(n_tokens):
                ready(part(work.x, t * sizes.stride, d), part(weights.norm, norm, d), work, t)
            norm += d
            n_inner = n_ff if branch else d
            n_rows = 2 * n_ff if branch else 3 * d
            if board is not None and branch == 0 and board.size > 0 and n_tokens == 1:
                call_back_lines(plan, matrix, narrow_, layer, takes[2])
            at, row = project(
                plan, board, sizes, matrix, narrow_, at, row, d, n_rows, n_tokens, 2 * branch
            )
            if branch == 0:
                attend(plan, board, matrix, narrow_, layer, norm + d, n_tokens, takes)
            for t in range(n_tokens):
                h = part(work.h, t * sizes.stride, n_inner)
                if branch:
                    gate(part(work.y, t * sizes.stride, 2 * n_ff), h)
                narrowed(h, work, t)
            at, row = project(
                plan, board, sizes, matrix, narrow_, at, row, n_inner, d, n_tokens, 2 * branch + 1
            )
            for t in range(n_tokens):
                add(part(work.y, t * sizes.stride, d), part(work.x, t * sizes.stride, d))
    gain = part(weights.norm, sizes.n_layers * sizes.layer_norms, d)
    for t in range(n_tokens):
        _, state, _ = opened_take(takes, t, plan, matrix)
        rms_norm(part(work.x, t * sizes.stride, d), gain, state)
    if board is not None and board.size > 0:
        end_phase(board)


def score_attribute(plan, matrix, narrow_, previous, logits, board):
    """Score attribute k = len(`previous`) of the event after `work.state` into `logits` (V_k).

    Returns False, with nothing done, if an id is outside its attribute's vocabulary.
    """
    sizes, weights, work = opened(plan, matrix, narrow_)
    d, n_ff, k = sizes.d_model, sizes.d_head_ff, previous.size
    if not are_ids(previous, weights.n_ids):
        return False
    norm = weights.head_norm[k]
    x, h = part(work.x, 0, d), part(work.h, 0, d)
    copy(work.state, x)
    if k > 0:
        sum_rows(weights.embedding, weights.first_id, previous, h)
        rms_norm(h, part(weights.norm, norm, d), h)
        add(h, x)
    ready(x, part(weights.norm, norm + d, d), work, 0)
    at, row = weights.head_matrix[k], weights.head_row[k]
    at, row = project(plan, board, sizes, matrix, narrow_, at, row, d, 2 * n_ff, 1, 5)
    gate(part(work.y, 0, 2 * n_ff), part(work.h, 0, n_ff))
    narrowed(part(work.h, 0, n_ff), work, 0)
    at, row = project(plan, board, sizes, matrix, narrow_, at, row, n_ff, d, 1, 6)
    add(part(work.y, 0, d), x)
    ready(x, part(weights.norm, norm + 2 * d, d), work, 0)
    project(plan, board, sizes, matrix, narrow_, at, row, d, logits.size, 1, 7)
    copy(part(work.y, 0, logits.size), logits)
    if board is not None and board.size > 0:
        end_phase(board)
    return True
