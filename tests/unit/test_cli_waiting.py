"""Threads of torch must not hold the cores that compiled attention needs; the user has the word."""

from __future__ import annotations

from musicgen.cli.waiting import short_waits


def test_waits_are_short_unless_the_user_says_how_to_wait() -> None:
    assert short_waits({"HOME": "/h"}).keys() == {"GOMP_SPINCOUNT", "KMP_BLOCKTIME"}
    assert short_waits({"OMP_WAIT_POLICY": "passive"}) == {}
    assert short_waits({"GOMP_SPINCOUNT": "5"}) == {}
