"""`python -m musicgen` is the `musicgen` program; the console script begins here, too."""

from __future__ import annotations

import sys

_EXIT_INTERRUPTED = 130  # the console's, which is not imported yet


def main() -> None:
    """Import the program and run it."""
    try:
        from musicgen.cli.app import main as run
    except KeyboardInterrupt:  # nothing is begun, so nothing is to be told
        sys.exit(_EXIT_INTERRUPTED)
    run()


if __name__ == "__main__":
    main()
