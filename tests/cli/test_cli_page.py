"""docs/cli.md is written by the program itself and is current."""

from __future__ import annotations

import runpy


def test_the_page_is_current(root):
    script = runpy.run_path(str(root / "docs" / "make_cli_page.py"))
    page = (root / "docs" / "cli.md").read_text(encoding="utf-8")
    assert script["page"]() == page, "run python docs/make_cli_page.py"


def test_every_promise_of_the_contract_stands_in_it(root):
    page = (root / "docs" / "cli.md").read_text(encoding="utf-8")
    for option in (
        "`--seconds S`",
        "`--prompt-seconds S`",
        "`--only-new`",
        "`--takes N`",
        "`--layer L`",
        "`--head H`",
        "`--resume`",
        "`--from MODEL`",
        "`--no-browser`",
    ):
        assert option in page
