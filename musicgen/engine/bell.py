"""A bell that compiled code can sleep at, without Python's own lock.

Who needs that lock to fall asleep or to wake may be put aside by the system while holding it, and
then everybody waits. Python's C interface has locks that need none.
"""

from __future__ import annotations

import ctypes
import weakref

_POINTER, _INT = ctypes.c_void_p, ctypes.c_int
# Made anew, so that what others have said of these functions' types stays.
_allocate = ctypes.PYFUNCTYPE(_POINTER)(("PyThread_allocate_lock", ctypes.pythonapi))
_free = ctypes.PYFUNCTYPE(None, _POINTER)(("PyThread_free_lock", ctypes.pythonapi))
_release = ctypes.PYFUNCTYPE(None, _POINTER)(("PyThread_release_lock", ctypes.pythonapi))
_acquire = ctypes.PYFUNCTYPE(_INT, _POINTER, _INT)(("PyThread_acquire_lock", ctypes.pythonapi))


class Bell:
    """One thread sleeps until another rings; a ring that finds nobody asleep is kept.

    Attributes:
        address: Of the lock: what compiled code is to wait for.
        wait: Address of the function that does, `int wait(void *lock, int is_to_wait)`.
    """

    def __init__(self) -> None:
        self.address = _allocate()
        self.wait = ctypes.cast(_acquire, _POINTER).value
        _acquire(self.address, 0)
        weakref.finalize(self, _free, self.address).atexit = False

    def ring(self) -> None:
        """Wake who sleeps, or the next who would."""
        _release(self.address)
