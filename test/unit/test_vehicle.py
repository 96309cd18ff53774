"""Forward and inverse kinematics of vehicles on wheels, and dead reckoning."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from shipped import shipped_machine

from grouser.runtime.vehicle import (
    LEAST_DEVIATION,
    SLIP_LENGTH,
    SLIP_SHARE,
    DeadReckoning,
    Vehicle,
    VehicleWheel,
    steering_at,
)
from grouser.runtime.vehicle_parts import make_vehicle

QUARTER = 0.5 * math.pi


def wheel(x, y, *, steered=True, trail=0.0, offset=0.0, heading=0.0, sense=1.0, turn=1.0, limit=1.7, radius=0.1):
    """A wheel whose centre at angle zero is `trail` ahead of its pivot at (x, y) and `offset` to the left of it."""
    cosine, sine = math.cos(heading), math.sin(heading)
    centre = (x + trail * cosine - offset * sine, y + trail * sine + offset * cosine)
    more = {"steering": "s", "pivot": (x, y), "turn": turn, "lower": -limit, "upper": limit} if steered else {}
    return VehicleWheel("w", "j", sense, True, radius, 0.0, math.inf, centre, heading, **more)


@st.composite
def vehicles(draw):
    """Two to six steered wheels anywhere within 2 m, in any direction, with pivots beside their centres."""
    places = st.tuples(st.floats(-2.0, 2.0), st.floats(-2.0, 2.0))
    return Vehicle(
        tuple(
            wheel(
                *place,
                trail=draw(st.floats(-0.1, 0.1)),
                offset=draw(st.floats(-0.2, 0.2)),
                heading=draw(st.floats(-math.pi, math.pi)),
                sense=draw(st.sampled_from([-1.0, 1.0])),
                turn=draw(st.sampled_from([-1.0, 1.0])),
                radius=draw(st.floats(0.05, 1.0)),
            )
            for place in draw(st.lists(places, min_size=2, max_size=6))
        )
    )


twists = st.tuples(*[st.floats(-2.0, 2.0)] * 3).map(np.array)


def centre_velocities(vehicle, twist, steering):
    """Velocity of each wheel's centre and the unit vector of its heading, worked out anew, (wheels, 2) each."""
    velocities, headings = [], []
    for one, angle in zip(vehicle.wheels, steering, strict=True):
        turned = one.turn * angle if one.steering else 0.0
        pivot = np.array(one.pivot if one.steering else one.centre)
        arm = complex(*(np.array(one.centre) - pivot)) * np.exp(1j * turned)
        x, y = pivot + np.array([arm.real, arm.imag])
        velocities.append((twist[0] - twist[2] * y, twist[1] + twist[2] * x))
        headings.append((math.cos(one.heading + turned), math.sin(one.heading + turned)))
    return np.array(velocities), np.array(headings)


@settings(deadline=None)
@given(vehicles(), twists)
def test_steered_wheels_roll_and_do_not_slip(vehicle, twist):
    allowed, steering = vehicle.steer(twist, np.zeros(len(vehicle.wheels)))
    velocities, headings = centre_velocities(vehicle, allowed, steering)
    across = velocities[:, 1] * headings[:, 0] - velocities[:, 0] * headings[:, 1]
    np.testing.assert_allclose(across, 0.0, atol=1e-9)  # the limits have a tolerance of 1e-9 rad
    rolling = np.sum(velocities * headings, axis=1)
    speeds = [one.sense * speed / one.radius for one, speed in zip(vehicle.wheels, rolling, strict=True)]
    np.testing.assert_allclose(vehicle.wheel_speeds(allowed, steering), speeds, atol=1e-12 * 100)


@settings(deadline=None)
@given(vehicles(), twists)
def test_odometry_recovers_the_twist_of_steered_wheels(vehicle, twist):
    centres = np.array([one.centre for one in vehicle.wheels])
    assume(np.linalg.norm(np.ptp(centres, axis=0)) > 0.3)
    allowed, steering = vehicle.steer(twist, np.zeros(len(vehicle.wheels)))
    motion = vehicle.motion(vehicle.wheel_speeds(allowed, steering), steering)
    # 1e-9 rad of rounding at the limits, times the rims' speed of up to 8 m/s, over the shortest lever
    np.testing.assert_allclose(motion.twist, allowed, atol=1e-7)


