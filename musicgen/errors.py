"""The errors a user may meet. Each says what went wrong, and its hint what to do next."""

from __future__ import annotations


class MusicgenError(Exception):
    """A failure that the user can understand and mend.

    Attributes:
        message: One sentence: what, the value met, the range allowed.
        hint: The next step, or an empty string.
        code: A short stable name in kebab-case, for programs.
    """

    code = "error"

    def __init__(self, message: str, *, hint: str = "", code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()

    def __reduce__(self) -> tuple[object, ...]:
        # Worker processes send errors home by pickle, which forgets keyword arguments.
        return (_rebuild, (type(self), self.message, self.hint, self.code))

    def as_dict(self) -> dict[str, str]:
        """Return code, message and hint, as `--json` prints them."""
        return {"code": self.code, "message": self.message, "hint": self.hint}


def _rebuild(kind: type[MusicgenError], message: str, hint: str, code: str) -> MusicgenError:
    return kind(message, hint=hint, code=code)


class ConfigError(MusicgenError):
    """A setting is unknown, missing, or out of its range."""

    code = "config"


class MidiError(MusicgenError):
    """Something about a MIDI file."""

    code = "midi"


class MidiReadError(MidiError):
    """These bytes cannot be read as music."""

    code = "midi-unreadable"


class MidiWriteError(MidiError):
    """A MIDI file could not be written."""

    code = "midi-unwritable"


class EmptyScoreError(MidiReadError):
    """A well-formed file without a note that can be used."""

    code = "no-notes"


class TokenizerError(MusicgenError):
    """A tokenizer description is damaged, or does not fit the music."""

    code = "tokenizer"


class CorpusError(MusicgenError):
    """A folder of music cannot be used."""

    code = "corpus"


class NoUsableFilesError(CorpusError):
    """Not one file of the folder can be trained on."""

    code = "no-usable-files"


class DatasetError(MusicgenError):
    """A corpus cannot be fetched."""

    code = "dataset"


class CheckpointError(MusicgenError):
    """A checkpoint cannot be used."""

    code = "checkpoint"


class CheckpointNotFoundError(CheckpointError):
    """There is no checkpoint of that name or in that folder."""

    code = "checkpoint-not-found"


class CheckpointFormatError(CheckpointError):
    """The folder is not a checkpoint of a format that this version reads."""

    code = "checkpoint-format"


class CheckpointCorruptError(CheckpointError):
    """A file of the checkpoint is damaged."""

    code = "checkpoint-corrupt"


class CheckpointMismatchError(CheckpointError):
    """Parts of the checkpoint do not belong together."""

    code = "checkpoint-mismatch"


class GenerationError(MusicgenError):
    """Music could not be made."""

    code = "generation"


class NoNumbersError(GenerationError):
    """A model's scores are infinite or undefined."""

    code = "no-numbers"

    def __init__(
        self,
        message: str = "The model gave no numbers: its scores are infinite or undefined.",
        *,
        hint: str = "The checkpoint is damaged or its training broke down: use another one.",
        code: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint, code=code)


class PromptError(GenerationError):
    """The music to go on from cannot be used."""

    code = "prompt"


class RecipeError(MusicgenError):
    """A file's recipe is missing or no recipe, or its take cannot be made again here."""

    code = "recipe"


class TrainingError(MusicgenError):
    """Training could not start or go on."""

    code = "training"


class ElsewhereError(TrainingError):
    """Another process of the same run has failed, and tells it: this one ends in silence."""

    code = "elsewhere"


class NonFiniteLossError(TrainingError):
    """The loss became infinite or not a number."""

    code = "non-finite-loss"

    @classmethod
    def after(cls, step: int) -> NonFiniteLossError:
        """Return the error for a model that gives no numbers after a step."""
        return cls(
            f"After step {step:,} the model gives no numbers any more.",
            hint="Resume from the last checkpoint with a lower learning_rate.",
        )


class ResumeMismatchError(TrainingError):
    """The run to resume does not fit the settings or the corpus."""

    code = "resume-mismatch"


class OutOfMemoryError(TrainingError):
    """The machine's memory does not hold this training."""

    code = "out-of-memory"


class AudioError(MusicgenError):
    """Sound could not be made."""

    code = "audio"


class TakesError(MusicgenError):
    """A take could not be kept, found or changed."""

    code = "takes"
