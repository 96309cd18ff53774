"""Who may connect to an OPC UA server."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from asyncua import ua
from asyncua.common.utils import ServiceError
from asyncua.crypto.permission_rules import User, UserRole
from asyncua.server.user_managers import UserManager
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from grouser.bridges.plc.credentials import hash_password, is_password

REFUSAL_TIME = 1.0  # [s] after a wrong password, during which none is checked: a check holds up the server


class TrustedCertificates:
    """Accepts the certificates of a directory.

    Args:
        directory: of certificates (DER or PEM) and nothing else.

    Raises:
        ValueError: a file is no certificate; names it.
    """

    def __init__(self, directory: Path):
        self._certificates = {_der(path) for path in sorted(directory.iterdir()) if path.is_file()}

    def __contains__(self, certificate: bytes | None) -> bool:
        return certificate in self._certificates

    async def __call__(self, certificate: x509.Certificate, _description) -> None:
        """Judges the certificate that a client names for its session; that of its channel is what counts."""
        if certificate.public_bytes(Encoding.DER) not in self:
            raise ServiceError(ua.StatusCodes.BadCertificateUntrusted)


class Users(UserManager):
    """Users with passwords: nobody is more than a user, who writes only what is writable.

    After a wrong password a user is refused for `REFUSAL_TIME` without a check. A certificate that the user has come
    with before is judged apart, so that guesses of others do not lock its owner out.

    Args:
        users: hashed passwords by name; None: everybody may connect.
        trusted: certificates of channels that may connect; None: all.
        clock: returns the time [s].
    """

    def __init__(
        self,
        users: Mapping[str, str] | None,
        trusted: TrustedCertificates | None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._users = users
        self._trusted = trusted
        self._clock = clock
        self._nobody = "" if users is None else hash_password("")
        self._welcome: set[tuple[str, bytes | None]] = set()  # users with certificates that they have come with
        self._refused: dict[object, float] = {}  # who -> until when

    def get_user(self, iserver, username=None, password=None, certificate=None) -> User | None:
        """Returns the user; None: refused.

        Args:
            iserver: of the library.
            username, password: as given.
            certificate: of the channel, whose private key the client has (DER).
        """
        if self._trusted is not None and certificate not in self._trusted:
            return None
        if self._users is None:
            return User(role=UserRole.User)
        name = username if username in self._users else ""
        hashed = self._users.get(name, self._nobody)
        who = (name, certificate) if (name, certificate) in self._welcome else name
        if self._clock() < self._refused.get(who, 0.0):
            return None
        if not is_password(password or "", hashed) or hashed is self._nobody:
            self._refused[who] = self._clock() + REFUSAL_TIME
            return None
        self._welcome.add((name, certificate))
        return User(role=UserRole.User, name=username)


def _der(path: Path) -> bytes:
    content = path.read_bytes()
    load = x509.load_pem_x509_certificate if content.startswith(b"-----") else x509.load_der_x509_certificate
    try:
        return load(content).public_bytes(Encoding.DER)
    except ValueError:
        raise ValueError(f"{path} is no certificate; keep private keys and other files out of this directory") from None
