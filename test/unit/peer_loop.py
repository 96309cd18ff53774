"""The loop of a peer in a process of its own; see `plc_peers.Peer`."""

import json
import sys


def answer_requests(answers):
    """Loop of a peer's script: name -> function of the rest of a request."""
    for line in sys.stdin:
        name, *rest = json.loads(line)
        print(json.dumps(answers[name](*rest) if name != "ready" else name), flush=True)
