"""Fine-tuning: all weights or LoRA, resumed to the bit, what it gained, whose licence it bears."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

from musicgen.checkpoint import load_checkpoint, read_manifest
from musicgen.checkpoint.store import save_checkpoint
from musicgen.errors import ConfigError, TrainingError
from musicgen.training import (
    Finished,
    ParentMeasured,
    Planned,
    StepDone,
    fine_tuning_recipe,
    train,
)
from musicgen.training.validating import look
from ranks import ended, start_ranks
from runs import RECIPE

TUNED = replace(
    RECIPE,
    restart_steps=(),
    restart_learning_rates=(),
    augment_from_step=0,
    augment_until_step=None,
    augment_semitones=0,
    augment_tempo=0.0,
    augment_velocity=0,
    steps=12,
    validate_steps=6,
    checkpoint_minutes=1000.0,
)
LORA = replace(TUNED, lora_rank=3, optimizer="adamw")


@pytest.fixture(scope="module")
def music(tmp_path_factory, starter):
    folder = tmp_path_factory.mktemp("music")
    for piece in sorted(starter.glob("*.mid"))[:3]:
        shutil.copy(piece, folder)
    return folder


@pytest.fixture(scope="module")
def parent(tmp_path_factory, music):
    """Return a small model that knows the music a little, under a licence."""
    run = tmp_path_factory.mktemp("parent") / "teacher"
    list(train(music, run, replace(RECIPE, checkpoint_minutes=1000.0), device="cpu"))
    known = load_checkpoint(run)
    folder = run.parent / "known"
    save_checkpoint(
        folder,
        decoder=known.decoder,
        tokenizer=known.tokenizer,
        name="teacher",
        step=24,
        training={},
        licence="CC-BY-NC-SA-4.0",
        extra={"copies.bin": b"of the original alone"},
    )
    return folder


def tuned(music, run, recipe, parent, **options):
    *events, last = train(music, run, recipe, device="cpu", start_from=parent, **options)
    assert isinstance(last, Finished)
    return events, last


def weights(folder):
    return (folder / "model.safetensors").read_bytes()


@pytest.mark.parametrize("recipe", [TUNED, LORA], ids=["all weights", "LoRA"])
def test_the_new_model_tells_gain_parent_and_licence(music, parent, recipe, tmp_path):
    run = tmp_path / "mine"
    _, last = tuned(music, run, recipe, parent)
    gain = last.gain
    assert gain is not None
    assert gain.parent == "teacher"
    assert gain.parent_sha256 == load_checkpoint(parent).sha256
    assert gain.after_bits_per_note == last.bits_per_note
    assert gain.gained_bits_per_note == gain.before_bits_per_note - gain.after_bits_per_note
    assert gain.before_bits_per_note != gain.after_bits_per_note
    manifest = read_manifest(run / "best")
    assert manifest.licence == "CC-BY-NC-SA-4.0"
    assert manifest.training["parent_name"] == "teacher"
    assert manifest.training["parent"] == gain.parent_sha256
    assert manifest.training["gain"] == gain.as_dict()
    card = (run / "best" / "README.md").read_text(encoding="utf-8")
    for told in (gain.sentence(), gain.parent_sha256, "CC-BY-NC-SA-4.0, inherited from teacher"):
        assert told in card
    # The run holds all it needs, and nothing that only belongs to the original.
    assert weights(run / "parent") == weights(parent)
    assert not (run / "parent" / "copies.bin").exists()
    # Any part of the house takes it as an ordinary model.
    assert set(load_checkpoint(run).decoder.state_dict()) == set(
        load_checkpoint(parent).decoder.state_dict()
    )


def untouched(run):
    lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [told for told in map(json.loads, lines) if "parent_bits_per_note" in told]


@pytest.mark.parametrize("recipe", [TUNED, LORA], ids=["all weights", "LoRA"])
def test_the_parent_is_measured_once_before_the_first_step(
    music, parent, recipe, tmp_path, monkeypatch
):
    """Guards a yardstick that was known of a finished run alone, and one that costs twice."""
    looks = []

    def counted(plan, step, windows):
        looks.append(step)
        return look(plan, step, windows)

    monkeypatch.setattr("musicgen.training.gain.look", counted)
    run = train(music, tmp_path / "run", recipe, device="cpu", start_from=parent)
    told = []
    for event in run:
        told.append(event)
        if isinstance(event, StepDone) and event.step == 3:
            break
    run.close()
    [planned] = [at for at, event in enumerate(told) if isinstance(event, Planned)]
    before = told[planned + 1]
    assert isinstance(before, ParentMeasured)
    assert (before.parent, looks) == ("teacher", [0])
    # A resumed run says it again, and does not measure.
    events = list(train(music, tmp_path / "run", None, device="cpu", resume=True))
    assert [event for event in events if isinstance(event, ParentMeasured)] == [before]
    assert events[-1].gain.before_bits_per_note == before.bits_per_note
    assert looks == [0]
    [line] = untouched(tmp_path / "run")
    assert line["step"] == 0
    # It is the model that it began with, on the windows of the run's own validations: a rate of
    # almost nothing leaves it there.
    still = replace(recipe, learning_rate=1e-8, weight_decay=0.0, steps=1, validate_steps=1)
    _, last = tuned(music, tmp_path / "still", still, parent)
    assert last.bits_per_note == pytest.approx(before.bits_per_note, abs=1e-4)


def test_to_measure_the_parent_changes_no_byte(music, parent, tmp_path, monkeypatch):
    tuned(music, tmp_path / "measured", TUNED, parent)
    monkeypatch.setattr("musicgen.training.loop.untouched_bits", lambda plan: None)
    tuned(music, tmp_path / "not", TUNED, parent)
    [one], [other] = (
        list((tmp_path / name / "checkpoints").iterdir()) for name in ("measured", "not")
    )
    for name in ("model.safetensors", "optimizer.safetensors", "state.json"):
        assert (one / name).read_bytes() == (other / name).read_bytes()


def test_other_music_is_another_yardstick(music, parent, starter, tmp_path):
    """Guards a gain over a figure of music that is held out no more."""
    run = train(music, tmp_path / "run", TUNED, device="cpu", start_from=parent)
    next(event for event in run if isinstance(event, StepDone))
    run.close()
    more = tmp_path / "more"
    shutil.copytree(music, more)
    for piece in sorted(starter.glob("*.mid"))[3:9]:
        shutil.copy(piece, more)
    *_, last = train(more, tmp_path / "run", None, device="cpu", resume=True, allow=["music"])
    first, second = untouched(tmp_path / "run")
    assert first["corpus"] != second["corpus"]
    assert last.gain.before_bits_per_note == second["parent_bits_per_note"]


def test_random_weights_gain_nothing_and_have_no_parent(music, tmp_path):
    *_, last = train(music, tmp_path / "run", replace(TUNED, steps=2), device="cpu")
    assert last.gain is None
    assert not (tmp_path / "run" / "parent").exists()
    assert read_manifest(tmp_path / "run" / "best").licence == ""


@pytest.mark.parametrize("recipe", [TUNED, LORA], ids=["all weights", "LoRA"])
@pytest.mark.parametrize("at", [0, 1, 7])
def test_a_stopped_run_ends_with_an_unbroken_one_s_bytes(music, parent, recipe, at, tmp_path):
    """Guards LoRA's base taken from the rounded sum, and a run stopped before its first save."""
    tuned(music, tmp_path / "whole", recipe, parent)
    run = train(music, tmp_path / "broken", recipe, device="cpu", start_from=parent)
    for event in run:
        if isinstance(event, Planned) and at == 0:
            break
        if isinstance(event, StepDone) and event.step == at:
            break
    run.close()
    shutil.copytree(parent, tmp_path / "gone")  # the original is not needed any more
    *_, last = train(music, tmp_path / "broken", None, device="cpu", resume=True)
    assert weights(tmp_path / "broken" / "best") == weights(tmp_path / "whole" / "best")
    assert last.gain is not None