@settings(deadline=None)
@given(vehicles(), twists)
def test_allowed_twist_is_within_steering_limits_and_keeps_forward_speed(vehicle, twist):
    allowed, steering = vehicle.steer(twist, np.zeros(len(vehicle.wheels)))
    assert np.all(np.abs(steering) <= 1.7)
    assert allowed[0] in (twist[0], 0.0)
    # yaw rate and lateral speed are reduced together
    assert allowed[1] * twist[2] == pytest.approx(allowed[2] * twist[1], abs=1e-12)


def test_wheel_beside_its_pivot_rolls_while_it_is_steered():
    """Steering at 0.5 rad/s makes wheels 0.2 m beside their pivots roll; this is no motion of the body."""
    forks = Vehicle((wheel(1.0, 0.0, offset=0.2, turn=-1.0), wheel(-1.0, 0.0, offset=-0.2)))
    twist, steering, rates = np.array([0.4, 0.1, 0.0]), np.array([-0.3, 0.7]), np.array([0.5, 0.5])
    speeds = []
    step = 1e-6
    for one, angle, rate in zip(forks.wheels, steering, rates, strict=True):
        ends = [
            complex(*one.pivot)
            + complex(*(np.array(one.centre) - one.pivot)) * np.exp(1j * one.turn * (angle + time * rate))
            + time * complex(*twist[:2])
            for time in (-step, step)
        ]
        heading = np.exp(1j * one.turn * angle)
        speeds.append(((ends[1] - ends[0]) / (2.0 * step) * heading.conjugate()).real / one.radius)
    turning = forks.motion(np.array(speeds), steering, rates)
    driven = forks.motion(forks.wheel_speeds(twist, steering), steering)
    np.testing.assert_allclose(turning.twist, driven.twist, atol=1e-8)  # of differences over 1e-6 s


def test_ackermann_angles_meet_in_the_centre_of_the_turn():
    """A car: rear axle at the origin, front axle 2 m ahead, 1 m wide; it turns about (0, 4)."""
    car = Vehicle((wheel(0, 0.5, steered=False), wheel(0, -0.5, steered=False), wheel(2, 0.5), wheel(2, -0.5)))
    allowed, steering = car.steer(np.array([1.0, 0.0, 0.25]), np.zeros(4))
    assert allowed.tolist() == [1.0, 0.0, 0.25]
    assert steering == pytest.approx([0.0, 0.0, math.atan(2 / 3.5), math.atan(2 / 4.5)])
    speeds = 0.25 * np.array([3.5, 4.5, math.hypot(2, 3.5), math.hypot(2, 4.5)]) / 0.1
    assert car.wheel_speeds(allowed, steering) == pytest.approx(speeds)
    assert car.motion(speeds, steering).twist == pytest.approx([1.0, 0.0, 0.25], abs=1e-7)


def test_car_turns_at_its_steering_limit():
    """Its inner wheel is steered by at most 0.5 rad: the centre of the turn is at 0.5 + 2 / tan 0.5."""
    car = Vehicle(
        (
            wheel(0, 0.5, steered=False),
            wheel(0, -0.5, steered=False),
            wheel(2, 0.5, limit=0.5),
            wheel(2, -0.5, limit=0.5),
        )
    )
    allowed, steering = car.steer(np.array([1.0, 0.0, 1.0]), np.zeros(4))
    assert allowed == pytest.approx([1.0, 0.0, 1.0 / (0.5 + 2.0 / math.tan(0.5))], rel=1e-8)
    assert steering[2] == pytest.approx(0.5)
    assert car.steer(np.array([0.0, 0.0, 1.0]), np.zeros(4))[0].tolist() == [0.0, 0.0, 0.0]  # nor can it on the spot


