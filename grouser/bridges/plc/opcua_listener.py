"""Connections of an OPC UA server that nobody can use up: broken frames, unread answers and silence end them."""

import asyncio

from asyncua import Server, ua
from asyncua.common.connection import TransportLimits
from asyncua.common.utils import ServiceError
from asyncua.server import uaprocessor
from asyncua.server.binary_server_asyncio import BinaryServer, OPCUAProtocol
from asyncua.server.internal_server import InternalServer
from asyncua.server.internal_session import InternalSession

from grouser.bridges.plc.opcua_reads import pack_answer, read_request

CONNECTIONS_MAX = 32
FRAME_MAX = 65536  # bytes
MESSAGE_MAX = 2**20  # bytes, of all frames of a message
UNREAD_MAX = 2**21  # bytes of answers that a client has not taken
ACTIVATION_LIMIT = 5.0  # [s] from the connection to a session
uaprocessor.struct_from_binary, uaprocessor.struct_to_binary = read_request, pack_answer
_KINDS = (b"HEL", b"OPN", b"MSG", b"CLO")


class _Connection(OPCUAProtocol):
    def data_received(self, data: bytes) -> None:
        if self.transport is None:
            return
        if is_broken(self._buffer + data) or self.transport.get_write_buffer_size() > UNREAD_MAX:
            self.transport.abort()
            return
        super().data_received(data)
        if is_broken(self._buffer):
            self.transport.abort()

    async def _process_one_msg(self, header, buf) -> bool:
        """What is no message of an open channel ends the connection: the base class would write a log of them all."""
        try:
            return await super()._process_one_msg(header, buf)
        except Exception:  # noqa: BLE001 - of any decoder
            if self.transport is not None:
                self.transport.abort()
            return False


class _Listener(BinaryServer):
    def _make_protocol(self) -> OPCUAProtocol:
        return _Connection(self.iserver, self._policies, self.clients, self.closing_tasks, self.limits)


class _Sessions(InternalServer):
    """One session a connection, or a client could fill the memory; and no directory of other servers."""

    def create_session(self, name: str, *arguments, external: bool = False, **others) -> InternalSession:
        """The name of an external one is the address of its client."""
        if external and any(session.name == name for session in self._external_sessions.values()):
            raise ServiceError(ua.StatusCodes.BadTooManySessions)
        return super().create_session(name, *arguments, external=external, **others)

    def register_server(self, *_, **__) -> None:
        """Refused."""
        raise ServiceError(ua.StatusCodes.BadServiceUnsupported)


class GuardedServer(Server):
    """A server with such connections."""

    def __init__(self, user_manager):
        super().__init__(iserver=_Sessions(user_manager), user_manager=user_manager)
        self.limits = TransportLimits(FRAME_MAX, FRAME_MAX, MESSAGE_MAX // FRAME_MAX, MESSAGE_MAX)
        self.iserver.allow_remote_admin = False
        self.iserver.max_connections = CONNECTIONS_MAX
        self.iserver.max_pending_activation_seconds = ACTIVATION_LIMIT
        self.iserver.max_subscriptions = 4 * CONNECTIONS_MAX

    async def start(self) -> None:
        """As of a `Server`, with guarded connections."""
        await self._setup_server_nodes()
        await self.iserver.start()
        listener = _Listener(self.iserver, self.endpoint.hostname, self.endpoint.port, self.limits)
        listener.set_policies(self._policies)
        try:
            await listener.start()
        except OSError:
            await self.iserver.stop()
            raise
        self.bserver = listener


async def require_free(host: str, port: int) -> None:
    """Binds a port for a moment: the address space costs seconds, so nobody should make one for a port that is taken.

    Raises:
        OSError: it cannot be bound.
    """
    listener = await asyncio.get_running_loop().create_server(asyncio.Protocol, host, port)
    listener.close()
    await listener.wait_closed()


def is_broken(buffer: bytes) -> bool:
    """Whether what begins here is no frame, or one that is too long."""
    if not any(kind.startswith(buffer[:3]) for kind in _KINDS):
        return True
    return len(buffer) >= 8 and not 8 <= int.from_bytes(buffer[4:8], "little") <= FRAME_MAX
