"""`python -m musicgen` is the `musicgen` program."""

from __future__ import annotations

from musicgen.cli.app import main

if __name__ == "__main__":
    main()
