"""POSIX extended regular expressions, by the C library."""

import ctypes
from functools import cache

from grouser.nodes.services.request_error import Reason, RequestError

_EXTENDED = 1  # REG_EXTENDED, in every C library
_SIZE = 1024  # of a compiled expression [bytes]: more than any C library needs
_LONGEST = 1000  # characters


class RegularExpression:
    """A POSIX extended regular expression.

    Args:
        pattern: the expression.

    Raises:
        RequestError: it is not valid.
    """

    def __init__(self, pattern: str) -> None:
        self._valid = False
        self._compiled = ctypes.create_string_buffer(_SIZE)
        if "\0" in pattern or len(pattern) > _LONGEST:
            raise RequestError(
                Reason.OPERATION_FAILED, f"the filter is longer than {_LONGEST} characters or holds a zero"
            )
        status = _library().regcomp(self._compiled, pattern.encode(), _EXTENDED)
        if status != 0:
            text = ctypes.create_string_buffer(256)
            _library().regerror(status, self._compiled, text, len(text))
            raise RequestError(Reason.OPERATION_FAILED, f"filter {pattern!r}: {text.value.decode()}")
        self._valid = True

    def __del__(self) -> None:
        if self._valid:
            _library().regfree(self._compiled)

    def found_in(self, text: str) -> bool:
        """Whether a part of a text matches; `^` and `$` match its ends."""
        return _library().regexec(self._compiled, text.encode(), 0, None, 0) == 0


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(None)
    library.regerror.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t)
    library.regexec.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int)
    return library
