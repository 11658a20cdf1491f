"""A small composing kit: harmony in Roman numerals, motifs, accompaniment figures, expression.

Everything is measured in quarter notes from the beginning of the piece. The kit knows how to
spell chords, to fit a motif to a chord, to lead voices and to play what was written a little as
people do: phrases that rise and fall, a melody above its accompaniment, legato pedal, slower ends.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from musicgen.midi.sheet import Sheet

MODES = {
    "major": (0, 2, 4, 5, 7, 9, 11),
    "minor": (0, 2, 3, 5, 7, 8, 10),
    "dorian": (0, 2, 3, 5, 7, 9, 10),
    "mixolydian": (0, 2, 4, 5, 7, 9, 10),
    "lydian": (0, 2, 4, 6, 7, 9, 11),
}
DEGREES = {"I": 0, "II": 2, "III": 4, "IV": 5, "V": 7, "VI": 9, "VII": 11}
# Of each chord tone: semitones above the root, and letters above it (a third is 2 letters up).
QUALITIES = {
    "": ((0, 0), (4, 2), (7, 4)),
    "m": ((0, 0), (3, 2), (7, 4)),
    "o": ((0, 0), (3, 2), (6, 4)),
    "+": ((0, 0), (4, 2), (8, 4)),
    "s": ((0, 0), (5, 3), (7, 4)),
}
ADDED = {"7": (10, 6), "M7": (11, 6), "o7": (9, 6), "6": (9, 5), "9": (14, 1)}
SHARPS = {0: 0, 7: 1, 2: 2, 9: 3, 4: 4, 11: 5, 6: 6, 1: -5, 8: -4, 3: -3, 10: -2, 5: -1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A chord and how long it lasts.

    Attributes:
        start: Where it begins.
        length: How long it lasts.
        bass: Pitch class of the lowest note.
        tones: Pitch classes from the root up.
        bends: How many semitones each scale degree moves while it sounds, 7 numbers.
    """

    start: float
    length: float
    bass: int
    tones: tuple[int, ...]
    bends: tuple[int, ...]


