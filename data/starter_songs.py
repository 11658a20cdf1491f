"""The starter pieces that sing. Each function writes one."""

from __future__ import annotations

from starter_kit import Piece, lead


def morning_song() -> Piece:
    """A singing tune over an Alberti bass, in three parts."""
    p = Piece(title="Morning song", tonic=0, bpm=104, rubato=0.04)
    p.loudness = [(0, 62), (32, 70), (48, 76), (60, 60)]
    spans = p.harmony("I I IV I V7 I II7 V I I IV I ii V7 I I")
    p.melody(
        spans,
        "abcd abez abcd aefg",
        {
            "a": "1:0 .5:1 .5:2 1:4 1:2",
            "b": "1.5:2 .5:1 1:0 1:-1",
            "c": "1:0 .5:2 .5:1 1:0 1:1",
            "d": "2:2 1:1 1:r",
            "e": "1:0 1:1 .5:2 .5:1 1:0",
            "f": ".5:0 .5:1 .5:2 .5:3 1:4 1:1",
            "z": "3:0 1:r",
            "g": "4:0",
        },
    )
    p.figure(spans[:-1], "0 2 1 2", step=0.5, near=56)
    p.close(spans[-1], (48, 55, 60, 64), length=4)
    p.slowing = [(52, 64, 0.72)]
    return p


def nocturne() -> Piece:
    """A long line over wide broken chords, all of it in the pedal."""
    p = Piece(title="Nocturne", tonic=1, mode="major", meter=(12, 8), bpm=84, rubato=0.16)
    p.phrase_bars = 2
    p.loudness = [(0, 50), (24, 58), (36, 72), (48, 54), (60, 44)]
    spans = p.harmony("I vi ii V7 I III7 vi IV iv I/5 V7 I", each=3)
    spans += p.harmony("I IV I .", start=36, each=3)
    p.melody(
        spans,
        "a b c d a e f g h i j z k z",
        {
            "a": "1.5:2 .5:3 1:4",
            "b": "2:2 .5:1 .5:0",
            "c": "1:0 .5:1 .5:2 1:3",
            "d": "1.5:1 .25:2 .25:1 1:-1",
            "e": "1:2 1:3 .5:4 .5:5",
            "f": "1.5:4 .5:2 1:0",
            "g": "1:2 1:0 1:-1",
            "h": "2:2 1:0",
            "i": "1:0 .5:2 .5:4 1:2",
            "j": "1.5:1 .5:0 1:-1",
            "k": ".5:0 .5:1 .5:0 .5:-1 1:0",
            "z": "3:0",
        },
        each=3,
        near=75,
        loud=14,
    )
    p.figure(spans[:-1], "b 0 2 3 2 1", step=0.5, near=54, bass_near=38, loud=-12)
    p.pedal(spans[:-1])
    p.close(spans[-1], (37, 49, 56, 61, 65, 73), length=6, roll=0.14)
    p.slowing = [(36, 46, 0.66)]
    return p


def chorale() -> Piece:
    """Four voices, note against note, with a breath after each line."""
    p = Piece(title="Chorale", tonic=7, bpm=112, rubato=0.05)
    p.loudness = [(0, 66), (32, 72), (48, 78), (60, 60)]
    numerals = (
        "I V/3 vi I/3 IV I/5 V I | I IV/3 V/3 I ii II7/3 V . | "
        "vi III/3 vi ii/3 V I/3 IV V | I/5 IV ii/3 I/5 V7 . I ."
    )
    spans = p.harmony(numerals, each=2)
    soprano = (
        *(0, 1, 2, 4, 3, 2, 1, 0),
        *(2, 3, 4, 2, 3, 3, 1),
        *(2, 2, 2, 3, 4, 4, 3, 1),
        *(2, 3, 3, 2, 1, 0),
    )
    inner: list[int] = []
    for span, step in zip(spans, soprano, strict=True):
        top = p.scale_pitch(p.nearest_step(span, p.scale_pitch(step)), span)
        inner = lead(span, inner, 60)
        for pitch in {top, *(voice for voice in inner if voice < top)}:
            p.play(span.start, span.length * 0.98, pitch, 8 if pitch == top else -4)
    p.figure(spans, "b", step=2, loud=0, bass_near=47)
    p.slowing = [(14, 16, 0.9), (52, 64, 0.62)]
    return p


