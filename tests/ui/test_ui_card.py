"""The quality card on the page: measured when it is unfolded, said in words, ranked on request."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from musicgen import MusicPipeline
from musicgen.errors import CheckpointError
from musicgen.evaluation import FIGURE_WORDS, STATISTICS
from musicgen.ui import card_strings as strings
from musicgen.ui.cards import Cards
from musicgen.ui.pieces import from_take


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
    for name in strings.ALWAYS:
        assert FIGURE_WORDS[name].title in table
    figures = cards.of(takes[0]).ranges.figures
    usual = sum(figure.is_inside for figure in figures)
    assert f"{usual} of {len(figures)} figures are usual" in table
    # What the count calls unusual is in the table: it once told of ten figures alone.
    assert table.count('<tr class="out">') == len(figures) - usual
    said = " ".join(caption.value for caption in app.caption)
    assert "bits a note" in said
    assert "in common with the training music" in said
    app.button(key="rank").click().run()
    ranking = app.get("html")[1].value
    assert ranking.count("<tr>") == 3
    assert "Take &lt;b&gt;1&lt;/b&gt;" in ranking  # a title is text
    best, other = (card for _, card in cards.ranked(takes))
    assert best.ranges.share_inside >= other.ranges.share_inside


def test_each_figure_has_a_name():
    assert list(FIGURE_WORDS) == list(STATISTICS)
    assert set(strings.ALWAYS) < set(STATISTICS)


def test_a_model_that_is_gone_is_a_sentence(pieces):
    def gone(model):
        raise CheckpointError("There is no such model.", hint="Choose another.")

    app = drawn(Cards(gone), pieces[1], unfolded=True)
    assert not app.exception
    assert "no such model" in app.warning[0].value
