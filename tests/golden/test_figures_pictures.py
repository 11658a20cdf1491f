"""Facts about the pixels of pictures, which another font or version does not change."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from musicgen.figures import (
    DARK,
    LIGHT,
    RollPlan,
    attention_figure,
    curves_png,
    layers_heads_figure,
    plan_roll,
    roll_frame,
    roll_png,
)
from musicgen.figures.colours import Theme, weight_colours
from musicgen.figures.roll_plan import LEFT_PX
from musicgen.midi import NoteTable


def pixels(png: bytes) -> np.ndarray:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)


def colour_at(
    picture: np.ndarray, plan: RollPlan, seconds: float, pitch: int
) -> tuple[int, int, int]:
    row = plan.row_of(seconds)
    x, y = plan.x(seconds, row), plan.y(pitch, row) + plan.key_px / 2
    return tuple(picture[int(y), int(x)].tolist())


def likeness(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


FIVE = NoteTable.of([0, 2, 4, 6, 8], [1, 3, 5, 7, 9], [60, 62, 64, 65, 67], [127, 20, 90, 64, 127])


@pytest.mark.parametrize(("name", "theme"), [("light", LIGHT), ("dark", DARK)])
def test_each_note_is_painted_where_it_sounds(name: str, theme: Theme) -> None:
    """Guards against axes that are shifted, flipped or scaled wrongly."""
    plan = plan_roll(FIVE.end_s, FIVE.pitch)
    picture = pixels(roll_png(FIVE, theme=name))
    assert picture.shape == (plan.height_px, plan.width_px, 3)
    lanes = (theme.lane, theme.black_lane)
    for onset, pitch in zip(FIVE.onset_s.tolist(), FIVE.pitch.tolist(), strict=True):
        inside = colour_at(picture, plan, onset + 0.6, pitch)  # off the lines of the grid
        assert min(likeness(inside, lane) for lane in lanes) > 60
        for other in (onset - 0.4, onset + 1.04):
            assert colour_at(picture, plan, max(other, 1.4), pitch) in lanes
        for neighbour in (pitch - 1, pitch + 1):
            assert colour_at(picture, plan, onset + 0.6, neighbour) in lanes


def test_high_is_up_and_late_is_right() -> None:
    """Guards against a roll that stands on its head."""
    plan = plan_roll(FIVE.end_s, FIVE.pitch)
    picture = pixels(roll_png(FIVE))
    is_loud = (picture == LIGHT.tracks[0]).all(axis=2)  # the notes at 0 s and at 8 s
    is_loud[int(plan.row_tops_px[0] + plan.notes_px) :] = False  # the legend
    y, x = np.nonzero(is_loud)
    first, last = x < picture.shape[1] / 2, x > picture.shape[1] / 2
    assert x[first].min() == pytest.approx(LEFT_PX, abs=2)
    assert y[first].mean() - y[last].mean() == pytest.approx(7 * plan.key_px, abs=1)


def test_loud_notes_are_stronger_in_colour() -> None:
    """Guards against a velocity that is not shown."""
    plan = plan_roll(FIVE.end_s, FIVE.pitch)
    picture = pixels(roll_png(FIVE))
    loud, soft = (colour_at(picture, plan, at, pitch) for at, pitch in ((0.5, 60), (2.5, 62)))
    assert loud == LIGHT.tracks[0]
    assert sum(soft) > sum(loud) + 60


def test_prompt_and_new_part_differ_by_more_than_colour() -> None:
    """Guards against a seam that colour-blind eyes cannot see: outlines, tint and a dashed line."""
    plan = plan_roll(FIVE.end_s, FIVE.pitch)
    picture = pixels(roll_png(FIVE, prompt_end_s=3.5))
    row_y = plan.y(60, 0) + plan.key_px / 2
    note = picture[int(row_y), round(plan.x(0.0, 0)) : round(plan.x(1.0, 0))].sum(axis=1)
    assert note[2:-3].min() > note[:3].min() + 150, "a prompt's note is an outline"
    assert colour_at(picture, plan, 4.5, 64) != colour_at(picture, plan, 2.5, 62)
    assert colour_at(picture, plan, 1.5, 60) != colour_at(picture, plan, 5.5, 60), "tinted ground"
    top = int(plan.row_tops_px[0])
    seam = picture[top : top + int(plan.notes_px), round(plan.x(3.5, 0))]
    share = np.mean(np.abs(seam - LIGHT.accent).max(axis=1) < 40)
    assert 0.4 < share < 0.8, "dashed"


def test_a_mask_says_which_notes_are_new() -> None:
    """Guards against judging by time where old and new sound together."""
    plan = plan_roll(FIVE.end_s, FIVE.pitch)
    picture = pixels(roll_png(FIVE, is_new=[False, True, True, True, True]))
    assert colour_at(picture, plan, 8.5, 67) == LIGHT.new
    assert sum(colour_at(picture, plan, 0.5, 60)) > sum(LIGHT.tracks[0]) + 150


def test_the_pedal_is_drawn_below_the_notes() -> None:
    """Guards against pedal spans of several tracks being lost."""
    pedals = {0: np.array([[1.0, 2.0]]), 1: np.array([[5.0, 6.0]])}
    plan = plan_roll(FIVE.end_s, FIVE.pitch, has_pedal=True)
    picture = pixels(roll_png(FIVE, pedals=pedals))
    y = int(plan.row_tops_px[0] + plan.notes_px + 6)
    down = [tuple(picture[y, int(plan.x(at, 0))]) == LIGHT.strong_line for at in (1.5, 3.5, 5.5)]
    assert down == [True, False, True]


def test_tracks_have_colours_of_their_own() -> None:
    """Guards against one colour for all instruments."""
    notes = NoteTable.of([0, 2], [1, 3], [60, 60], [127, 127], [4, 9])
    plan = plan_roll(notes.end_s, notes.pitch)
    picture = pixels(roll_png(notes, track_names={4: "Flute", 9: "Bass"}))
    assert colour_at(picture, plan, 0.5, 60) == LIGHT.tracks[0]
    assert colour_at(picture, plan, 2.5, 60) == LIGHT.tracks[1]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (None, ["prompt", "new"]),
        (["Song", "musicgen"], ["Song: prompt", "musicgen: new"]),
    ],
)
def test_each_colour_has_one_entry_in_the_legend(
    names: list[str] | None, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards a legend in which a part and the prompt stand side by side in the same colour."""
    said: list[str] = []
    label = roll_frame._label
    monkeypatch.setattr(roll_frame, "_label", lambda *at: said.append(at[-1]) or label(*at))
    onset = [0.0, 2.0, 4.0, 6.0]
    tracks = [0, 0, 1, 1] if names else [0] * 4
    notes = NoteTable.of(onset, [at + 1 for at in onset], [60] * 4, [90] * 4, tracks)
    roll_png(notes, prompt_end_s=3.5, track_names=names)
    assert said[:2] == words
    assert said[2] == "soft to loud"


