"""Every machine and every experiment computes what it computed when the record was made, to the last bit."""

import json
from pathlib import Path

import fingerprints
import pytest

RECORD = Path(__file__).resolve().parent.parent / "data" / "fingerprints.json"


@pytest.mark.soak  # of some minutes
def test_every_machine_and_experiment_computes_the_recorded_bits():
    """A change that is meant to change results makes the record anew: `tooling/fingerprints.py record FILE`."""
    recorded = json.loads(RECORD.read_text())
    found = fingerprints.fingerprints()
    name, platform = next(found)
    if recorded[name] != platform:
        pytest.skip(f"not tested: the bits recorded with {recorded[name]!r}, since this is {platform!r}")
    recorded.pop(name)
    assert fingerprints.compare(recorded, found) == []
