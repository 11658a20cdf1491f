"""The starter pieces that dance. Each function writes one."""

from __future__ import annotations

from starter_kit import Piece, lead


def evening_waltz() -> Piece:
    """A slow waltz in A minor with a lift into the major."""
    p = Piece(title="Evening waltz", tonic=9, mode="minor", meter=(3, 4), bpm=126, rubato=0.1)
    p.loudness = [(0, 58), (24, 64), (48, 74), (72, 60), (96, 52)]
    spans = p.harmony(
        "i i iv i iio V7 i V7 i i iv i bVI V7 i i "
        "bIII bIII bVII bVII bIII bVI V7 V7 i i iv i iio V7 i i"
    )
    p.melody(
        spans,
        "abac dfeh abac dfgz ijij kldh abac dfgz",
        {
            "a": "1.5:0 .5:1 1:2",
            "b": "2:4 1:2",
            "c": "2:1 1:0",
            "d": "1:0 1:-1 1:-2",
            "e": "1:0 1:2 1:1",
            "f": "1.5:1 .5:0 1:-1",
            "g": "2:1 1:0",
            "h": "2:0 1:r",
            "i": "1:2 .5:3 .5:4 1:2",
            "j": "2:1 1:-1",
            "k": "1:0 1:2 1:4",
            "l": "1.5:4 .5:3 1:2",
            "z": "3:0",
        },
        near=74,
    )
    p.figure(spans[:-1], "b c c", step=1, near=57, gate=0.8)
    p.pedal(spans[:-1])
    p.close(spans[-1], (45, 52, 57, 60, 64), length=3)
    p.slowing = [(84, 96, 0.7)]
    return p


def rag() -> Piece:
    """A ragtime strain: a march in the left hand, the right one never on the beat."""
    p = Piece(title="Porch rag", tonic=5, meter=(2, 4), bpm=88, rubato=0.0)
    p.loudness = [(0, 74), (32, 80), (64, 78)]
    first = "I I V7 V7 I VI7 II7 V7 I I I7 IV #ivo7 I/5 V7 I"
    second = "IV IV I I V7 V7 I I7 IV #ivo7 I/5 VI7 II7 V7 I I"
    spans = p.harmony(f"{first} {second}")
    p.melody(
        spans,
        "abab cdef abag hief jkjk cdgl jihd efmz",
        {
            "a": ".25:0 .5:2 .25:1 .5:2 .5:4",
            "b": ".25:2 .25:1 .5:0 .25:1 .75:2",
            "c": ".25:0 .25:1 .25:2 .5:4 .25:2 .5:0",
            "d": ".5:2 .25:1 .5:0 .75:-1",
            "e": ".25:1 .5:2 .25:1 .5:0 .5:1",
            "f": ".25:2 .5:1 .25:0 1:1",
            "g": ".5:0 .5:2 .25:3 .75:2",
            "h": ".25:0 .5:0# .25:1 .5:2 .5:0",
            "i": ".25:4 .25:2 .5:4 .25:2 .75:0",
            "j": ".25:2 .5:4 .25:2 .25:4 .75:2",
            "k": ".5:1 .25:2 .5:1 .75:0",
            "l": ".25:0 .25:1 .25:2 .25:4 1:7",
            "m": ".25:1 .25:0 .5:-1 .25:1 .75:-1",
            "z": ".5:0 .5:4 .5:0 .5:r",
        },
        near=74,
        double=-12,
        legato=0.85,
    )
    p.figure(spans[:-1], "B c f c", step=0.5, near=57, gate=0.7, bass_near=43)
    p.close(spans[-1], (41, 53), length=1, roll=0)
    return p


def tango() -> Piece:
    """A habanera bass and a tune that leans on its notes."""
    p = Piece(title="Corner tango", tonic=2, mode="minor", meter=(2, 4), bpm=60, rubato=0.06)
    p.loudness = [(0, 66), (16, 74), (32, 82), (46, 70)]
    spans = p.harmony("i i V7 V7 V7 V7 i i iv iv i i V7 V7 i I7 iv V7 i bVI iio V7 i i")
    p.melody(
        spans,
        "abcd cefz ghid cefz ajkd cflz",
        {
            "a": ".5:r .25:0 .25:1 .5:2 .5:4",
            "b": ".75:4 .25:3 .5:2 .5:0",
            "c": ".5:r .25:1 .25:2 .5:1 .5:-1",
            "d": "1:0 .5:-1 .5:0",
            "e": ".75:2 .25:1 1:0",
            "f": ".5:1 .25:0 .25:-1 .5:0# .5:1",
            "g": ".5:r .25:2 .25:3 .5:4 .5:5",
            "h": ".75:4 .25:2 1:0",
            "i": ".25:2 .25:1 .25:2 .25:3 1:2",
            "j": ".5:2 .25:1 .25:0 1:1",
            "k": ".75:0 .25:2 .5:4 .5:2",
            "l": ".5:1 .5:0 .5:-1 .5:1",
            "z": "1.5:0 .5:r",
        },
        near=71,
        loud=12,
    )
    p.figure(spans[:-1], "b . . c f . c .", step=0.25, near=57, gate=1.4)
    p.close(spans[-1], (38, 50, 57, 62), length=1.5, roll=0)
    p.slowing = [(42, 48, 0.8)]
    return p


