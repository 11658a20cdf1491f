"""Settings in the address, without a page: read strictly, written as briefly as possible."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from musicgen.ui import address
from musicgen.ui.views import bar


def models(called: str) -> str | None:
    return {"0123456789ab": "/runs/mine", "ffffffffffff": ""}.get(called)


def read(**params: str):
    return address.read({name: [value] for name, value in params.items()}, models)


def test_what_the_address_does_not_say_is_as_it_comes():
    """Guards: the same address that gives one visitor other settings than another."""
    settings, left_out = read(seed="7")
    assert settings == {**address.DEFAULTS, "seed": 7}
    assert left_out == ()


def test_settings_come_back_as_they_were():
    settings = {
        "length": 45,
        "variety": 0.85,
        "top_p": 0.0,
        "top_k": 3,
        "min_p": 0.05,
        "seed": 0,
        "count": 2,
        "model": "/runs/mine",
    }
    params = address.written(settings, lambda folder: "0123456789ab")
    assert params["model"] == ("0123456789ab",)
    assert address.read(params, models) == (settings, ())


def test_defaults_and_a_slider_s_noise_are_left_out():
    assert address.written(address.DEFAULTS, lambda folder: None) == {}
    noisy = {**address.DEFAULTS, "variety": 0.8500000000000001, "min_p": 1e-12}
    assert address.written(noisy, lambda folder: None) == {"temperature": ("0.85",)}


def test_a_model_that_has_no_name_to_give_is_not_written():
    settings = {**address.DEFAULTS, "model": "/somebody's/folder"}
    assert address.written(settings, lambda folder: None) == {}


def test_the_studio_s_own_model_may_be_named():
    assert read(model="ffffffffffff") == (address.DEFAULTS, ())


@pytest.mark.parametrize(
    "params",
    [
        {"seconds": "4"},
        {"seconds": "121"},
        {"seconds": "30.5"},
        {"seconds": "1e1"},
        {"seconds": "٣٠"},
        {"temperature": "nan"},
        {"temperature": "inf"},
        {"temperature": "-1"},
        {"temperature": "0.49"},
        {"temperature": ""},
        {"top_p": "1.01"},
        {"top_k": "9" * 5000},
        {"min_p": "0.31"},
        {"seed": "4294967296"},
        {"seed": " 7"},
        {"takes": "0"},
        {"takes": "99"},
        {"model": "../../etc/passwd"},
        {"model": "<script>alert(1)</script>"},
    ],
)
def test_nonsense_is_left_out_and_named(params):
    settings, left_out = read(**params)
    assert settings == address.DEFAULTS
    [told] = left_out
    assert told.startswith(next(iter(params)))
    assert len(told) <= 25


def test_two_values_are_none():
    """Guards: which of two seeds counts, decided by chance."""
    settings, left_out = address.read({"seed": ["1", "2"]}, models)
    assert settings["seed"] is None
    assert left_out == ("seed=1, 2",)


def test_what_is_not_ours_is_not_touched():
    assert address.ours({"utm_source": ["x"], "seed": ["1"]}) == {"seed": ("1",)}


class Params(dict):
    """The page's address as Streamlit tells it: each name with all its values."""

    def get_all(self, name: str) -> list[str]:
        return list(self[name])

    def from_dict(self, params: dict) -> None:
        self.clear()
        self.update(params)


def test_an_address_that_did_not_arrive_is_written_again(monkeypatch):
    """Guards: a head or a seed that jumps back, as the browser still showed the address before."""
    browser, state = Params(), {}
    monkeypatch.setattr(bar, "st", SimpleNamespace(query_params=browser, session_state=state))
    names, wanted = ("head",), {"head": ("7",)}
    assert bar.opened("lab", names, is_fresh=True) is None
    bar.write("lab", names, wanted)
    browser.clear()  # lost on its way
    assert bar.opened("lab", names, is_fresh=False) is None
    bar.write("lab", names, wanted)
    assert browser == wanted
    assert bar.opened("lab", names, is_fresh=False) is None, "it is there"
    browser.clear()  # now the visitor went back
    assert bar.opened("lab", names, is_fresh=False) == {}
