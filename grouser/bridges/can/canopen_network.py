"""What a bridge does by itself on a CANopen network: it starts devices, watches their heartbeats, and is a node.

It touches no bus; time comes in as an argument.
"""

from collections.abc import Collection
from dataclasses import dataclass

from grouser.bridges.can.canopen import (
    EMERGENCY,
    HEARTBEAT,
    NMT_COMMAND,
    SYNC,
    Emergency,
    NmtCommand,
    NodeState,
    heartbeat,
    nmt_command,
    read_emergency,
    read_heartbeat,
)
from grouser.bridges.can.canopen_objects import (
    DEVICE_TYPE,
    ERROR_REGISTER,
    HEARTBEAT_TIME,
    IDENTITY,
    REQUEST,
    RESPONSE,
    Entry,
    answer,
)
from grouser.bridges.can.frames import CanFrame, Loss, Outcome

_RESTART_INTERVAL = 1.0  # [s] between two commands to a device that does not start
_SHORTEST_HEARTBEAT = 10  # [ms]
_COMMANDED = {
    int(NmtCommand.START): NodeState.OPERATIONAL,
    int(NmtCommand.STOP): NodeState.STOPPED,
    int(NmtCommand.ENTER_PRE_OPERATIONAL): NodeState.PRE_OPERATIONAL,
}


@dataclass(frozen=True)
class DeviceSettings:
    """A device on the network.

    Attributes:
        node: 1 to 127.
        heartbeat: longest time between two of its heartbeats [s]; None: they are not watched.
        has_to_start: whether the bridge commands it to become operational, as the network's master does.
    """

    node: int
    heartbeat: float | None = None
    has_to_start: bool = False


@dataclass(frozen=True)
class OwnNodeSettings:
    """The bridge as a node.

    Attributes:
        node: 1 to 127.
        heartbeat: time between two of its heartbeats [s].
        is_self_starting: whether it becomes operational without the network's master.
    """

    node: int
    heartbeat: float
    is_self_starting: bool = False


@dataclass
class _Device:
    settings: DeviceSettings
    state: NodeState | None = None
    deadline: float = float("inf")  # [s] of the next heartbeat
    next_start: float = 0.0  # [s]
    emergency: Emergency | None = None


@dataclass
class _OwnNode:
    settings: OwnNodeSettings
    state: NodeState = NodeState.PRE_OPERATIONAL
    next_heartbeat: float = 0.0  # [s]
    milliseconds: int = 0  # between two heartbeats

    def set_heartbeat(self, milliseconds: int) -> None:
        self.next_heartbeat += 0.001 * (milliseconds - self.milliseconds)
        self.milliseconds = milliseconds

    def objects(self) -> dict[tuple[int, int], Entry]:
        heartbeat_time = Entry(2, lambda: self.milliseconds, self.set_heartbeat, _SHORTEST_HEARTBEAT, 0xFFFF)
        return {
            (DEVICE_TYPE, 0): Entry(4, lambda: 0),  # of no standard profile
            (ERROR_REGISTER, 0): Entry(1, lambda: 0),
            (HEARTBEAT_TIME, 0): heartbeat_time,
            (IDENTITY, 0): Entry(1, lambda: 1),
            (IDENTITY, 1): Entry(4, lambda: 0),  # no vendor
        }


