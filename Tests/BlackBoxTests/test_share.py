"""`signalbox serve --share`: development mode for the local network."""

import re

import pytest

from server_process import Server, run
from signalbox_client import Client

NEAR = "192.168.7.20:8080"


def status(server, method, path, host=NEAR, **headers):
    """By `Host` alone: the tests run on the machine of the server, whose addresses count as its network's."""
    return server.request(method, path, b"" if method == "POST" else None, {"Host": host} | headers).status


async def test_rest_4_a_shared_server_gives_the_network_rooms_and_nothing_else():
    with Server("--share", "--admin-port", "0", "--public-metrics", dev=True) as server:
        assert "every device on your network" in server.err.until("warning: --share")
        assert server.host == "127.0.0.1", "the ready line is for this machine"
        for path in ("/room/lobby", "/session", "/room/lobby?role=subscriber", "/livez", "/"):
            assert status(server, "GET", path) == 200, path
            assert status(server, "GET", path, host=f"127.0.0.1:{server.port}") == 200, path
            # DNS rebinding, an address of the internet, and a proxy on this machine.
            for host, headers in [
                ("chat.example", {}), ("203.0.113.9:8080", {}), (NEAR, {"X-Forwarded-For": "203.0.113.9"}),
            ]:  # fmt: skip
                assert status(server, "GET", path, host=host, **headers) == 403, (path, host, headers)
        moderator = server.request("GET", "/room/lobby?role=moderator", None, {"Host": NEAR})
        assert moderator.status == 403 and "moderators join" in moderator.json()["message"]
        assert status(server, "GET", "/room/lobby?role=moderator", host="localhost") == 200
        for method, path in [
            ("POST", "/session/create"), ("GET", "/metrics"), ("GET", "/admin/v1/sessions"),
            ("POST", "/v2/project/100/link"), ("GET", f"/v2/project/100/session/{server.room('lobby')['sessionId']}/connection"),
        ]:  # fmt: skip
            assert status(server, method, path) == 403, path
        # No page of another origin can read the answer.
        answer = server.request("GET", "/room/lobby", None, {"Host": NEAR, "Origin": f"http://{NEAR}"})
        assert answer.headers["Access-Control-Allow-Origin"] is None
        room = server.request("GET", "/room/lobby?data=Phone", None, {"Host": NEAR}).json()
        async with await Client.join(server, room["sessionId"], token=room["token"], key=room["apiKey"]) as phone:
            assert phone.id


def test_a_shared_server_prints_how_a_phone_joins():
    with Server("--share", "--host", "0.0.0.0", dev=True) as server:
        line = server.out.until(r"on a phone on the same Wi-Fi|no address on a local network")
        if "scan this code" in line:
            assert re.search(rf"http://[0-9.]+:{server.port}/$", line), line
            assert server.out.until("█▀▀▀▀▀█").startswith("    ")


@pytest.mark.parametrize("arguments, words", [
    (["--share", "--api-key", "1", "--api-secret", "s"], "only development mode can be shared"),
    (["--share", "--host", "127.0.0.1"], "other devices cannot reach 127.0.0.1"),
])  # fmt: skip
def test_what_cannot_be_shared_is_refused_with_64(arguments, words):
    refused = run("serve", "--port", "0", *arguments)
    assert refused.returncode == 64 and words in refused.stderr and not refused.stdout, refused
