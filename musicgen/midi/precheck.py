"""Foreign bytes, checked and repaired before any library sees them."""

from __future__ import annotations

from dataclasses import dataclass

from musicgen.errors import EmptyScoreError, MidiReadError
from musicgen.midi.checks import check_meta, check_times, fix_frame_time, tempos
from musicgen.midi.chunks import take_apart
from musicgen.midi.container import unwrap
from musicgen.midi.decode import Repairs, decode
from musicgen.midi.document import MidiWarning, ReadLimits
from musicgen.midi.events import Events, to_bytes
from musicgen.midi.pairing import end_open_notes, pair_notes
from musicgen.midi.refusals import refuse, too_much
from musicgen.midi.timing import TempoMap
from musicgen.midi.views import view_for_symusic

_NO_LIMITS = ReadLimits(max_bytes=2**40, max_tracks=2**20, max_events=2**40, max_notes=2**40)
_AS_TEXT_HINT = "It was sent as text, which changed its line ends: get it again, as binary data."
_LONG_S = 3 * 3600.0  # worth a word, though allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A file that is safe to read.

    Attributes:
        data: A plain MIDI file that every reader takes.
        view: The same for symusic; see `views`.
        warnings: What was repaired.
    """

    data: bytes
    view: bytes
    warnings: tuple[MidiWarning, ...]


def precheck(data: bytes, limits: ReadLimits) -> Checked:
    """Check a file's bytes, in time and memory that grow with their number only.

    Raises:
        MidiReadError: They are no MIDI file, or damaged beyond an honest repair, or too much.
        EmptyScoreError: There is no note in them.
    """
    if len(data) > limits.max_bytes:
        raise too_much("bytes", len(data), limits.max_bytes)
    try:
        return _checked(data, limits)
    except MidiReadError as error:
        if error.code == "midi-corrupt" and _sent_as_text(data):
            raise refuse(error.code, error.message, _AS_TEXT_HINT) from error
        raise


def _sent_as_text(data: bytes) -> bool:
    """Whether every line feed was made a carriage return and a line feed, as in a text file."""
    return data.count(b"\n") > 2 and data.count(b"\n") == data.count(b"\r\n")


def _checked(data: bytes, limits: ReadLimits) -> Checked:
    data = unwrap(data)
    layout = take_apart(data, limits)
    repairs = Repairs(rewrite=not layout.as_written)
    repairs.warnings.extend(layout.warnings)
    events = decode(layout, repairs)
    notes = int(events.starts().sum())
    if notes > limits.max_notes:
        raise too_much("notes", notes, limits.max_notes)
    if layout.quarter_us:
        events = fix_frame_time(events, layout.quarter_us)
    events = check_meta(check_times(events, repairs), repairs)
    pairing = pair_notes(events)
    if len(pairing.unended):
        events = end_open_notes(events, pairing, repairs)
        pairing = pair_notes(events)
    sounding = events.tick[pairing.stop] > events.tick[pairing.start]
    if not sounding.any():
        raise EmptyScoreError(
            "The MIDI file holds no note.", hint="Choose a file with music in it."
        )
    _check_length(events, int(events.tick[pairing.stop[sounding]].max()), limits, repairs)
    if repairs.rewrite:
        data = to_bytes(events)
    view = view_for_symusic(events, pairing)
    return Checked(
        data=data,
        view=data if view is events else to_bytes(view),
        warnings=tuple(repairs.warnings),
    )


def _check_length(events: Events, last_tick: int, limits: ReadLimits, repairs: Repairs) -> None:
    clock = TempoMap.from_changes(*tempos(events), events.division)
    end_s = float(clock.seconds(last_tick))
    if end_s > limits.max_seconds:
        raise refuse(
            "midi-too-long",
            f"The MIDI file is too long: its last note ends after {end_s / 3600:,.1f} hours, "
            f"and a duration of {limits.max_seconds / 3600:,.1f} hours is the limit.",
            "Cut off the silence, or the part you need, with a MIDI editor.",
        )
    if end_s > _LONG_S:
        repairs.tell("very-long", f"The last note ends after {end_s / 3600:.1f} hours.")


def events_of(data: bytes) -> Events:
    """Return the events of a document's own `data`, which needs no checks any more."""
    return decode(take_apart(data, _NO_LIMITS), Repairs())
