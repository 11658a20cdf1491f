"""Write `docs/cli.md` from the command line itself: `python docs/make_cli_page.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer.main

from musicgen.cli.app import app

PAGE = Path(__file__).resolve().parent / "cli.md"
HEAD = """\
# The command line

This page is written by `python docs/make_cli_page.py` from the program's own help; change it there.

Results go to stdout, progress and errors to stderr. Every command takes `--json`. Exit codes:
0 done, 1 an error that the sentence on stderr explains, 2 wrong usage, 130 interrupted by Ctrl-C.
With `--json` an error is on stdout too: `{"ok": false, "error": {"code", "message", "hint"}}`
(wrong usage has the code `usage`);
where takes were finished before it, they are kept, and `takes` beside `error` tells them.
A name that begins with a dash is given after `--` or as `./-name.mid`.
The folder for what `-o` names is made if it is missing, once there is something to write; that it
can be written is tried out before the work begins, which leaves nothing behind.
"""


def page() -> str:
    """Return the page's text."""
    parts = [HEAD]
    commands: dict[str, Any] = typer.main.get_command(app).commands  # pyright: ignore
    for name, command in commands.items():
        inner: dict[str, Any] = getattr(command, "commands", {})
        sections = {f"{name} {each}": inner[each] for each in inner} or {name: command}
        parts += [_section(each, sections[each]) for each in sections]
    return "\n".join(parts)


def _section(name: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join(["musicgen", name, *(_place(p) for p in arguments)])
    needed = "".join(f" {min(p.opts, key=len)} {_place(p)}" for p in options if p.required)
    lines = [f"## musicgen {name}", "", "```", f"{usage}{needed} [options]", "```", ""]
    lines += [_unwrapped(command.help), ""]
    lines += ["| | | without it |", "|---|---|---|"]
    for p in arguments:
        lines.append(_row(f"`{_place(p)}`", p.help, ""))
    for p in options:
        lines.append(_row(f"`{_spelling(p)}`", p.help, _default(p)))
    return "\n".join([*lines, ""])


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _unwrapped(help_text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in help_text.strip().split("\n\n"))


def _place(parameter: Any) -> str:
    return parameter.metavar or parameter.name.upper()


def _spelling(parameter: Any) -> str:
    names = ", ".join(sorted(parameter.opts, key=len))
    return names if parameter.is_flag else f"{names} {_place(parameter)}"


def _default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    if parameter.is_flag or parameter.default is None:
        return ""
    return f"`{parameter.default}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
