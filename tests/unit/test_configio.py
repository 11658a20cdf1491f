"""Settings files are read strictly: what is not understood is refused by name."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from musicgen.configio import from_mapping, load_json, load_toml, to_json, to_mapping
from musicgen.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    rate: float = 0.5
    name: str | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1:
            raise ValueError(f"rate must lie in 0 to 1, it is {self.rate}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    steps: int
    sizes: tuple[int, ...] = ()
    kind: Literal["a", "b"] = "a"
    folder: Path | None = None
    inner: Inner = field(default_factory=Inner)
    many: tuple[Inner, ...] = ()
    by_name: dict[str, Inner] = field(default_factory=dict)


FULL = Outer(
    steps=3,
    sizes=(1, 2),
    kind="b",
    folder=Path("somewhere"),
    inner=Inner(rate=0.25, name="x"),
    many=(Inner(), Inner(rate=1.0)),
    by_name={"pitch": Inner(rate=0.0)},
)


def test_round_trip_through_plain_data_and_json(tmp_path):
    assert from_mapping(Outer, to_mapping(FULL)) == FULL
    path = tmp_path / "full.json"
    path.write_text(to_json(FULL), encoding="utf-8")
    assert load_json(path, Outer) == FULL
    assert to_json(load_json(path, Outer)) == path.read_text(encoding="utf-8")


def test_toml_tables_become_nested_dataclasses(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text("steps = 7\nsizes = [4]\n[inner]\nrate = 1\n", encoding="utf-8")
    config = load_toml(path, Outer)
    assert config == Outer(steps=7, sizes=(4,), inner=Inner(rate=1.0))
    assert isinstance(config.inner.rate, float)


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ({"stps": 1, "steps": 1}, ["'stps'", "steps", "Did you mean 'steps'?"]),
        ({"steps": 1, "inner": {"rte": 0.1}}, ["'inner.rte'", "Did you mean 'rate'?"]),
        ({"steps": 1, "many": [{}, {"nme": "x"}]}, ["'many.1.nme'", "'name'"]),
        ({"steps": 1, "by_name": {"p": {"zzz": 1}}}, ["'by_name.p.zzz'", "name, rate"]),
        ({"steps": "3"}, ["steps", "integer", "'3'"]),
        ({"steps": True}, ["steps", "integer", "True"]),
        ({"steps": 1.5}, ["steps", "integer", "1.5"]),
        ({"steps": 1, "kind": "c"}, ["kind", "'a' or 'b'", "'c'"]),
        ({"steps": 1, "inner": {"rate": 2}}, ["inner", "rate must lie in 0 to 1, it is 2"]),
        ({}, ["'steps' is missing"]),
        ([1], ["[1]", "not a table"]),
    ],
)
def test_what_does_not_fit_is_refused_by_name(mapping, words):
    with pytest.raises(ConfigError) as caught:
        from_mapping(Outer, mapping, where="run.toml")
    sentence = str(caught.value)
    assert sentence.startswith("run.toml")
    for word in words:
        assert word in sentence
    assert "pydantic" not in sentence


def test_a_date_is_no_setting(tmp_path):
    path = tmp_path / "date.toml"
    path.write_text("steps = 2026-01-01\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"date\.toml"):
        load_toml(path, Outer)


def test_infinity_reaches_the_class_that_judges_it():
    with pytest.raises(ConfigError, match="rate must lie"):
        from_mapping(Inner, {"rate": math.inf})


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"steps = \n", "line 1"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"#" * 1_000_001, "1,000,000"),
    ],
)
def test_damaged_toml_is_one_sentence(tmp_path, content, word):
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=word):
        load_toml(path, Outer)


@pytest.mark.parametrize("text", ['{"steps": 1, "steps": 2}', "{", "[" * 5000])
def test_damaged_json_is_one_sentence(tmp_path, text):
    path = tmp_path / "bad.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"bad\.json is not valid JSON"):
        load_json(path, Outer)


def test_missing_file_and_folder_are_sentences(tmp_path):
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(ConfigError, match="cannot be read"):
            load_toml(path, Outer)


def test_settings_that_are_nested_too_deep_are_told_so(tmp_path):
    """Guards a RecursionError of a TOML file, and its words in the sentence about JSON."""
    for name, read, text in (
        ("a.toml", load_toml, "steps = " + "[" * 100_000),
        ("a.json", load_json, "[" * 100_000),
    ):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError, match=r"it is nested too deep\.") as caught:
            read(path, Outer)
        assert caught.value.hint
