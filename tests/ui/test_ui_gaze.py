"""What the roll is told about attention: the same notes, whatever the model's grid and drums."""

from __future__ import annotations

import csv
import io
import zlib

import mido
import numpy as np
import pytest

from musicgen.midi import Meter, NoteTable
from musicgen.pipeline.looking import AttentionView
from musicgen.ui.gaze import Gaze
from musicgen.ui.gaze_bytes import COARSE, TILE, map_bytes, small_map
from musicgen.ui.gaze_views import Choice, looks, view_file
from musicgen.ui.pieces import Piece
from musicgen.ui.roll_strings import which_heads
from musicgen.ui.shelf import Shelf

ROWS = [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.1, 0.7, 0.2, 0], [0.1, 0.2, 0.6, 0.1]]
OTHER = [[1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0.5, 0.25, 0.25]]


def piece_of(onset, pitch, track=0, meter=None):
    onset = np.asarray(onset, dtype=float)
    notes = NoteTable.of(onset, onset + 0.2, pitch, [80] * len(onset), track)
    seen = type("Seen", (), {"notes": notes, "meter": meter, "data": b""})()
    return Piece(id="p", kind="prompt", title="=1+1 <b>", preview=seen)


def view_of(weights, note_index, onset, pitch, first_event=0):
    onset = np.asarray(onset, dtype=float)
    notes = np.stack([onset, onset + 0.2, np.asarray(pitch, float), np.full(len(onset), 80.0)], 1)
    return AttentionView(
        weights=np.asarray(weights, np.float16),
        ids=np.zeros((len(note_index), 4), np.int64),
        note_index=np.asarray(note_index),
        notes=notes,
        first_event=first_event,
    )


# The roll: C, a drum (which the model does not hear), E, C again. The model: start, C, E, C.
@pytest.fixture
def piece():
    return piece_of([0.004, 0.5, 1.003, 1.996], [60, 38, 64, 60], [0, 1, 0, 0])


@pytest.fixture
def gaze(piece):
    view = view_of([[ROWS, OTHER]], [-1, 0, 1, 2], [0.0, 1.0, 2.0], [60, 64, 60])
    return Gaze.of(view, piece)


def unpacked(data):
    """Return what `Gaze.look` packed: numbers, then rows written from, its own, and its column."""
    page, note, event, n_layers, n_heads, n_events, *_ = np.frombuffer(data[:32], "<u4").tolist()
    notes = np.frombuffer(data[32 : 32 + 4 * n_events], "<i4").tolist()
    shares = np.frombuffer(data[32 + 4 * n_events :], "<u2") / 65535
    parts = []
    for size in (event, event + 1, n_events - event):
        count = n_layers * n_heads * size
        parts.append(shares[:count].reshape(n_layers, n_heads, size))
        shares = shares[count:]
    assert not len(shares)
    return (page, note, event, notes), parts


def test_events_and_notes_find_each_other_across_the_grid(gaze):
    assert gaze.event_of.tolist() == [1, -1, 2, 3]
    assert gaze.note_of.tolist() == [-1, 0, 2, 3]


def test_a_note_comes_with_its_rows_and_its_column(gaze):
    names, (wrote, after, seen) = unpacked(gaze.look(2, page=7))
    assert names == (7, 2, 2, [-1, 0, 2, 3])
    assert wrote[0, 0] == pytest.approx(ROWS[1][:2], abs=1e-3)
    assert after[0, 1] == pytest.approx(OTHER[2][:3], abs=1e-3)
    assert seen[0, 0] == pytest.approx([0.2, 0.6], abs=1e-3)


def test_notes_the_model_did_not_hear_have_no_look(gaze):
    assert gaze.look(1) is None
    assert gaze.look(99) is None
    assert gaze.look(-1) is None


