"""What a model would take, tried out in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from musicgen.assets import asset_dir
from musicgen.errors import MusicgenError
from musicgen.studio.estimates import estimate


@pytest.mark.long  # the same trials as in test_training_outlook.py, by another door
def test_every_size_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    found = estimate(str(asset_dir("data") / "starter"), 20.0)
    assert [each.size for each in found] == ["tiny", "small", "medium"]
    assert all(each.verdict for each in found)
    tiny, small, _ = found
    assert tiny.parameters < small.parameters
    assert tiny.steps is not None
    assert tiny.steps > 0
    assert tiny.memory_bytes is not None


def test_music_that_cannot_be_used_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(MusicgenError) as caught:
        estimate(str(tmp_path), 20.0)
    assert str(tmp_path) in caught.value.message
    assert caught.value.hint
