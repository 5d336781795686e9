"""Several servers on one machine that divide the sessions: docs/operations/cores.md, its unit and its proxies."""

import asyncio
import contextlib
import json
import re
import shlex
import shutil
import ssl
import urllib.parse

import pytest
import websockets

from credentials import Project
from proxies import Proxy
from server_process import READY, REPOSITORY, START, TLS, Command, Server, environment, run
from signalbox_client import Client
from test_packaging import UNIT, assignments, tool
from test_proxies import both_in_one_file, directives, seen_timeouts
from waiting import free_port

FOLDER = REPOSITORY / "docs/operations"
PAGE = (FOLDER / "cores.md").read_text()
TEMPLATE = UNIT.with_name("signalbox@.service")
NUMBERS = ("1", "2", "3", "4")
PROXIES = {"nginx": "nginx-cores.conf", "haproxy": "haproxy-cores.cfg"}
PROJECT = Project("100", "a secret of the tests, 32 bytes long")


class Core(Command):
    """One of the servers, with the command line and the credentials of its unit; other ports and folders."""

    def __init__(self, number, folder, port):
        command = TEMPLATE.read_text().replace("\\\n", " ").split("ExecStart=")[1].splitlines()[0].replace("%i", number)
        program, *arguments = shlex.split(command)
        assert program == "/usr/bin/signalbox" and f"808{number}" in arguments and f"909{number}" in arguments
        replaced = {
            "/etc/signalbox/signalbox.json": str(folder / "signalbox.json"), f"808{number}": str(port),
            f"909{number}": "0", f"/var/lib/signalbox/{number}": str(folder / number),
        }
        arguments = [replaced.pop(each, each) for each in arguments]
        assert not replaced, "the unit names each of these once"
        variables = environment(log_level="info") | {"CREDENTIALS_DIRECTORY": str(folder)}
        super().__init__(*arguments, env=variables)
        self.project, self.tls, self.host = PROJECT, None, "127.0.0.1"
        self.port = int(READY.search(self.out.until(READY, START))[2])
        self.url = f"http://127.0.0.1:{self.port}"

    request = Server.request
    rest = Server.rest
    session_path = Server.session_path

    def count(self, session):
        return self.rest("GET", self.session_path(session, "/connection")).json()["count"]


class Machine:
    """The servers of the units, and a proxy with a configuration of the documents in front of them."""

    def __init__(self, stack, name, folder):
        settings = json.loads((REPOSITORY / "packaging/signalbox.json").read_text())
        (folder / "signalbox.json").write_text(json.dumps(settings))
        for credential in assignments(TEMPLATE)["LoadCredential"]:
            (folder / credential.split(":")[0]).write_text(PROJECT.secret + "\n")
        self.folder, self.stack = folder, stack
        self.ports = {number: free_port() for number in NUMBERS}
        self.cores = {number: self.start(number) for number in NUMBERS}
        text = (FOLDER / "proxies" / PROXIES[name]).read_text()
        for documented, actual in {
            "listen 443": "listen 127.0.0.1:443", "bind :443": "bind 127.0.0.1:443",
            "/etc/nginx/signalbox.pem": f'"{TLS}/server.pem"',
            "/etc/nginx/signalbox.key.pem": f'"{TLS}/server.key.pem"',
            "/etc/haproxy/signalbox.pem": both_in_one_file(),
        }.items():
            text = text.replace(documented, actual)
        ports = {"443": None} | {f"808{number}": str(port) for number, port in self.ports.items()}
        tls = ssl.create_default_context(cafile=TLS / "authority.pem")
        self.front = stack.enter_context(Proxy(name, text, PROJECT, ports, tls=tls))

    def start(self, number):
        return self.stack.enter_context(Core(number, self.folder, self.ports[number]))

    async def join(self, session, **options):
        query = "?sessionId=" + urllib.parse.quote(session, safe="")
        return await Client.join(self.front, session, socket={"query": query}, **options)

    def listen(self, session):
        """A client of the product, which reconnects by itself."""
        listen = Command(
            "listen", session, "--ca-file", TLS / "authority.pem", server=self.front.url, api_key=PROJECT.key,
            api_secret=PROJECT.secret)  # fmt: skip
        return self.stack.enter_context(listen)

    def homes(self, session):
        """The servers on which clients of the session are."""
        return [number for number, core in self.cores.items() if core.count(session)]


@pytest.fixture(params=PROXIES)
def machine(request, tmp_path):
    with contextlib.ExitStack() as stack:
        yield Machine(stack, request.param, tmp_path)


async def test_cores_every_session_is_on_one_server_and_all_its_clients_reach_it(machine):
    """Clients over WebSockets, `signalbox listen`, and REST."""
    sessions, used = [PROJECT.session() for _ in range(16)], set()
    for session in sessions:
        async with await machine.join(session) as ada, await machine.join(session) as bob:
            await ada.expect("connectionCreated")
            answer, _ = await ada.signal(type="t", data="hello")
            await bob.expect("signal", data="hello", seq=answer["seq"])
            path = machine.front.session_path(session, "/signal")
            assert machine.front.rest("POST", path, {"data": "by REST"}).status == 204
            await bob.expect("signal", data="by REST")
            home = machine.homes(session)
            assert len(home) == 1 and machine.cores[home[0]].count(session) == 2
            used.update(home)
    assert len(used) > 1, "16 sessions are on one of four servers: chance is one in a billion"
    listen = machine.listen(sessions[0])
    await asyncio.to_thread(listen.out.until, '"connected"')
    path = machine.front.session_path(sessions[0], "/signal")
    assert machine.front.rest("POST", path, {"data": "to the tool"}).status == 204
    await asyncio.to_thread(listen.out.until, "to the tool")


