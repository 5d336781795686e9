"""The members of the server's messages, whose form a client checks before it reads them (WIRE-9)."""

REQUIRED = object()
NUMBER = (int, float)


class UnexpectedMessage(ValueError):
    """A message that the protocol does not allow."""


def member(message, name, kind, default=REQUIRED):
    """The member of this type. Raises UnexpectedMessage if its type is another, or if it is required and absent."""
    value = message.get(name, default)
    if value is REQUIRED:
        raise UnexpectedMessage(f"{message.get('ev')} without {name}")
    if value is default:
        return value
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise UnexpectedMessage(f"{name} of {message.get('ev')} has the wrong type")
    return value


def optional_object(message, name, read):
    """The member that is an object, as `read` reads it, or None."""
    value = member(message, name, dict, None)
    return None if value is None else read(value)


def objects(message, name, read):
    """The member that is a list of objects, each as `read` reads it."""
    return tuple(read(checked(value, dict, f"an element of {name}")) for value in member(message, name, list))


def checked(value, kind, what):
    if not isinstance(value, kind):
        raise UnexpectedMessage(f"{what} has the wrong type")
    return value