def test_a_resumed_run_says_again_with_what_it_began(music, parent, tmp_path):
    """Guards a card that forgot its parent, and how often the music is read, after a stop."""
    little = replace(TUNED, augment_semitones=None, augment_tempo=None, augment_velocity=None)
    little = replace(little, steps=None, epochs=6.0, batch_size=64)
    notices, readings = [], []
    for resume in (False, True):
        run = train(
            music,
            tmp_path / "run",
            None if resume else little,
            device="cpu",
            start_from=None if resume else parent,
            resume=resume,
        )
        for event in run:
            if isinstance(event, Planned):
                notices.append(event.notice)
                readings.append(event.readings)
            if isinstance(event, StepDone):
                break
        run.close()
    assert notices[0] == notices[1]
    assert "It begins with the weights of teacher" in notices[1]
    assert "The music will be read 6 times" in notices[1]
    assert readings[0] == readings[1] == pytest.approx(6.0, rel=0.1)


def test_lora_keeps_far_less_state_and_leaves_the_rest_alone(music, parent, tmp_path):
    for name, recipe in (("all", TUNED), ("lora", LORA)):
        tuned(music, tmp_path / name, recipe, parent)
    [whole], [narrow] = (
        list((tmp_path / name / "checkpoints").glob("step-*/optimizer.safetensors"))
        for name in ("all", "lora")
    )
    assert narrow.stat().st_size < whole.stat().st_size / 2
    before, after = (
        load_checkpoint(path).decoder.state_dict() for path in (parent, tmp_path / "lora")
    )
    changed = {name for name in before if not before[name].equal(after[name])}
    assert changed == {name for name in before if before[name].ndim == 2 and "embed" not in name}


