"""What the attention lab shows, in the address: read strictly, and found again by a reload."""

from __future__ import annotations

import pytest

from musicgen.ui import address, lab_address


def pieces(called: str) -> str | None:
    return {"example-1": "a" * 32}.get(called)


def read(**params: str):
    return lab_address.read({name: [value] for name, value in params.items()}, pieces)


def test_all_that_is_shown_comes_back():
    """Guards: a sentence or a bar of music that a reload loses."""
    settings = {
        "lab_kind": "music",
        "lab_sentence": "Who are <you> & why?",
        "lab_d_model": 64,
        "lab_n_heads": 8,
        "lab_seed": 0,
        "lab_piece": "a" * 32,
        "lab_from": 12.3,
        "lab_events": 10,
        "lab_reads": 40,
        "lab_row": 61,
        "lab_column": 60,
        "lab_layer": 3,
        "lab_head": 8,
        "lab_mask": False,
        "lab_step": "weights",
    }
    params = lab_address.written(settings, "example-1")
    assert set(params) == set(lab_address.NAMES)
    assert lab_address.read(params, pieces) == (settings, ())


def test_what_is_as_it_comes_is_left_out():
    assert lab_address.written(lab_address.DEFAULTS, None) == {}
    assert lab_address.written(lab_address.DEFAULTS, "example-1") == {}, "no music is looked at"
    assert read() == (lab_address.DEFAULTS, ())


def test_the_lab_and_create_have_no_name_in_common():
    """Guards: an address of one page that means something on the other."""
    assert not set(lab_address.NAMES) & set(address.NAMES)


@pytest.mark.parametrize(
    "params",
    [
        {"look": "music<b>"},
        {"text": " \n\x00 "},
        {"d_model": "12"},
        {"n_heads": "3"},
        {"weights": "4294967296"},
        {"piece": "../../etc/passwd"},
        {"from": "-1"},
        {"events": "11"},
        {"layer": "0"},
        {"reads": "-1"},
        {"row": "1.5"},
        {"column": "x"},
        {"head": "1e1"},
        {"mask": "on"},
        {"step": "steps"},
    ],
)
def test_nonsense_is_left_out_and_named(params):
    settings, left_out = read(**params)
    assert settings == lab_address.DEFAULTS
    assert len(left_out) == 1


def test_a_long_sentence_is_cut_where_the_page_cuts_it():
    settings, left_out = read(text="a b " * 999)
    assert len(settings["lab_sentence"]) == lab_address.MOST_CHARACTERS
    assert left_out == ()