@pytest.mark.parametrize(
    ("choice", "note", "expected"),
    [
        # The last C was written from the row of E: most from the first C, then from E.
        ({}, 3, [("1", 0, 0.7), ("1", 2, 0.2)]),
        ({"moment": "after"}, 3, [("1", 2, 0.6), ("1", 0, 0.2), ("1", 3, 0.1)]),
        ({"moment": "after", "heads": (1,), "count": 1}, 3, [("2", 0, 0.5)]),
        # Who looked at the first C: in its row the head chose E, in E's row the last C.
        ({"way": "to"}, 0, [("1", 3, 0.7), ("1", 2, 0.5)]),
        ({"way": "to", "moment": "after"}, 0, [("1", 2, 0.7), ("1", 0, 0.5), ("1", 3, 0.2)]),
        ({"way": "to"}, 3, []),
        ({"how": "mean", "heads": (0, 1)}, 3, [("mean of 1+2", 2, 0.6), ("mean of 1+2", 0, 0.35)]),
        ({"how": "max", "heads": (0, 1)}, 3, [("max of 1+2", 2, 1.0), ("max of 1+2", 0, 0.7)]),
    ],
)
def test_both_ways_round_alone_and_together(gaze, choice, note, expected):
    """Guards: a note taken for the row it was written from, or a looker one event too early."""
    found = list(looks(gaze, note, Choice(**{"layers": (0,), "heads": (0,), **choice})))
    assert [(name, other) for name, _, other, _ in found] == [row[:2] for row in expected]
    assert [w for *_, w in found] == pytest.approx([row[2] for row in expected], abs=2e-3)


def test_two_notes_at_once_keep_their_events():
    piece = piece_of([0.0, 0.0, 0.01], [60, 60, 60])
    view = view_of(np.zeros((1, 1, 4, 4)), [-1, 0, 1, 2], [0.0, 0.0, 0.01], [60, 60, 60])
    assert Gaze.of(view, piece).event_of.tolist() == [1, 2, 3]


def test_maps_are_scaled_by_row_and_keep_sharp_looks():
    size = 1500
    weights = np.zeros((2, 3, size, size), np.float16)
    weights[:, :, :, 0] = 0.01
    gaze = Gaze.of(view_of(weights, [-1] * size, [0.0], [60]), piece_of([0.0], [60]))
    header, pixels = gaze.tiles()[:16], gaze.tiles()[16:]
    assert np.frombuffer(header, "<u4").tolist() == [2, 3, 48, size]
    tiles = np.frombuffer(pixels, np.uint8).reshape(2, 3, 48, 48)
    assert (tiles[:, :, :, 0] == 255).all()
    assert (tiles[:, :, :, 1:] == 0).all()
    with pytest.raises(IndexError):
        gaze.combined([2], [0], "mean")
    with pytest.raises(IndexError):
        gaze.combined([0], [3], "mean")


