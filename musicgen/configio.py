"""Frozen dataclasses <-> TOML and JSON, strictly: an unknown key or a wrong type is an error.

People write TOML, the program writes JSON. Classes stay plain `dataclasses`; pydantic sees them
only here, at the border of files. Their own `__post_init__` checks ranges, by ValueError or
ConfigError; both reach the user as one sentence that names the file and the key.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import sys
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from musicgen.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = [
    "from_mapping",
    "load_json",
    "load_toml",
    "read_toml",
    "strict_json",
    "to_json",
    "to_mapping",
]

MAX_CONFIG_BYTES = 1_000_000
_TOO_DEEP = "it is nested too deep"
_LOST = "It is damaged, or another kind of file: use a sound copy of it."

ConfigT = TypeVar("ConfigT")


def load_toml(path: str | Path, kind: type[ConfigT]) -> ConfigT:
    """Read a dataclass from a TOML file.

    Args:
        path: The file.
        kind: A dataclass; nested dataclasses are tables.

    Raises:
        ConfigError: The file cannot be read, or a key or value does not fit.
    """
    return from_mapping(kind, read_toml(path), where=str(path))


def read_toml(path: str | Path) -> dict[str, Any]:
    """Read a TOML file as plain data, for callers that lay options over it first.

    Raises:
        ConfigError: The file cannot be read or is not TOML.
    """
    try:
        return tomllib.loads(_read_text(path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        why = _TOO_DEEP if isinstance(error, RecursionError) else error
        raise ConfigError(
            f"{path} is not valid TOML: {why}.", hint="Mend that line, or leave the file out."
        ) from error


def load_json(path: str | Path, kind: type[ConfigT]) -> ConfigT:
    """Read a dataclass from a JSON file that `to_json` wrote.

    Raises:
        ConfigError: The file cannot be read, or a key or value does not fit.
    """
    try:
        mapping = strict_json(_read_text(path))
    except ValueError as error:
        raise ConfigError(f"{path} is not valid JSON: {error}.", hint=_LOST) from error
    return from_mapping(kind, mapping, where=str(path))


def strict_json(text: str | bytes) -> Any:
    """Read JSON as its standard has it: no NaN, no Infinity, no key twice.

    Raises:
        ValueError: It is not JSON, or nested too deep.
    """
    try:
        return json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_number)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error


def from_mapping(kind: type[ConfigT], mapping: object, *, where: str = "settings") -> ConfigT:
    """Build a dataclass from plain data; nothing is guessed and nothing is dropped.

    Args:
        kind: A dataclass; fields may be numbers, strings, paths, literals, tuples, mappings,
            optional values and further dataclasses.
        mapping: Plain data as TOML or JSON give it (lists become tuples, integers floats).
        where: What the data came from, for the error's sentence.

    Raises:
        ConfigError: An unknown or missing key, a wrong type, or a value out of its range.
    """
    if not isinstance(mapping, Mapping):
        told = "nothing (null)" if mapping is None else _short(mapping)
        raise ConfigError(f"{where} holds {told}, not a table of settings.")
    _check_keys(kind, mapping, "", where)
    try:
        # Strictness differs by source: only JSON's own rules take a table for a dataclass and
        # a list for a tuple while still refusing "3" for 3.
        return TypeAdapter(kind).validate_json(json.dumps(mapping), strict=True)
    except ValidationError as error:
        raise _first_error(error, where) from error
    except (TypeError, ValueError, RecursionError) as error:
        why = _TOO_DEEP if isinstance(error, RecursionError) else error
        raise ConfigError(f"{where} holds a value that settings cannot be: {why}.") from error


def to_mapping(config: Any) -> dict[str, Any]:
    """Return a dataclass as plain data that `from_mapping` reads back equal."""
    return TypeAdapter(type(config)).dump_python(config, mode="json")


def to_json(config: Any) -> str:
    """Return a dataclass as the JSON text that the program writes: sorted, indented, one end."""
    return json.dumps(to_mapping(config), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _read_text(path: str | Path) -> str:
    path = Path(path)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_CONFIG_BYTES + 1)
        if len(data) > MAX_CONFIG_BYTES:
            raise ConfigError(
                f"{path} is larger than {MAX_CONFIG_BYTES:,} bytes, the most that settings take.",
                hint=_LOST,
            )
        return data.decode("utf-8")
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror or error}.",
            hint="Choose a file that exists and that you may read.",
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path} is not a text file in UTF-8 (byte {error.start}).", hint=_LOST
        ) from error


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands twice")
    return mapping


def _check_keys(kind: Any, value: object, path: str, where: str) -> None:
    """Refuse keys that no dataclass on the way down has (pydantic would drop them silently)."""
    origin = typing.get_origin(kind)
    if dataclasses.is_dataclass(kind) and isinstance(value, Mapping):
        hints = typing.get_type_hints(kind)
        allowed = [field.name for field in dataclasses.fields(kind) if field.init]
        for key, item in value.items():
            if key not in allowed:
                raise _unknown_key(str(key), allowed, path, where)
            _check_keys(hints[key], item, f"{path}{key}.", where)
    elif origin in (typing.Union, types.UnionType, typing.Annotated):
        # At most one member of an optional value is a dataclass.
        for member in typing.get_args(kind):
            _check_keys(member, value, path, where)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            for member in typing.get_args(kind)[1:]:
                _check_keys(member, item, f"{path}{key}.", where)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        members = [member for member in typing.get_args(kind) if member is not Ellipsis]
        for index, item in enumerate(value):
            for member in members:
                _check_keys(member, item, f"{path}{index}.", where)


def _unknown_key(key: str, allowed: list[str], path: str, where: str) -> ConfigError:
    near = difflib.get_close_matches(key, allowed, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else ""
    return ConfigError(
        f"{where}: there is no setting {path + key!r}; the settings here are "
        f"{', '.join(sorted(allowed))}.",
        hint=hint,
    )


def _first_error(error: ValidationError, where: str) -> ConfigError:
    first = error.errors(include_url=False)[0]
    cause = first.get("ctx", {}).get("error")
    place = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        return ConfigError(f"{where}: the setting {place!r} is missing.")
    if cause is not None and isinstance(cause, ValueError):
        # Raised by a dataclass's own __post_init__: its sentence is the better one.
        inside = f"{place}: " if place else ""
        return ConfigError(f"{where}: {inside}{cause}")
    wanted = first["msg"][:1].lower() + first["msg"][1:]
    return ConfigError(f"{where}: {place}: {wanted}; it is {_short(first['input'])}.")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
