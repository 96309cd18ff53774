"""A Modbus client in a process of its own, by pymodbus. Arguments: port; or the path of a serial port."""

import sys

from peer_loop import answer_requests
from pymodbus import FramerType
from pymodbus.client import ModbusSerialClient, ModbusTcpClient


def main():
    place = sys.argv[1]
    if place.startswith("/"):
        client = ModbusSerialClient(place, framer=FramerType.RTU, baudrate=115200, parity="N", stopbits=2, timeout=60)
    else:
        client = ModbusTcpClient("127.0.0.1", port=int(place), timeout=60, retries=0)
    assert client.connect()

    def answered(answer):
        return f"exception {answer.exception_code}" if answer.isError() else answer.registers

    def write(address, words, unit=1):
        return answered(client.write_registers(address, words, device_id=unit))

    answer_requests(
        {
            "write": write,
            "write_one": lambda address, word: answered(client.write_register(address, word, device_id=1)),
            "write_coil": lambda address: answered(client.write_coil(address, True, device_id=1)),
            "mask": lambda address: answered(client.mask_write_register(address=address, device_id=1)),
            "exchange": lambda address, count, at, words: answered(
                client.readwrite_registers(
                    read_address=address, read_count=count, write_address=at, values=words, device_id=1
                )
            ),
            "holding": lambda address, count, unit=1: answered(
                client.read_holding_registers(address, count=count, device_id=unit)
            ),
            "input": lambda address, count: answered(client.read_input_registers(address, count=count, device_id=1)),
        }
    )


if __name__ == "__main__":
    main()
