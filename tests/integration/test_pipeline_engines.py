"""Music while an engine is compiled, which takes seconds on a machine that never did it."""

from __future__ import annotations

import threading
import time

import pytest

from musicgen.engine import TorchEngine
from musicgen.errors import ConfigError
from musicgen.pipeline import MusicPipeline, engines
from musicgen.tokens import get_tokenizer
from small_models import small_decoder


@pytest.fixture
def pipeline(monkeypatch):
    monkeypatch.setattr(engines, "_LOADING_S", 0.05)
    return MusicPipeline(small_decoder(), get_tokenizer(), engine="auto", sha256="0" * 64)


@pytest.fixture
def compiled(monkeypatch):
    """An engine that is ready when this event is set."""
    is_ready = threading.Event()

    class Compiled(TorchEngine):
        def __init__(self, decoder):
            super().__init__(decoder)
            self.name = "numba-int8"

    def compile_slowly(decoder, wanted):
        if wanted == "torch":
            return TorchEngine(decoder)
        if not is_ready.wait(60):
            raise TimeoutError
        return Compiled(decoder)

    monkeypatch.setattr(engines, "make_engine", compile_slowly)
    yield is_ready
    is_ready.set()


def finished(stream):
    *_, take = stream
    return take


def test_who_gave_no_seed_hears_music_while_the_engine_is_compiled(pipeline, compiled):
    """Guards twelve seconds of silence behind the very first click on a machine."""
    meanwhile = finished(pipeline.stream(seconds=2, at_once=True))
    assert meanwhile.engine == "torch"
    assert any("slower engine, torch" in warning for warning in meanwhile.warnings)
    compiled.set()
    own = finished(pipeline.stream(seconds=2, at_once=True))
    assert own.engine == "numba-int8"
    assert not any("torch" in warning for warning in own.warnings)
    assert pipeline.again(meanwhile.midi).midi == meanwhile.midi


@pytest.mark.parametrize("options", [{"seed": 1, "at_once": True}, {}])
def test_a_seed_is_kept_for_the_engine_that_it_names(pipeline, compiled, options):
    """Guards a seed that makes other music on the day that the engine was compiled."""
    threading.Timer(0.3, compiled.set).start()
    began_s = time.perf_counter()
    take = finished(pipeline.stream(seconds=2, **options))
    assert time.perf_counter() - began_s > 0.2
    assert take.engine == "numba-int8"


def test_an_engine_that_does_not_run_is_said_at_once(pipeline, monkeypatch):
    def fail(_decoder, _wanted):
        raise ConfigError("It does not run here.")

    monkeypatch.setattr(engines, "make_engine", fail)
    with pytest.raises(ConfigError, match="does not run here"):
        pipeline.stream(seconds=2, at_once=True)
