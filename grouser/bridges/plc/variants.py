"""Values of variables as the OPC UA library has them."""

import logging
import math
from datetime import datetime, timezone

from asyncua import ua
from asyncua.ua import ua_binary
from cryptography import x509

from grouser.bridges.plc.node_types import NodeField, to_type

# Its log tells of every broken frame of every peer; a bridge counts and reports what concerns it.
logging.getLogger("asyncua").setLevel(logging.CRITICAL)


class _NoNulls:
    """Arrays of nulls, which take no bytes: the library would make as many of them as the sender says."""

    @staticmethod
    def unpack_array(data: object, length: int) -> list[None]:
        """Refuses them."""
        raise ua.UaError(f"an array of {length} nulls")


ua_binary.Primitives1.Null = _NoNulls

_VARIANTS = {
    "boolean": ua.VariantType.Boolean,
    "int16": ua.VariantType.Int16,
    "uint16": ua.VariantType.UInt16,
    "int32": ua.VariantType.Int32,
    "uint32": ua.VariantType.UInt32,
    "float": ua.VariantType.Float,
    "double": ua.VariantType.Double,
}


_GOOD, _NO_DATA = ua.StatusCode(), ua.StatusCode(ua.StatusCodes.BadNoDataAvailable)


def time_of_now() -> datetime:
    """Returns the time of values that are made now."""
    return datetime.now(timezone.utc)


def data_value(field: NodeField, value: float, time: datetime) -> ua.DataValue:
    """Returns a value with its time; NaN goes out as bad, without a value.

    Raises:
        ValueError: the field cannot hold it.
    """
    if not math.isfinite(value):
        return ua.DataValue(StatusCode=_NO_DATA, SourceTimestamp=time)
    variant = ua.Variant(to_type(field, value), _VARIANTS[field.type], is_array=False)
    return ua.DataValue(variant, _GOOD, time)


def is_bad(value: ua.DataValue) -> bool:
    """Returns whether the status of a value is bad or uncertain (as of a last usable value): the error code."""
    return value.StatusCode is not None and not value.StatusCode.is_good()


def has_type(field: NodeField, value: ua.DataValue) -> bool:
    """Returns whether a value is one number of the type of a field."""
    variant = value.Value
    return variant is not None and variant.VariantType == _VARIANTS[field.type] and not variant.is_array


def uri_of(certificate: bytes) -> str:
    """Returns the application's URI in a certificate.

    Args:
        certificate: in DER or PEM.

    Raises:
        ValueError: not a certificate, or one without a URI.
    """
    is_text = certificate.startswith(b"-----")
    loaded = x509.load_pem_x509_certificate(certificate) if is_text else x509.load_der_x509_certificate(certificate)
    try:
        names = loaded.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        raise ValueError("the certificate has no subjectAltName") from None
    uris = names.get_values_for_type(x509.UniformResourceIdentifier)
    if not uris:
        raise ValueError("the subjectAltName of the certificate has no URI")
    return uris[0]
