"""Errors of sensors. They are functions of the sensor's name and the step: nothing has to be stored, a restart
reproduces them, and any step can be read first.
"""

import zlib

import numpy as np

# The walk is known at 2^_LEVELS steps, more than any run has, and halved from there.
_LEVELS = 40
# Multipliers of the generator splitmix64 (Steele, Lea and Flood, 2014), and its increment.
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_INCREMENT = np.uint64(0x9E3779B97F4A7C15)


def white_noise(name: str, step: int, shape: tuple[int, ...]) -> np.ndarray:
    """Independent numbers of the standard normal distribution, others at each step.

    Args:
        name: of the sensor; several independent errors of one have several names.
        step: number of the step.
        shape: of the result.
    """
    return np.random.default_rng([_seed(name), step]).standard_normal(shape)


def constant_noise(name: str, count: int) -> np.ndarray:
    """Independent numbers of the standard normal distribution that do not change, (count,)."""
    return np.random.default_rng(_seed(name)).standard_normal(count)


def random_walk(name: str, step: int, count: int) -> np.ndarray:
    """Independent random walks, whose change over n steps has the variance n; they start at 0.

    Levy's construction of Brownian motion: the value in the middle of an interval is the mean of those at its ends
    plus a normal number, whose variance is a quarter of the interval.

    Args:
        name: of the sensor.
        step: number of the step.
        count: number of walks.

    Returns:
        Values at this step, (count,).
    """
    lengths = 2.0 ** np.arange(1, _LEVELS + 1)
    number = np.uint64(step) >> np.arange(1, _LEVELS + 1, dtype=np.uint64)
    # height of the tent over the interval of each level that contains the step
    share = np.fmod(float(step), lengths) / lengths
    tent = 0.5 * np.sqrt(lengths) * (1.0 - np.abs(2.0 * share - 1.0))
    with np.errstate(over="ignore"):
        keys = _mixed(np.uint64(_seed(name)) + _INCREMENT * np.arange(1, _LEVELS + 2, dtype=np.uint64))
        at = np.append(number, np.uint64(0))
        keys = _mixed(keys + at * _INCREMENT)[:, np.newaxis] + _INCREMENT * np.arange(1, count + 1, dtype=np.uint64)
        normal = _normal(_mixed(keys))
    whole = float(step) / lengths[-1] * np.sqrt(lengths[-1])
    return np.append(tent, whole) @ normal


def _seed(name: str) -> int:
    return zlib.crc32(name.encode())


def _mixed(number: np.ndarray) -> np.ndarray:
    """Scrambled 64-bit numbers."""
    number = (number ^ (number >> np.uint64(30))) * _MIX[0]
    number = (number ^ (number >> np.uint64(27))) * _MIX[1]
    return number ^ (number >> np.uint64(31))


def _normal(keys: np.ndarray) -> np.ndarray:
    """Numbers of the standard normal distribution from independent keys (Box and Muller, 1958)."""
    first, second = (
        ((_mixed(keys + add) >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53 for add in (np.uint64(1), np.uint64(2))
    )
    return np.sqrt(-2.0 * np.log(first)) * np.cos(2.0 * np.pi * second)
