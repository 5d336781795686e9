"""A Debian in a folder that systemd-nspawn boots, without a network, to run a script as root."""

import pathlib
import shlex
import subprocess

from conftest import run

# No result depends on it; it only ends a machine that hangs.
DEADLINE = 540

UNIT = """
[Unit]
After=multi-user.target
# Ends systemd and with it the machine. A machine without privileges cannot be powered off.
SuccessAction=exit-force
FailureAction=exit-force
[Service]
Type=oneshot
WorkingDirectory=/root
Environment=HOME=/root
ExecStart=/bin/bash -euo pipefail /root/script
StandardOutput=file:/root/output
StandardError=file:/root/output
ExecStopPost=/bin/sh -c 'echo "$EXIT_STATUS" >/root/status'
TimeoutStartSec=infinity
"""


def fetch_dependencies(folder, package):
    """Downloads what the package needs, so that the machine installs it without a network."""
    (folder / "root" / "signalbox.deb").write_bytes(package.read_bytes())
    run("chroot", folder, "apt-get", "install", "--yes", "--download-only", "/root/signalbox.deb")


def boot(folder, script):
    """Boots the folder, runs the script, and returns its output. The script must succeed."""
    root = folder / "root"
    (root / "script").write_text(script)
    (folder / "etc/systemd/system/script.service").write_text(UNIT)
    wants = folder / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True, exist_ok=True)
    (wants / "script.service").symlink_to("../script.service")
    machine = subprocess.run(
        ["systemd-nspawn", "--quiet", f"--directory={folder}", "--boot", "--private-network", "--register=no",
         "--keep-unit", "--console=pipe", "--hostname=bookworm"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE)  # fmt: skip
    output = (root / "output").read_text() if (root / "output").exists() else machine.stdout + machine.stderr
    status = (root / "status").read_text().strip() if (root / "status").exists() else "not run"
    print(output)
    assert status == "0", f"status {status}\n{output[-12000:]}"
    return output


def check(name, command):
    """A step of a script: a command that must succeed, with its name in the output."""
    return f"echo {shlex.quote('== ' + name)}\n{command}\n"


def blocks(document):
    """The shell commands of a document."""
    inside, found = False, []
    for line in pathlib.Path(document).read_text().splitlines():
        if line == "```sh":
            inside = True
            found.append("")
        elif line == "```":
            inside = False
        elif inside:
            found[-1] += line + "\n"
    return found
