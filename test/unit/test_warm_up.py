"""Kernels that several processes compile: small ones, by real processes."""

import contextlib
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from numba.core.serialize import dumps
from patience import DEADLINE, wait_until
from test_packed import tree

from grouser.physics.base import warm_up
from grouser.physics.base.packed import Packed
from grouser.physics.base.warm_up import Plan, _processor_time

_CORES = len(os.sched_getaffinity(0))
_NAMES = ("one", "two", "three")
_KERNEL = """
import os, sys
from grouser.physics.base.kernel import kernel
{first}

@kernel
def {name}(x):
    return 2.0 * x
"""
# In a file of its own without a guard: nobody imports it again.
_SCRIPT = """
import json, os, sys, time
from numba import types
from numba.core import event
os.environ["TOY_PARENT"] = str(os.getpid())
{before}

class Listener(event.Listener):
    def on_start(self, event):
        compiled.append(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event):
        pass

started, compiled, told = [], [], []
sys.addaudithook(lambda name, arguments: started.append(arguments) if name == "subprocess.Popen" else None)
from grouser.physics.base import compilation, warm_up
compilation._SILENT_SECONDS, compilation._PERIOD = 0.0, 0.01
jobs = [warm_up.Job("toy." + name, name, (types.float64,), 10.0) for name in {names}]
for job in jobs:
    job.kernel  # imported
began = time.process_time()
with event.install_listener("numba:compile", Listener()), compilation.reporting_compilation(told.append):
    warm_up.compile_together(jobs)
    seconds = time.process_time() - began
    results = [job.kernel(1.5) for job in jobs]
shares = [progress.share for progress in told]
print(json.dumps([results, compiled, len(started), shares, seconds]))
"""


def make_toy(folder, **first):
    (folder / "toy").mkdir()
    (folder / "toy" / "__init__.py").write_text("")
    for name in _NAMES:
        text = _KERNEL.format(name=name, first=first.get(name, ""))
        (folder / "toy" / f"{name}.py").write_text(text)


def command(folder, names=_NAMES, before=""):
    (folder / "script.py").write_text(_SCRIPT.format(names=names, before=before))
    return [sys.executable, str(folder / "script.py")]


def environment(folder):
    return {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}