def test_any_name_can_be_written() -> None:
    """Guards against Pillow's ValueError at a line end, and titles that run out of the picture."""
    names = {0: "two\nlines\r\n", 1: "\t", 2: "x" * 5000, 3: "\u0000 \u202e \U0001f3b9"}
    notes = NoteTable.of([0, 1, 2, 3], [1, 2, 3, 4], [60] * 4, [99] * 4, [0, 1, 2, 3])
    picture = pixels(roll_png(notes, track_names=names, title="a title\n" * 900))
    assert (picture[:, -4:] == LIGHT.paper).all()


def test_long_music_is_broken_into_rows() -> None:
    """Guards against ten minutes squeezed into one line, and notes lost at a row's end."""
    notes = NoteTable.of([0, 55, 310], [1, 65, 320], [60, 62, 64], [127, 127, 127])
    plan = plan_roll(notes.end_s, notes.pitch)
    picture = pixels(roll_png(notes))
    assert len(plan.row_tops_px) == 6
    for at, pitch in ((0.5, 60), (56, 62), (64, 62), (315, 64)):
        assert colour_at(picture, plan, at, pitch) == LIGHT.tracks[0], at


def test_extremes_are_drawn_within_bounds() -> None:
    """Guards against keys outside the picture, notes too short to see and days of music."""
    notes = NoteTable.of([0, 1, 86_000], [0.001, 1.5, 86_400], [0, 127, 60], [1, 127, 64])
    plan = plan_roll(notes.end_s, notes.pitch)
    assert (plan.low, plan.high) == (0, 127)
    picture = pixels(roll_png(notes))
    assert picture.shape[0] < 6000
    y, x = int(plan.y(0, 0) + plan.key_px / 2), LEFT_PX
    assert likeness(tuple(picture[y, x].tolist()), LIGHT.lane) > 20, "the shortest note is seen"


