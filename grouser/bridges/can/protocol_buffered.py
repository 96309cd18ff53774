"""A serial port that reads what has arrived at once, under the address ``buffered://`` of pyserial.

python-can's slcan reads a byte at a time, each by two system calls: 0.17 ms a frame. From a buffer it takes a fifth.
pyserial finds this module by its name, in the packages of `serial.protocol_handler_packages`.
"""

import serial

SCHEME = "buffered://"
_PACKAGE = __name__.rpartition(".")[0]


class BufferedSerial(serial.Serial):
    """A serial port with a buffer for reading.

    Its file descriptor says nothing about the bytes in the buffer: threads may wait in `read`, not in `select`.
    """

    _ahead = b""

    @property
    def in_waiting(self) -> int:
        """Bytes that can be read at once."""
        return len(self._ahead) or super().in_waiting

    def read(self, size: int = 1) -> bytes:
        """Reads up to `size` bytes; waits for the first ones up to the timeout if none are there."""
        if not self._ahead:
            self._ahead = super().read(max(1, super().in_waiting))
        data, self._ahead = self._ahead[:size], self._ahead[size:]
        return data

    def reset_input_buffer(self) -> None:
        """Throws away what has arrived."""
        self._ahead = b""
        super().reset_input_buffer()


def buffered(port: str) -> str:
    """The address of a port's device file, with a buffer; other addresses of pyserial stay as they are."""
    if _PACKAGE not in serial.protocol_handler_packages:
        serial.protocol_handler_packages.append(_PACKAGE)
    return port if "://" in port else SCHEME + port


def serial_class_for_url(url: str) -> tuple[str, type[serial.Serial]]:
    """What pyserial asks: the device file of an address, and the class of its port."""
    return url[len(SCHEME) :], BufferedSerial
