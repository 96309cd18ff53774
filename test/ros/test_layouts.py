"""The topics of the layouts of RViz are published by the running simulator, with a quality that reaches RViz."""

from pathlib import Path

import pytest
import yaml
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

CONFIG = Path(__file__).parents[2] / "config" / "rviz"


@pytest.mark.parametrize(("machine", "world"), [("rover", "sand"), ("four_bar", "weightless")])
def test_every_topic_of_the_layout_is_published(start_simulator, machine, world):
    node = start_simulator(machine=machine, world=world)
    offered = {publisher.topic_name: publisher.qos_profile for publisher in node.publishers}
    config = yaml.safe_load((CONFIG / f"{machine}.rviz").read_text(encoding="utf-8"))
    wanted = [
        display.get("Topic") or display["Description Topic"]
        for display in config["Visualization Manager"]["Displays"]
        if "Topic" in display or "Description Topic" in display
    ]
    assert len(wanted) > 2
    for topic in wanted:
        quality = offered[topic["Value"]]
        assert topic["Reliability Policy"] == "Best Effort" or quality.reliability == ReliabilityPolicy.RELIABLE
        assert topic["Durability Policy"] == "Volatile" or quality.durability == DurabilityPolicy.TRANSIENT_LOCAL
