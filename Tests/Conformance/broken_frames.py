#!/usr/bin/env python3
"""Sends each kind of broken frame (WIRE-16) to a server, and measures when it closes.

    broken_frames.py [--write]

    --write   replaces docs/reports/broken-frames.md

SIGNALBOX_BIN names the program. Exit 1 if a close has another code than expected, if anything follows the close frame, or
if the close frame or the end of the connection takes longer than four seconds: an end that waits for the client's answer
takes five. The client never answers the close frame.
"""

import base64
import concurrent.futures
import os
import socket
import struct
import sys
import tempfile
import time

import document
from autobahn_verdicts import PATH, SUBPROTOCOL, started

SECONDS = 4
PATIENCE = 20
MASK = b"\x37\xfa\x21\x3d"


def frame(first, payload=b"", length=None):
    """A masked frame; `length` replaces the bytes of its length."""
    if length is None:
        length = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + struct.pack("!H", len(payload))
    return bytes([first]) + length + MASK + bytes(byte ^ MASK[index & 3] for index, byte in enumerate(payload))


def cases():
    """Kind, expected code and bytes."""
    for bits in range(0x10, 0x80, 0x10):
        for opcode in (0x1, 0x8, 0x9, 0xA):
            yield "reserved bits", 1002, frame(0x80 | bits | opcode)
    for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15):
        yield "reserved opcodes", 1002, frame(0x80 | opcode)
        yield "reserved opcodes", 1002, frame(0x80 | opcode, b"x" * 200)
    for opcode in (0x8, 0x9, 0xA):
        yield "control frames in fragments", 1002, frame(opcode)
        yield "control frames over 125 bytes", 1002, frame(0x80 | opcode, b"x" * 126)
        yield "control frames over 125 bytes", 1002, frame(0x80 | opcode, length=b"\xff" + struct.pack("!Q", 1 << 20))
    yield "fragments out of place", 1002, frame(0x80, b"x")
    yield "fragments out of place", 1002, frame(0x00, b"x")
    yield "fragments out of place", 1002, frame(0x01, b"x") + frame(0x81, b"y")
    yield "fragments out of place", 1002, frame(0x01, b"x") + frame(0x01, b"y")
    yield "lengths with the highest bit", 1002, frame(0x81, length=b"\xff" + struct.pack("!Q", 1 << 63))
    yield "close frames of one byte", 1002, frame(0x88, b"\x03")
    for code in (0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535):
        yield "close frames with an invalid code", 1002, frame(0x88, struct.pack("!H", code))
    for text in (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"a\x80"):
        yield "close frames with a reason that is not UTF-8", 1007, frame(0x88, struct.pack("!H", 1000) + text)
        if text != b"\xe2\x82":
            yield "text that cannot become UTF-8, its message unfinished", 1007, frame(0x01, text)
        yield "text that is not UTF-8", 1007, frame(0x81, text)
    yield "binary messages", 1003, frame(0x82, b"x")
    yield "messages over the limit", 1009, frame(0x81, length=b"\xff" + struct.pack("!Q", 1 << 40)) + b"x" * 100


def connected(port):
    tcp = socket.create_connection(("127.0.0.1", port), PATIENCE)
    tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    key = base64.b64encode(os.urandom(16)).decode()
    tcp.sendall((
        f"GET {PATH} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
    ).encode())
    received = b""
    while b"\r\n\r\n" not in received:
        received += tcp.recv(4096)
    return tcp, received.split(b"\r\n\r\n", 1)[1]


def probe(port, sent):
    """The close code, the seconds to the close frame and to the end, and what followed the close frame."""
    tcp, received = connected(port)
    with tcp:
        began = time.monotonic()
        tcp.sendall(sent)
        closed_after = None
        try:
            while piece := tcp.recv(4096):
                received += piece
                if closed_after is None and received[:1] == b"\x88":
                    closed_after = time.monotonic() - began
        except ConnectionResetError:
            pass
        ended_after = time.monotonic() - began
    if received[:1] != b"\x88" or len(received) < 4:
        return None, PATIENCE, ended_after, b""
    end = 2 + received[1]
    return struct.unpack("!H", received[2:4])[0], closed_after, ended_after, received[end:]


def main():
    rows, faults = {}, []
    with tempfile.TemporaryDirectory() as folder, started("product", folder) as port:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            results = pool.map(lambda case: (case, probe(port, case[2])), cases())
            for (kind, expected, sent), (code, closed_after, ended_after, rest) in results:
                # The close handshake of the server's own closes waits longer for the client.
                own = kind in ("binary messages", "messages over the limit") or kind.startswith("text that")
                row = rows.setdefault(kind, [0, expected, 0, 0])
                row[0] += 1
                row[2] = max(row[2], closed_after)
                row[3] = max(row[3], 0 if own else ended_after)
                if code != expected or closed_after > SECONDS or rest or not own and ended_after > SECONDS:
                    faults.append(
                        f"{kind}: {sent[:16].hex()}: {code} after {closed_after:.2f} s, then {rest[:20]}, "
                        f"end after {ended_after:.2f} s")
    for fault in faults:
        print(fault, file=sys.stderr)
    total = sum(row[0] for row in rows.values())
    print(f"frames: {total} broken frames, {len(faults)} not closed as expected")
    if "--write" in sys.argv[1:] and not faults:
        lines = ["| broken | frames | close code | slowest close frame | slowest end |", "| --- | --- | --- | --- | --- |"]
        for kind, (count, code, closed_after, ended_after) in rows.items():
            end = f"{ended_after * 1000:.0f} ms" if ended_after else "the client's answer, or 5 s"
            lines.append(f"| {kind} | {count} | {code} | {closed_after * 1000:.0f} ms | {end} |")
        document.replace("broken-frames", "\n".join([f"{total} broken frames. {document.stamp()}.", "", *lines]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