@dataclass(slots=True, kw_only=True)
class Piece:
    """A piece while it is being written.

    Attributes:
        title: Its name; it also seeds the small unevennesses of the playing.
        tonic: Pitch class of the key, 0 for C.
        mode: A key of `MODES`.
        meter: Beats a bar and the beat's note.
        bpm: Quarters a minute.
        rubato: How much slower than its middle a phrase begins and ends, 0 to 0.3.
        phrase_bars: Bars a phrase, for rubato and for the rise and fall of loudness.
    """

    title: str
    tonic: int
    mode: str = "major"
    meter: tuple[int, int] = (4, 4)
    bpm: float
    rubato: float = 0.06
    phrase_bars: int = 4
    loudness: list[tuple[float, float]] = field(default_factory=lambda: [(0.0, 66.0)])
    slowing: list[tuple[float, float, float]] = field(default_factory=list)
    notes: list[tuple[float, float, int, float]] = field(default_factory=list)
    pedals: list[tuple[float, float]] = field(default_factory=list)

    @property
    def bar(self) -> float:
        """Quarters a bar."""
        return self.meter[0] * 4 / self.meter[1]

    def harmony(
        self, numerals: str, *, start: float = 0.0, each: float | None = None
    ) -> list[Span]:
        """Spell a progression such as `I vi IV V7/V`, each chord `each` quarters (a bar).

        Lower case is minor, `o` diminished, `b` or `#` moves the root, `/` names the bass by a
        degree of the chord's own: `I/3` has its third in the bass. `.` lengthens the last chord.
        """
        each = self.bar if each is None else each
        spans: list[Span] = []
        for numeral in numerals.split():
            if numeral == "|":
                continue
            if numeral == ".":
                spans[-1] = replace(spans[-1], length=spans[-1].length + each)
                continue
            at = spans[-1].start + spans[-1].length if spans else start
            spans.append(self._spell(numeral, at, each))
        return spans

    def _spell(self, numeral: str, start: float, length: float) -> Span:
        name, _, below = numeral.partition("/")
        shift = name.count("#") - name.count("b")
        name = name.strip("b#")
        degree = "".join(char for char in name if char in "IViv")
        rest = name[len(degree) :]
        quality = "m" if degree.islower() else ""
        if rest[:1] in ("o", "+", "s"):
            quality, rest = rest[0], rest[1:]
        parts = list(QUALITIES[quality])
        if rest:
            parts.append(ADDED["o7" if quality == "o" else rest])
        root = self.tonic + DEGREES[degree.upper()] + shift
        letter = list(DEGREES).index(degree.upper())
        bends = [0] * 7
        for interval, letters in parts:
            natural = self.tonic + MODES[self.mode][(letter + letters) % 7]
            bends[(letter + letters) % 7] = (root + interval - natural + 6) % 12 - 6
        tones = tuple((root + interval) % 12 for interval, _ in parts)
        bass = tones[{"": 0, "3": 1, "5": 2, "7": 3}[below]]
        return Span(start=start, length=length, bass=bass, tones=tones, bends=tuple(bends))

    def scale_pitch(self, step: int, span: Span | None = None) -> int:
        """Return the pitch of a scale step (0 is the tonic above middle C), bent to the chord."""
        octave, degree = divmod(step, 7)
        pitch = 60 + self.tonic + 12 * octave + MODES[self.mode][degree]
        return pitch if span is None else pitch + span.bends[degree]

    def nearest_step(self, span: Span, pitch: float, tones: Sequence[int] = ()) -> int:
        """Return the scale step on one of `tones` (any of `span`) that lies nearest to `pitch`."""
        steps = range(-28, 35)
        fitting = [s for s in steps if self.scale_pitch(s, span) % 12 in (tones or span.tones)]
        return min(fitting, key=lambda s: (abs(self.scale_pitch(s) - pitch), s))

    def melody(
        self,
        spans: Sequence[Span],
        plan: str,
        motifs: dict[str, str],
        *,
        near: float = 72,
        loud: float = 10,
        legato: float = 0.97,
        each: float | None = None,
        double: int = 0,
    ) -> None:
        """Write a tune: each letter of `plan` is a motif of `each` quarters (a bar).

        A motif is a row of `length:step` with steps of the scale counted from an anchor, the tone
        of the bar's chord near where the tune was, such that the motif begins on a tone of that
        chord (on its root if the letter is `z`, which ends phrases); `r` is a rest, `#` raises by
        a semitone.
        """
        each = self.bar if each is None else each
        at = spans[0].start
        last = float(near)
        for letter in plan.replace(" ", ""):
            anchor = self._anchor(
                motifs[letter], _span_at(spans, at), 0.7 * last + 0.3 * near, letter
            )
            clock = at
            for word in motifs[letter].split():
                length_text, _, step = word.partition(":")
                length = float(length_text)
                if step != "r":
                    bent = self.scale_pitch(anchor + int(step.strip("#")), _span_at(spans, clock))
                    last = bent + step.count("#")
                    self.play(clock, length * legato, last, loud)
                    if double:
                        self.play(clock, length * legato, last + double, loud - 8)
                clock += length
            at += each

    def _anchor(self, motif: str, span: Span, target: float, letter: str) -> int:
        steps = [word.partition(":")[2].strip("#") for word in motif.split()]
        first = next((int(step) for step in steps if step != "r"), 0)
        near = self.nearest_step(span, target)
        tones = span.tones[:1] if letter == "z" else span.tones
        return self.nearest_step(span, self.scale_pitch(near + first), tones) - first

    def figure(
        self,
        spans: Iterable[Span],
        pattern: str,
        *,
        step: float,
        near: float = 55,
        loud: float = -8,
        gate: float = 0.95,
        bass_near: float = 43,
    ) -> None:
        """Accompany: `pattern` names what is struck every `step` quarters, over and over.

        `b` the bass, `B` the bass in octaves, `f` the fifth in the bass, `c` the whole chord,
        digits single tones of it from below (going on into the next octave), `.` nothing;
        tokens may be joined (`b2`). The pattern begins anew with each chord.
        """
        tokens = pattern.split()
        voices: list[int] = []
        for span in spans:
            voices = lead(span, voices, near)
            bass = _nearest(span.bass, bass_near)
            fifth = _nearest(span.tones[2], bass_near)
            for count in range(round(span.length / step)):
                at = span.start + count * step
                for sign in tokens[count % len(tokens)]:
                    pitches = {
                        "b": [bass],
                        "B": [bass, bass - 12],
                        "f": [fifth],
                        "c": voices,
                        ".": [],
                    }.get(sign)
                    if pitches is None:
                        octave, index = divmod(int(sign), len(voices))
                        pitches = [voices[index] + 12 * octave]
                    for pitch in pitches:
                        self.play(at, step * gate, pitch, loud + (4 if sign in "bB" else 0))

    def play(self, at: float, length: float, pitch: int, loud: float = 0.0) -> None:
        """Write one note; `loud` is added to the loudness of the moment."""
        self.notes.append((at, length, pitch, loud))

    def pedal(self, spans: Iterable[Span]) -> None:
        """Pedal with each chord, coming up just after the next one sounds (legato pedal)."""
        self.pedals.extend((s.start + 0.1, s.start + s.length + 0.03) for s in spans)

    def close(
        self, span: Span, pitches: Sequence[int], *, length: float, roll: float = 0.08
    ) -> None:
        """End with a chord rolled from below and held."""
        for index, pitch in enumerate(pitches):
            self.play(span.start + index * roll, length - index * roll, pitch, -2)
        self.pedals.append((span.start + 0.1, span.start + length))

    def perform(self) -> Sheet:
        """Play what was written, as a person would, and return the sheet."""
        rng = random.Random(self.title)
        end = max(at + length for at, length, _, _ in self.notes)
        tops = _tops(self.notes)
        played = []
        for at, length, pitch, loud in sorted(self.notes):
            # Only rng.random() is the same in every Python.
            late = (rng.random() - 0.3) * 0.016 if at > 0 else 0.0
            accent = self._accent(at) + (3 if (at, pitch) in tops else 0)
            level = self._level(at) + loud + accent + (rng.random() - 0.5) * 6
            played.append((max(0.0, at + late), length, pitch, min(118, max(18, round(level)))))
        beats = round(end) + 1
        tempos = [(float(beat), round(self.bpm * self._pace(beat), 2)) for beat in range(beats)]
        major_tonic = self.tonic + {"minor": 3, "dorian": 10, "mixolydian": 5, "lydian": 7}.get(
            self.mode, 0
        )
        return Sheet(
            name=self.title,
            notes=_without_collisions(played),
            pedals=_apart(self.pedals),
            tempos=tempos,
            meter=self.meter,
            sharps=SHARPS[major_tonic % 12],
            minor=self.mode == "minor",
        )

    def _level(self, at: float) -> float:
        level = _between(self.loudness, at)
        across = (at / (self.bar * self.phrase_bars)) % 1
        return level + 7 * (1 - (2 * across - 1.1) ** 2)

    def _accent(self, at: float) -> float:
        in_bar = at % self.bar
        if in_bar < 0.02:
            return 5
        return 1 if abs(in_bar - round(in_bar)) < 0.02 else -2

    def _pace(self, at: float) -> float:
        across = ((at + 0.5) / (self.bar * self.phrase_bars)) % 1
        pace = 1 - self.rubato * (2 * across - 1) ** 2
        for start, end, factor in self.slowing:
            if at >= start:
                pace *= 1 + (factor - 1) * min(1.0, (at - start) / max(1.0, end - start))
        return pace