def lullaby() -> Piece:
    """A cradle song in six-eight."""
    p = Piece(title="Lullaby", tonic=10, meter=(6, 8), bpm=63, rubato=0.08)
    p.loudness = [(0, 48), (12, 54), (24, 50), (36, 40)]
    spans = p.harmony("I IV I V7 I IV V7 I vi ii V7 I")
    p.melody(
        spans,
        "abac abdz efdz",
        {
            "a": "1:2 .5:1 1:0 .5:1",
            "b": "1:2 .5:3 1.5:4",
            "c": "1:2 .5:0 1.5:1",
            "d": "1:1 .5:2 1:1 .5:-1",
            "e": "1:0 .5:2 1:4 .5:2",
            "f": "1:3 .5:2 1.5:1",
            "z": "2.5:0 .5:r",
        },
        near=72,
    )
    p.figure(spans[:-1], "b 1 2", step=0.5, near=58, loud=-12)
    p.pedal(spans[:-1])
    p.close(spans[-1], (46, 53, 58, 62, 70), length=3, roll=0.12)
    p.slowing = [(27, 36, 0.6)]
    return p


def barcarolle() -> Piece:
    """Rocking water, thirds in the right hand."""
    p = Piece(title="Barcarolle", tonic=6, meter=(6, 8), bpm=72, rubato=0.12)
    p.loudness = [(0, 52), (18, 64), (30, 70), (42, 48)]
    spans = p.harmony("I I ii V7 I III7 vi II7 V V7 I iv I V7 I")
    motifs = {
        "a": "1.5:2 .5:3 .5:2 .5:1",
        "b": "2:0 .5:1 .5:2",
        "c": "1:3 .5:2 1:1 .5:0",
        "d": "1.5:1 1:-1 .5:r",
        "e": "1:2 .5:4 1:3 .5:2",
        "z": "3:0",
    }
    p.melody(spans, "abcd aeab cdae bdz", motifs, near=75)
    p.melody(spans, "abcd aeab cdae bdz", motifs, near=71, loud=0)
    p.figure(spans[:-1], "b 0 1 f 1 0", step=0.5, near=56, loud=-10, gate=1.1)
    p.pedal(spans[:-1])
    p.close(spans[-1], (42, 54, 61, 66, 70), length=3, roll=0.14)
    p.slowing = [(36, 45, 0.64)]
    return p


def theme_with_variations() -> Piece:
    """A theme, then the same in running notes, in the minor, and as a march."""
    p = Piece(title="Theme with variations", tonic=7, bpm=144, rubato=0.03)
    p.loudness = [(0, 62), (32, 66), (64, 52), (92, 60), (96, 82), (124, 86)]
    chords = "I V/3 I IV I/5 V7 I I"
    theme = {
        "a": "1:0 1:2 1:4 1:2",
        "b": "2:1 2:-1",
        "c": "1:0 1:2 1:3 1:4",
        "d": "2:2 1:1 1:0",
        "e": "1:2 1:4 1:3 1:2",
        "f": "1:1 1:2 2:-1",
        "z": "4:0",
    }
    running = {
        "a": ".5:0 .5:1 .5:2 .5:3 .5:4 .5:3 .5:2 .5:1",
        "b": ".5:1 .5:0 .5:1 .5:2 .5:1 .5:0 1:-1",
        "c": ".5:0 .5:2 .5:1 .5:2 .5:3 .5:2 .5:4 .5:3",
        "d": ".5:2 .5:3 .5:2 .5:1 .5:0 .5:1 1:0",
        "e": ".5:2 .5:4 .5:3 .5:5 .5:4 .5:3 .5:2 .5:1",
        "f": ".5:1 .5:2 .5:1 .5:0 1:-1 1:1",
        "z": ".5:0 .5:2 .5:4 .5:2 2:0",
    }
    first = p.harmony(chords)
    p.melody(first, "abcdefzz", theme)
    p.figure(first, "b c c c", step=1, near=57, gate=0.7)
    second = p.harmony(chords, start=32)
    p.melody(second, "abcdefaz", running)
    p.figure(second, "b . c .", step=1, near=57, gate=0.9)
    p.mode = "minor"
    third = p.harmony("i V/3 i iv i/5 V7 i i", start=64)
    p.melody(third, "abcdefzz", theme, near=69)
    p.figure(third, "b 0 1 2 1 0 1 2", step=0.5, near=55, loud=-12)
    p.pedal(third)
    p.mode = "major"
    fourth = p.harmony(chords, start=96)
    p.melody(fourth, "abcdefez", theme, near=74, double=-12)
    p.figure(fourth[:-1], "B c B c", step=1, near=57, gate=0.6)
    p.close(fourth[-1], (43, 50, 55, 59, 62), length=4)
    p.slowing = [(88, 95, 0.75), (96, 97, 1.0), (120, 128, 0.75)]
    return p


