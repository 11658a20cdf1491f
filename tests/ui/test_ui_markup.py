"""Foreign names are shown, never acted upon (S04: HTML and Markdown in track and file names)."""

from __future__ import annotations

import pytest

from musicgen.ui.markup import one_line, plain


@pytest.mark.parametrize(
    "name",
    [
        "<img src=x onerror=alert(1)>",
        "![a](http://evil.test/a.png)",
        "[click](javascript:alert(1))",
        "`code` **bold** _it_ ~~no~~",
        ":material/home: :red[x] $x^2$",
        "https://evil.test/a.png",
        "www.evil.test",
        "someone@evil.test",
        "1. list",
        "# heading",
        "&lt;b&gt;",
    ],
)
def test_every_mark_that_could_start_something_is_escaped(name):
    escaped = plain(name)
    unescaped = escaped.replace("\\\\", "")
    for mark in "<>[]()!*_`:$#&.@/~":
        assert unescaped.count(mark) == unescaped.count("\\" + mark)
    assert escaped.replace("\\", "") == name


def test_control_and_direction_characters_do_not_survive():
    assert one_line("a\nb\tc\x00\u202ed\u2028e\ud800f") == "a b c d ef"


def test_long_names_are_cut():
    assert len(one_line("x" * 5000)) == 200
    assert one_line("x" * 5000).endswith("…")
