"""A network between a client and a server that a test can cut."""

import socket
import struct
import threading
import urllib.parse

CHUNK_BYTES = 65_536


class Relay:
    """Listens on a port of its own, and forwards all bytes in both directions until it is cut."""

    def __init__(self, server_url):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.sockets = set()
        self.is_cut = False
        self.route_to(server_url)
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def route_to(self, server_url):
        """New connections go to this server."""
        parts = urllib.parse.urlsplit(server_url)
        self.target = (parts.hostname, parts.port)

    def cut(self):
        """Resets all open connections, and refuses new ones."""
        with self.lock:
            self.is_cut = True
            open_sockets, self.sockets = self.sockets, set()
        for each in open_sockets:
            reset(each)

    def restore(self):
        """Accepts new connections again."""
        with self.lock:
            self.is_cut = False

    def stop(self):
        self.cut()
        # Closing a socket does not wake a thread in `accept`; shutting it down does.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(self.target)
            except OSError:
                reset(client)
                continue
            with self.lock:
                is_cut = self.is_cut
                if not is_cut:
                    self.sockets |= {client, server}
            if is_cut:
                reset(client)
                reset(server)
                continue
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source, sink):
        try:
            while chunk := source.recv(CHUNK_BYTES):
                sink.sendall(chunk)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            with self.lock:
                self.sockets -= {source, sink}
            reset(source)
            reset(sink)


def reset(each):
    """Sends a RST: no FIN and no close frame."""
    try:
        each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        # Wakes the thread that reads from the socket. Closing alone would not.
        each.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    each.close()