class CanopenNetwork:
    """The network, as the bridge sees it.

    Args:
        devices: that the bridge exchanges process data with.
        own: the bridge as a node; None: it is none, and sends process data in any state.
        sync: time between two SYNCs that it sends [s]; None: it sends none.
    """

    def __init__(
        self, devices: Collection[DeviceSettings], own: OwnNodeSettings | None = None, sync: float | None = None
    ) -> None:
        self._devices = {settings.node: _Device(settings) for settings in devices}
        self._own = None if own is None else _OwnNode(own)
        self._sync = sync
        self._next_sync = 0.0  # [s]

    def start(self, now: float) -> list[CanFrame]:
        """Begins anew; returns what to send."""
        self._devices = {node: _Device(device.settings) for node, device in self._devices.items()}
        self._next_sync = now
        frames = [] if self._own is None else self._boot(self._own, now)
        return frames + self._start_devices(now)

    def tick(self, now: float) -> Outcome:
        """Lets time pass."""
        outcome = Outcome(self._start_devices(now))
        for node, device in self._devices.items():
            if now > device.deadline:
                device.deadline = float("inf")
                device.state = None
                outcome.losses.append(Loss(f"heartbeat of node {node} lost", node))
        if self._own is not None and now >= self._own.next_heartbeat:
            self._own.next_heartbeat = now + 0.001 * self._own.milliseconds
            outcome.frames.append(self._heartbeat(self._own, self._own.state))
        if self._sync is not None and now >= self._next_sync:
            self._next_sync = max(self._next_sync + self._sync, now)
            outcome.frames.append(CanFrame(SYNC, False, b""))
            outcome.is_sync = self.may_send
        return outcome

    def receive(self, identifier: int, data: bytes, now: float) -> Outcome:
        """Takes a frame with a short identifier that is no process data."""
        outcome = Outcome()
        if identifier == NMT_COMMAND and len(data) == 2 and self._own is not None:
            if data[1] in (0, self._own.settings.node):
                outcome.frames += self._obey(self._own, data[0], now)
        elif identifier == SYNC and len(data) <= 1:
            outcome.is_sync = self.may_send
        elif self._own is not None and identifier == REQUEST + self._own.settings.node:
            data_back = None if self._own.state is NodeState.STOPPED else answer(self._own.objects(), data)
            if data_back is not None:
                outcome.frames.append(CanFrame(RESPONSE + self._own.settings.node, False, data_back))
        elif (device := self._devices.get(identifier - HEARTBEAT)) is not None:
            state = read_heartbeat(data)
            if state is not None:
                self._heard(device, state, now, outcome)
        elif (device := self._devices.get(identifier - EMERGENCY)) is not None:
            emergency = read_emergency(data)
            if emergency is not None:
                device.emergency = emergency if emergency.code else None
                if emergency.code:
                    node = device.settings.node
                    outcome.losses.append(Loss(f"node {node} reports error {emergency.code:#06x}", node))
        return outcome

    def is_trusted(self, node: int) -> bool:
        """Whether process data of a device count: its heartbeat, where it is watched, says that it is operational."""
        device = self._devices[node]
        return device.settings.heartbeat is None or device.state is NodeState.OPERATIONAL

    @property
    def may_send(self) -> bool:
        """Whether the bridge sends process data."""
        return self._own is None or self._own.state is NodeState.OPERATIONAL

    @property
    def emergencies(self) -> dict[int, Emergency]:
        """Present faults of devices, by node."""
        return {node: device.emergency for node, device in self._devices.items() if device.emergency is not None}

    def _heard(self, device: _Device, state: NodeState, now: float, outcome: Outcome) -> None:
        node = device.settings.node
        if device.state is NodeState.OPERATIONAL and state is not NodeState.OPERATIONAL:
            outcome.losses.append(Loss(f"node {node} is {state.name.lower().replace('_', ' ')}", node))
        device.state = state
        if device.settings.heartbeat is not None:
            device.deadline = now + device.settings.heartbeat
        if state is NodeState.BOOT_UP:
            device.next_start = now
        outcome.frames += self._start_devices(now)

    def _start_devices(self, now: float) -> list[CanFrame]:
        frames = []
        for node, device in self._devices.items():
            is_due = device.settings.has_to_start and device.state is not NodeState.OPERATIONAL
            if is_due and now >= device.next_start:
                # Without heartbeats nobody knows whether it has started: the command at its boot-up is the last.
                device.next_start = now + _RESTART_INTERVAL if device.settings.heartbeat is not None else float("inf")
                frames.append(CanFrame(NMT_COMMAND, False, nmt_command(NmtCommand.START, node)))
        return frames

    def _boot(self, own: _OwnNode, now: float) -> list[CanFrame]:
        own.state = NodeState.OPERATIONAL if own.settings.is_self_starting else NodeState.PRE_OPERATIONAL
        own.milliseconds = round(1000.0 * own.settings.heartbeat)
        own.next_heartbeat = now + own.settings.heartbeat
        return [self._heartbeat(own, NodeState.BOOT_UP)]

    def _obey(self, own: _OwnNode, command: int, now: float) -> list[CanFrame]:
        if command in (NmtCommand.RESET_NODE, NmtCommand.RESET_COMMUNICATION):
            return self._boot(own, now)
        own.state = _COMMANDED.get(command, own.state)
        return []

    def _heartbeat(self, own: _OwnNode, state: NodeState) -> CanFrame:
        return CanFrame(HEARTBEAT + own.settings.node, False, heartbeat(state))
