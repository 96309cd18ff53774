"""Watches a folder for new files by inotify."""

import ctypes
import os
import struct
from collections.abc import Iterator
from pathlib import Path

_NONBLOCK, _CLOEXEC = os.O_NONBLOCK, os.O_CLOEXEC
# A new name, one that was moved in, and rights that udev gives a little later.
_CREATED, _MOVED_IN, _RIGHTS = 0x100, 0x80, 0x4
# The folder is watched no longer, because it was removed.
_IGNORED = 0x8000
_EVENT = struct.Struct("@iIII")  # watch, what happened, cookie, length of the name
_LARGEST_READ = 65536


class FolderWatch:
    """Names the files that come into a folder, or whose rights change.

    Args:
        folder: to watch.

    Raises:
        OSError: it does not exist, or the system has no watches left.

    Attributes:
        descriptor: readable when there is news.
    """

    def __init__(self, folder: Path) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = self._libc.inotify_init1(_NONBLOCK | _CLOEXEC)
        if self.descriptor < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "inotify")
        mask = _CREATED | _MOVED_IN | _RIGHTS
        if self._libc.inotify_add_watch(self.descriptor, os.fsencode(folder), mask) < 0:
            number = ctypes.get_errno()
            os.close(self.descriptor)
            raise OSError(number, os.strerror(number), str(folder))

    def news(self) -> Iterator[str]:
        """Yields the names of the files since the last call.

        Raises:
            OSError: the folder was removed.
        """
        try:
            data = os.read(self.descriptor, _LARGEST_READ)
        except BlockingIOError:
            return
        place = 0
        while place < len(data):
            _, happened, _, length = _EVENT.unpack_from(data, place)
            if happened & _IGNORED:
                raise OSError("the folder was removed")
            place += _EVENT.size
            yield os.fsdecode(data[place : place + length].rstrip(b"\0"))
            place += length

    def close(self) -> None:
        """Ends watching."""
        os.close(self.descriptor)
