"""Bytes to a server on a connection of their own, and everything that comes back."""

import socket


def raw_exchange(address, request, seconds, half_closes=True):
    with socket.create_connection(address, seconds) as tcp:
        tcp.settimeout(seconds)
        tcp.sendall(request)
        if half_closes:
            tcp.shutdown(socket.SHUT_WR)
        received = b""
        try:
            while piece := tcp.recv(65536):
                received += piece
        except ConnectionResetError:
            pass
        return received
