"""Twins of MIDI files, made with mido alone: nothing here is shared with what finds them.

Each maker takes a file's bytes and a random generator, and returns the bytes of a file that holds
the same music in another form.
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable

import mido

Track = list[tuple[int, mido.Message]]
Maker = Callable[[bytes, random.Random], bytes]


def load(data: bytes) -> tuple[int, list[Track]]:
    """Return the division and the tracks with absolute ticks."""
    file = mido.MidiFile(file=io.BytesIO(data), clip=True)
    tracks = []
    for track in file.tracks:
        tick, events = 0, []
        for message in track:
            tick += message.time
            if message.type != "end_of_track":
                events.append((tick, message.copy(time=0)))
        tracks.append(events)
    return file.ticks_per_beat, tracks


def dump(division: int, tracks: list[Track]) -> bytes:
    """Return the bytes of a file of type 1."""
    file = mido.MidiFile(type=1, ticks_per_beat=division)
    for events in tracks:
        track = mido.MidiTrack()
        before = 0
        # At one tick ends go before starts, or a repeated note would end at once.
        for tick, message in sorted(events, key=lambda event: (event[0], is_start(event[1]))):
            track.append(message.copy(time=tick - before))
            before = tick
        file.tracks.append(track)
    out = io.BytesIO()
    file.save(file=out)
    return out.getvalue()


def is_start(message: mido.Message) -> bool:
    return message.type == "note_on" and message.velocity > 0


def is_note(message: mido.Message) -> bool:
    return message.type in ("note_on", "note_off")


def pairs(events: Track) -> list[tuple[int, int]]:
    """Return the places of each note's start and end in a track, the first started ended first."""
    waiting: dict[tuple[int, int], list[int]] = {}
    found = []
    for place, (_, message) in enumerate(events):
        if not is_note(message):
            continue
        key = (message.channel, message.note)
        if is_start(message):
            waiting.setdefault(key, []).append(place)
        elif waiting.get(key):
            found.append((waiting[key].pop(0), place))
    return found


def saved_again(data: bytes, rng: random.Random) -> bytes:
    return dump(*load(data))


def without_tempo(tracks: list[Track]) -> list[Track]:
    return [[e for e in track if e[1].type != "set_tempo"] for track in tracks]


def other_tempo(data: bytes, rng: random.Random) -> bytes:
    """One tempo throughout, half to twice as fast as 120 bpm."""
    division, tracks = load(data)
    tempo = mido.MetaMessage("set_tempo", tempo=int(500_000 * 2 ** rng.uniform(-1, 1)))
    return dump(division, [[(0, tempo)], *without_tempo(tracks)])


def other_tempo_map(data: bytes, rng: random.Random) -> bytes:
    """A tempo that changes every few beats by up to a third."""
    division, tracks = load(data)
    last = max((track[-1][0] for track in tracks if track), default=0)
    at, changes = 0, []
    while at <= last:
        tempo = int(500_000 * 2 ** rng.uniform(-0.4, 0.4))
        changes.append((at, mido.MetaMessage("set_tempo", tempo=tempo)))
        at += division * rng.randint(2, 16)
    return dump(division, [changes, *without_tempo(tracks)])


def other_division(data: bytes, rng: random.Random) -> bytes:
    """Other ticks a quarter, rounded."""
    division, tracks = load(data)
    new = rng.choice([d for d in (220, 240, 384, 480, 960) if d != division])
    return dump(new, [[(round(t * new / division), m) for t, m in track] for track in tracks])


def transposed(data: bytes, rng: random.Random) -> bytes:
    division, tracks = load(data)
    played = [m.note for track in tracks for _, m in track if is_note(m) and m.channel != 9]
    room = [s for s in range(-11, 12) if s and min(played) + s >= 0 and max(played) + s <= 127]
    step = rng.choice(room)
    moved = [
        [(t, m.copy(note=m.note + step) if is_note(m) and m.channel != 9 else m) for t, m in track]
        for track in tracks
    ]
    return dump(division, moved)