def run(folder, before=""):
    """Which kernels the process compiled itself, how many others it started, what shares were told, and its time."""
    done = subprocess.run(command(folder, before=before), env=environment(folder), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    results, *others = json.loads(done.stdout)
    assert results == [3.0, 3.0, 3.0]
    return others


def test_missing_kernels_are_compiled_by_workers_and_loaded(tmp_path):
    make_toy(tmp_path)
    compiled, started, shares, _ = run(tmp_path)
    assert started == (min(_CORES, 3) if _CORES > 1 else 0)
    assert compiled == ([] if started else list(_NAMES))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    compiled, started, shares, seconds = run(tmp_path)
    assert (compiled, started, shares) == ([], 0, [])
    assert seconds < 1.0  # it only loads


def test_without_a_writable_cache_no_worker_starts(tmp_path):
    make_toy(tmp_path)
    (tmp_path / "cache").write_text("")
    compiled, started, _, _ = run(tmp_path)
    assert (compiled, started) == (list(_NAMES), 0)


def test_with_one_core_no_worker_starts(tmp_path):
    make_toy(tmp_path)
    compiled, started, shares, _ = run(tmp_path, "os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])")
    assert (compiled, started) == (list(_NAMES), 0)
    assert shares[-1] == 1.0


def test_kernel_of_a_worker_that_died_is_compiled_by_the_parent(tmp_path):
    make_toy(tmp_path, two='if str(os.getpid()) != os.environ["TOY_PARENT"]: os._exit(3)')
    compiled, _, _, _ = run(tmp_path)
    assert "two" in compiled


def test_output_of_a_worker_is_not_read_as_an_answer(tmp_path):
    make_toy(tmp_path, two='if str(os.getpid()) != os.environ["TOY_PARENT"]: print("0000")')
    compiled, started, _, _ = run(tmp_path)
    assert compiled == ([] if started else list(_NAMES))


def test_missing_interpreter(tmp_path):
    make_toy(tmp_path)
    compiled, _, _, _ = run(tmp_path, f"sys.executable = {str(tmp_path / 'python')!r}")
    assert sorted(compiled) == sorted(_NAMES)


def test_a_kernel_with_an_error(tmp_path):
    make_toy(tmp_path)
    file = tmp_path / "toy" / "two.py"
    file.write_text(file.read_text().replace("2.0 * x", "'text' * x"))
    done = subprocess.run(command(tmp_path), env=environment(tmp_path), capture_output=True, text=True)
    assert done.returncode == 1
    assert "TypingError" in done.stderr


@pytest.mark.skipif(_CORES < 2, reason="with one core there are no others")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_their_parent(tmp_path, number):
    written = f"open({str(tmp_path)!r} + '/' + str(os.getpid()) + '.pid', 'w').close()"
    alone = f"{written}; import time; time.sleep({10.0 * DEADLINE})"
    make_toy(tmp_path, **dict.fromkeys(_NAMES, f'if str(os.getpid()) != os.environ["TOY_PARENT"]: {alone}'))
    # a background shell ignores the interrupt, and its children inherit that
    process = subprocess.Popen(
        command(tmp_path),
        env=environment(tmp_path),
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while len(files := list(tmp_path.glob("*.pid"))) < min(_CORES, 3):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    process.wait(DEADLINE)
    wait_until(lambda: not any(_runs(int(file.stem)) for file in files), "the end of the workers")


def _runs(number):
    with contextlib.suppress(ProcessLookupError):
        os.kill(number, 0)
        return True
    return False


def test_threads_that_need_the_same_kernel_compile_it_once(monkeypatch):
    compiled, meeting = [], threading.Barrier(2, timeout=1.0)

    def is_cached(job):
        """Whether it is compiled, asked by both threads at once if they can."""
        known = bool(compiled)
        with contextlib.suppress(threading.BrokenBarrierError):
            meeting.wait()
        return known

    pool = SimpleNamespace(compile_all=lambda: compiled.append(True))
    monkeypatch.setattr(warm_up, "_is_cached", is_cached)
    monkeypatch.setattr(warm_up, "_WorkerPool", lambda jobs: pool)
    job = SimpleNamespace(cost=1.0, arguments=(), kernel=SimpleNamespace(compile=lambda arguments: None))
    threads = [threading.Thread(target=warm_up.compile_together, args=([job],)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert compiled == [True]


def test_types_of_packed_trees_can_be_sent():
    numba_type = Packed(tree())._numba_type_
    assert pickle.loads(dumps(numba_type)) is numba_type
    program = "import pickle, sys; one = pickle.load(sys.stdin.buffer); print(one, one.size, list(one.fields))"
    sent = subprocess.run([sys.executable, "-c", program], input=dumps(numba_type), capture_output=True, check=True)
    assert sent.stdout.decode().strip() == f"{numba_type} {numba_type.size} {list(numba_type.fields)}"


class Clocks:
    """Wall time and processor time [s] for a plan, set by a test."""

    def __init__(self, monkeypatch):
        self.wall = self.processor = 0.0
        monkeypatch.setattr("grouser.physics.base.warm_up.time.monotonic", lambda: self.wall)

    def advance(self, wall, processor):
        """Lets time go on."""
        self.wall += wall
        self.processor += processor

    def read(self):
        """Processor time."""
        return self.processor


def test_plan_estimates_share_and_time_left(monkeypatch):
    clocks = Clocks(monkeypatch)
    plan = Plan([10.0, 6.0, 4.0])
    with plan.working_on(10.0, clocks.read):
        assert plan.estimate() == (0.0, 20.0)
        clocks.advance(wall=4.0, processor=4.0)
        assert plan.estimate() == pytest.approx((0.2, 16.0))
        clocks.advance(wall=6.0, processor=6.0)
    assert plan.estimate() == pytest.approx((0.5, 10.0))
    for cost in (6.0, 4.0):
        with plan.working_on(cost, clocks.read):
            clocks.advance(wall=cost, processor=cost)
    assert plan.estimate()[0] == 0.99


def test_plan_on_a_busy_computer_waits_for_the_processor(monkeypatch):
    """The share follows the processor time that the work gets, the time left the wall time that passes meanwhile."""
    clocks = Clocks(monkeypatch)
    plan = Plan([10.0, 10.0])
    with plan.working_on(10.0, clocks.read):
        clocks.advance(wall=40.0, processor=4.0)
        assert plan.estimate() == pytest.approx((0.2, 160.0))
        clocks.advance(wall=40.0, processor=0.0)
        assert plan.estimate() == pytest.approx((0.2, 320.0))


def test_plan_adapts_to_a_slow_computer_and_its_share_never_stands_still(monkeypatch):
    clocks = Clocks(monkeypatch)
    plan = Plan([10.0, 10.0])
    shares = []
    for _ in range(2):
        with plan.working_on(10.0, clocks.read):
            for _ in range(10):
                clocks.advance(wall=5.0, processor=5.0)
                shares.append(plan.estimate()[0])
    assert np.all(np.diff(shares) > 0.0)
    assert shares[9] < 0.5 < shares[10]
    assert plan.estimate()[0] == 0.99


def test_processor_time_of_another_process():
    """It grows with the work of the process, and is zero once there is no such process."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        wait_until(lambda: _processor_time(process) > 0.05, "a process that has worked")
        process.kill()
    assert _processor_time(process) == 0.0
