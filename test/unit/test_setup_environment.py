"""The set-up driver: refusals, repeated stages, existing environments."""

import fcntl
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from patience import DEADLINE
from preflight import (
    MissingError,
    Probe,
    choose_python,
    clean_environment,
    missing_for_build,
    missing_for_environment,
    probe_python,
)
from setup_environment import PipProgress, Setup, State

ROOT = Path(__file__).resolve().parent.parent.parent
DRIVER = ROOT / "tooling" / "setup_environment.py"


@pytest.fixture
def probe(tmp_path):
    """An interpreter on a complete machine."""
    (tmp_path / "Python.h").touch()
    return Probe("/usr/bin/python3", "3.12.3", "x86_64", tmp_path, venv=True, native=False)


def fake_python(folder, version):
    """A program that answers the probe as an interpreter of another version would."""
    program = folder / f"python{version}"
    answer = (
        f'{{"executable": "{program}", "version": [{version.replace(".", ", ")}, 0], "machine": "x86_64", '
        '"headers": "/nowhere", "venv": false, "native": false}'
    )
    program.write_text(f"#!/bin/sh\necho '{answer}'\n")
    program.chmod(0o755)
    return str(program)


def run_driver(*arguments, **environment):
    """Run the driver; variables are added to this process's."""
    return subprocess.run(
        [sys.executable, str(DRIVER), *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_no_package_is_missing_on_a_complete_machine(probe):
    assert missing_for_environment(probe) == []
    assert missing_for_build(probe.headers, probe.minor_version) == []


def test_missing_compiler_names_the_package(probe, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.delenv("CXX", raising=False)

    assert missing_for_build(probe.headers, probe.minor_version) == [
        "No compiler (gcc, g++): sudo apt install build-essential"
    ]


def test_missing_headers_name_the_package_of_that_python(probe, tmp_path):
    (message,) = missing_for_build(tmp_path / "nowhere", probe.minor_version)

    assert message.endswith("sudo apt install python3.12-dev")


def test_missing_venv_names_the_package_of_that_python(probe):
    (message,) = missing_for_environment(replace(probe, venv=False))

    assert message.endswith("sudo apt install python3.12-venv")


def test_processor_without_wheels_error_recommends_ros(probe):
    (message,) = missing_for_environment(replace(probe, machine="aarch64"))

    assert "aarch64" in message
    assert "install ROS 2 Jazzy" in message
    assert missing_for_environment(replace(probe, machine="aarch64", native=True)) == []


@pytest.mark.parametrize(
    ("version", "supported"),
    [("3.9.18", False), ("3.10.0", True), ("3.13.9", True), ("3.14.0", False), ("2.7.18", False)],
)
def test_supported_python_versions(probe, version, supported):
    assert replace(probe, version=version).supported is supported


def test_unsupported_python_is_refused_with_a_remedy(tmp_path):
    with pytest.raises(MissingError, match=r"is Python 3\.9\.0.*Supported: 3\.10 to 3\.13.*apt install"):
        # the pattern spans lines: the remedy is on a line of its own
        try:
            choose_python(fake_python(tmp_path, "3.9"))
        except MissingError as error:
            raise MissingError(" ".join(str(error).split())) from error


def test_missing_python_is_refused(tmp_path):
    with pytest.raises(MissingError, match="is not there or does not run"):
        choose_python(str(tmp_path / "python3.12"))


def test_present_python_is_suitable():
    probe = probe_python(sys.executable)

    assert probe is not None
    assert probe.supported
    assert choose_python(sys.executable) == probe


def test_all_missing_packages_are_named_at_once_and_nothing_is_made(tmp_path):
    python = fake_python(tmp_path, "3.12")
    environment = tmp_path / "environment"

    result = run_driver("--venv", str(environment), "--python", python, CC="no-such-cc", CXX="no-such-cxx")

    assert result.returncode == 2
    for remedy in ("python3.12-venv", "build-essential", "python3.12-dev"):
        assert remedy in result.stderr
    assert "Traceback" not in result.stderr
    assert not environment.exists()


def test_foreign_folder_is_not_deleted(tmp_path):
    precious = tmp_path / "environment" / "thesis.txt"
    precious.parent.mkdir()
    precious.write_text("all of it")

    result = run_driver("--venv", str(precious.parent), "--python", sys.executable)

    assert result.returncode == 1
    assert "not a virtual environment" in result.stderr
    assert precious.read_text() == "all of it"


def test_variables_of_the_rclpy_wheels_are_removed(monkeypatch):
    monkeypatch.setenv("_ROS_WHEELS_BOOTSTRAP_COMPLETE", "1")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/another/environment/lib")
    monkeypatch.setenv("PYTHONPATH", "/opt/ros/other")

    assert not {"_ROS_WHEELS_BOOTSTRAP_COMPLETE", "LD_LIBRARY_PATH", "PYTHONPATH"} & clean_environment(False).keys()
    assert clean_environment(True)["PYTHONPATH"] == "/opt/ros/other"


class TestState:
    """Records of finished stages."""

    def test_state_survives_a_restart(self, tmp_path):
        State(tmp_path).set("interfaces", "abc")

        assert State(tmp_path).get("interfaces") == "abc"
        assert State(tmp_path).get("trial") is None

    @pytest.mark.parametrize("content", ["", "{", "\0\0\0"])
    def test_broken_state_file_counts_as_nothing_finished(self, tmp_path, content):
        State(tmp_path).set("python", "abc")
        (file,) = tmp_path.iterdir()
        file.write_text(content)

        assert State(tmp_path).get("python") is None


class TestResume:
    """Interrupted and outdated environments."""

    def finished(self, folder):
        """State of an environment in which every stage is finished."""
        setup = Setup(folder, "run", None)
        for name, fingerprint in setup.finished_fingerprints().items():
            setup.state.set(name, fingerprint)
        setup.state.set("python", "Python 3.12, rclpy wheels")
        return setup

    def test_finished_environment_is_complete(self, tmp_path):
        self.finished(tmp_path)

        assert Setup(tmp_path, "run", None).is_complete()
        assert not Setup(tmp_path, "test", None).is_complete()

    @pytest.mark.parametrize("stage", ["packages for run", "interfaces", "trial"])
    def test_changed_sources_repeat_a_stage(self, tmp_path, stage):
        self.finished(tmp_path).state.set(stage, "fingerprint of other sources")

        assert not Setup(tmp_path, "run", None).is_complete()

    def test_interrupted_pip_requires_a_new_environment(self, tmp_path, probe):
        self.finished(tmp_path).state.set("installing", ".[ros]")
        setup = Setup(tmp_path, "run", None)

        assert not setup.is_complete()
        assert "interrupted" in setup.reason_for_new_environment(probe)

    def test_same_python_keeps_the_environment(self, tmp_path, probe):
        self.finished(tmp_path)

        assert Setup(tmp_path, "run", "python3.12").reason_for_new_environment(probe) is None

    def test_another_python_requires_a_new_environment(self, tmp_path, probe):
        self.finished(tmp_path)
        other = replace(probe, version="3.13.1")

        assert "made for Python 3.12" in Setup(tmp_path, "run", "python3.13").reason_for_new_environment(other)
        assert Setup(tmp_path, "run", None).reason_for_new_environment(other) is None

    def test_environment_on_ros_requires_a_sourced_ros(self, tmp_path, monkeypatch):
        setup = self.finished(tmp_path)
        setup.state.set("native", "yes")

        monkeypatch.setenv("AMENT_PREFIX_PATH", "/opt/ros/jazzy")
        setup.require_sourced_ros()
        monkeypatch.delenv("AMENT_PREFIX_PATH")
        with pytest.raises(MissingError, match="not sourced in this shell"):
            setup.require_sourced_ros()

    def test_second_set_up_waits_for_the_first(self, tmp_path):
        folder = tmp_path / "environment"
        folder.mkdir()
        self.finished(folder).state.set("trial", None)
        with folder.with_name("environment.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            waiting = subprocess.Popen(
                [sys.executable, "-u", str(DRIVER), "--venv", str(folder)], stdout=subprocess.PIPE, text=True
            )
            first_line = waiting.stdout.readline()
            self.finished(folder)  # The first set-up ends its work, then releases the lock.
        rest, _ = waiting.communicate(timeout=DEADLINE)

        assert "Another set-up is at work" in first_line
        assert rest == ""
        assert waiting.returncode == 0


def test_pip_progress_is_counted_at_intervals():
    eager, calm = PipProgress(interval=0.0), PipProgress(interval=3600.0)

    assert eager("Collecting numba") == "1 packages found, now numba"
    assert eager("  Downloading numba.whl") is None
    assert calm("Collecting numba") is None
    assert calm("Installing collected packages: numba, numpy") == "unpacking 2 packages"
