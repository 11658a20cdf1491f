"""The starter pieces that follow an idea: a canon, a pattern, a figure. A function writes one."""

from __future__ import annotations

from starter_kit import Piece, lead


def ground_canon() -> Piece:
    """One tune over a ground bass, answered by itself an octave lower eight chords later."""
    p = Piece(title="Canon on a ground", tonic=2, bpm=88, rubato=0.03)
    p.loudness = [(0, 54), (16, 62), (32, 72), (52, 76), (64, 58)]
    cycle = "I V vi iii IV I IV V"
    spans = p.harmony(" ".join([cycle] * 4), each=2)
    last = p.harmony("I", start=64, each=4)
    motifs = {
        "a": "2:2",
        "b": "1:2 1:1",
        "c": ".5:0 .5:1 .5:2 .5:1",
        "d": "1:2 .5:1 .5:0",
        "e": ".5:2 .5:0 .5:1 .5:2",
        "f": ".25:0 .25:1 .25:2 .25:1 .5:0 .5:2",
        "g": "1.5:4 .5:2",
    }
    tune = "aaaaaaab cdcdcdcd fefefgfe"
    p.melody(spans[:24], tune, motifs, each=2, near=76, loud=8)
    p.melody(spans[8:], tune, motifs, each=2, near=66, loud=2)
    p.figure(spans, "b .", step=1, loud=0, gate=1.7, bass_near=45)
    p.pedal(spans)
    p.close(last[0], (38, 50, 57, 62, 66, 74), length=4, roll=0.12)
    p.slowing = [(56, 66, 0.72)]
    return p


def slow_cells() -> Piece:
    """Small cells that repeat and drift apart: one hand in seven, the other in eight."""
    p = Piece(title="Slow cells", tonic=4, mode="dorian", bpm=132, rubato=0.0)
    p.loudness = [(0, 48), (32, 66), (56, 72), (80, 46)]
    cell = (0, 4, 2, 6, 4, 2, 5)
    low = (-7, -3, 0, -3, -5, -3, 0, -1)
    for index in range(160):
        lift = 1 if 64 <= index < 112 else 0
        p.play(index / 2, 0.48, p.scale_pitch(cell[index % 7] + lift), 4)
        if index >= 16:
            p.play(index / 2, 0.48, p.scale_pitch(low[index % 8] + lift), -4)
        if index % 32 == 0:
            p.play(index / 2, 6, p.scale_pitch(-14 + lift), -2)
    p.pedals = [(q + 0.1, q + 4.0) for q in range(0, 80, 4)]
    p.close(p.harmony("i", start=80)[0], (40, 52, 59, 64, 71), length=4)
    return p


def broken_prelude() -> Piece:
    """No tune at all: one broken chord a bar, and the harmony does the talking."""
    p = Piece(title="Prelude in broken chords", tonic=0, bpm=76, rubato=0.05)
    p.loudness = [(0, 52), (24, 66), (40, 74), (52, 56), (60, 46)]
    spans = p.harmony("I ii7/7 V7/3 I vi II7/7 V/3 IM7/7 vi7 II7 V io7 ii/3 iv I/5 V7 I")
    p.figure(spans[:-1], "b 0 1 2 3 1 2 3", step=0.25, near=62, bass_near=50, loud=-2, gate=1.2)
    p.pedal(spans[:-1])
    p.close(spans[-1], (36, 48, 55, 60, 64), length=5, roll=0.2)
    p.slowing = [(54, 68, 0.62)]
    return p


def two_voices() -> Piece:
    """An invention: a subject, its answer a fifth up, and both going on together."""
    p = Piece(title="Two voices", tonic=9, mode="minor", bpm=96, rubato=0.02)
    p.loudness = [(0, 64), (24, 74), (40, 80), (52, 66)]
    spans = p.harmony("i V7 i V bIII bVII iv V7 i iv bVII bIII bVI iio V7 i")
    subject = {
        "s": ".25:0 .25:1 .25:2 .25:3 .25:4 .25:2 .25:1 .25:0 .5:4 .5:7 .5:4 .5:2",
        "t": ".5:2 .5:1 .25:0 .25:1 .25:2 .25:1 .5:0 .5:-1 .5:0 .5:1",
        "u": "1:0 .5:1 .5:2 1:1 .5:0 .5:-1",
        "v": ".5:0 .25:1 .25:2 .5:3 .5:2 .25:1 .25:2 .25:1 .25:0 1:1",
        "r": "4:r",
        "z": "4:0",
    }
    p.melody(spans, "stut vsut suvs vtuz", subject, near=74, loud=4, legato=0.88)
    p.melody(spans, "rsts utvu vtsu tsuz", subject, near=44, loud=2, legato=0.88)
    p.slowing = [(56, 64, 0.75)]
    return p