@pytest.mark.parametrize("events", [1, 47, 48, 49, 100, 512])
def test_a_small_map_is_the_large_one_seen_from_afar(events):
    """Guards halves that are compared by their bits, and rows that lose their own scale."""
    chance = np.random.default_rng(events)
    weights = np.tril(chance.random((events, events)) ** 8).astype(np.float32)
    weights = (weights / weights.sum(axis=1, keepdims=True).clip(1e-9)).astype(np.float16)
    shares = weights.astype(np.float64) / weights.max(axis=1, keepdims=True).clip(1e-9)
    side = min(events, TILE)
    parts = [slice(i * events // side, (i + 1) * events // side) for i in range(side)]
    expected = [[shares[rows, columns].max() ** 0.6 * 255 for columns in parts] for rows in parts]
    assert small_map(weights) == pytest.approx(np.array(expected), abs=2)


def test_a_map_tells_its_rows_and_their_largest_weight(gaze):
    data = zlib.decompress(map_bytes(gaze.combined([0], [0, 1], "mean")), 16 + zlib.MAX_WBITS)
    assert np.frombuffer(data[:8], "<u4").tolist() == [4, 4]
    assert np.frombuffer(data[8:24], "<f4") == pytest.approx([1, 0.75, 0.6, 0.425], abs=1e-3)
    bright = np.frombuffer(data[24:], np.uint8).reshape(4, 4)
    assert bright.max(axis=1).tolist() == [255] * 4
    assert bright[1, 1] == pytest.approx(255 * (0.25 / 0.75) ** 0.6, abs=2)


def test_a_large_map_is_seen_whole_before_its_cells_are_coloured():
    """Guards: four million cells that are coloured at once, in a frame of a tenth of a second."""
    size = 2 * COARSE + 100
    weights = np.full((size, size), 0.001, np.float32)
    weights[:, 77] = 0.5
    data = zlib.decompress(map_bytes(weights), 16 + zlib.MAX_WBITS)
    assert np.frombuffer(data[:8], "<u4").tolist() == [size, COARSE]
    at = 8 + 4 * size
    coarse = np.frombuffer(data[at : at + COARSE**2], np.uint8).reshape(COARSE, COARSE)
    cells = np.frombuffer(data[at + COARSE**2 :], np.uint8).reshape(size, size)
    assert (coarse == 255).sum(axis=1).tolist() == [1] * COARSE, "one event's line stays one line"
    assert (cells == 255).sum() == size


def test_early_notes_of_a_long_piece_are_on_a_page_with_what_was_before_them():
    # 100 notes, of which the model's window of 20 events sees the last; a page is half a window.
    piece = piece_of(np.arange(100) / 10, [60] * 100)
    view = view_of(
        np.zeros((1, 1, 20, 20)), np.arange(20), np.arange(80, 100) / 10, [60] * 20, first_event=81
    )
    gaze = Gaze.of(view, piece)
    assert gaze.pages.page_of(99) == 0
    for note in (0, 9, 10, 55, 85):
        page = gaze.pages.page_of(note)
        end = gaze.pages.page_end(page)
        assert end is not None
        assert end - 10 <= note < end
    assert gaze.pages.page_end(0) is None
    assert gaze.pages.page_end(10) is None


def test_a_short_piece_has_one_page(gaze):
    assert [gaze.pages.page_of(note) for note in range(4)] == [0, 0, 0, 0]


def test_bars_are_those_of_the_piece_or_spans_of_time(gaze):
    assert gaze.groups.tolist() == [0, 0, 0, 1]
    meter = Meter(beat_s=np.arange(6) * 1.0, bar_beats=np.arange(6), on_grid=1.0)
    piece = piece_of([0.004, 0.5, 1.003, 1.996], [60, 38, 64, 60], [0, 1, 0, 0], meter)
    with_bars = Gaze.of(gaze.view, piece)
    assert with_bars.groups.tolist() == [0, 0, 1, 2]
    assert "bar" in with_bars.facts()["habits"]["names"]
    assert "bar" not in gaze.facts()["habits"]["names"]
    assert with_bars.combined([0], [0], "mean", by_bars=True).shape == (3, 3)


@pytest.mark.parametrize("view", ["arcs", "map", "overview"])
@pytest.mark.parametrize("by_bars", [False, True])
def test_every_view_comes_as_png_svg_and_csv(gaze, piece, view, by_bars):
    """Guards foreign text in a table, where a spreadsheet takes it for a formula."""
    choice = Choice(layers=(0,), heads=(0, 1), by_bars=by_bars)
    files = {
        form: view_file(gaze, piece, choice, view=view, form=form, note=3)
        for form in ("png", "svg", "csv")
    }
    assert files["png"].startswith(b"\x89PNG")
    assert b"=1+1 &lt;b&gt;" in files["svg"]
    rows = list(csv.reader(io.StringIO(files["csv"].decode(), newline="")))
    assert len({len(row) for row in rows}) == 1
    assert b"=" not in files["csv"]
    assert view_file(gaze, piece, choice, view="arcs", form="csv", note=1) is None


@pytest.mark.parametrize(
    "query",
    [
        {"layers": "x"},
        {"heads": "0,"},
        {"heads": "-1"},
        {"k": "0"},
        {"k": "25"},
        {"k": "99999999999"},
        {"how": "sum"},
        {"theme": "<b>"},
        {"layers": "1" * 400},
    ],
)
def test_an_address_that_means_nothing_chooses_nothing(query):
    assert Choice.of(query) is None


def test_an_address_says_what_is_shown():
    asked = {"layers": "2", "heads": "0,3,3", "how": "max", "way": "to", "moment": "after"}
    found = Choice.of({**asked, "k": "7", "by": "bars", "theme": "dark", "note": "4"})
    assert found == Choice(
        layers=(2,),
        heads=(0, 3),
        how="max",
        way="to",
        moment="after",
        count=7,
        by_bars=True,
        theme="dark",
    )
    assert which_heads(found.layers, found.heads, found.one_way) == "layer 3, heads 1, 4 (max)"


def drums() -> bytes:
    """Return a MIDI file of one drum note."""
    track = mido.MidiTrack()
    track.append(mido.Message("note_on", channel=9, note=38, time=0))
    track.append(mido.Message("note_off", channel=9, note=38, time=200))
    file, stored = mido.MidiFile(), io.BytesIO()
    file.tracks.append(track)
    file.save(file=stored)
    return stored.getvalue()


def test_the_addresses_answer(music, tiny_model, monkeypatch, tmp_path):
    from starlette.applications import Starlette
    from starlette.testclient import TestClient

    from musicgen.ui import gaze_routes
    from musicgen.ui.pieces import from_upload
    from musicgen.ui.resources import Studio

    studio = Studio(str(tiny_model))
    monkeypatch.setattr(studio, "shelf", Shelf(tmp_path))
    monkeypatch.setattr(gaze_routes, "studio", lambda: studio)
    piece = studio.shelf.put(from_upload(music, name="<i>.mid"))
    client = TestClient(Starlette(routes=gaze_routes.gaze_routes()))
    at = f"/attention/{piece.id}"
    names, (wrote, _, _) = unpacked(client.get(f"{at}/note/9").content)
    assert names[:2] == (0, 9)
    assert wrote.sum(axis=-1) == pytest.approx(1, abs=5e-3)
    assert client.get(f"{at}/note/999").status_code == 204
    facts = client.get(f"{at}/0/facts").json()
    assert facts["habits"]["notes"] == 48
    assert len(client.get(f"{at}/0/map?layers=0&heads=1,2").content) > 8 + 49 * 49
    saved = client.get(f"{at}/0/arcs.svg?note=9&heads=0,1")
    assert saved.headers["content-disposition"] == 'attachment; filename="musicgen-i-mid-arcs.svg"'
    for wrong in ("0/map?layers=7", "0/map?heads=99", "0/arcs.svg", "0/arcs.pdf?note=9", "0/x.csv"):
        assert client.get(f"{at}/{wrong}").status_code == 404, wrong
    assert client.get("/attention/nobody/0/facts").status_code == 404
    # A piece that the model does not hear is no fault of the server, and keeps its own name.
    deaf = studio.shelf.put(from_upload(drums(), name="010_beat.mid"))
    assert deaf.on_roll()["deaf"]
    for asked in ("0/facts", "0", "note/0", "0/map?layers=0&heads=1"):
        answer = client.get(f"/attention/{deaf.id}/{asked}")
        assert answer.status_code == 200, "503 is an error in the browser's console"
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.json()["error"]["message"].startswith("010_beat.mid holds nothing but drums")
        assert "more of the file" not in answer.json()["error"]["hint"]
    assert client.get(f"/attention/{deaf.id}/0/map.png").status_code == 503, "no file to take home"
    studio.close()


def test_a_picture_says_whether_heads_are_shown_as_one() -> None:
    """Guards arcs of each head by itself under a title that called them a mean."""
    assert which_heads([4], [0, 1], None) == "layer 5, heads 1, 2"
    assert which_heads([4], [0, 1], "mean") == "layer 5, heads 1, 2 (mean)"
    assert which_heads([0, 1], [3], "max") == "2 layers, head 4 (max)"
    assert Choice(layers=(4,), heads=(0, 1)).parts_heads
    assert not Choice(layers=(4, 5), heads=(0, 1)).parts_heads
    assert not Choice(layers=(4,), heads=(0, 1), how="mean").parts_heads
