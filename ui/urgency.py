"""Which of this process's threads go first when there are more of them than cores."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from typing import Final

MAKING: Final = 4
"""How much making music and playing whole pieces give way to pages, which are drawn in a moment."""
LOOKING: Final = 8
"""And how much reading attention gives way to both."""


def give_way(niceness: int) -> None:
    """Let the thread that calls this be less urgent than the process's others, from now on.

    Only Linux knows an urgency of single threads; elsewhere all stay alike.

    Args:
        niceness: Steps of `nice`: a thread of n more gets about 1 ÷ 1.25ⁿ of the other's time.
    """
    if sys.platform.startswith("linux"):
        thread = threading.get_native_id()
        with suppress(OSError):  # a system that keeps it to itself
            os.setpriority(
                os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + niceness
            )
