"""Everything that a bridge knows and does on a CAN bus, without the bus: time and frames come in as arguments."""

from collections.abc import Mapping
from math import isnan

from grouser.bridges.can.address_claim import CLAIM_PGN, AddressClaim
from grouser.bridges.can.canopen_network import CanopenNetwork
from grouser.bridges.can.diagnostics import ActiveFaults, TroubleCode
from grouser.bridges.can.frames import CanFrame, Loss, Outcome
from grouser.bridges.can.identifier import GLOBAL_ADDRESS, NULL_ADDRESS, unpack_identifier
from grouser.bridges.can.j1939_node import J1939Node, request
from grouser.bridges.can.j1939_peers import Peers
from grouser.bridges.can.joystick import AXIS_SPNS, REPETITION
from grouser.bridges.can.router import Encoder, Router, group_identifier, whole_group
from grouser.bridges.can.settings import CanInterface, FrameAddress, GroupAddress
from grouser.bridges.can.synchronous import synchronous_data
from grouser.bridges.mapping.data import BridgeMapping
from grouser.bridges.messages import Received

_ERRATIC = 2  # failure mode identifier: data erratic, intermittent or incorrect
_ROUNDING = 1e-3  # [s] by which a repetition may be early


class CanStack:
    """Decodes what arrives, encodes what is sent, and lets the bridge's own nodes live.

    Args:
        mapping: of the bridge.
    """

    def __init__(self, mapping: BridgeMapping) -> None:
        interface: CanInterface = mapping.interface
        self._router = Router(mapping)
        self._encoders = {message.name: Encoder(message) for message in mapping.outgoing}
        self._peers = Peers()
        self._node: J1939Node | None = None
        if interface.node is not None:
            claim = AddressClaim(interface.node.name, interface.node.address)
            self._node = J1939Node(claim, self._router.long_groups)
        self._network: CanopenNetwork | None = None
        self._synchronous = synchronous_data(mapping)
        if interface.devices or interface.own_node is not None or interface.sync is not None:
            devices = [device.settings for device in interface.devices.values()]
            self._network = CanopenNetwork(devices, interface.own_node, interface.sync)
        self._said: dict[str, tuple[bytes, float]] = {}  # joystick message -> data and time when it was sent
        self._faulty: dict[str, tuple[TroubleCode, ...]] = {}  # joystick message -> faults of its axes

    def start(self, now: float) -> list[CanFrame]:
        """Begins on a bus that was opened; returns what to send."""
        self._peers = Peers()
        self._said.clear()
        self._synchronous.clear()
        frames = []
        if self._node is not None:
            frames += self._node.start(now)
        elif self._router.has_named_senders:
            frames.append(request(CLAIM_PGN, GLOBAL_ADDRESS, NULL_ADDRESS))
        if self._network is not None:
            frames += self._network.start(now)
        return frames

    def tick(self, now: float) -> Outcome:
        """Lets time pass."""
        outcome = Outcome()
        if self._node is not None:
            outcome.frames += self._node.tick(now)
        if self._network is not None:
            self._follow(self._network.tick(now), now, outcome)
        return outcome

    def receive(self, frame: CanFrame, now: float) -> tuple[Received | None, Outcome]:
        """Takes a frame; returns the mapping's message in it, if there is one, and what follows."""
        outcome = Outcome()
        if frame.is_extended:
            self._take_j1939(frame, now, outcome)
        elif self._network is not None:
            device = self._router.device_of(frame)
            if device is not None and not self._network.is_trusted(device):
                received = self._router.receive(frame, {}, (), now)
                return received and Received(received.message, now, refusal="device not operational"), outcome
            if device is None:
                self._follow(self._network.receive(frame.identifier, frame.data, now), now, outcome)
        own = (self._node.claim.address,) if self._node is not None and self._node.claim.is_claimed else ()
        received = self._router.receive(frame, self._peers.names, own, now)
        if received is None or received.refusal or received.errors:
            return received, outcome
        if received.message in self._synchronous.incoming:
            self._synchronous.take(received)
            return None, outcome
        return received, outcome

    def encode(self, message: str, values: Mapping[str, float], now: float) -> tuple[bool, list[CanFrame]]:
        """The frames of an outgoing message.

        Args:
            message: its name.
            values: by field.
            now: [s].

        Returns:
            whether the message counts as sent, and what to send now. A joystick message that has not changed counts
            as sent without a frame until it is due, process data that go with SYNC until then. The frames of a message
            above 8 bytes follow with time; while they do, the next one does not count as sent.
        """
        encoder = self._encoders[message]
        address: FrameAddress | GroupAddress = encoder.message.address
        if isinstance(address, GroupAddress):
            return self._encode_group(encoder, address, values, now)
        if address.is_process_data and self._network is not None and not self._network.may_send:
            return False, []
        if message in self._synchronous.outgoing:
            is_known = address.codec.encode(values) is not None
            self._synchronous.show(message, values if is_known else None)
            return is_known, []
        data = encoder.encode(values, address.identifier)
        return data is not None, [CanFrame(address.identifier, address.is_extended, data)] if data else []

    @property
    def facts(self) -> dict[str, str]:
        """What diagnostics say about the nodes, in words by subject."""
        facts = {}
        if self._node is not None:
            claim = self._node.claim
            facts["own address"] = f"0x{claim.address:02X}, {claim.state.value}"
            if claim.contender is not None:
                facts["own address"] += f"; lost one to NAME 0x{claim.contender.value:016X}"
            for address, count in sorted(self._node.failed_transfers.items()):
                facts[f"transfers to 0x{address:02X} that failed"] = str(count)
        for address, faults in sorted(self._peers.faults.items()):
            codes = [f"SPN {code.spn} FMI {code.fmi}, {code.occurrences} times" for code in faults.codes]
            if codes or faults.lamps:
                facts[f"faults of 0x{address:02X}"] = "; ".join([*codes, *sorted(faults.lamps)])
        for node, emergency in self._network.emergencies.items() if self._network is not None else ():
            facts[f"fault of node {node}"] = f"code 0x{emergency.code:04X}, register 0x{emergency.register:02X}"
        return facts

    def _encode_group(
        self, encoder: Encoder, address: GroupAddress, values: Mapping[str, float], now: float
    ) -> tuple[bool, list[CanFrame]]:
        node = self._node
        if node is None or not node.claim.is_claimed:
            return False, []
        name = encoder.message.name
        if address.is_joystick:
            self._report_faults(name, address, values)
        data = encoder.encode(values, group_identifier(address, node.claim.address).pack())
        if data is None:
            return False, []
        if address.is_joystick:
            said, at = self._said.get(name, (b"", 0.0))
            if data == said and now - at < REPETITION - _ROUNDING:
                return True, []
            self._said[name] = data, now
        frames = node.say(address.pgn, data, address.priority, address.destination, now)
        return frames is not None, frames or []

    def _report_faults(self, name: str, address: GroupAddress, values: Mapping[str, float]) -> None:
        """Reports axes whose value is not a number."""
        spns = (AXIS_SPNS.get((address.pgn, field)) for field, value in values.items() if isnan(value))
        codes = tuple(TroubleCode(spn, _ERRATIC) for spn in spns if spn is not None)
        if self._node is not None and codes != self._faulty.get(name, ()):
            self._faulty[name] = codes
            faults = tuple(code for of_message in self._faulty.values() for code in of_message)
            self._node.faults = ActiveFaults(frozenset({"amber_warning"} if faults else ()), faults)

    def _take_j1939(self, frame: CanFrame, now: float, outcome: Outcome) -> None:
        identifier = unpack_identifier(frame.identifier)
        before = dict(self._peers.names) if identifier.pgn == CLAIM_PGN else self._peers.names
        for loss in self._peers.receive(identifier, frame.data, now):
            messages = self._router.of_sender(loss.sender, before)
            if messages:
                outcome.losses.append(Loss(loss.reason, loss.sender, messages))
        if self._node is not None:
            outcome.frames += self._node.receive(identifier, frame.data, self._peers.names, now)
            for source, pgn, data in self._node.take_groups():
                self._peers.learn(source, pgn, data)
                self._take_group(source, pgn, data, now, outcome)
        for source, pgn, data in self._peers.take_broadcasts():
            self._take_group(source, pgn, data, now, outcome)

    def _take_group(self, source: int, pgn: int, data: bytes, now: float, outcome: Outcome) -> None:
        """Takes a parameter group that came in several frames."""
        received = self._router.receive(whole_group(source, pgn, data), self._peers.names, (), now)
        if received is not None:
            outcome.received.append(received)

    def _follow(self, of_network: Outcome, now: float, outcome: Outcome) -> None:
        """Adds what follows from CANopen to an outcome."""
        outcome.frames += of_network.frames
        outcome.losses += self._of_devices(of_network.losses)
        if not of_network.is_sync:
            return
        arrived, going = self._synchronous.release(now)
        outcome.received += arrived
        for message, values in going.items():
            address: FrameAddress = self._encoders[message].message.address
            data = self._encoders[message].encode(values, address.identifier)
            if data is not None:
                outcome.frames.append(CanFrame(address.identifier, address.is_extended, data))

    def _of_devices(self, losses: list[Loss]) -> list[Loss]:
        return [Loss(loss.reason, loss.sender, self._router.of_device(loss.sender)) for loss in losses]