def etude_in_sixteenths() -> Piece:
    """The right hand runs, the left one sings."""
    p = Piece(title="Study in sixteenths", tonic=8, bpm=108, rubato=0.05)
    p.loudness = [(0, 54), (16, 66), (32, 80), (48, 62), (60, 50)]
    spans = p.harmony("I I IV IV ii V7 I VI7 ii iv I/5 II7 V7 V7 I I")
    p.figure(spans[:-1], "0 1 2 3 2 1 2 3", step=0.25, near=67, bass_near=43, loud=-10)
    p.melody(
        spans,
        "abac dbef gdac hbzz",
        {
            "a": "2:0 1:1 1:2",
            "b": "3:2 1:1",
            "c": "2:4 2:2",
            "d": "2:1 1:2 1:0",
            "e": "3:0 1:-1",
            "f": "2:0 2:0#",
            "g": "1:1 1:2 2:3",
            "h": "2:1 2:2",
            "z": "4:0",
        },
        near=54,
        loud=12,
    )
    p.figure(spans[:-1], "b . . .", step=1, bass_near=38, loud=-4, gate=3)
    p.pedal(spans[:-1])
    p.close(spans[-1], (32, 44, 51, 56, 60, 68), length=4, roll=0.15)
    p.slowing = [(52, 64, 0.66)]
    return p


def distant_bells() -> Piece:
    """Fifths and fourths left to ring, over a low pedal point."""
    p = Piece(title="Distant bells", tonic=11, mode="lydian", bpm=58, rubato=0.04)
    p.loudness = [(0, 46), (12, 62), (24, 78), (34, 48)]
    for bar in range(8):
        start = 4 * bar
        p.play(start, 3.9, 35 if bar < 6 else 30, 2)
        p.play(start, 3.9, 47, -4)
        rise = (0, 1, 3, 2, 4, 3, 1, 0)[bar]
        for beat, step in enumerate((4, 7, 11, 8, 14, 11, 7, 8)):
            pitch = p.scale_pitch(step + rise - 7)
            p.play(start + 0.5 * beat, 2.2, pitch, -2 if beat % 2 else 6)
            if beat in (0, 4):
                p.play(start + 0.5 * beat, 2.2, pitch + 7, 4)
        p.pedals.append((start + 0.1, start + 3.95))
    p.close(p.harmony("I", start=32)[0], (35, 47, 54, 61, 66, 73), length=6, roll=0.3)
    p.slowing = [(26, 34, 0.7)]
    return p


def toccata() -> Piece:
    """Hands in alternation, driving to a broad end."""
    p = Piece(title="Toccata", tonic=2, mode="minor", bpm=126, rubato=0.0)
    p.loudness = [(0, 70), (24, 62), (48, 84), (60, 94)]
    spans = p.harmony("i i iv iv V7 V7 i bVI iv iio V7 i bVI bIII iv V7")
    before: list[int] = []
    for span in spans:
        before = lead(span, before, 67)
        low = lead(span, (), 50)
        for index in range(16):
            at = span.start + index / 4
            if index % 4 in (0, 3):
                p.play(at, 0.22, before[-1] if index % 8 else before[-1] + 12, 6)
            else:
                p.play(at, 0.22, low[index % len(low)], -4)
        p.play(span.start, 1.9, low[0] - 12, 4)
        p.play(span.start + 2, 1.9, low[0] - 12, 0)
    p.close(p.harmony("I", start=64)[0], (26, 38, 50, 54, 57, 62, 66, 74), length=5, roll=0.04)
    p.slowing = [(58, 66, 0.62)]
    return p


STUDIES = (
    ground_canon,
    slow_cells,
    broken_prelude,
    two_voices,
    etude_in_sixteenths,
    distant_bells,
    toccata,
)
