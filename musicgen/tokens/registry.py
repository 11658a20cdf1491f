"""Tokenizers by name, and from their JSON."""

from __future__ import annotations

import json
from typing import Any

from musicgen.errors import TokenizerError
from musicgen.tokens.base import FORMAT, VERSION, Tokenizer
from musicgen.tokens.piano import PianoTokenizer

#: Every scheme; all but "piano" import miditok (two seconds).
SCHEMES = ("piano", "tsd", "remi", "midilike")
FLAT_SCHEMES = SCHEMES[1:]

_KEYS = {"format", "version", "scheme", "settings", "fingerprint"}
_DAMAGED = "The checkpoint's tokenizer.json is damaged or hand-made: copy the checkpoint again."


def get_tokenizer(scheme: str = "piano", **options: Any) -> Tokenizer:
    """Return the tokenizer of a scheme.

    Args:
        scheme: One of SCHEMES. A flat scheme is given its bare vocabulary;
            `train_flat_tokenizer` adds byte-pair encoding.
        **options: Settings of the scheme; there are none yet.

    Raises:
        TokenizerError: No such scheme or option.
    """
    _check_scheme(scheme)
    if options:
        raise TokenizerError(
            f"The scheme {scheme} has no setting {sorted(options)[0]!r}; it takes none.",
            hint="Leave it out.",
        )
    if scheme == "piano":
        return PianoTokenizer()
    from musicgen.tokens.flat import FlatTokenizer

    return FlatTokenizer.untrained(scheme)


def tokenizer_from_json(text: str) -> Tokenizer:
    """Read what `Tokenizer.to_json` wrote; strict.

    Raises:
        TokenizerError: Not such a JSON, unknown or missing keys, another version, or settings
            that do not give the fingerprint.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        why = "it is nested too deep" if isinstance(error, RecursionError) else error
        raise TokenizerError(f"The tokenizer is not JSON: {why}.", hint=_DAMAGED) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise TokenizerError("The file does not describe a tokenizer of musicgen.", hint=_DAMAGED)
    if document.get("version") != VERSION:
        raise TokenizerError(
            f"The tokenizer has format version {document.get('version')!r}; this program reads "
            f"version {VERSION}.",
            hint="Use the version of musicgen that made it, or train again.",
        )
    if document.keys() != _KEYS:
        odd = ", ".join(sorted(document.keys() ^ _KEYS))
        raise TokenizerError(f"The tokenizer's keys are unknown or missing: {odd}.", hint=_DAMAGED)
    scheme = document["scheme"]
    _check_scheme(scheme)
    tokenizer = _build(scheme, document["settings"])
    if tokenizer.settings() != document["settings"]:
        raise TokenizerError(
            f"The settings of the tokenizer {scheme} are not those of this version.",
            hint="Use the version of musicgen that made it, or train again.",
        )
    if tokenizer.fingerprint != document["fingerprint"]:
        raise TokenizerError(
            f"The tokenizer's fingerprint is {document['fingerprint']!r}; its settings give "
            f"{tokenizer.fingerprint}.",
            hint=_DAMAGED,
        )
    return tokenizer


def _build(scheme: str, settings: Any) -> Tokenizer:
    if scheme == "piano":
        return PianoTokenizer()
    from musicgen.tokens.flat import FlatTokenizer

    return FlatTokenizer.from_settings(scheme, settings)


def _check_scheme(scheme: object) -> None:
    if scheme not in SCHEMES:
        raise TokenizerError(
            f"There is no scheme {scheme!r}.", hint=f"Choose one of {', '.join(SCHEMES)}."
        )
