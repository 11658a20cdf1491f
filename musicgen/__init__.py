"""musicgen: a studio for symbolic music (MIDI notes, not audio)."""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = ["MusicPipeline", "MusicgenError", "__version__"]

if TYPE_CHECKING:
    from musicgen.errors import MusicgenError
    from musicgen.pipeline import MusicPipeline


def __getattr__(name: str) -> object:
    # Torch takes seconds to import: `musicgen --help` and `import musicgen` must not wait for it.
    if name == "MusicPipeline":
        from musicgen.pipeline import MusicPipeline

        return MusicPipeline
    if name == "MusicgenError":
        from musicgen.errors import MusicgenError

        return MusicgenError
    raise AttributeError(f"module 'musicgen' has no attribute {name!r}")
