"""A lesson as the attention lab shows it: steps with words, formulas, shapes and tables.

Heads and layers are counted from 1 on the page, as on the roll; tokens and dimensions from 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from musicgen.ui.lab.inputs import embed_step, tokens_step
from musicgen.ui.lab.meeting import mask_step, project_step, scores_step, turn_step
from musicgen.ui.lab.results import gather_step, join_step, weights_step
from musicgen.ui.lab.view import Kind, View

__all__ = ["Kind", "View", "on_page"]


def on_page(view: View) -> dict[str, Any]:
    """Return what the component shows."""
    lesson = view.lesson
    steps = [embed_step(view), project_step(view)]
    if view.kind != "printed":  # it begins with vectors
        steps.insert(0, tokens_step(view))
    if lesson.turned is not None:
        steps.append(turn_step(view))
    steps += [scores_step(view), mask_step(view), weights_step(view)]
    steps += [gather_step(view), join_step(view)]
    return {
        "steps": steps,
        "heads": {
            "now": view.head,
            "maps": np.round(lesson.weights, 3).tolist() if lesson.n_heads > 1 else [],
        },
    }