async def test_cores_a_restarted_server_keeps_its_sessions_and_no_other_one_takes_them(machine):
    session, other = PROJECT.session(), PROJECT.session()
    listen = machine.listen(session)
    await asyncio.to_thread(listen.out.until, '"connected"')
    [home] = machine.homes(session)
    while True:
        async with await machine.join(other):
            if machine.homes(other) != [home]:
                break
        other = PROJECT.session()
    async with await machine.join(other) as bystander:
        path = machine.front.session_path(session, "/signal")
        assert machine.front.rest("POST", path, {"data": "before"}).status == 204
        await asyncio.to_thread(listen.out.until, "before")
        machine.cores[home].process.kill()
        machine.cores[home].wait()
        await asyncio.to_thread(listen.out.until, '"reconnecting"')
        for _ in range(4):
            assert machine.front.rest("POST", path, {"data": "nowhere"}).status in (502, 503)
        machine.cores[home] = await asyncio.to_thread(machine.start, home)
        resumed = json.loads(await asyncio.to_thread(listen.out.until, '"reconnected"'))
        assert resumed["outcome"] == "resumed", resumed
        assert machine.front.rest("POST", path, {"data": "after"}).status == 204
        await asyncio.to_thread(listen.out.until, "after")
        assert not [line for line in listen.out.seen if "nowhere" in line]
        assert (await bystander.signal(type="t"))[0]["ev"] == "ack", "other sessions notice nothing"
        assert machine.homes(session) == [home]


async def test_cores_a_client_that_does_not_name_its_session_is_refused_by_the_proxy(machine):
    with pytest.raises(websockets.InvalidStatus) as refusal:
        await Client.open(machine.front)
    assert refusal.value.response.status_code == 400
    assert b"update the client library" in refusal.value.response.body


def test_cores_requests_without_a_session_have_one_server(machine):
    """The page, new sessions, and links: the server that has given a code knows it."""
    front = machine.front
    assert front.request("GET", "/readyz").status == 200 and front.request("GET", "/opentok.js").status == 200
    session = front.rest("POST", "/session/create").json()[0]["session_id"]
    for _ in range(8):
        body = {"sessionId": session, "token": PROJECT.token(session)}
        code = front.rest("POST", f"/v2/project/{PROJECT.key}/link", body).json()["code"]
        redeemed = front.request("POST", "/link", json.dumps({"code": code}), {"Content-Type": "application/json"})
        assert redeemed.json()["sessionId"] == session


async def test_cores_a_revocation_is_made_at_each_server(machine):
    session = PROJECT.session()
    token = PROJECT.token(session, user="u-17")
    async with await machine.join(session, token=token) as ada:
        [command] = re.findall(r"^ +(signalbox revoke .*)$", PAGE, re.M)
        for number, port in machine.ports.items():
            words = shlex.split(command.replace("$n", number).replace(f"808{number}", str(port)))
            done = await asyncio.to_thread(run, *words[1:], api_key=PROJECT.key, api_secret=PROJECT.secret)
            assert done.returncode == 0, done
        assert (await ada.closed())[0] == 4505


# MARK: - The unit and the configurations


def test_cores_the_unit_is_that_of_one_server_but_for_what_is_its_own():
    one, many = assignments(UNIT), assignments(TEMPLATE)
    own = {"Description", "Documentation", "After", "Conflicts", "ExecStart", "LoadCredential", "StateDirectory"}
    assert {name for name in one.keys() | many.keys() if one.get(name) != many.get(name)} == own
    assert many["Conflicts"] == ["signalbox.service"], "it has the port of one of them"


def test_cores_systemd_finds_no_fault_in_the_unit(tmp_path):
    program = tmp_path / "signalbox"
    program.symlink_to(shutil.which("true"))
    (tmp_path / TEMPLATE.name).write_text(TEMPLATE.read_text().replace("/usr/bin/signalbox", str(program)))
    result = tool("systemd-analyze", "verify", "--man=no", tmp_path / "signalbox@1.service")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_cores_the_package_has_the_unit():
    # debhelper installs a unit of this name by itself, and starts no instance.
    assert f"packaging/systemd/{TEMPLATE.name}" in (REPOSITORY / "scripts/builds/package").read_text()
    assert "signalbox@*.service" in (REPOSITORY / "packaging/debian/signalbox.prerm").read_text()


def test_cores_the_configurations_are_those_of_one_server_but_for_the_choice():
    def text(name):
        return (FOLDER / "proxies" / name).read_text()

    def headers(name):
        lines = directives(text(name), "server {")
        return {line for line in lines if line.startswith("proxy_") and "proxy_pass" not in line}

    assert headers("nginx-cores.conf") - headers("nginx.conf") == {"proxy_next_upstream off;"}
    assert headers("nginx.conf") <= headers("nginx-cores.conf")
    assert seen_timeouts(FOLDER / "proxies/haproxy.cfg") == seen_timeouts(FOLDER / "proxies/haproxy-cores.cfg")


def test_cores_the_ports_of_the_page_are_those_of_unit_and_proxies():
    for number in NUMBERS:
        assert f"127.0.0.1:909{number}" in PAGE
        for name in PROXIES.values():
            assert f"127.0.0.1:808{number}" in (FOLDER / "proxies" / name).read_text()
    options = set(re.findall(r"`(--[a-z-]+)`", PAGE))
    known = run("serve", "--help").stdout
    assert options and all(option in known for option in options), options