def tarantella() -> Piece:
    """A quick dance in six-eight that hardly stops for breath."""
    p = Piece(title="Tarantella", tonic=4, mode="minor", meter=(6, 8), bpm=198, rubato=0.0)
    p.loudness = [(0, 70), (24, 62), (48, 78), (72, 66), (96, 88)]
    part = "i i iv i V7 i iio V7"
    spans = p.harmony(f"{part} i i iv i V7 i V7 i bIII bVII bIII bVI iv i V7 V7 {part[:-3]} V7 i")
    p.melody(
        spans,
        "aabc dedf aabc dege hihj bcdf aabc degz",
        {
            "a": ".5:4 .5:3 .5:2 .5:3 .5:2 .5:1",
            "b": ".5:0 .5:1 .5:2 .5:3 .5:4 .5:5",
            "c": ".5:4 .5:2 .5:4 1:2 .5:0",
            "d": ".5:1 .5:2 .5:1 .5:0 .5:-1 .5:0",
            "e": "1:0 .5:2 1:4 .5:2",
            "f": ".5:1 .5:0 .5:-1 1:1 .5:r",
            "g": ".5:1 .5:0 .5:1 .5:2 .5:1 .5:-1",
            "h": "1:2 .5:4 1:4 .5:2",
            "i": ".5:1 .5:2 .5:3 1:1 .5:-1",
            "j": ".5:4 .5:3 .5:2 .5:1 .5:0 .5:-1",
            "z": "1.5:0 1.5:r",
        },
        near=76,
        legato=0.8,
    )
    p.figure(spans[:-1], "b . c f . c", step=0.5, near=57, gate=0.6)
    p.close(spans[-1], (40, 52, 59, 64), length=1.5, roll=0)
    return p


def march() -> Piece:
    """A small parade, with a trio in the subdominant."""
    p = Piece(title="Tin march", tonic=3, bpm=116, rubato=0.0)
    p.loudness = [(0, 60), (16, 74), (32, 58), (48, 70), (64, 88)]
    spans = p.harmony("I V7 V7 I I II7 V7 I IV I7 IV IV bVII7 I7 V7 I I V7 ii V7 I")
    p.melody(
        spans,
        "abcd aefd ghgi jhfd abcf z",
        {
            "a": ".75:0 .25:0 1:2 1:4 1:2",
            "b": ".75:1 .25:2 1:3 1:1 1:r",
            "c": ".75:1 .25:1 1:-1 1:1 .5:2 .5:3",
            "d": "1:2 1:0 1:0 1:r",
            "e": ".5:0 .5:1 .5:2 .5:3 1:4 1:2",
            "f": "1:1 .75:2 .25:1 1:0 1:-1",
            "g": "2:2 1:1 1:0",
            "h": "1.5:2 .5:3 2:4",
            "i": "2:1 1:2 1:r",
            "j": "1:4 1:3 1:2 1:1",
            "z": "1:0 1:7 1:0 1:r",
        },
        near=73,
        legato=0.75,
    )
    p.figure(spans[:-1], "b c f c", step=1, near=58, gate=0.5)
    p.close(spans[-1], (39, 51, 55, 58), length=3, roll=0)
    return p


def blue_walk() -> Piece:
    """Twelve bars, twice: a walking bass and a swung right hand."""
    p = Piece(title="Blue walk", tonic=0, mode="mixolydian", bpm=132, rubato=0.0)
    p.loudness = [(0, 68), (48, 78), (88, 84), (96, 70)]
    spans = p.harmony("I7 IV7 I7 I7 IV7 IV7 I7 VI7 II7 V7 I7 V7 " * 2 + "I7")
    swing = {
        "a": ".67:r .33:2 .67:4 .33:2 1:0 1:r",
        "b": ".67:0 .33:1 .67:2 .33:4 .67:2 1.33:0",
        "c": "1:4 .67:r .33:2 .67:0# .33:1 1:0",
        "d": ".67:2 .33:1 .67:0 .33:-1 2:0",
        "e": ".33:0 .34:1 .33:2 1:4 .67:2 .33:1 1:0",
        "f": "1:r .67:1 .33:2 .67:3 .33:2 1:1",
        "z": ".67:0 .33:4 3:7",
    }
    p.melody(spans, "abcd abce fdad ebec fbed fead z", swing, near=72, legato=0.9)
    for span in spans[:-1]:
        root = lead(span, (), 45)[0]
        walk = (0, 4, 7, 9) if span.start % 8 else (0, 10, 9, 7)
        base = min((p_ for p_ in range(34, 50) if p_ % 12 == span.tones[0]), default=root)
        for beat, rise in enumerate(walk):
            p.play(span.start + beat, 0.9, base + rise, 0)
        p.play(span.start + 1.67, 0.3, base + 16, -8)
        p.play(span.start + 1.67, 0.3, base + 22, -8)
    p.close(spans[-1], (36, 48, 52, 58, 62), length=4, roll=0.05)
    return p


