"""A machine with the server as a service, for the pages of docs/operations: folders of its own, and a service manager.

The commands of a page run as they are, except that folders and ports become those of the machine. These programs are
replaced: `systemctl`, `journalctl` and `apt-get` act on the machine's server, and `ssh` and `scp` reach another machine.
The server has its secret as with the package: a credential, copied from /etc/signalbox/api-secret at each start.
"""

import contextlib
import json
import os
import pathlib
import queue
import re
import shutil
import socket
import subprocess
import sys
import threading

from server_process import BINARY, DEADLINE, TLS, Server, environment
from test_socket_activation import launcher
from waiting import free_port

FOLDERS = ("/etc", "/var", "/root", "/run", "/tmp")
PORTS = ("8080", "9091")

# Sends its name and arguments to the machine's service manager, and prints the answer.
CALL = """import socket, sys, os
manager = socket.socket(socket.AF_UNIX)
manager.connect(os.environ["MACHINE"] + "/manager")
manager.sendall("\\0".join(sys.argv[1:]).encode())
manager.shutdown(socket.SHUT_WR)
answer = manager.makefile().read()
status, _, text = answer.partition(" ")
sys.stdout.write(text)
sys.exit(int(status))
"""


class Machine:
    """A machine of this name. Its server listens on a socket that the machine holds, as systemd does.

    `settings` are those of the configuration file. `others` are the machines that `ssh` and `scp` reach.
    """

    def __init__(self, folder, project, others=(), name="machine", tls=False, **settings):
        self.name, self.project, self.others = name, project, list(others)
        self.root = folder / name
        self.held = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.ports = {"8080": self.held.getsockname()[1], "9091": free_port()}
        self.tls = tls
        self.server = None
        self.credentials = self.root / "run/credentials/signalbox.service"
        # The last lines of the log, of all servers so far.
        self.journal = []
        # The commands of the service manager, in their order.
        self.calls = []
        for each in ("etc/signalbox", "var/lib/signalbox", "var/backups", "root", "tmp", "bin"):
            (self.root / each).mkdir(parents=True)
        (self.root / "var/lib/signalbox").chmod(0o700)
        if tls:
            (self.root / "etc/signalbox/tls").mkdir()
            for source, target in (("server.pem", "fullchain.pem"), ("server.key.pem", "privkey.pem")):
                (self.root / "etc/signalbox/tls" / target).write_bytes((TLS / source).read_bytes())
            folder = str(self.root / "etc/signalbox/tls")
            settings |= {"tlsCert": f"{folder}/fullchain.pem", "tlsKey": f"{folder}/privkey.pem"}
        (self.root / "etc/signalbox/api-secret").write_text(project.secret)
        self.write_settings(apiKey=project.key, **settings)
        self._make_programs()
        self._listen()

    def write_settings(self, **settings):
        defaults = {"adminPort": self.ports["9091"], "logLevel": "info"}
        if not settings.get("redis"):
            defaults["stateDir"] = str(self.root / "var/lib/signalbox")
        path = self.root / "etc/signalbox/signalbox.json"
        path.write_text(json.dumps(defaults | settings, indent=2))
        path.chmod(0o600)

    def start(self):
        assert self.server is None, "the server runs"
        self._load_credentials()
        self.server = Server(
            "--config", self.root / "etc/signalbox/signalbox.json", project=self.project, log_level=None,
            launcher=["env", f"CREDENTIALS_DIRECTORY={self.credentials}", *launcher(self.held.fileno())],
            pass_fds=[self.held.fileno()], host="192.0.2.1",
        )  # fmt: skip
        return self

    def _load_credentials(self):
        """What systemd does for `LoadCredential=NAME:FILE` in the unit and its drop-ins. An empty one begins anew."""
        loaded = [f"SIGNALBOX_API_SECRET:{self.root}/etc/signalbox/api-secret"]
        for drop_in in sorted((self.root / "etc/systemd/system/signalbox.service.d").glob("*.conf")):
            for value in re.findall(r"^LoadCredential=(.*)$", drop_in.read_text(), re.MULTILINE):
                loaded = [*loaded, value] if value else []
        shutil.rmtree(self.credentials, ignore_errors=True)
        self.credentials.mkdir(parents=True)
        for each in loaded:
            name, _, path = each.partition(":")
            shutil.copy(path, self.credentials / name)

    def stop(self):
        assert self.server.stop() == 0
        self._read_journal()
        self.server = None

    def _read_journal(self):
        """Takes the lines that the server has written."""
        with contextlib.suppress(queue.Empty):
            while self.server.err.next(0.1) is not None:
                pass
        self.journal += self.server.err.seen
        self.server.err.seen.clear()

    # The service manager

    def _listen(self):
        self._manager = socket.socket(socket.AF_UNIX)
        self._manager.bind(str(self.root / "manager"))
        self._manager.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection = self._manager.accept()[0]
            except OSError:
                return
            with connection:
                words = connection.makefile().read().split("\0")
                self.calls.append(" ".join(words))
                try:
                    answer = f"0 {self._perform(words) or ''}"
                except Exception as error:
                    answer = f"70 {type(error).__name__}: {error}\n"
                connection.sendall(answer.encode())

    def _perform(self, words):
        match words:
            case ["systemctl", "start", "signalbox"]: self.start()
            case ["systemctl", "stop", "signalbox"]: self.stop()
            case ["systemctl", "restart", "signalbox"] | ["apt-get", "install", "--yes", "./signalbox.deb"]:
                self.stop()
                self.start()
            case ["systemctl", "daemon-reload"]: pass
            case ["systemctl", "reload", "signalbox"]:
                self.server.process.send_signal(1)
                self.server.err.until("reload")
            case ["journalctl", "--unit", "signalbox", "--lines", count]:
                self._read_journal()
                return "".join(line + "\n" for line in self.journal[-int(count) :])
            case _: raise ValueError(f"no such command: {words}")

    # The shell

    def _make_programs(self):
        bin = self.root / "bin"
        for name in ("signalbox", "signalbox-lab"):
            (bin / name).symlink_to(pathlib.Path(BINARY).resolve().with_name(name))
        # A `#!` line cannot name the interpreter: its path may have a blank.
        (self.root / "call.py").write_text(CALL)
        for name in ("systemctl", "journalctl", "apt-get"):
            (bin / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "{self.root}/call.py" {name} "$@"\n')
        for other in self.others:
            assert other.name.isidentifier() or "-" in other.name
        mapping = "; ".join(
            [f"[ \"$1\" = {each.name} ] && there='{each.root}' && map='{self._map_to(each)}'" for each in self.others]
            or ["true"]
        )
        # The name of the machine, then a command, whose paths and ports are those of this machine.
        (bin / "ssh").write_text(
            f"#!/usr/bin/env bash\n{mapping}\nshift\nwords=()\n"
            'for word; do words+=("$(sed "$map" <<<"$word")"); done\n'
            'PATH="$there/bin:$PATH" MACHINE="$there" exec "${words[@]}"\n'
        )
        # -p FILE MACHINE:FOLDER
        (bin / "scp").write_text(
            f'#!/usr/bin/env bash\nset -- "${{3%%:*}}" "$2" "${{3#*:}}"\n{mapping}\n'
            'exec cp -p "$2" "$(sed "$map" <<<"$3")"\n'
        )
        # There is no group of the server.
        (bin / "install").write_text(
            '#!/usr/bin/env bash\nPATH=${PATH#*:}\nwords=" $* "\nexec install ${words/ -g signalbox / }\n')
        for each in bin.iterdir():
            if not each.is_symlink():
                each.chmod(0o755)

    def _map_to(self, other):
        ports = "".join(f";s|:{self.ports[port]}|:{other.ports[port]}|g" for port in PORTS)
        return f"s|{self.root}|{other.root}|g{ports}"

    def adapted(self, commands):
        """The commands with the folders and ports of this machine."""
        commands = re.sub(rf"(?<![\w./])({'|'.join(FOLDERS)})(?=[/\s]|$)", rf"{self.root}\1", commands)
        for port in PORTS:
            commands = re.sub(rf":{port}\b", f":{self.ports[port]}", commands)
        return commands

    def shell(self, commands, has_credentials=False, **variables):
        """Runs a block of a page, and returns what it prints. Every command has to succeed."""
        credentials = {"api_key": self.project.key, "api_secret": self.project.secret} if has_credentials else {}
        kept = environment(
            server=f"http://127.0.0.1:{self.ports['8080']}", admin_url=f"http://127.0.0.1:{self.ports['9091']}",
            **credentials,
        )  # fmt: skip
        result = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self.adapted(commands)], capture_output=True, text=True,
            timeout=6 * DEADLINE, cwd=self.root / "root",
            env=kept | variables | {"PATH": f"{self.root}/bin:{os.environ['PATH']}", "MACHINE": str(self.root)},
        )  # fmt: skip
        assert result.returncode == 0, f"{result}\n{self.calls}"
        return result.stdout

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._manager.close()
        self.held.close()
        if self.server:
            self.server.__exit__()