def test_wheel_rolls_backwards_instead_of_turning_round():
    platform = Vehicle((wheel(1, 1), wheel(1, -1), wheel(-1, 1), wheel(-1, -1)))
    back = np.array([-1.0, 0.0, 0.0])
    allowed, steering = platform.steer(back, np.zeros(4))
    assert steering.tolist() == [0.0] * 4
    assert platform.wheel_speeds(allowed, steering) == pytest.approx([-10.0] * 4)
    # from a crab to the left, at a quarter turn, to one a little more to the back: it goes on, to the limit of 1.7
    beyond = np.array([-0.1, 1.0, 0.0])
    assert platform.steer(beyond, np.full(4, QUARTER))[1] == pytest.approx([QUARTER + math.atan(0.1)] * 4)
    assert platform.steer(beyond, np.zeros(4))[1] == pytest.approx([math.atan(0.1) - QUARTER] * 4)


def test_zero_twist_keeps_the_steering_angles():
    platform = Vehicle((wheel(1, 1), wheel(-1, -1)))
    present = np.array([0.3, -0.2])
    allowed, steering = platform.steer(np.zeros(3), present)
    assert steering.tolist() == [0.3, -0.2]
    assert platform.wheel_speeds(allowed, steering).tolist() == [0.0, 0.0]
    # about one of its pivots too
    assert platform.steer(np.array([1.0, -1.0, 1.0]), present)[1][0] == 0.3


def test_drives_respect_their_speed_limits():
    limited = Vehicle(
        tuple(
            VehicleWheel("w", "j", 1.0, True, 0.1, 0.0, 5.0, (x, y), 0.0, "s", (x, y), 1.0, -2.0, 2.0, 0.5)
            for x in (-1.0, 1.0)
            for y in (-1.0, 1.0)
        )
    )
    spot = np.array([0.0, 0.0, 1.0])
    steering, state, speeds = np.zeros(4), steering_at(np.zeros(4)), []
    for _ in range(400):
        state, speed = limited.drive(spot, steering, state, 0.01)
        assert np.max(np.abs(state.targets - steering)) <= 0.5 * 0.01 + 1e-15
        steering = state.targets
        speeds.append(speed)
    assert np.all(speeds[0] == 0.0)  # no speed while the steering error is large
    assert np.abs(steering) == pytest.approx([0.5 * QUARTER] * 4)
    # a rim speed of sqrt(2) m/s would be 14 rad/s; the turn is as fast as 5 rad/s allow
    assert np.abs(speeds[-1]) == pytest.approx([5.0] * 4)
    assert limited.motion(speeds[-1], steering).twist == pytest.approx([0.0, 0.0, 0.5 / math.sqrt(2.0)], abs=1e-9)


@pytest.mark.parametrize("twist", [(1.0, 0.0, 0.0), (-0.5, 1.0, 0.0), (1.0, 0.3, 1.0)])
def test_huge_twist_drives_along_the_path_of_a_small_one(twist):
    limited = Vehicle(tuple(replace(one, speed_limit=5.0) for one in PLATFORM.wheels))
    still = steering_at(np.zeros(4))
    with np.errstate(all="raise", under="ignore"):
        state, speeds = limited.drive(1.7e308 * np.array(twist), np.zeros(4), still, 1.0)
    small, slow = limited.drive(1e3 * np.array(twist), np.zeros(4), still, 1.0)
    assert state.targets == pytest.approx(small.targets)
    assert speeds == pytest.approx(slow)


def test_skid_steering_turns_by_the_difference_of_its_sides():
    """Scrubbing does not bias the yaw rate by odometry; it adds to its variance."""
    skid = Vehicle(tuple(wheel(x, y, steered=False) for x in (-0.5, 0.5) for y in (-0.4, 0.4)))
    twist = np.array([0.3, 0.0, 0.7])
    speeds = skid.wheel_speeds(twist, np.zeros(4))
    motion = skid.motion(speeds, np.zeros(4))
    # the weight of the rows that scrub is 1e-4, that of its square 1e-8
    np.testing.assert_allclose(motion.twist, twist, atol=1e-7)
    straight = skid.motion(skid.wheel_speeds(np.array([0.3, 0.0, 0.0]), np.zeros(4)), np.zeros(4))
    assert motion.covariance[2, 2] > 100.0 * straight.covariance[2, 2]


