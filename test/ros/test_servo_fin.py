"""The steering drive on ROS 2: what the simulator says of it is what the experiments compute."""

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

import grouser
from grouser import catalogue, experiments

STEP = 2e-5


@pytest.fixture(scope="module")
def compiled_fin():
    """The machine, stepped once: nobody waits for the compiler later."""
    machine = grouser.load_machine(catalogue.machine_file("servo_fin"))
    grouser.Simulation(machine, grouser.load_world(catalogue.world_file("weightless"))).step(1)


@pytest.fixture
def run_fin(peer, start_simulator, compiled_fin):
    """Runs the fin live: time [s], angle [rad] and speed [rad/s] at every sample of joint_states."""

    def run(program, duration, rate):
        start_simulator(
            machine="servo_fin",
            world="weightless",
            step=STEP,
            program=program,
            start_paused=True,
            step_request_count=round(duration / STEP),
            joint_state_rate=rate,
            clock_rate=0.0,
        )
        inbox = peer.hear(JointState, "joint_states", 5000)
        peer.wait_for(lambda: peer.node.count_publishers("joint_states") == 1, "joint_states")
        assert peer.ask(Trigger, "/simulator/step", Trigger.Request()).success
        end = round(1e9 * duration)
        inbox.wait_ever(lambda m: m.header.stamp.sec * 10**9 + m.header.stamp.nanosec >= end, "the last sample")
        heard = [
            (m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec, m.position[0], m.velocity[0]) for m in inbox.all()
        ]
        return np.array(sorted(set(heard))).T

    return run


def test_slow_ramp_live_as_reproduced(run_fin, tmp_path):
    """Period and greatest speed within twice the 0.5 % of the experiment's scheme."""
    program = tmp_path / "ramp.yaml"
    program.write_text("commands: [{time: 0.0, joint: hinge, value: 4.0e-4, ramp: 1.0}]")
    time, _, speed = run_fin(str(program), 0.8, 1000.0)
    expected = experiments.run("servo_stick_slip")
    slips = np.flatnonzero((speed[1:] > 1e-6) & (speed[:-1] <= 1e-6))
    # a sample a millisecond: 1.4 % of one period, a fifth of that of five
    assert len(slips) >= 8
    assert (time[slips[-1]] - time[slips[-6]]) / 5.0 == pytest.approx(expected["period"], rel=0.01)
    assert time[slips[0]] == pytest.approx(expected["first_slip_time"], abs=2e-3)
    assert speed.max() == pytest.approx(expected["max_speed"], rel=0.02)
