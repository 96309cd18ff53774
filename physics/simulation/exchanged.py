"""Impulses that grains and blocks have given bodies in the last step."""

import numpy as np

from grouser.physics.base.errors import ParameterError
from grouser.physics.simulation.engine import Engine


def mean_impulse(engine: Engine, link: str, row_body: np.ndarray, impulse: np.ndarray) -> np.ndarray:
    """Mean force and moment of an exchange of impulses (`multibody.impulse_exchange`) on a link's body, (6,).

    Raises:
        ParameterError: there is no such link.
    """
    names = engine.setup.names
    if link not in names.links:
        raise ParameterError("link", link, "one of " + ", ".join(names.links))
    body = names.link_body[names.link_index(link)]
    found = np.flatnonzero((row_body == body) & (body >= 0))
    return impulse[found[0]] / engine.step_size if len(found) else np.zeros(6)