def test_rover_crabs_while_its_middle_wheels_scrub():
    rover = Vehicle(
        (
            wheel(0.7, 0.5),
            wheel(0.7, -0.5),
            wheel(0, 0.5, steered=False),
            wheel(0, -0.5, steered=False),
            wheel(-0.7, 0.5),
            wheel(-0.7, -0.5),
        )
    )
    twist = np.array([0.1, 0.2, 0.0])
    allowed, steering = rover.steer(twist, np.zeros(6))
    assert allowed.tolist() == twist.tolist()
    assert rover.motion(rover.wheel_speeds(twist, steering), steering).twist == pytest.approx(twist, abs=1e-7)


def test_covariance_follows_from_residuals_of_the_wheels():
    """Two wheels side by side whose speeds differ by chance: yaw is uncertain by what the assumed slip makes of it."""
    pair = Vehicle((wheel(0, 0.5, steered=False), wheel(0, -0.5, steered=False)))
    covariance = pair.motion(np.array([10.0, 10.0]), np.zeros(2)).covariance
    slip = (SLIP_SHARE * 1.0) ** 2
    np.testing.assert_allclose(np.diag(covariance)[[0, 2]], [slip / 2.0, slip * 2.0], rtol=1e-6)
    four = Vehicle(tuple(wheel(x, y, steered=False) for x in (-0.5, 0.5) for y in (-0.5, 0.5)))
    agree = four.motion(np.array([10.0, 10.0, 10.0, 10.0]), np.zeros(4)).covariance
    spins = four.motion(np.array([10.0, 10.0, 10.0, 14.0]), np.zeros(4)).covariance
    assert spins[0, 0] > 3.0 * agree[0, 0]


def reckon(vehicle, twist, steps, interval, pose=(0.0, 0.0, 0.0)):
    """Dead reckoning of a constant twist by readings of the wheels' angles."""
    count = len(vehicle.wheels)
    allowed, steering = vehicle.steer(np.array(twist), np.zeros(count))
    speeds = vehicle.wheel_speeds(allowed, steering)
    reckoning = DeadReckoning(vehicle, np.array(pose), np.zeros(count), steering)
    for k in range(1, steps + 1):
        reckoning.update(interval, k * interval * speeds, steering)
    return reckoning


PLATFORM = Vehicle((wheel(1, 1), wheel(1, -1), wheel(-1, 1), wheel(-1, -1)))


@settings(deadline=None, max_examples=30)
@given(twists, st.integers(1, 40))
def test_arc_is_integrated_exactly_with_any_number_of_readings(twist, steps):
    """Compared with the matrix exponential of the twist over 3 s."""
    time = 3.0
    allowed, _ = PLATFORM.steer(twist, np.zeros(4))
    forward, left, yaw = allowed * time
    start = np.array([0.5, -0.3, 0.8])
    frame = expm(np.array([[0.0, -yaw, forward], [yaw, 0.0, left], [0.0, 0.0, 0.0]]))
    cosine, sine = math.cos(start[2]), math.sin(start[2])
    end = start[:2] + np.array([[cosine, -sine], [sine, cosine]]) @ frame[:2, 2]
    reckoning = reckon(PLATFORM, twist, steps, time / steps, start)
    np.testing.assert_allclose(reckoning.pose, [*end, start[2] + yaw], atol=1e-6)  # 3 s of the 1e-7 of the steering


