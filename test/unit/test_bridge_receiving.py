"""Threads of transports end when they are asked to, and tell of every other end."""

import threading

import pytest

from grouser.bridges.receiving import Receiving, tell_of_failures


class Told:
    """A sink that notes what is broken."""

    def __init__(self):
        self.reasons = []

    def broken(self, reason, time):
        self.reasons.append(reason)


def fails(error):
    def work():
        raise error

    return work


def test_an_end_that_was_asked_for_is_not_told():
    told = Told()
    tell_of_failures(lambda: None, told, (OSError,))
    assert told.reasons == []


def test_a_lost_device_is_told_in_the_words_of_its_transport():
    told = Told()
    tell_of_failures(fails(OSError("gone")), told, (OSError,), lambda error: f"port 7: {error}")
    tell_of_failures(fails(ConnectionResetError()), told, (OSError,))
    assert told.reasons == ["port 7: gone", "ConnectionResetError"]


def test_an_unforeseen_error_is_told_and_raised_again():
    told = Told()
    with pytest.raises(KeyError):
        tell_of_failures(fails(KeyError("x")), told, (OSError,))
    assert told.reasons == ["receiving ended by an unforeseen error"]


def test_a_thread_is_stopped_and_started_again():
    told, receiving = Told(), Receiving()
    receiving.stop()  # before it was started
    for _ in range(2):
        begun = threading.Event()

        def work(begun=begun):
            begun.set()
            receiving.ending.wait()

        receiving.start("trial", work, told, (OSError,))
        assert begun.wait(60.0)
        receiving.stop()
    assert told.reasons == []
    assert "trial" not in {thread.name for thread in threading.enumerate()}
