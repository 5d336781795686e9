"""The steps of the Dockerfile's image, executed in a folder with Debian 12, since the machine of the tests may have no
Docker. The build stage runs scripts that the other tests run."""

import json
import re
import shlex
import subprocess

from conftest import run
from test_packaging import stages


def test_the_image_serves_as_its_own_user(machine, program, tmp_path):
    _, image = stages()
    environment, user, facts = {}, None, {}
    for name, arguments in image:
        if name == "RUN":
            run("chroot", machine, "/bin/sh", "-c", arguments)
        elif name == "COPY":
            assert arguments == "--from=build /source/.build-release/release/signalbox /usr/bin/signalbox"
            run("install", "-D", "-m", "755", program, machine / "usr/bin/signalbox")
        elif name == "ENV":
            environment |= dict([arguments.split("=", 1)])
        elif name == "USER":
            user = arguments
        else:
            facts[name] = arguments
    secret = tmp_path / "api-secret"
    secret.write_text("a secret of the tests, 32 bytes long\n")
    secret.chmod(0o644)
    command = json.loads(facts["ENTRYPOINT"]) + json.loads(facts["CMD"])
    health = json.loads(facts["HEALTHCHECK"].split("CMD ")[1])

    def inside(script):
        """Runs a script in the folder, without a network, as the user of the image."""
        (machine / "script").write_text(script)
        settings = [f"--setenv={name}={value}" for name, value in environment.items()]
        return subprocess.run(
            ["systemd-nspawn", "--quiet", f"--directory={machine}", "--private-network", "--register=no", "--keep-unit",
             "--console=pipe", f"--user={user}", *settings, f"--bind-ro={secret}:/run/secrets/api-secret",
             "/bin/sh", "/script"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)  # fmt: skip

    # Without credentials it says what is missing.
    refused = inside(f"{shlex.join(command)} 2>&1; echo $?")
    line, status = refused.stdout.splitlines()
    assert line.startswith("signalbox: ") and "API key" in line and status == "64", refused

    environment |= {"SIGNALBOX_API_KEY": "100", "SIGNALBOX_API_SECRET_FILE": "/run/secrets/api-secret"}
    served = inside(f"""
        {shlex.join(command)} --state-dir {facts['VOLUME']}/state >/tmp/out 2>/tmp/err &
        server=$!
        for _ in $(seq 300); do {shlex.join(health)} 2>/dev/null && break; sleep 0.1; done
        {shlex.join(health)}; echo "health $?"
        id --user --name; cat /tmp/out
        curl --silent --fail --output /dev/null http://127.0.0.1:{facts['EXPOSE']}/ && echo page
        kill -TERM $server; wait $server; echo "end $?"
        {shlex.join(health)} 2>/dev/null; echo "health $?"
    """)
    lines = served.stdout.splitlines()
    assert lines[:2] == ["health 0", "signalbox"], served
    assert re.search(r"signalbox is ready at http://127.0.0.1:8080/", served.stdout) and "page" in lines
    assert lines[-2:] == ["end 0", "health 69"], served
