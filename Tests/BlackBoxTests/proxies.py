"""nginx and HAProxy as child processes, with configurations of the documents on free ports."""

import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

from server_process import Server
from waiting import accepts, free_port, wait_for


class Proxy:
    """A proxy in front of servers. Clients use it like a server.

    `program` is `nginx` or `haproxy`, and `text` its configuration. `ports` has for each `127.0.0.1:PORT` in it the
    port to use instead, or None for the one that the proxy listens on.
    """

    def __init__(self, program, text, project, ports, tls=None):
        self.program = program
        self.project = project
        self.tls = tls
        self.host = "127.0.0.1"
        self.port = free_port()
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="signalbox-proxy-"))
        for documented, actual in ports.items():
            text, count = re.subn(rf"127\.0\.0\.1:{documented}\b", f"127.0.0.1:{actual or self.port}", text)
            assert count == 1, f"the configuration of {program} does not name port {documented} once"
        self.path = self.folder / "configuration"
        self.path.write_text(text)
        command = {
            # The master process reloads.
            "haproxy": ["haproxy", "-W", "-db", "-f", self.path],
            "nginx": ["nginx", "-p", self.folder, "-c", self.path, "-e", "stderr"]
            + ["-g", f"daemon off; pid {self.folder}/pid;"],
        }[program]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: accepts(self.port), program)

    request = Server.request
    rest = Server.rest
    session_path = Server.session_path

    def workers(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return set(children.split())

    def reload(self):
        """Reads the configuration again, and returns when new workers run. Old ones may still serve connections."""
        before = self.workers()
        self.process.send_signal({"haproxy": signal.SIGUSR2, "nginx": signal.SIGHUP}[self.program])
        wait_for(lambda: self.workers() - before and accepts(self.port), f"the new workers of {self.program}")
        return before

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            for worker in self.workers():
                subprocess.run(["kill", "-KILL", worker])
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