def test_a_size_can_be_asked_for() -> None:
    """Guards against a picture that does not fit where it is to stand."""
    assert pixels(roll_png(FIVE, width_px=800, height_px=300)).shape == (300, 800, 3)
    with pytest.raises(ValueError, match="too small or too large"):
        roll_png(FIVE, width_px=200_000)


def test_no_notes_make_an_empty_roll() -> None:
    """Guards against a maximum of nothing."""
    assert pixels(roll_png(NoteTable.of([], [], [], []))).shape[1] == 1600


def test_twenty_thousand_notes_are_drawn() -> None:
    """Guards against a picture that takes minutes."""
    rng = np.random.default_rng(5)
    onset = rng.uniform(0, 60, 20_000)
    pitch, velocity = rng.integers(0, 128, 20_000), rng.integers(1, 128, 20_000)
    notes = NoteTable.of(onset, onset + 0.2, pitch, velocity)
    assert len(roll_png(notes)) > 10_000


def test_pictures_are_the_same_every_time() -> None:
    """Guards against a golden picture that nobody can compare."""
    assert roll_png(FIVE, title="x") == roll_png(FIVE, title="x")


def test_a_weight_is_painted_in_its_row_and_column() -> None:
    """Guards against a transposed map: rows look, columns are looked at."""
    weights = np.zeros((4, 4))
    weights[2, 0] = 1.0
    weights[3, 3] = 0.5
    picture = pixels(attention_figure(weights, size_px=400))
    left, top = 18 + 62, 18
    all_of_it, nothing = (tuple(weight_colours(w, LIGHT).tolist()) for w in (1.0, 0.0))
    cell = [
        [tuple(picture[top + r * 100 + 50, left + c * 100 + 50].tolist()) for c in range(4)]
        for r in range(4)
    ]
    assert cell[2][0] == all_of_it
    assert cell[3][3] == all_of_it, "each row is scaled by its own maximum"
    assert cell[2][1] == cell[3][0] == nothing
    assert cell[0][2] == cell[1][3] == LIGHT.paper, "the future is blank"


def test_gamma_brings_out_small_weights() -> None:
    """Guards against causal maps in which only each row's largest weight is seen."""
    weights = np.tril(np.full((2, 2), 0.1))
    weights[1, 1] = 0.9

    def small(gamma: float) -> int:
        picture = pixels(attention_figure(weights, size_px=100, gamma=gamma))
        return int(picture[18 + 75, 18 + 62 + 25].sum())

    assert small(0.6) < 0.9 * small(1.0), "darker on light paper"


def test_a_single_line_survives_a_smaller_picture() -> None:
    """Guards against attention to one event falling between two pixels."""
    weights = np.zeros((1000, 1000))
    weights[:, 333] = np.arange(1000) >= 333
    picture = pixels(attention_figure(weights, size_px=100))
    line = picture[18 + 80, 18 + 62 + 33]
    assert line.tolist() == weight_colours(1.0, LIGHT).tolist()


def test_axes_can_count_seconds() -> None:
    """Guards against times that do not belong to the events."""
    weights = np.tril(np.ones((50, 50)))
    by_time = attention_figure(weights, times_s=np.linspace(0, 20, 50), title="Layer 1, head 2")
    assert by_time != attention_figure(weights, title="Layer 1, head 2")
    with pytest.raises(ValueError, match="one time for each"):
        attention_figure(weights, times_s=[1.0, 2.0])


