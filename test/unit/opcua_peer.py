"""An OPC UA client in a process of its own, by asyncua.

Arguments: port; optionally directory, name of the certificate, user, password.
"""

import asyncio
import sys
from pathlib import Path

from asyncua import Client, ua
from asyncua.crypto.security_policies import SecurityPolicyBasic256Sha256
from peer_loop import answer_requests

NAMESPACE = "urn:grouser:machine"


async def make_client(port, directory=None, name=None, user=None, password=None):
    client = Client(f"opc.tcp://127.0.0.1:{port}/grouser", timeout=60)
    if directory is not None:
        client.application_uri = f"urn:grouser:{name}"
        client.set_user(user)
        client.set_password(password)
        own = (f"{directory}/{name}.der", f"{directory}/{name}.pem")
        await client.set_security(SecurityPolicyBasic256Sha256, *own, server_certificate=f"{directory}/server.der")
    return client


class Subscriber:
    def __init__(self):
        self.values = []

    def datachange_notification(self, node, value, data):
        self.values.append(value)


class Session:
    def __init__(self, loop, client):
        self.loop, self.client = loop, client
        self.subscriber = Subscriber()

    def run(self, coroutine):
        try:
            return self.loop.run_until_complete(coroutine)
        except (ua.UaStatusCodeError, ua.UaError) as error:
            return f"{type(error).__name__}"

    def node(self, name):
        return self.client.get_node(f"ns=2;s={name}")

    def write(self, values):
        """Values by node: a type and a number."""
        nodes = [self.node(name) for name in values]
        variants = [ua.Variant(value, ua.VariantType[kind]) for kind, value in values.values()]
        return self.run(self._write(nodes, variants))

    async def _write(self, nodes, variants):
        return [status.name for status in await self.client.write_values(nodes, variants)]

    def write_bad(self, values, bad, status):
        """As `write`, and one of the values with another status."""
        nodes = [self.node(name).nodeid for name in values]
        found = [
            ua.DataValue(
                ua.Variant(value, ua.VariantType[kind]),
                ua.StatusCode(getattr(ua.StatusCodes, status if name == bad else "Good")),
            )
            for name, (kind, value) in values.items()
        ]

        async def write():
            return [one.name for one in await self.client.uaclient.write_attributes(nodes, found)]

        return self.run(write())

    def read(self, name):
        return self.run(self.node(name).read_value())

    def browse(self, *path):
        async def names():
            node = await self.client.nodes.objects.get_child([f"2:{part}" for part in path]) if path else None
            children = await node.get_children()
            return [(await child.read_browse_name()).Name for child in children]

        return self.run(names())

    def describe(self, name):
        async def text():
            return (await self.node(name).read_description()).Text

        return self.run(text())

    def subscribe(self, name):
        async def begin():
            subscription = await self.client.create_subscription(20, self.subscriber)
            await subscription.subscribe_data_change(self.node(name))

        return self.run(begin())

    def connect_naming(self, file):
        """Connects, and names the certificate of a file for the session, or none, in place of its own."""
        create = self.client.uaclient.create_session

        async def create_session(parameters):
            parameters.ClientCertificate = Path(file).read_bytes() if file else b""
            return await create(parameters)

        self.client.uaclient.create_session = create_session
        answer = self.run(self.client.connect())
        self.client.uaclient.create_session = create
        return answer

    def crowd(self, count):
        """Asks for sessions and registers servers on one connection; returns kinds and number of refusals."""

        async def ask():
            client = Client(self.client.server_url.geturl())
            await client.connect_socket()
            await client.send_hello()
            await client.open_secure_channel()
            refusals = []
            for number in range(count):
                server = ua.RegisteredServer(ServerUri=f"urn:{number}")
                for call in (client.create_session(), client.uaclient.register_server(server)):
                    try:
                        await call
                    except ua.UaStatusCodeError as error:
                        refusals.append(type(error).__name__)
            client.disconnect_socket()
            return sorted(set(refusals)), len(refusals)

        return self.run(ask())

    def heard(self):
        self.run(asyncio.sleep(0.05))
        return self.subscriber.values


def main():
    loop = asyncio.new_event_loop()
    port, *security = sys.argv[1:]
    client = loop.run_until_complete(make_client(int(port), *security))
    session = Session(loop, client)
    names = ("write", "write_bad", "read", "browse", "describe", "subscribe", "heard", "connect_naming", "crowd")
    answer_requests({"connect": lambda: session.run(client.connect()), **{one: getattr(session, one) for one in names}})


if __name__ == "__main__":
    main()