def test_two_processes_adapt_as_one(music, parent, tmp_path):
    """Guards a second process that trains all weights, or other narrow matrices."""
    config = tmp_path / "lora.toml"
    lines = [
        f"{name} = {json.dumps(value)}"
        for name in type(LORA).__dataclass_fields__
        if (value := getattr(LORA, name)) is not None
    ]
    config.write_text("\n".join(lines), encoding="utf-8")
    args = ["train", music, "-o", tmp_path / "two", "--config", config, "--from", parent, "--json"]
    (code, out, err), (other_code, *_) = ended(start_ranks(2, args))
    assert (code, other_code) == (0, 0), err
    _, last = tuned(music, tmp_path / "one", LORA, parent)
    gain = json.loads(out)["gain"]
    assert gain["after_bits_per_note"] == pytest.approx(last.gain.after_bits_per_note, rel=1e-4)


def test_damaged_narrow_matrices_are_told(music, parent, tmp_path):
    tuned(music, tmp_path / "run", LORA, parent)
    [folder] = (tmp_path / "run" / "checkpoints").iterdir()
    (folder / "lora.safetensors").write_bytes(b"?")
    with pytest.raises(TrainingError, match=r"lora\.safetensors"):
        list(train(music, tmp_path / "run", None, device="cpu", resume=True))


def test_what_is_called_parent_already_is_never_removed(music, parent, tmp_path):
    """Guards a model of the user's own, beside which a run is begun with `-o .`."""
    shutil.copytree(parent, tmp_path / "parent")
    for start in (None, parent):
        with pytest.raises(TrainingError, match="there already"):
            list(train(music, tmp_path, TUNED, device="cpu", start_from=start))
    assert weights(tmp_path / "parent") == weights(parent)
    (tmp_path / "parent" / "copies.bin").unlink()  # now as a run that never began leaves it
    tuned(music, tmp_path, TUNED, parent)


def test_lora_without_a_model_is_refused(music, tmp_path):
    with pytest.raises(TrainingError, match="LoRA fine-tunes a model"):
        list(train(music, tmp_path / "run", LORA, device="cpu"))


def test_settings_that_suit_are_taken_where_none_are_given():
    plain, lora = fine_tuning_recipe(), fine_tuning_recipe(lora_rank=8)
    assert plain.early_seq_len is None
    assert (plain.optimizer, lora.optimizer) == ("muon", "adamw")
    assert plain.learning_rate < RECIPE.learning_rate
    assert fine_tuning_recipe(learning_rate=5e-4, lora_rank=8).learning_rate == 5e-4
    with pytest.raises(ConfigError, match="lora_rank"):
        fine_tuning_recipe(lora_rank=0)