def test_covariance_grows_with_distance_and_not_with_readings():
    ways = [reckon(PLATFORM, (0.5, 0.0, 0.0), steps, 8.0 / steps).covariance for steps in (1000, 2000)]
    np.testing.assert_allclose(ways[0], ways[1], rtol=5e-3, atol=1e-12)  # sums of quadratic growth: 1 / readings
    # 4 m by four wheels, each with SLIP_SHARE along its heading and across it
    along = (SLIP_SHARE**2 / 4.0) * SLIP_LENGTH * 4.0
    assert ways[1][0, 0] == pytest.approx(along, rel=1e-6)
    # across: the same, and what the yaw's error makes of the way, cubic
    yaw = (SLIP_SHARE**2 / 8.0) * SLIP_LENGTH * 4.0
    assert ways[1][2, 2] == pytest.approx(yaw, rel=1e-6)
    assert ways[1][1, 1] == pytest.approx(along + yaw * 4.0**2 / 3.0, rel=1e-3)


def test_common_slip_grows_with_distance():
    """An arc whose end is reckoned with a share of the way too little, by differences; back on it, nothing is left."""
    twist, share, h = np.array([0.5, 0.0, 0.3]), 0.15, 1e-6
    allowed, steering = PLATFORM.steer(twist, np.zeros(4))
    speeds = PLATFORM.wheel_speeds(allowed, steering)

    def lost(ways, common_slip):
        reckoning = DeadReckoning(PLATFORM, np.array([1.0, 2.0, 0.6]), np.zeros(4), steering, common_slip)
        for way in np.cumsum(ways):
            reckoning.update(1.0, way * speeds, steering)
        return reckoning

    for ways in ([2.0], [0.5] * 4, [1.5, -1.5]):
        covariance = lost(ways, share).covariance - lost(ways, 0.0).covariance
        more, less = (lost(np.array(ways) * factor, 0.0).pose for factor in (1.0 + h, 1.0 - h))
        change = share * (more - less) / (2.0 * h)
        np.testing.assert_allclose(covariance, np.outer(change, change), atol=1e-8)
    motion = PLATFORM.motion(2.0 * speeds, steering)
    more = lost([2.0], share).twist_covariance - lost([2.0], 0.0).twist_covariance
    np.testing.assert_allclose(more, share**2 * np.outer(motion.twist, motion.twist), atol=1e-12)


def test_covariance_agrees_with_finite_differences():
    """Propagated along an arc it is the spread of ends whose twists differ: by finite differences."""
    twist, interval = np.array([0.4, 0.2, 0.9]), 1.7
    allowed, steering = PLATFORM.steer(twist, np.zeros(4))
    speeds = PLATFORM.wheel_speeds(allowed, steering)
    motion = PLATFORM.motion(speeds, steering)
    reckoning = DeadReckoning(PLATFORM, np.array([1.0, 2.0, 0.6]), np.zeros(4), steering)
    reckoning.covariance = np.diag([0.01, 0.02, 0.03])
    reckoning.update(interval, interval * speeds, steering)

    def end(start, change):
        forward, left, yaw = interval * (twist + change)
        z = complex(forward, left) * (np.exp(1j * yaw) - 1.0) / (1j * yaw) * np.exp(1j * start[2])
        return np.array([start[0] + z.real, start[1] + z.imag, start[2] + yaw])

    start, h = np.array([1.0, 2.0, 0.6]), 1e-6
    by_start = np.column_stack([(end(start + h * e, 0.0) - end(start - h * e, 0.0)) / (2 * h) for e in np.eye(3)])
    by_twist = np.column_stack([(end(start, h * e) - end(start, -h * e)) / (2 * h) for e in np.eye(3)])
    # the twist's error lasts for SLIP_LENGTH at the rims' speed
    lasts = SLIP_LENGTH / motion.speed / interval
    expected = by_start @ np.diag([0.01, 0.02, 0.03]) @ by_start.T + by_twist @ motion.covariance @ by_twist.T * lasts
    np.testing.assert_allclose(reckoning.covariance, expected, atol=1e-8)


def test_vehicle_at_rest_keeps_pose_and_covariance():
    reckoning = DeadReckoning(PLATFORM, np.array([1.0, 2.0, 3.0]), np.zeros(4), np.zeros(4))
    for _ in range(1000):
        reckoning.update(0.02, np.zeros(4), np.zeros(4))
    assert reckoning.pose.tolist() == [1.0, 2.0, 3.0]
    assert not reckoning.covariance.any()
    np.testing.assert_array_equal(reckoning.twist_covariance, LEAST_DEVIATION**2 * np.eye(3))