def lead(span: Span, before: Sequence[int], near: float) -> list[int]:
    """Return the chord in close position, moving as little as may be from `before`."""
    best: list[int] = []
    best_cost = float("inf")
    for inversion in range(len(span.tones)):
        order = span.tones[inversion:] + span.tones[:inversion]
        for low in range(round(near) - 14, round(near) + 8):
            if low % 12 != order[0]:
                continue
            voices = [low]
            for tone in order[1:]:
                voices.append(voices[-1] + (tone - voices[-1]) % 12)
            centre = sum(voices) / len(voices)
            cost = abs(centre - near) * (0.4 if before else 1.0)
            if before:
                cost += abs(centre - sum(before) / len(before))
            if cost < best_cost:
                best, best_cost = voices, cost
    return best


def _nearest(pitch_class: int, near: float) -> int:
    return min(
        (p for p in range(21, 109) if p % 12 == pitch_class), key=lambda p: (abs(p - near), p)
    )


def _span_at(spans: Sequence[Span], at: float) -> Span:
    return next((s for s in reversed(spans) if s.start <= at + 1e-6), spans[0])


def _between(points: Sequence[tuple[float, float]], at: float) -> float:
    before = points[0]
    for point in points:
        if point[0] > at:
            share = (at - before[0]) / (point[0] - before[0]) if point[0] > before[0] else 1.0
            return before[1] + share * (point[1] - before[1])
        before = point
    return before[1]


def _tops(notes: Iterable[tuple[float, float, int, float]]) -> set[tuple[float, int]]:
    highest: dict[float, int] = {}
    for at, _, pitch, _ in notes:
        highest[at] = max(pitch, highest.get(at, 0))
    return set(highest.items())


def _without_collisions(
    notes: list[tuple[float, float, int, int]],
) -> list[tuple[float, float, int, int]]:
    """End each note before its key is struck again, and keep one of two struck at once."""
    following: dict[int, float] = {}
    kept = []
    for at, length, pitch, velocity in sorted(notes, reverse=True):
        again = following.get(pitch, float("inf"))
        if again - at > 0.05:
            kept.append((at, min(length, again - at - 0.01), pitch, velocity))
            following[pitch] = at
    return sorted(kept)


def _apart(pedals: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Let the pedal come up before it goes down again."""
    ordered = sorted(pedals)
    return [
        (down, min(up, ordered[i + 1][0] - 0.02) if i + 1 < len(ordered) else up)
        for i, (down, up) in enumerate(ordered)
    ]
