"""Which engine computes, what is said of it, and where compiled code is kept."""

from __future__ import annotations

import numpy as np
import pytest

from musicgen.cli import options
from musicgen.engine import ENGINES, compiled, draws, make_engine, numba_steps
from musicgen.errors import ConfigError
from musicgen.model import Decoder, DecoderConfig
from musicgen.pipeline import MusicPipeline
from musicgen.tokens import get_tokenizer


@pytest.fixture
def decoder():
    sizes = get_tokenizer().vocab_sizes
    config = DecoderConfig(vocab_sizes=sizes, d_model=16, n_layers=1, n_heads=2, d_ff=16)
    return Decoder(config).eval()


@pytest.fixture
def broken(monkeypatch):
    """Make compiling fail, as on a machine that LLVM does not know."""

    def fail(decoder, *, as_int8):
        raise OSError("no such target\nand more lines")

    monkeypatch.setattr(numba_steps, "NumbaEngine", fail)


def test_where_it_does_not_run_torch_plays_and_the_take_says_so(decoder, broken):
    # never a silent fallback: it is many times slower, and other bytes come of it
    engine = make_engine(decoder)
    assert engine.name == "torch"
    [sentence] = engine.warnings
    assert "OSError: no such target)" in sentence
    pipeline = MusicPipeline(decoder, get_tokenizer(), engine="auto")
    take = pipeline.generate(seconds=1.0, seed=0)
    assert take.engine == "torch"
    assert sentence in take.warnings
    assert take.as_dict()["engine"] == "torch"


def test_asked_for_by_name_it_runs_or_it_is_an_error(decoder, broken):
    with pytest.raises(ConfigError, match="does not run here"):
        make_engine(decoder, "numba")


def test_the_engine_is_part_of_the_recipe(decoder):
    takes = {}
    for name in ("numba", "numba-float32", "torch"):
        pipeline = MusicPipeline(decoder, get_tokenizer(), engine=name)
        takes[name] = pipeline.generate(seconds=2.0, seed=4)
        assert takes[name].warnings == () or "engine" not in takes[name].warnings[0]
    assert [take.engine for take in takes.values()] == ["numba-int8", "numba-float32", "torch"]
    with pytest.raises(ConfigError, match="no engine 'fast'"):
        MusicPipeline(decoder, get_tokenizer(), engine="fast")


def test_the_command_line_offers_the_engines_that_there_are():
    # It does not import the engine room, which would cost it torch.
    assert options.ENGINES == ENGINES


def test_without_a_folder_to_keep_it_in_code_is_compiled_all_the_same(monkeypatch):
    # numba refuses to keep code where neither the package's folder nor the user's can be written
    njit = compiled.njit

    def nowhere(*, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return njit(**options)

    monkeypatch.setattr(compiled, "njit", nowhere)
    draw = compiled._kept(draws.draw)
    logits = np.array([0.0, 3.0, 1.0], dtype=np.float32)
    room = np.zeros(3, np.float32), np.zeros(3), np.zeros(3, np.int64)
    greedy = np.array([0.0, 0.0, 1.0, 0.0])
    assert draw(logits, np.ones(3, dtype=bool), greedy, 0.5, *room) == 1


def test_kept_code_is_told_apart_by_all_the_files_that_it_is_made_of():
    # numba looks at the file of the outermost function alone, and would keep stale code
    assert compiled._digest() in compiled.draw().py_func.__qualname__
