"""Scheduling of a process that steps and publishes, in a process of its own: what is asked is got or told."""

import json
import subprocess
import sys

SCRIPT = """
import json, os, subprocess, sys, threading
from grouser.bridges.scheduling import Scheduling
from grouser.nodes.shared.scheduling import PacedScheduling, scheduling_values

def seen(thread):
    native = thread.native_id
    policy = os.sched_getscheduler(native) & ~os.SCHED_RESET_ON_FORK
    return [policy == os.SCHED_FIFO, os.sched_getparam(native).sched_priority]

paced, go, done = PacedScheduling(Scheduling("fifo", 7)), threading.Event(), threading.Event()
applied = threading.Event()
stepping = threading.Thread(target=lambda: (go.wait(), paced.of_stepping(), applied.set(), done.wait()))
clock = threading.Thread(target=lambda: (paced.of_clock(), publishing.start(), done.wait()))
publishing = threading.Thread(target=lambda: (paced.of_publishing(), go.set(), done.wait()))
other = threading.Thread(target=done.wait)
for thread in (other, stepping, clock):
    thread.start()
applied.wait()
child = subprocess.run([sys.executable, "-c", "import os; print(os.sched_getscheduler(0))"], stdout=subprocess.PIPE)
print(json.dumps({
    "values": scheduling_values(paced.asked, paced.granted),
    "refusals": paced.granted.refusals,
    "threads": [seen(thread) for thread in (stepping, clock, publishing, other)],
    "child": int(child.stdout),
}))
done.set()
"""


def test_stepping_comes_before_clock_and_samples_and_all_before_the_rest():
    said = subprocess.run([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, check=True)
    told = json.loads(said.stdout)
    assert told["values"]["scheduling_asked"] == "fifo 7"
    assert told["child"] == 0  # what the process starts has none of it
    if told["refusals"]:
        assert "rtprio" in told["refusals"][0]
        assert told["threads"] == [[False, 0]] * 4
        assert told["values"]["scheduling"] == "other"
    else:
        assert told["threads"] == [[True, 7], [True, 6], [True, 5], [True, 1]]
        assert told["values"]["scheduling"] == "fifo 7"