@pytest.mark.parametrize("title", ["", "A title"])
def test_both_axes_say_which_event_looks(title: str) -> None:
    """Guards against maps of which nobody knows whether rows or columns look."""
    weights = np.tril(np.ones((4, 4)))
    picture = pixels(attention_figure(weights, size_px=300, title=title))
    top, left = 18 + (34 if title else 0), 18 + 62
    beside = picture[top : top + 300, :34]
    below = picture[top + 300 + 28 :, left : left + 300]
    for strip in (beside, below):
        inked = (strip != LIGHT.paper).any(axis=-1)
        assert inked.any(axis=0).sum() > 5
        assert inked.any(axis=1).sum() > 5
    # Written upward: longer than wide.
    inked = (beside != LIGHT.paper).any(axis=-1)
    assert inked.any(axis=1).sum() > 3 * inked.any(axis=0).sum()

    grid = pixels(layers_heads_figure(np.ones((1, 1, 2, 2)), title=title))
    lines = (grid[top + 24 + 156 :, left : left + 240] != LIGHT.paper).any(axis=-1)
    assert lines[:20].any()
    assert lines[20:].any()
    assert not lines[:, -20:].any(), "the words fit"


def test_every_head_has_its_cell() -> None:
    """Guards against layers and heads changing places."""
    weights = np.zeros((2, 3, 2, 2))
    weights[:, :, 1, 0] = 0.01
    weights[:, :, 1, 1] = 1.0
    weights[1, 2, 1] = [1.0, 0.01]
    picture = pixels(layers_heads_figure(weights, cell_px=100))
    left, top, step = 18 + 62, 18 + 24, 106
    other = layers_heads_figure(weights, cell_px=100, first_layer=3, first_head=5)
    assert (pixels(other)[:, left + 3 * step :] == picture[:, left + 3 * step :]).all()
    assert (pixels(other) != picture).any(), "the labels count from there"
    looked_at = [
        [int(picture[top + r * step + 75, left + c * step + 25].sum()) < 200 for c in range(3)]
        for r in range(2)
    ]
    assert looked_at == [[False, False, False], [False, False, True]]


@pytest.mark.parametrize("shape", [(3,), (2, 3), (0, 0)])
def test_wrong_shapes_are_refused(shape: tuple[int, ...]) -> None:
    """Guards against a picture of something else."""
    with pytest.raises(ValueError, match="square"):
        attention_figure(np.zeros(shape))
    with pytest.raises(ValueError, match="L, H, T, T"):
        layers_heads_figure(np.zeros(shape))


def test_curves_go_where_their_values_are() -> None:
    """Guards against an axis upside down, and against a NaN that breaks the picture."""
    falling = pixels(curves_png({"loss": ([0, 1, 2, 3, 4], [4.0, 3.0, np.nan, 1.0, 0.0])}))
    is_curve = np.abs(falling - LIGHT.series[0]).max(axis=2) < 30
    is_curve[-30:] = False  # the legend
    first, last = is_curve[:, 60:90].any(axis=1), is_curve[:, 850:880].any(axis=1)
    assert np.flatnonzero(first).mean() + 200 < np.flatnonzero(last).mean()
    assert not is_curve[:, 430:500].any(), "what is not a number leaves a gap"


@pytest.mark.parametrize("curves", [{}, {"none": ([], [])}, {"flat": ([1], [2.0])}])
def test_few_points_still_make_a_picture(curves: dict) -> None:
    """Guards against a range of nothing on a run's first step."""
    assert pixels(curves_png(curves)).shape == (420, 900, 3)


@pytest.mark.parametrize(("theme", "sign"), [(LIGHT, -1), (DARK, 1)])
def test_the_colour_scale_goes_from_the_paper_to_the_ink(theme: Theme, sign: int) -> None:
    """Guards against an order colour-blind eyes cannot see, and a dark map on light paper."""
    scale = weight_colours(np.linspace(0, 1, 64), theme).astype(int)
    lightness = scale @ np.array([2126, 7152, 722])
    assert (sign * np.diff(lightness) > 0).all()
    assert np.abs(scale[0] - theme.paper).max() < 24
    assert np.abs(scale[-1] - theme.ink).max() < 48


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_text_has_contrast(theme: Theme) -> None:
    """Guards against labels that nobody can read."""

    def luminance(colour: tuple[int, int, int]) -> float:
        linear = [
            c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4
            for c in (value / 255 for value in colour)
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    paper = luminance(theme.paper)
    for ink, least in ((theme.ink, 7), (theme.soft_ink, 4.5), (theme.accent, 4.5)):
        low, high = sorted((luminance(ink), paper))
        assert (high + 0.05) / (low + 0.05) >= least
