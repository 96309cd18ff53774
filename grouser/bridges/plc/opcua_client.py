"""A controller that is an OPC UA server: the bridge reads its commands and writes the measurements to it."""

import asyncio
import math
import time
from collections.abc import Mapping

from asyncua import Client, ua
from asyncua.crypto.security_policies import SecurityPolicyBasic256Sha256

from grouser.bridges.mapping.data import BridgeMapping, MessageMapping
from grouser.bridges.messages import Received, Sink
from grouser.bridges.plc.credentials import require_plain_key
from grouser.bridges.plc.event_loop import EventLoopThread
from grouser.bridges.plc.heartbeat import Heartbeats
from grouser.bridges.plc.node_types import NodeField
from grouser.bridges.plc.opcua_schema import OpcuaInterface, node_fields
from grouser.bridges.plc.variants import data_value, has_type, is_bad, time_of_now, uri_of
from grouser.bridges.transport import TransportError

ANSWER_LIMIT = 2.0  # [s]: longest wait for an answer
HEARTBEAT_MODULUS = 32768
_CONNECT_LIMIT = 10.0
_FAILURES = (OSError, ua.UaError, asyncio.TimeoutError, TimeoutError, ValueError)


class OpcuaClient:
    """Transport of a client. Messages are read at their periods, each by one request.

    A message without a new heartbeat is not one: the link falls by its timeout.

    Args:
        mapping: of an OPC UA bridge with the role `client`.
    """

    def __init__(self, mapping: BridgeMapping):
        self._mapping = mapping
        self._interface: OpcuaInterface = mapping.interface
        self._heartbeats = Heartbeats()
        self._sent: dict[str, int] = {}
        self._waiting: dict[str, list[ua.DataValue]] = {}  # to be written; in the loop's thread
        self._sink: Sink | None = None
        self._loop: EventLoopThread | None = None
        self._client: Client | None = None
        self._attention: asyncio.Event | None = None

    def open(self, sink: Sink) -> None:
        """See `Transport`."""
        self._sink, self._heartbeats = sink, Heartbeats()
        self._loop = EventLoopThread("opcua_client")
        try:
            self._client = self._loop.run(self._connect(), _CONNECT_LIMIT)
        except _FAILURES as error:
            self.close()
            reason = str(error) or type(error).__name__
            raise TransportError(f"no OPC UA server at {self._interface.url}: {reason}") from None
        self._loop.start(self._run(self._client))

    def close(self) -> None:
        """See `Transport`."""
        if self._loop is None:
            return
        if self._client is not None:
            self._loop.run(_disconnect(self._client))
        self._loop.close()
        self._loop = self._client = None

    def send(self, message: str, values: Mapping[str, float]) -> bool:
        """See `Transport`: leaves the message for the loop that writes; a later one replaces it. NaN: a bad status."""
        if self._loop is None or self._client is None:
            raise TransportError("the OPC UA client is closed")
        mapping = next(found for found in self._mapping.outgoing if found.name == message)
        self._sent[message] = sent = (self._sent.get(message, 0) + 1) % HEARTBEAT_MODULUS
        now = time_of_now()
        written = [data_value(place, values[name], now) for name, place in mapping.places.items()]
        if mapping.address.heartbeat is not None:
            written.append(data_value(mapping.address.heartbeat, sent, now))
        self._loop.start(self._leave(message, written))
        return True

    async def _leave(self, message: str, written: list[ua.DataValue]) -> None:
        self._waiting[message] = written
        assert self._attention is not None  # made when it was opened
        self._attention.set()

    async def _connect(self) -> Client:
        self._attention, self._waiting = asyncio.Event(), {}
        client = Client(self._interface.url, timeout=ANSWER_LIMIT)
        security = self._interface.security
        if security is not None:
            assert security.password_file is not None  # required by the schema
            require_plain_key(security.private_key)
            client.application_uri = uri_of(security.certificate.read_bytes())
            client.set_user(security.user)
            client.set_password(security.password_file.read_text().rstrip("\n"))
            await client.set_security(
                SecurityPolicyBasic256Sha256,
                str(security.certificate),
                str(security.private_key),
                server_certificate=str(security.server_certificate),
            )
        await client.connect()
        return client

    async def _run(self, client: Client) -> None:
        """Reads and writes until it is cancelled, or the server does not answer."""
        assert self._sink is not None  # set before it begins
        work = [asyncio.ensure_future(self._read_on(client, message)) for message in self._mapping.incoming]
        work.append(asyncio.ensure_future(self._write_on(client)))
        try:
            await asyncio.gather(*work)
        except _FAILURES as error:
            for task in work:
                task.cancel()
            reason = str(error) or type(error).__name__
            self._sink.broken(f"the OPC UA server at {self._interface.url} does not answer: {reason}", time.monotonic())

    async def _read_on(self, client: Client, message: MessageMapping) -> None:
        identifiers = [ua.NodeId.from_string(place.node) for place in node_fields(message)]
        due = time.monotonic()
        while True:
            values = await client.uaclient.read_attributes(identifiers, ua.AttributeIds.Value)
            self._take(message, values)
            due = max(due + message.period, time.monotonic())
            await asyncio.sleep(due - time.monotonic())

    def _take(self, message: MessageMapping, values: list[ua.DataValue]) -> None:
        assert self._sink is not None
        now, found = time.monotonic(), dict(zip((place.node for place in node_fields(message)), values, strict=True))
        heartbeat: NodeField = message.address.heartbeat
        beat = found[heartbeat.node]
        if is_bad(beat) or not has_type(heartbeat, beat):
            self._sink.receive(Received(message.name, now, refusal="no heartbeat"))
            return
        if not self._heartbeats.changed(message.name, int(beat.Value.Value)):
            return
        places = message.places
        errors = frozenset(name for name, place in places.items() if is_bad(found[place.node]))
        good = {name: (place, found[place.node]) for name, place in places.items() if name not in errors}
        if not all(has_type(place, value) for place, value in good.values()):
            self._sink.receive(Received(message.name, now, refusal="type"))
            return
        numbers = {name: float(value.Value.Value) for name, (_, value) in good.items()}
        if not all(map(math.isfinite, numbers.values())):
            self._sink.receive(Received(message.name, now, refusal="not a number"))
            return
        self._sink.receive(Received(message.name, now, numbers, errors))

    async def _write_on(self, client: Client) -> None:
        assert self._attention is not None
        places = {message.name: node_fields(message) for message in self._mapping.outgoing}
        identifiers = {name: [ua.NodeId.from_string(place.node) for place in found] for name, found in places.items()}
        while True:
            await self._attention.wait()
            self._attention.clear()
            waiting, self._waiting = self._waiting, {}
            for name, values in waiting.items():
                for status in await client.uaclient.write_attributes(identifiers[name], values):
                    status.check()


async def _disconnect(client: Client) -> None:
    try:
        await asyncio.wait_for(client.disconnect(), ANSWER_LIMIT)
    except _FAILURES:
        return  # the server is gone
