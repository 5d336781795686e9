"""The lines of a text message: strict JSON objects, one per line (WIRE-3, WIRE-4)."""

import json
import re

MAX_NESTING = 32
_INTEGERS = range(-(2**63), 2**63)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class MalformedLine(ValueError):
    """A line that is not a JSON object as WIRE-4 describes it."""


def encode(message):
    """One line. A Python string can hold lone surrogates: each is sent as U+FFFD (WIRE-4)."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _LONE_SURROGATE.sub("\ufffd", text)


def split(text):
    """The lines of a text message, without those of zero bytes (WIRE-3)."""
    return [line for line in text.split("\n") if line]


def decode(line):
    """The object of one line. Raises MalformedLine."""
    try:
        value = json.loads(
            line, object_pairs_hook=_object, parse_int=_integer, parse_float=_double, parse_constant=_no_constant
        )
    except (ValueError, RecursionError) as fault:
        raise MalformedLine(str(fault)) from fault
    if not isinstance(value, dict):
        raise MalformedLine("a line is a JSON object")
    if _nesting(value) > MAX_NESTING:
        raise MalformedLine(f"more than {MAX_NESTING} levels of nesting")
    return value


def _object(pairs):
    members = dict(pairs)
    if len(members) < len(pairs):
        raise MalformedLine("a member name occurs twice")
    for name, value in pairs:
        if "\0" in name:
            raise MalformedLine("NUL in a member name")
        _check_text(name)
        _check_value(value)
    return members


def _check_value(value):
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, list):
        for element in value:
            _check_value(element)


def _check_text(text):
    if _LONE_SURROGATE.search(text):
        raise MalformedLine("a lone surrogate")


def _integer(digits):
    value = int(digits)
    if value not in _INTEGERS:
        raise MalformedLine("an integer of more than 64 bits")
    return value


def _double(digits):
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise MalformedLine("a number outside the range of a double")
    return value


def _no_constant(name):
    raise MalformedLine(f"{name} is not JSON")


def _nesting(value):
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return 0
    return 1 + max(map(_nesting, value), default=0)
