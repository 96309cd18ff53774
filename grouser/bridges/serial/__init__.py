"""Serial lines and UDP: COBS frames with a CRC, or lines of JSON.

Codecs are pure functions between bytes and values; `transport` alone touches a line or socket.
"""
