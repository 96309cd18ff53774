"""Users and certificates of OPC UA bridges. Run it to make them:

    python -m grouser.bridges.plc.credentials certificate NAME DIRECTORY
    python -m grouser.bridges.plc.credentials user NAME FILE

The first writes NAME.der and NAME.pem (the private key) into a directory; the second asks for a password, and writes
its hash into a file of users.
"""

import argparse
import base64
import getpass
import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

import yaml

from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.description.text.yaml_reader import Reader, compose

PASSWORD_MIN = 8  # characters
_DAYS = 3650
_COST, _BLOCK, _PARALLEL = 2**14, 8, 1  # of scrypt: 16 MB and some 50 ms a guess


def application_uri(name: str) -> str:
    """Returns the URI of an application: in its certificate and in what it says of itself."""
    return f"urn:grouser:{name}"


def make_certificate(name: str, directory: Path) -> tuple[Path, Path]:
    """Writes a self-signed certificate and its private key, which only its owner may read.

    Args:
        name: of the application.
        directory: where NAME.der and NAME.pem go.

    Returns:
        Paths of certificate and key.
    """
    from asyncua.crypto.cert_gen import (
        dump_private_key_as_pem,
        generate_private_key,
        generate_self_signed_app_certificate,
    )
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding
    from cryptography.x509.oid import ExtendedKeyUsageOID

    key = generate_private_key()
    names: list[x509.GeneralName] = [x509.UniformResourceIdentifier(application_uri(name)), x509.DNSName("localhost")]
    usage = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
    certificate = generate_self_signed_app_certificate(key, name, {}, names, usage, days=_DAYS)
    directory.mkdir(parents=True, exist_ok=True)
    certificate_path, key_path = directory / f"{name}.der", directory / f"{name}.pem"
    certificate_path.write_bytes(certificate.public_bytes(Encoding.DER))
    with os.fdopen(os.open(key_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(dump_private_key_as_pem(key))
    return certificate_path, key_path


def hash_password(password: str) -> str:
    """Returns the salted hash of a password (scrypt), as a file of users has it."""
    salt = secrets.token_bytes(16)
    return "$".join(("scrypt", base64.b64encode(salt).decode(), base64.b64encode(_digest(password, salt)).decode()))


def is_password(password: str, hashed: str) -> bool:
    """Returns whether a password is the one of a hash."""
    _, salt, digest = hashed.split("$")
    return hmac.compare_digest(_digest(password, base64.b64decode(salt)), base64.b64decode(digest))


def require_plain_key(path: Path) -> None:
    """Refuses a file that is no private key, or one under a password.

    Raises:
        ValueError: names the file and the remedy.
    """
    from cryptography.hazmat.primitives.serialization import load_der_private_key, load_pem_private_key

    content = path.read_bytes()
    load = load_pem_private_key if content.startswith(b"-----") else load_der_private_key
    try:
        load(content, None)
    except TypeError:
        raise ValueError(f"the private key {path} has a password; write it without one, readable by you only") from None
    except ValueError:
        raise ValueError(f"{path} is no private key") from None


def add_user(name: str, password: str, path: Path) -> None:
    """Writes a user into a file of users; one of the same name gets the new password.

    Raises:
        ParameterError: the password is too short.
    """
    if len(password) < PASSWORD_MIN:
        raise ParameterError("password", "*" * len(password), f"at least {PASSWORD_MIN} characters")
    users = dict(read_users(path)) if path.exists() else {}
    users[name] = hash_password(password)
    path.write_text(yaml.safe_dump(users))


def read_users(path: Path) -> Mapping[str, str]:
    """Returns the hashed passwords of a file of users by name.

    Raises:
        MachineError: it cannot be read, or an entry is no hash.
    """
    reader = Reader(str(path))
    root = compose(path, "users")
    if root is None:
        raise MachineError("there is no user", file=path, remedy="add one by python -m grouser.bridges.plc.credentials")
    users = {}
    for name, node in reader.entries(root, "users"):
        users[name] = reader.text(node, name)
        parts = users[name].split("$")
        if len(parts) != 3 or parts[0] != "scrypt":
            raise reader.error(node, name, "not the hash of a password", "write it by credentials user NAME FILE")
    return users


def _digest(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=_COST, r=_BLOCK, p=_PARALLEL, maxmem=2**26)


def main() -> None:
    """Makes a certificate or a user."""
    parser = argparse.ArgumentParser(
        prog="python -m grouser.bridges.plc.credentials", description="users, certificates"
    )
    commands = parser.add_subparsers(dest="what", required=True)
    certificate = commands.add_parser("certificate", help="write NAME.der and NAME.pem")
    certificate.add_argument("name")
    certificate.add_argument("directory", type=Path)
    user = commands.add_parser("user", help="ask for a password and write its hash")
    user.add_argument("name")
    user.add_argument("file", type=Path)
    arguments = parser.parse_args()
    if arguments.what == "certificate":
        print(*make_certificate(arguments.name, arguments.directory), sep="\n")
        return
    try:
        add_user(arguments.name, getpass.getpass(f"password of {arguments.name}: "), arguments.file)
    except ParameterError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