def other_tracks(data: bytes, rng: random.Random) -> bytes:
    """The tracks in another order; a file of one track of notes is split into two hands."""
    division, tracks = load(data)
    with_notes = [track for track in tracks if any(is_note(m) for _, m in track)]
    if len(with_notes) > 1:
        rng.shuffle(tracks)
        return dump(division, tracks)
    split = rng.randint(55, 65)
    upper = [e for t in tracks for e in t if not is_note(e[1]) or e[1].note >= split]
    lower = [e for t in tracks for e in t if is_note(e[1]) and e[1].note < split]
    return dump(division, [lower, upper])


def one_track(data: bytes, rng: random.Random) -> bytes:
    division, tracks = load(data)
    return dump(division, [[event for track in tracks for event in track]])


def other_touch(data: bytes, rng: random.Random) -> bytes:
    """Other velocities, other instruments, no controllers."""
    division, tracks = load(data)
    program = rng.randrange(0, 8)
    changed = []
    for track in tracks:
        events: Track = []
        for tick, message in track:
            if is_start(message):
                message = message.copy(
                    velocity=min(127, max(1, message.velocity + rng.randint(-30, 30)))
                )
            elif message.type == "program_change" and message.channel != 9:
                message = message.copy(program=program)
            elif message.type in ("control_change", "pitchwheel", "text", "track_name"):
                continue
            events.append((tick, message))
        changed.append(events)
    return dump(division, changed)


def later(data: bytes, rng: random.Random) -> bytes:
    """Silence before the first note."""
    division, tracks = load(data)
    ticks = division * rng.randint(1, 32)
    return dump(
        division, [[(t + ticks if t or is_note(m) else t, m) for t, m in track] for track in tracks]
    )


def few_notes_changed(share: float) -> Maker:
    """Return a maker that moves, removes or adds about this share of the notes."""

    def make(data: bytes, rng: random.Random) -> bytes:
        division, tracks = load(data)
        changed = []
        for track in tracks:
            events, gone, added = list(track), set(), []
            for start, stop in pairs(track):
                if rng.random() >= share:
                    continue
                (begin, on), (end, off) = track[start], track[stop]
                step = rng.choice([-12, -4, -3, -2, -1, 1, 2, 3, 4, 12])
                note = min(127, max(0, on.note + step))
                kind = rng.random()
                if kind < 0.5:  # moved
                    events[start], events[stop] = (
                        (begin, on.copy(note=note)),
                        (end, off.copy(note=note)),
                    )
                elif kind < 0.8:  # removed
                    gone |= {start, stop}
                else:  # one more
                    added += [(begin, on.copy(note=note)), (end, off.copy(note=note))]
            changed.append([e for i, e in enumerate(events) if i not in gone] + added)
        return dump(division, [sorted(track, key=lambda e: e[0]) for track in changed])

    return make


def chained(*makers: Maker) -> Maker:
    def make(data: bytes, rng: random.Random) -> bytes:
        for maker in makers:
            data = maker(data, rng)
        return data

    return make


def unsteady(ms: float) -> Maker:
    """Return a maker that moves every onset by about so many milliseconds (at 120 bpm)."""

    def make(data: bytes, rng: random.Random) -> bytes:
        division, tracks = load(data)
        changed = []
        for track in tracks:
            events = list(track)
            for start, stop in pairs(track):
                begin, on = track[start]
                moved = max(0, begin + round(rng.gauss(0, ms / 500 * division)))
                events[start] = (min(moved, max(track[stop][0] - 1, 0)), on)
            changed.append(sorted(events, key=lambda e: e[0]))
        return dump(division, changed)

    return make


MAKERS: dict[str, Maker] = {
    "saved again": saved_again,
    "other tempo": other_tempo,
    "other tempo map": other_tempo_map,
    "other division": other_division,
    "transposed": transposed,
    "other tracks": other_tracks,
    "one track": one_track,
    "other touch": other_touch,
    "later": later,
    "2% of notes changed": few_notes_changed(0.02),
    "5% of notes changed": few_notes_changed(0.05),
    "transposed, other tempo map, tracks": chained(transposed, other_tempo_map, other_tracks),
    "transposed, other tempo, 3% changed": chained(
        transposed, other_tempo, few_notes_changed(0.03)
    ),
    "other division, touch, tempo map": chained(other_division, other_touch, other_tempo_map),
}
