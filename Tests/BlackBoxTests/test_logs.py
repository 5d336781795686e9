"""The log of the server."""

import os
import re
import subprocess
import threading

from credentials import Project
from server_process import BINARY, DEADLINE, READY, Server, environment
from signalbox_client import Client, connect_line


async def test_logs_contain_no_secrets_even_at_trace_level():
    with Server("--allow-partner-auth", log_level="trace") as server:
        project = server.project
        session = project.session()
        token = project.token(session, data="DATA-IN-TOKEN")
        jwt, credentials = project.jwt_token(session), project.credentials()
        expired = project.token(session, create_time=1, expire_time=2)
        async with (
            await Client.join(server, session, token=token) as ada,
            await Client.join(server, session, token=jwt),
        ):
            await ada.signal(type="SECRET-TYPE", data="SECRET-BODY")
            await ada.signal(type="a", data="SECRET-BODY", to="SECRET-TARGET")
            await ada.send('{"op":"SECRET-LINE"}')
            await ada.send("SECRET-LINE")
            secrets = [ada.connected["resume"]["secret"]]
            async with await Client.open(server) as bob:
                await bob.send(connect_line(server, session, token=expired))
                await bob.closed()
            server.rest("POST", server.session_path(session, "/signal"), {"data": "SECRET-BODY"}, credentials)
            server.rest("POST", server.session_path(session, "/signal"), {"data": 1, "SECRET-BODY": 2}, credentials)
            server.request("GET", "/room/x?token=" + token)
            for secret in (project.secret, "SECRET-GUESS"):
                server.request("POST", "/session/create", b"", {"X-TB-PARTNER-AUTH": f"{project.key}:{secret}"})
            server.request("POST", "/session/create", b"", {"Authorization": "Bearer " + credentials})
        assert server.stop() == 0
        while server.err.next() is not None:
            pass
        log = "\n".join(server.err.seen) + "\n".join(server.out.seen)
        assert "closing" in log or len(server.err.seen) > 3, "the trace level logs something"
        secrets += [
            project.secret, token, token[5:], jwt, jwt.split(".")[2], credentials, credentials.split(".")[2], expired
        ]
        secrets += ["SECRET-", "DATA-IN-TOKEN"]
        assert [secret for secret in secrets if secret in log] == []


async def test_a_log_reader_that_stalls_does_not_stop_the_server():
    """The pipe to the reader holds 65,536 bytes. After that, lines wait in the server, and never its event loop."""
    project = Project("100", "a secret of the tests")
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [BINARY, "serve", "--port", "0", "--log-level", "debug"],
        stdout=subprocess.PIPE,
        stderr=writing,
        text=True,
        env=environment(api_key=project.key, api_secret=project.secret),
    )
    os.close(writing)
    try:
        server = Running(project, *READY.search(process.stdout.readline()).groups())
        session = project.session()
        async with await Client.join(server, session, options={"connectionEventsSuppressed": True}) as ada:
            # Each connection logs two lines of more than 100 bytes.
            for _ in range(700):
                async with await Client.join(server, session, options={"connectionEventsSuppressed": True}) as client:
                    await client.leave()
            assert (await ada.signal(data="x"))[0]["ev"] == "ack"
        received = []
        reader = threading.Thread(target=lambda: received.append(read_to_end(reading)))
        process.terminate()
        # Only now does the reader read: the server ends, and writes what waited before it does.
        reader.start()
        assert process.wait(DEADLINE) == 0
        reader.join(DEADLINE)
        (log,) = received
        assert len(log) > 65_536, "the reader stalled"
        count = len(re.findall(rb" debug signalbox: .*\] connected\n", log))
        dropped = re.findall(rb"lines=(\d+) \[SignalingServer\] dropped log lines", log)
        assert count == 701 or (dropped and count < 701), (count, dropped)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()
        os.close(reading)


class Running:
    """What a client needs of a server."""

    tls = None

    def __init__(self, project, host, port):
        self.project, self.host, self.port = project, host, int(port)


def read_to_end(descriptor):
    received = b""
    while piece := os.read(descriptor, 65536):
        received += piece
    return received