def travelled(vehicle, twists, steering, interval=0.1, time=12.0):
    """Way of a vehicle whose wheels stand at their targets, way that the twists ask for, and steering at the end.

    Turns count in radians.
    """
    made, asked = 0.0, 0.0
    for k in range(round(time / interval)):
        twist = twists[k % len(twists)]
        steering, speeds = vehicle.drive(twist, steering.targets, steering, interval)
        made += interval * np.linalg.norm(vehicle.motion(speeds, steering.targets).twist)
        asked += interval * np.linalg.norm(vehicle.steer(twist, steering.goals)[0])
    return made, asked, steering


@pytest.mark.parametrize("radii", [(0.5686, 0.5686), (0.5674, 0.5694), (-0.5674, -0.5694), (0.54, 0.58)])
@pytest.mark.parametrize("before", [(0.1, 0.0, 0.176), (-0.1, 0.0, 0.2), (0.0, 0.0, 0.3), (0.1, 0.0, -0.176)])
def test_rover_drives_on_where_a_wheel_meets_its_steering_limit(radii, before):
    """At this radius of the turn the wheels of one side reach their limits of 95 degrees."""
    rover = make_vehicle(shipped_machine("rover"))
    steering = travelled(rover, [np.array(before)], steering_at(np.zeros(6)), interval=0.05, time=4.0)[2]
    twists = [np.array([0.1, 0.0, 0.1 / radius]) for radius in radii]
    made, asked, _ = travelled(rover, twists, steering, interval=0.05, time=16.0)
    # it stands while the wheels turn by less than 190 degrees at 1 rad/s, 3.3 of 16 s
    assert made > 0.7 * asked


@st.composite
def steered_vehicles(draw):
    """All wheels steered, the corners of six, or the front wheels of a car, within any limits."""
    limit = draw(st.one_of(st.sampled_from([0.5, QUARTER, math.radians(95.0), 2.5, math.pi]), st.floats(0.3, 3.2)))
    axles = draw(st.sampled_from([(0.7, -0.7), (0.7, 0.0, -0.7), (2.0, 0.0)]))
    all_steered = draw(st.booleans())
    speed = draw(st.floats(0.5, 5.0))
    made = [wheel(x, y, steered=all_steered or x != 0.0, limit=limit) for x in axles for y in (0.5, -0.5)]
    return Vehicle(tuple(replace(one, steering_speed=speed) for one in made))


@settings(deadline=None, max_examples=8)
@given(st.data())
def test_any_twist_makes_way(data):
    """Steady or jittering, about any centre: also about a wheel, at right angles to the limits, and back and forth."""
    vehicle = data.draw(steered_vehicles())
    centre = st.tuples(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0))
    about = data.draw(st.one_of(st.sampled_from([one.centre for one in vehicle.wheels]), centre))
    yaw = data.draw(st.sampled_from([-0.5, 0.5]))
    twist = data.draw(st.one_of(st.just((yaw * about[1], -yaw * about[0], yaw)), st.just((0.0, 0.3, 0.0)), twists))
    jitter = data.draw(st.sampled_from([0.0, 1e-3, 0.01, 0.05]))
    changes = data.draw(st.lists(st.tuples(*[st.floats(-1.0, 1.0)] * 3), min_size=1, max_size=4))
    asked_for = [np.array(twist) + jitter * np.array(change) for change in changes]
    steered = np.array([bool(one.steering) for one in vehicle.wheels])
    start = data.draw(st.floats(-1.0, 1.0)) * np.minimum([one.upper for one in vehicle.wheels], math.pi) * steered
    made, asked, _ = travelled(vehicle, asked_for, steering_at(start), time=20.0)
    assume(asked > 20.0 * 0.1)
    # a wheel with limits a quarter turn to both sides may turn back and forth: it then rolls for a part of the time
    assert made > 0.1 * asked