def sarabande() -> Piece:
    """A grave dance that leans on its second beat."""
    p = Piece(title="Sarabande", tonic=7, mode="minor", meter=(3, 4), bpm=69, rubato=0.05)
    p.loudness = [(0, 62), (12, 70), (24, 78), (36, 64), (48, 58)]
    spans = p.harmony("i V/3 i iv/3 V bVI iv V bIII bVII/3 bIII iv V7 i/3 iio i/5 V7 i")
    p.melody(
        spans,
        "aabc adef gaab cdef ez",
        {
            "a": "1:0 1.5:2 .5:1",
            "b": "1:2 2:1",
            "c": "1:0 1:3 .5:2 .5:1",
            "d": "1:0 1.5:0 .5:-1",
            "e": "1:1 1:0 1:-1",
            "f": "1:0 2:0",
            "g": "1:2 1.5:4 .5:3",
            "z": "3:0",
        },
        near=72,
    )
    p.figure(spans[:-1], "b c .", step=1, near=58, gate=1.3)
    p.close(spans[-1], (43, 50, 55, 58, 62), length=3, roll=0.12)
    p.slowing = [(45, 54, 0.66)]
    return p


def hill_dance() -> Piece:
    """Seven eighths a bar over a drone."""
    p = Piece(title="Hill dance", tonic=2, mode="mixolydian", meter=(7, 8), bpm=160, rubato=0.0)
    p.loudness = [(0, 66), (28, 78), (56, 70), (80, 88)]
    spans = p.harmony("I I bVII I I I bVII I IV I bVII bVII I I bVII I " + "I bVII IV I I bVII v I")
    p.melody(
        spans,
        "abac abdz efgd abdz efga abdz",
        {
            "a": ".5:0 .5:1 .5:2 1:4 1:2",
            "b": ".5:2 .5:1 .5:0 .5:1 .5:2 1:1",
            "c": "1:0 .5:1 1:2 1:r",
            "d": ".5:1 .5:2 .5:1 .5:0 .5:-1 .5:0 .5:1",
            "e": ".5:4 .5:5 .5:4 1:2 .5:3 .5:4",
            "f": "1.5:2 1:1 1:0",
            "g": ".5:1 .5:0 .5:1 .5:2 .5:3 1:1",
            "z": "1.5:0 1:0 1:r",
        },
        near=74,
        legato=0.85,
    )
    p.figure(spans, "b . c b . c .", step=0.5, near=57, gate=0.8, bass_near=38)
    return p


def mazurka() -> Piece:
    """The weight on the third beat, a drone in the middle part."""
    p = Piece(title="Mazurka", tonic=5, meter=(3, 4), bpm=138, rubato=0.13)
    p.loudness = [(0, 66), (24, 74), (48, 58), (72, 70), (90, 62)]
    spans = p.harmony(
        "I I V7 V7 V7 V7 I I I VI7 ii ii V7 V7 I I vi vi III7 III7 vi ii III7 vi "
        "I I V7 V7 ii V7 I I"
    )
    p.melody(
        spans,
        "abcd cedz abfd cedz ghgi jhiz abcd fedz",
        {
            "a": ".75:2 .25:1 1:0 1:4",
            "b": ".75:4 .25:3 1:2 1:0",
            "c": ".75:1 .25:2 1:1 1:3",
            "d": ".33:3 .33:2 .34:1 1:-1 1:1",
            "e": ".75:1 .25:0 1:-1 1:1",
            "f": "1:0 .5:1 .5:2 1:4",
            "g": "1:2 .5:1 .5:0 1:2",
            "h": "2:1 1:0",
            "i": "1:1 1:-1 1:0",
            "j": "1:0 1:2 1:4",
            "z": "1:0 2:0",
        },
        near=74,
    )
    p.figure(spans[:-1], "b c c", step=1, near=58, gate=0.75)
    p.close(spans[-1], (41, 53, 57, 60), length=3)
    p.slowing = [(87, 96, 0.72)]
    return p


DANCES = (
    evening_waltz,
    rag,
    tango,
    tarantella,
    march,
    blue_walk,
    sarabande,
    hill_dance,
    mazurka,
)
