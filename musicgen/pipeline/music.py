"""`MusicPipeline`: a model ready to play.

Shapes: B batch, T events, K attributes, V ids of an attribute.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from musicgen.checkpoint import find_device, load_checkpoint
from musicgen.engine import Engine
from musicgen.errors import CheckpointError
from musicgen.generation import SamplingSettings
from musicgen.inspection import AttentionView, look
from musicgen.midi import MidiDocument, MidiFacts, describe, read_midi
from musicgen.model import Decoder
from musicgen.pipeline import arguments
from musicgen.pipeline.again import check_model, check_prompt, needed_recipe
from musicgen.pipeline.beginning import begin_take, plan_of, wanted_recipe
from musicgen.pipeline.engines import Engines
from musicgen.pipeline.making import TakeStream
from musicgen.pipeline.prompt import ReadyPrompt, ready_prompt
from musicgen.pipeline.recipe import Recipe
from musicgen.pipeline.take import Take
from musicgen.tokens import Tokenizer

if TYPE_CHECKING:
    from musicgen.evaluation.copies import CopyIndex, CopyReport

Source = str | Path | bytes | MidiDocument


class MusicPipeline:
    """Makes music with one model. The model does not change: threads and takes may share it.

    Attributes:
        model: The decoder: `model(ids (B, T, K))` gives K tensors of logits (B, T − 1, V).
        tokenizer: Turns scores into events (T, K) and back.
        name: The model's name, for the reports.
        sha256: Hash of the model's weights, or "" for a model that was never saved.
    """

    def __init__(
        self,
        model: Decoder,
        tokenizer: Tokenizer,
        *,
        name: str = "unsaved",
        sha256: str = "",
        engine: str = "torch",
    ) -> None:
        """Take a model and its tokenizer as they are.

        Args:
            model: The decoder. Compiled engines copy its weights when they are first needed.
            tokenizer: The tokenizer it was trained with.
            name: The model's name.
            sha256: Hash of its weights.
            engine: What decodes: one of `musicgen.engine.ENGINES`.

        Raises:
            TypeError: One is no model or no tokenizer.
            ValueError: They do not belong together.
            ConfigError: There is no such engine.
        """
        arguments.check_parts(model, tokenizer)
        if tuple(model.config.vocab_sizes) != tuple(tokenizer.vocab_sizes):
            raise ValueError(
                f"the model's vocabularies {tuple(model.config.vocab_sizes)} are not the "
                f"tokenizer's {tuple(tokenizer.vocab_sizes)}"
            )
        self.model = model.eval()
        self.tokenizer = tokenizer
        self._folder: Path | None = None
        self.name = name
        self.sha256 = sha256
        self._engines = Engines(self.model, arguments.checked_engine(engine))

    @classmethod
    def load(
        cls,
        model: str | Path = "piano",
        device: str = "auto",
        *,
        threads: int | None = None,
        engine: str = "auto",
    ) -> MusicPipeline:
        """Load a checkpoint.

        Args:
            model: Its name or its folder.
            device: "cpu", "cuda", or "auto" for cuda where there is one.
            threads: Torch's threads an operation, for this whole process; None leaves them alone.
                1 is the robust choice: on a busy machine threads starve at their barriers
                (measured at a load of 10 on two cores: 2.5 times the events a second of 2).
            engine: What decodes: "auto" for compiled code on a CPU and lanes on a GPU; "numba"
                (int8 weights), "numba-float32", "lanes" (torch, takes together, bf16 on a GPU),
                "lanes-float32" or "torch".

        Raises:
            CheckpointError: There is no such checkpoint, or it is damaged.
            ConfigError: There is no such device or engine, or no such number of threads.
        """
        arguments.checked_engine(engine)
        threads = arguments.checked_threads(threads)
        if threads is not None:
            torch.set_num_threads(threads)
        checkpoint = load_checkpoint(model, device=find_device(device))
        pipeline = cls(
            checkpoint.decoder.float(),
            checkpoint.tokenizer,
            name=checkpoint.name,
            sha256=checkpoint.sha256,
            engine=engine,
        )
        pipeline._folder = checkpoint.folder
        return pipeline

    @property
    def device(self) -> str:
        """Where the model computes: "cpu" or "cuda"."""
        return next(self.model.parameters()).device.type

    @property
    def folder(self) -> Path | None:
        """Where the model was loaded from; None if it was not."""
        return self._folder

    def prepare(self) -> Engine:
        """Make the engine ready, once however many ask: the first time on a machine it compiles.

        Making music does so by itself. The weights count as they are now.

        Raises:
            ConfigError: The engine that was asked for does not run here.
        """
        return self._engines.own()

    def generate(
        self,
        *,
        seconds: float | None = 30.0,
        temperature: float = 1.0,
        top_p: float | None = None,
        top_k: int = 0,
        min_p: float = 0.0,
        per_attribute: Mapping[str, Mapping[str, float]] | None = None,
        may_end_early: bool = False,
        seed: int | None = None,
    ) -> Take:
        """Make music from nothing; see `stream`."""
        stream = self.stream(
            None,
            seconds=seconds,
            temperature=temperature,
            top_p=top_p,
            top_k=top_k,
            min_p=min_p,
            per_attribute=per_attribute,
            may_end_early=may_end_early,
            seed=seed,
        )
        return _last(stream)

    def continue_(
        self,
        source: Source,
        prompt_seconds: float | None = None,
        only_new: bool = False,
        *,
        seconds: float | None = 30.0,
        temperature: float = 1.0,
        top_p: float | None = None,
        top_k: int = 0,
        min_p: float = 0.0,
        per_attribute: Mapping[str, Mapping[str, float]] | None = None,
        may_end_early: bool = False,
        seed: int | None = None,
    ) -> Take:
        """Go on from a MIDI file; see `stream`."""
        if source is None:
            raise TypeError("there is no music to go on from: generate makes it from nothing")
        stream = self.stream(
            source,
            prompt_seconds=prompt_seconds,
            only_new=only_new,
            seconds=seconds,
            temperature=temperature,
            top_p=top_p,
            top_k=top_k,
            min_p=min_p,
            per_attribute=per_attribute,
            may_end_early=may_end_early,
            seed=seed,
        )
        return _last(stream)

    def stream(
        self,
        source: Source | None = None,
        *,
        prompt_seconds: float | None = None,
        only_new: bool = False,
        seconds: float | None = 30.0,
        temperature: float = 1.0,
        top_p: float | None = None,
        top_k: int = 0,
        min_p: float = 0.0,
        per_attribute: Mapping[str, Mapping[str, float]] | None = None,
        may_end_early: bool = False,
        seed: int | None = None,
        at_once: bool = False,
    ) -> TakeStream:
        """Make a take step by step.

        Args:
            source: A MIDI file to go on from: its path, its bytes, or what `read_midi` returned;
                None to begin with nothing.
            prompt_seconds: How much of the file is used; None for all of it.
            only_new: Leave the prompt out of the file that is made.
            seconds: Length of the new music, met within 5%; None lets the model end it, within ten
                minutes.
            temperature: Above 1 bolder, below 1 safer, 0 always the most probable.
            top_p: Keep the most probable choices that together reach this probability, of every
                attribute; None for the defaults (`SamplingSettings`).
            top_k: Keep this many of the most probable choices; 0 for all.
            min_p: Keep choices at least this share as probable as the most probable.
            per_attribute: Other values for single attributes: `{"velocity": {"temperature": 0.8}}`.
            may_end_early: Accept an end that the model sets before `seconds` are over.
            seed: 0 to 2⁶³ − 1; None draws one, and the take tells it.
            at_once: Do not wait while an engine is compiled, which happens once on a machine: let
                torch make this take, as its warnings and its recipe say. A take of a given seed
                waits all the same: its music is to be the engine's own.

        Returns:
            An iterator over `Progress` that ends with the `Take`. Nothing is computed between two
            steps; `finish()` keeps what there is so far.

        Raises:
            ConfigError: A setting is out of its range.
            MidiReadError: The file cannot be read.
            PromptError: It holds nothing that the model could go on from.
        """
        settings = SamplingSettings(
            temperature=temperature,
            top_p=top_p,
            top_k=top_k,
            min_p=min_p,
            per_attribute={} if per_attribute is None else per_attribute,
        )
        settings.resolve(self.tokenizer.attribute_names)
        wanted = wanted_recipe(
            model=self.name,
            model_sha256=self.sha256,
            device=self.device,
            settings=settings,
            seed=seed,
            seconds=seconds,
            may_end_early=arguments.checked_choice("may_end_early", may_end_early),
        )
        span_s = arguments.checked_span(prompt_seconds)
        only_new = arguments.checked_choice("only_new", only_new)
        at_once = arguments.checked_choice("at_once", at_once)
        document = None
        if source is not None:
            document = _document(source)
            wanted = replace(
                wanted,
                prompt_sha256=document.source_sha256,
                prompt_seconds=span_s,
                only_new=only_new,
            )
        prompt = self._ready(wanted, document)
        engine = self._engines.at_once() if at_once and seed is None else self.prepare()
        recipe = replace(wanted, engine=engine.name)
        return begin_take(recipe, engine=engine, tokenizer=self.tokenizer, prompt=prompt)

    def again(self, recipe: Recipe | Source, prompt: Source | None = None) -> Take:
        """Make the take of a recipe again; see `stream_again`."""
        return _last(self.stream_again(recipe, prompt))

    def stream_again(self, recipe: Recipe | Source, prompt: Source | None = None) -> TakeStream:
        """Make the take of a recipe again, step by step: the file has the same bytes.

        Args:
            recipe: A file that musicgen made, or what `recipe_of` found in it.
            prompt: The file that it goes on from, if it goes on from one.

        Raises:
            RecipeError: The file holds no recipe, or a damaged one; the model, the engine or the
                prompt is not the recipe's.
            MidiReadError: A file cannot be read.
            GenerationError: A setting of the recipe does not fit its model or its prompt.
        """
        if not isinstance(recipe, Recipe):
            recipe = needed_recipe(_document(recipe))
        check_model(recipe, self.sha256)
        document = None if prompt is None else _document(prompt)
        check_prompt(recipe, document)
        ready = self._ready(recipe, document)
        engine = self._engines.of(recipe, self.device)
        return begin_take(recipe, engine=engine, tokenizer=self.tokenizer, prompt=ready)

    def _ready(self, recipe: Recipe, document: MidiDocument | None) -> ReadyPrompt | None:
        """Return the prompt as the model takes it in; all that is wrong with it is said here."""
        prompt = None
        if document is not None:
            prompt = ready_prompt(document, self.tokenizer, recipe.prompt_seconds)
        plan_of(recipe, prompt)
        return prompt

    def attention(self, source: Source | Take, seconds: float | None = None) -> AttentionView:
        """Return what the model attends to in a piece.

        Args:
            source: A MIDI file, or a take of this model.
            seconds: Only its first seconds.

        Returns:
            The view of the piece, or of its end where it is longer than the model's window.

        Raises:
            MidiReadError: The file cannot be read.
            PromptError: It holds no note that the model could hear.
        """
        seconds = arguments.checked_span(seconds)
        if isinstance(source, Take):
            ids = source.ids
            if seconds is not None:
                ids = ids[self.tokenizer.decode_events(ids).onset_s < seconds]
        else:
            document = _document(source)
            ids = ready_prompt(document, self.tokenizer, seconds).ids
            if seconds is None:
                # The whole piece as the model was trained on it: with its end.
                ids = np.concatenate([ids, [self.tokenizer.end_event]])
        return look(self.model, self.tokenizer, ids)

    @cached_property
    def copy_index(self) -> CopyIndex:
        """The fingerprints of the music that the model was trained on, read when first needed.

        Raises:
            CheckpointError: The model carries none, or it is damaged.
        """
        if self._folder is None:
            raise CheckpointError(
                "A model that was not loaded from a checkpoint carries no copy index.",
                hint="Save it, and load it with MusicPipeline.load.",
                code="no-copy-index",
            )
        # Who makes a take waits for none of this.
        from musicgen.evaluation.copies import load_copy_index

        return load_copy_index(self._folder)

    def check_copies(self, source: Source | Take) -> CopyReport:
        """Return the longest passage that music shares with the music the model was trained on.

        Args:
            source: A MIDI file; or a take, of which the new notes alone are checked.

        Raises:
            CheckpointError: The model carries no copy index, or it is damaged.
            MidiReadError: The file cannot be read.
        """
        from musicgen.pipeline.copies import check_copies

        music = source if isinstance(source, Take) else _document(source)
        return check_copies(self.copy_index, music)

    def inspect(self, file: Source) -> MidiFacts:
        """Return what a MIDI file holds.

        Raises:
            MidiReadError: It cannot be read, or holds no note.
        """
        return describe(_document(file))


def _document(source: Source) -> MidiDocument:
    return source if isinstance(source, MidiDocument) else read_midi(source)


def _last(stream: TakeStream) -> Take:
    for made in stream:
        if isinstance(made, Take):
            return made
    raise RuntimeError("the stream ended without a take")
