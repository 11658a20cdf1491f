"""The quality card on the page: measured when it is unfolded, said in words, ranked on request."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from musicgen import MusicPipeline
from musicgen.errors import CheckpointError
from musicgen.evaluation import FIGURE_WORDS, STATISTICS
from musicgen.evaluation.copies import SharedPassage, Yardstick
from musicgen.ui import card_strings as strings
from musicgen.ui.cards import Cards
from musicgen.ui.pieces import from_take
from musicgen.ui.views.card import _copy


@pytest.fixture(scope="module")
def pieces():
    pipeline = MusicPipeline.load("piano", device="cpu")
    takes = [pipeline.generate(seconds=8, seed=seed) for seed in (1, 2)]
    titles = ("Take <b>1</b>", "Take *2*")
    return pipeline, [from_take(t, title=title) for t, title in zip(takes, titles, strict=True)]


def draw(cards, piece, others):
    from musicgen.ui.views.card import quality

    quality(cards, piece, others)


def drawn(cards, pieces, *, unfolded):
    app = AppTest.from_function(draw, args=(cards, pieces[0], pieces), default_timeout=60)
    app.session_state[f"quality-{pieces[0].id}"] = unfolded
    return app.run()


def test_nothing_is_measured_before_it_is_asked_for(pieces):
    def unwanted(model):
        raise AssertionError

    app = drawn(Cards(unwanted), pieces[1], unfolded=False)
    assert not app.exception
    assert not app.caption


def test_the_card_is_said_and_takes_are_ranked(pieces):
    pipeline, takes = pieces
    cards = Cards(lambda model: pipeline)
    app = drawn(cards, takes, unfolded=True)
    assert not app.exception
    table = app.get("html")[0].value
    card = cards.of(takes[0])
    figures = [figure for figure in card.ranges.figures if figure.can_be_outside]
    for figure in figures:
        assert figure.words.title in table
    usual = sum(figure.is_inside for figure in figures)
    assert f"{usual} of {len(figures)} figures are usual" in table
    # What the count calls unusual is in the table: it once told of ten figures alone.
    assert table.count('<tr class="out">') == len(figures) - usual
    said = " ".join(caption.value for caption in app.caption)
    assert "bits a note" in said
    assert "half as likely" in said  # what a bit a note is
    assert "in common with the training music" in said
    assert "MID--AUDIO" not in said
    app.button(key="rank").click().run()
    ranking = app.get("html")[1].value
    assert ranking.count("<tr>") == 3
    assert "Take &lt;b&gt;1&lt;/b&gt;" in ranking  # a title is text
    best, other = (card for _, card in cards.ranked(takes))
    assert best.ranges.share_inside >= other.ranges.share_inside


def test_all_that_is_counted_can_be_seen(pieces):
    """Guards: "22 of 22 figures are usual" above ten of them."""
    pipeline, takes = pieces
    cards = Cards(lambda model: pipeline)
    table = drawn(cards, takes, unfolded=True).get("html")[0].value
    told = [each for each in cards.of(takes[0]).ranges.figures if each.can_be_outside]
    assert f"of {len(told)} figures are usual" in table
    assert table.count('<tr class="') == len(told)
    shown, folded = table.split("<details")
    assert folded.count('<tr class="in">') == folded.count('<tr class="')  # the rest is usual
    assert strings.MORE.format(n=folded.count('<tr class="')) in folded
    assert shown.count('<tr class="') >= len(told) - folded.count('<tr class="')


def test_a_range_of_all_there_can_be_is_no_figure(pieces):
    """Guards: "Time in its main key 17%, usual 0% – 100%", which can never be unusual."""
    pipeline, takes = pieces
    cards = Cards(lambda model: pipeline)
    by_name = {each.name: each for each in cards.of(takes[0]).ranges.figures}
    stability = by_name["key_stability"]
    assert (stability.low, stability.high, stability.can_be_outside) == (0.0, 1.0, False)
    assert by_name["ringing_share"].can_be_outside
    assert by_name["longest_silence_s"].low == 0.0
    assert by_name["longest_silence_s"].can_be_outside
    table = drawn(cards, takes, unfolded=True).get("html")[0].value
    assert FIGURE_WORDS["key_stability"].title not in table


PASSAGE = SharedPassage(
    notes=24,
    seconds=5.2,
    take_start_s=61.25,
    take_end_s=66.4,
    piece="MIDI-Unprocessed_01_R1_2011_MID--AUDIO_R1-D1_02_Track02_wav.midi",
    piece_start_s=3.0,
    piece_end_s=8.0,
    transposition=0,
    tempo=1.0,
    timing_ms=50.0,
)


@pytest.mark.parametrize(
    ("notes", "said"), [(24, "no more than"), (40, "That is much"), (60, "a copy.")]
)
def test_a_shared_passage_is_told_without_a_recording_s_file_name(notes, said):
    yardstick = Yardstick(
        excerpt_s=30.0,
        excerpts=500,
        notes_50=9.0,
        notes_95=30.0,
        notes_max=50,
        seconds_50=2.0,
        seconds_95=6.0,
        seconds_max=9.0,
    )
    told = _copy(replace(PASSAGE, notes=notes), yardstick)
    assert f"{notes} notes in 5.2 s from 1:01.2 on" in told
    assert "a performance in MAESTRO from 0:03.0 on" in told
    assert said in told
    own = _copy(replace(PASSAGE, piece="My song.mid"), None)
    assert "as in My song.mid from" in own  # a file of one's own is known by its name
    assert own.endswith(strings.NO_YARDSTICK)


def test_each_figure_has_a_name():
    assert list(FIGURE_WORDS) == list(STATISTICS)
    assert set(strings.ALWAYS) < set(STATISTICS)


def test_a_model_that_is_gone_is_a_sentence(pieces):
    def gone(model):
        raise CheckpointError("There is no such model.", hint="Choose another.")

    app = drawn(Cards(gone), pieces[1], unfolded=True)
    assert not app.exception
    assert "no such model" in app.warning[0].value
