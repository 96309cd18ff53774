"""Names of axes and buttons of event devices: linux/input-event-codes.h."""

EV_SYN, EV_KEY, EV_ABS, EV_MSC, EV_FF = 0, 1, 3, 4, 0x15
SYN_REPORT, SYN_DROPPED = 0, 3
MSC_TIMESTAMP = 5
FF_RUMBLE, FF_CONSTANT = 0x50, 0x52

AXES = {
    **{f"ABS_{name}": code for code, name in enumerate(("X", "Y", "Z", "RX", "RY", "RZ"))},
    **{f"ABS_{name}": 6 + place for place, name in enumerate(("THROTTLE", "RUDDER", "WHEEL", "GAS", "BRAKE"))},
    **{f"ABS_HAT{number}{axis}": 16 + 2 * number + place for number in range(4) for place, axis in enumerate("XY")},
}
BUTTONS = {
    **{
        f"BTN_{name}": 0x120 + place
        for place, name in enumerate(
            ("TRIGGER", "THUMB", "THUMB2", "TOP", "TOP2", "PINKIE", "BASE", "BASE2", "BASE3", "BASE4", "BASE5", "BASE6")
        )
    },
    **{
        f"BTN_{name}": 0x130 + place
        for place, name in enumerate(
            ("SOUTH", "EAST", "C", "NORTH", "WEST", "Z", "TL", "TR", "TL2", "TR2", "SELECT", "START", "MODE")
        )
    },
    "BTN_THUMBL": 0x13D,
    "BTN_THUMBR": 0x13E,
    **{f"BTN_DPAD_{name}": 0x220 + place for place, name in enumerate(("UP", "DOWN", "LEFT", "RIGHT"))},
    **{f"BTN_TRIGGER_HAPPY{number}": 0x2BF + number for number in range(1, 41)},
}
