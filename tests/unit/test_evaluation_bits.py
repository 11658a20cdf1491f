"""Bits a note: every event once, enough context, the same figure another way."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from musicgen.assets import asset_dir
from musicgen.checkpoint import load_checkpoint, save_checkpoint
from musicgen.errors import CorpusError
from musicgen.evaluation import EvaluationReport, Trigram, evaluate, sliding_windows, surprise
from musicgen.model import Decoder, DecoderConfig
from musicgen.tokens import get_tokenizer

SIZES = (6, 5, 4, 3)


def make_decoder(sizes: tuple[int, ...] = SIZES, seq_len: int = 16) -> Decoder:
    config = DecoderConfig(
        vocab_sizes=sizes, d_model=16, n_layers=2, d_ff=16, d_head_ff=16, max_seq_len=seq_len
    )
    decoder = Decoder(config)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter += 0.3 * torch.randn(parameter.shape, generator=generator)
    return decoder.eval()


def make_events(n_events: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, size, n_events) for size in SIZES], axis=1)


@given(start=st.integers(0, 50), n_events=st.integers(0, 300), seq_len=st.integers(1, 64))
def test_windows_score_each_event_once_with_half_a_window_of_context(
    start: int, n_events: int, seq_len: int
) -> None:
    scored: list[int] = []
    for window in sliding_windows(start, n_events, seq_len):
        end = window.start + window.n_rows
        assert start <= window.start
        assert end <= start + n_events
        assert window.n_rows <= seq_len + 1
        scored += range(window.first_scored, end)
        context = window.first_scored - window.start
        assert window.first_scored == start + 1 or context >= seq_len // 2
    assert scored == list(range(start + 1, start + n_events))


def test_surprise_is_the_sum_over_single_predictions() -> None:
    """Guards padding, masks and off-by-one: the same sum, one event at a time."""
    decoder, events = make_decoder(), make_events(40)
    windows = [*sliding_windows(0, 27, 16), *sliding_windows(27, 13, 16)]
    found = surprise(decoder, events, windows, batch_size=3)
    expected = np.zeros(4)
    for window in windows:
        for row in range(window.first_scored, window.start + window.n_rows):
            ids = torch.from_numpy(events[window.start : row + 1])[None]
            for k, logits in enumerate(decoder(ids)):
                target = int(events[row, k])
                expected[k] -= float(logits[0, -1].log_softmax(-1)[target].detach())
    np.testing.assert_allclose(found.nats, expected, rtol=1e-4)
    assert found.n_events == 26 + 12


def test_trigram_is_witten_bell_by_hand() -> None:
    """One attribute of three ids: a b a b a, then how surprising is a b a?"""
    piece = np.array([[0], [1], [0], [1], [0]])
    found = Trigram((3,)).fit([piece]).surprise([np.array([[0], [1], [0]])])

    def interpolated(seen: int, total: int, kinds: int, below: float) -> float:
        return (seen + kinds * below) / (total + kinds) if total else below

    one_b = interpolated(2, 4, 2, 1 / 3)
    one_a = interpolated(2, 4, 2, 1 / 3)
    b_after_a = interpolated(2, 2, 1, one_b)
    a_after_b = interpolated(2, 2, 1, one_a)
    first = interpolated(1, 1, 1, b_after_a)
    second = interpolated(2, 2, 1, a_after_b)
    assert found.nats.sum() == pytest.approx(-math.log(first) - math.log(second))


def test_trigram_probabilities_sum_to_one() -> None:
    rng = np.random.default_rng(0)
    trigram = Trigram((4, 3)).fit([rng.integers(0, 3, (50, 2))])
    for a, b in ((0, 1), (3, 2), (1, 0)):
        nats = [trigram.surprise([np.array([[a, b], [x, 0]])]).nats[0] for x in range(4)]
        assert sum(math.exp(-n) for n in nats) == pytest.approx(1.0)


@pytest.fixture
def checkpoint_folder(tmp_path: Path) -> Path:
    tokenizer = get_tokenizer()
    save_checkpoint(
        tmp_path / "model",
        decoder=make_decoder(tokenizer.vocab_sizes, 64),
        tokenizer=tokenizer,
        name="model",
        step=0,
        training={},
    )
    return tmp_path / "model"


def test_evaluate_reports_the_folder(checkpoint_folder: Path, tmp_path: Path) -> None:
    music = tmp_path / "music"
    music.mkdir()
    for path in sorted((asset_dir("data") / "starter").glob("*.mid"))[:2]:
        shutil.copy(path, music)
    (music / "bad.mid").write_text("no")
    *_, report = evaluate(load_checkpoint(checkpoint_folder), music)
    assert isinstance(report, EvaluationReport)
    assert report.pieces == 2
    assert sum(report.refused.values()) == 1
    assert list(report.bits_by_attribute) == list(get_tokenizer().attribute_names)
    assert sum(report.bits_by_attribute.values()) == pytest.approx(report.bits_per_note)
    assert 1.0 <= report.events_per_note < 1.2
    assert (report.grid_ms, report.velocity_bins) == (10, 32)
    nats = report.bits_per_note * math.log(2) / 4.07
    assert report.as_dict()["nats_per_token_388"] == pytest.approx(nats)


def test_evaluate_refuses_a_folder_without_music(checkpoint_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(CorpusError):
        list(evaluate(load_checkpoint(checkpoint_folder), tmp_path / "empty"))