def music_box() -> Piece:
    """High, thin and even, winding down at the end."""
    p = Piece(title="Music box", tonic=9, meter=(3, 4), bpm=138, rubato=0.0)
    p.loudness = [(0, 60), (60, 52), (84, 40)]
    spans = p.harmony("I I IV I V7 V7 I I vi iii IV I ii V7 I I " + "I IV V7 I I IV V7 I ii V7 I I")
    p.melody(
        spans,
        "abac deaz fgfg dehz abda abda dedz",
        {
            "a": "1:0 .5:2 .5:4 1:2",
            "b": "1:4 1:2 1:0",
            "c": "2:2 1:r",
            "d": ".5:1 .5:2 1:3 1:1",
            "e": "1:1 1:0 1:-1",
            "f": ".5:0 .5:1 .5:2 .5:1 1:0",
            "g": "1:2 2:0",
            "h": "1:0 .5:1 .5:2 1:4",
            "z": "3:0",
        },
        near=86,
    )
    p.figure(spans, "b 1 2", step=1, near=72, bass_near=64, loud=-12)
    p.pedals = [(q + 0.1, q + 6) for q in range(0, 84, 6)]
    p.slowing = [(66, 84, 0.5)]
    return p


def five_note_garden() -> Piece:
    """Five notes only, answered across the hands."""
    p = Piece(title="Five-note garden", tonic=6, bpm=92, rubato=0.08)
    p.loudness = [(0, 50), (16, 60), (32, 70), (44, 50)]
    scale = (54, 56, 58, 61, 63)
    line = (5, 7, 8, 10, 8, 7, 9, 5, 6, 8, 10, 12, 10, 9, 8, 7)
    for bar in range(12):
        for index in range(8):
            step = line[(bar * 5 + index) % 16]
            octave, tone = divmod(step, 5)
            at = 4 * bar + index / 2
            if (bar * 3 + index) % 5 != 4:
                p.play(at, 0.9, scale[tone] + 12 * octave, 6 if index % 3 == 0 else 0)
            if index in (1, 4, 6) and bar > 0:
                p.play(at, 1.4, scale[(tone + bar) % 5], -8)
        p.play(4 * bar, 3.8, 42 if bar % 4 < 2 else (39 if bar % 4 == 2 else 37), -2)
        p.pedals.append((4 * bar + 0.1, 4 * bar + 3.95))
    p.close(p.harmony("I", start=48)[0], (30, 42, 54, 58, 61, 68), length=5, roll=0.16)
    p.slowing = [(40, 50, 0.66)]
    return p


SONGS = (
    morning_song,
    nocturne,
    chorale,
    lullaby,
    barcarolle,
    theme_with_variations,
    music_box,
    five_note_garden,
)
