"""What symusic is given to read: the same music, with what it would lose or misread put right.

symusic makes an instrument of each channel of each track and looks no further, while on a channel
that several tracks share, programs and pedal act on all of them. It counts time wrongly after some
system exclusive packets, and keeps notes of no length. The file's own events stay as they are in
the document's `data`; only this view differs.

Shapes: E events.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from musicgen.midi.checks import PORT
from musicgen.midi.events import META, Events, Row
from musicgen.midi.notes import SUSTAIN
from musicgen.midi.text import decode_text, printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from musicgen.midi.pairing import Pairing

_DRUM_CHANNEL = 9
_MAX_COPIES = 200_000  # of pedal events, in all: a file of hundreds of tracks on one channel
_MAX_TEXTS = 20_000  # a page of lyrics has a thousand; the rest is not shown to symusic
_TEXTS = 0x0F  # meta events of types 1 to 15 carry text


def view_for_symusic(events: Events, pairing: Pairing) -> Events:
    """Return the events as symusic should see them; the very same object if nothing differs."""
    hidden = (events.status == 0xF0) | (events.status == 0xF7)
    silent = events.tick[pairing.start] == events.tick[pairing.stop]
    hidden[pairing.start[silent]] = True
    hidden[pairing.stop[silent]] = True
    copies = _shared_events(events)
    if hidden.any():
        events = events.select(~hidden)
    return _with_clean_texts(events.insert(copies))


def _with_clean_texts(events: Events) -> Events:
    """Rewrite texts that are not plain ASCII as printable UTF-8."""
    is_text = (events.status == META) & (events.data1 >= 1) & (events.data1 <= _TEXTS)
    if is_text.sum() > _MAX_TEXTS:
        is_text &= np.cumsum(is_text) > _MAX_TEXTS
        return _with_clean_texts(events.select(~is_text))
    pool, begin, end = bytearray(), events.begin.copy(), events.end.copy()
    for index in np.flatnonzero(is_text).tolist():
        raw = events.payload(index)
        if raw.isascii() and raw.decode("ascii").isprintable():
            continue
        begin[index] = len(events.pool) + len(pool)
        pool += printable(decode_text(raw)).encode("utf-8")
        end[index] = len(events.pool) + len(pool)
    if not pool and (begin == events.begin).all():
        return events
    return replace(events, pool=events.pool + bytes(pool), begin=begin, end=end)


def _shared_events(events: Events) -> list[Row]:
    """Return copies of the programs and pedals that tracks need from others of their channel."""
    messages = np.flatnonzero(events.status < 0xF0)
    if not len(messages) or events.track[messages[0]] == events.track[messages[-1]]:
        return []  # one track holds them all
    place = _places(events)
    notes_on = np.unique(place[events.starts()])
    is_program = events.is_message(0xC)
    is_pedal = events.is_message(0xB) & (events.data1 == SUSTAIN)
    copies: list[Row] = []
    for channel in np.unique(notes_on % _N_CHANNELS).tolist():
        if channel % 16 == _DRUM_CHANNEL:
            continue
        mine = place % _N_CHANNELS == channel
        for wanted, only_if_none in ((is_program, True), (is_pedal, False)):
            at = np.flatnonzero(mine & wanted)
            targets = notes_on[notes_on % _N_CHANNELS == channel] if len(at) else at
            if only_if_none:
                targets = np.setdiff1d(targets, place[at])
            for target in targets.tolist():
                others = at[place[at] != target]
                copies += _copies(events, others, target // _N_CHANNELS)
                if len(copies) > _MAX_COPIES:
                    return []
    copies.sort(key=lambda row: (row.track, row.tick))
    return copies


_N_CHANNELS = 16 * 256  # sixteen on each port


def _places(events: Events) -> NDArray[np.int64]:
    """Return each event's track, port and channel as one number, (E,)."""
    port = np.zeros(len(events.end_ticks), dtype=np.int64)
    for index in reversed(np.flatnonzero(events.is_meta(PORT)).tolist()):
        port[events.track[index]] = events.payload(index)[0]
    return (events.track * 256 + port[events.track]) * 16 + np.maximum(events.channel, 0)


def _copies(events: Events, at: NDArray[np.int64], track: int) -> list[Row]:
    return [
        Row(
            track=track,
            tick=int(events.tick[i]),
            status=int(events.status[i]),
            data1=int(events.data1[i]),
            data2=int(events.data2[i]),
        )
        for i in at
    ]
