"""Several nodes over one Redis (docs/SCALING.md): every promise holds across them."""

import asyncio
import os
import pathlib
import re
import signal
import subprocess

import pytest

from administration import Admin
from cluster import Balancer, Redis, nodes
from credentials import Project
from durable import kill
from server_process import BINARY, DEADLINE, LAB, REPOSITORY, Server, run
from server_process import environment as child_environment
from signalbox_client import Client, reconnect
from waiting import free_port, suspended, until, wait_for


async def across(first, second):
    """A client on each of two nodes, in one session."""
    session = first.project.session()
    ada = await Client.join(first, session)
    bob = await Client.join(second, session)
    await ada.expect("connectionCreated", seq=2)
    return session, ada, bob


async def seen(client, ev, **members):
    """The next event with these members; others are passed over."""
    while True:
        event = await client.next()
        if event["ev"] == ev and all(event.get(name) == value for name, value in members.items()):
            return event


async def resumed(server, session, old, after):
    client = await reconnect(server, session, old, after)
    assert client.connected["outcome"] == "resumed" and client.id == old.id
    return client


async def test_g_1_two_nodes_show_one_order():
    with nodes(2) as (_, (first, second)):
        session, ada, bob = await across(first, second)
        async with ada, bob:
            assert [each["connectionId"] for each in bob.connected["connections"]] == [ada.id, bob.id]

            async def send(client):
                for number in range(50):
                    await client.request("signal", type="t", data=f"{client.id} {number}")

            await asyncio.gather(send(ada), send(bob))
            orders = []
            for client in (ada, bob):
                orders.append([(await seen(client, "signal"))["data"] for _ in range(100)])
                assert [each for each in orders[-1] if each.startswith(ada.id)] == [
                    f"{ada.id} {number}" for number in range(50)
                ]
            assert orders[0] == orders[1]


async def test_g_2_a_node_is_killed_and_nothing_that_was_acknowledged_is_lost():
    with nodes(2) as (_, (first, second)):
        session, ada, bob = await across(first, second)
        async with bob:
            answer, _ = await ada.signal(type="t", data="kept")
            await bob.expect("signal", data="kept", seq=answer["seq"])
            kill(first)
            answer, _ = await bob.signal(type="t", data="meanwhile")
            async with await resumed(second, session, ada, after=3) as ada2:
                await ada2.expect("signal", data="meanwhile", seq=answer["seq"])


async def test_metrics_tell_how_redis_confirms_and_how_many_nodes_there_are():
    with nodes(2, "--admin-port", "0") as (redis, servers):
        session, ada, _ = await across(*servers)
        await ada.signal(type="chat", data="hello")
        first = Admin(servers[0])
        wait_for(lambda: first.value("signalbox_nodes") == 2, "both nodes")
        assert first.value("signalbox_command_log_healthy") == 1
        assert first.value("signalbox_command_log_append_latency_seconds_count") >= 2
        redis.kill()
        unhealthy = lambda: first.value("signalbox_command_log_healthy") == 0
        await asyncio.to_thread(wait_for, unhealthy, "a log that keeps nothing")


@pytest.mark.waiting
async def test_log_32_a_dead_node_is_declared_lost_and_its_clients_leave_after_their_window():
    with nodes(2, resume_seconds=2) as (_, (first, second)):
        _, ada, bob = await across(first, second)
        async with bob:
            kill(first)
            await bob.expect("connectionDestroyed", connectionId=ada.id, reason="networkDisconnected")


async def test_log_11_rest_lists_signals_and_removes_clients_of_the_other_node():
    with nodes(2) as (_, (first, second)):
        session = first.project.session()
        async with await Client.join(first, session) as ada:
            listed = second.rest("GET", second.session_path(session, "/connection")).json()
            assert [each["connectionId"] for each in listed["items"]] == [ada.id]
            body = {"type": "t", "data": "by REST"}
            assert second.rest("POST", second.session_path(session, "/signal"), body).status == 204
            await ada.expect("signal", data="by REST")
            path = second.session_path(session, f"/connection/{ada.id}")
            assert second.rest("DELETE", path).status == 204
            close, _ = await ada.closed()
            assert close == 4502
        unknown = second.session_path(first.project.session(), "/signal")
        assert second.rest("POST", unknown, body).status == 404


async def test_his_3_every_node_lists_the_sleepers_of_all_nodes_and_moderates_them():
    with nodes(2, history="all") as (_, (first, second)):
        session, ada, bob = await across(first, second)
        await ada.signal(type="text-chat", data="kept")
        for client in (ada, bob):
            await client.leave()
        path = f"/admin/v1/sessions/{session}"

        def rows(node):
            return node.rest("GET", "/admin/v1/sessions?asleep=true").json()["items"]

        for node in (first, second):
            await until(lambda: [row["sessionId"] for row in rows(node)] == [session], "it sleeps")
            await until(lambda: node.rest("GET", path).json() == rows(node)[0], "nobody hosts it")
        row = rows(first)[0]
        assert row["asleep"] is True and row["hasHistory"] is True and row["restrictions"] == 0
        assert first.rest("GET", path).json() == row
        action = {"action": "ban", "user": "u"}
        assert second.rest("POST", f"{path}/moderation", action).status == 200
        (held,) = first.rest("GET", f"{path}/moderation").json()["restrictions"]
        assert (held["kind"], held["user"]) == ("ban", "u")
        assert first.rest("DELETE", f"{path}/messages?through=9").status == 204
        assert second.rest("GET", second.session_path(session, "/message")).json()["messages"] == []


async def test_leave_5_a_node_that_stops_sends_its_clients_to_the_others():
    with nodes(2) as (_, (first, second)):
        session, ada, bob = await across(first, second)
        async with bob:
            assert await asyncio.to_thread(first.stop) == 0
            close, events = await ada.closed()
            assert close == 1001 and events[-1]["ev"] == "disconnected" and events[-1]["reconnectAfter"] >= 0
            async with await resumed(second, session, ada, after=2):
                _, events = await bob.signal(type="t", data="next")
                assert [each["ev"] for each in events] == ["signal"]


async def test_log_34_sockets_stay_while_redis_is_away():
    with nodes(2) as (redis, (first, second)):
        _, ada, bob = await across(first, second)
        async with ada, bob:
            redis.kill()
            request = await ada.request("signal", type="t", data="waits")
            await asyncio.to_thread(wait_for, lambda: first.request("GET", "/readyz").status == 503, "503")
            assert first.request("GET", "/livez").status == 200
            redis.start()
            answer, _ = await ada.answer(request)
            assert answer["ev"] == "ack"
            await bob.expect("signal", data="waits", seq=answer["seq"])
            await asyncio.to_thread(wait_for, lambda: first.request("GET", "/readyz").status == 200, "200")


async def test_log_31_redis_comes_back_empty_and_the_nodes_put_the_session_back():
    with nodes(2) as (redis, (first, second)):
        _, ada, bob = await across(first, second)
        async with ada, bob:
            await ada.signal(type="t", data="before")
            await bob.expect("signal", data="before", seq=3)
            assert redis.call("FLUSHALL") == b"+OK"
            redis.kill()
            redis.start()
            answer, _ = await ada.signal(type="t", data="after")
            assert answer["ev"] == "ack" and answer["seq"] == 4
            await bob.expect("signal", data="after", seq=4)


@pytest.mark.parametrize("balancer", ["haproxy", "nginx"])
async def test_scaling_a_load_balancer_passes_clients_to_the_other_node(balancer):
    with nodes(2, trusted_proxy="127.0.0.1") as (_, servers), Balancer(balancer, servers) as front:
        session = front.project.session()
        clients = [await Client.join(front, session) for _ in range(4)]
        answer, _ = await clients[0].signal(type="t", data="before")
        for client in clients[1:]:
            await seen(client, "signal", data="before", seq=answer["seq"])
        kill(servers[0])
        returned = []
        for client in clients:
            returned.append(await try_until_resumed(front, session, client, answer["seq"]))
        answer, _ = await returned[0].signal(type="t", data="after")
        for client in returned[1:]:
            await seen(client, "signal", data="after", seq=answer["seq"])
        for client in returned:
            await client.__aexit__()


async def try_until_resumed(front, session, client, after):
    """A client's attempts to return while the load balancer notices that a node is gone."""
    deadline = asyncio.get_running_loop().time() + DEADLINE
    while True:
        try:
            return await resumed(front, session, client, after)
        except Exception:
            if asyncio.get_running_loop().time() > deadline:
                raise
            await asyncio.sleep(0.1)


# Bad input


def test_scaling_an_unreachable_redis_is_one_line_and_status_69():
    ended = run("serve", "--port", "0", redis=f"redis://127.0.0.1:{free_port()}", api_key="1", api_secret="s")
    assert ended.returncode == 69 and ended.stdout == ""
    assert len(ended.stderr.splitlines()) == 1 and "127.0.0.1" in ended.stderr


def test_scaling_a_server_that_cannot_listen_leaves_redis():
    with nodes(1) as (redis, [server]):
        ended = run("serve", "--port", server.port, redis=redis.url, api_key="1", api_secret="s")
        assert ended.returncode == 69 and ended.stdout == "" and "already listens" in ended.stderr, ended.stderr
        command = ["redis-cli", "-p", str(redis.port), "HGETALL", "sb:nodes"]
        words = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        # A living node's value begins with a letter; that of a lost one is the time of its loss.
        values = [value for name, value in zip(words[::2], words[1::2]) if not name.startswith("@")]
        assert sorted(value[0] == "a" for value in values) == [False, True], words


@pytest.mark.parametrize("password", [None, "wrong"])
def test_scaling_a_wrong_password_is_one_line_without_the_password(password):
    with Redis() as redis:
        assert redis.call("CONFIG", "SET", "requirepass", "right") == b"+OK"
        url = f"redis://:{password}@127.0.0.1:{redis.port}" if password else redis.url
        ended = run("serve", "--port", "0", redis=url, api_key="1", api_secret="s")
        assert ended.returncode == 69 and len(ended.stderr.splitlines()) == 1
        assert "password" in ended.stderr and "wrong@" not in ended.stderr


@pytest.mark.parametrize("arguments", [
    ["--redis", "127.0.0.1:6379"], ["--redis", "redis://127.0.0.1:1", "--dev"],
    ["--redis", "redis://127.0.0.1:1", "--state-dir", "/tmp/x"],
])
def test_scaling_a_malformed_address_and_settings_that_contradict_redis_are_wrong_usage(arguments):
    settings = {} if "--dev" in arguments else {"api_key": "1", "api_secret": "s"}
    ended = run("serve", "--port", "0", *arguments, **settings)
    assert ended.returncode == 64 and len(ended.stderr.splitlines()) == 1, ended.stderr


async def test_scaling_the_commands_of_the_page(tmp_path):
    """They run as they are, except for the ports, which other programs may use."""
    page = (REPOSITORY / "docs/SCALING.md").read_text()
    block = re.search(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1]
    ports = {number: free_port() for number in ("6379", "8080", "8081", "8082")}

    def with_free_ports(text):
        return re.sub(r"\b(" + "|".join(ports) + r")\b", lambda found: str(ports[found[1]]), text)

    configuration = tmp_path / "docs/scaling/haproxy.cfg"
    configuration.parent.mkdir(parents=True)
    configuration.write_text(with_free_ports((REPOSITORY / "docs/scaling/haproxy.cfg").read_text()))
    (tmp_path / "signalbox").symlink_to(pathlib.Path(BINARY).resolve())
    environment = child_environment() | {"PATH": f"{tmp_path}:{os.environ['PATH']}:/usr/sbin"}
    shell = subprocess.Popen(
        ["bash", "-ec", with_free_ports(block) + "\nwait"], cwd=tmp_path, env=environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        front = Front(ports["8080"], Project("100", re.search(r"SIGNALBOX_API_SECRET=(\S+)", block)[1]))
        session = front.project.session()
        await asyncio.to_thread(wait_for, lambda: front.is_ready(), "the nodes")
        ada, bob = await Client.join(front, session), await Client.join(front, session)
        async with ada, bob:
            answer, _ = await ada.signal(type="t", data="hello")
            await seen(bob, "signal", data="hello", seq=answer["seq"])
    finally:
        os.killpg(shell.pid, signal.SIGKILL)
        shell.wait()
        subprocess.run(["pkill", "-KILL", "-f", f"redis-server.*:{ports['6379']}"])
        for pid in pids_in(tmp_path, "haproxy"):
            os.kill(pid, signal.SIGKILL)


def pids_in(folder, name):
    """The processes of this name that run in the folder. HAProxy leaves its shell's process group."""
    found = subprocess.run(["pgrep", "-x", name], capture_output=True, text=True).stdout.split()
    return [int(pid) for pid in found if os.path.realpath(f"/proc/{pid}/cwd") == str(folder.resolve())]


class Front:
    """What the page's load balancer serves."""

    def __init__(self, port, project):
        self.host, self.port, self.project, self.tls = "127.0.0.1", port, project, None

    request = Server.request

    def is_ready(self):
        try:
            return self.request("GET", "/readyz").status == 200
        except OSError:
            return False


def test_scaling_the_page_names_options_and_files_that_exist():
    page = (REPOSITORY / "docs/SCALING.md").read_text()
    for path in re.findall(r"\((scaling/[^)]+)\)", page):
        assert (REPOSITORY / "docs" / path).is_file()
    options = set(re.findall(r"`(--[a-z-]+)`", page)) | set(re.findall(r"signalbox(?:-lab)? \w+[^\n]*? (--[a-z-]+)", page))
    known = run("serve", "--help").stdout
    known += "".join(run(command, "--help", program=LAB).stdout for command in ("verify", "bench"))
    assert options and all(option in known for option in options), options


@pytest.mark.waiting
async def test_log_34_a_node_without_redis_sends_its_clients_away_and_they_resume():
    """The other nodes may have declared it lost by then: others would see its clients leave."""
    with nodes(1) as (redis, (node,)):
        session = node.project.session()
        ada = await Client.join(node, session)
        with suspended(redis.process.pid):
            code, events = await ada.closed()
            assert code == 1001 and events[-1]["reconnect"] is True
            # A client that comes meanwhile is sent away at once, and can try another node.
            late = await Client.open(node)
            await late.request("connect", apiKey=node.project.key, sessionId=session, token=node.project.token(session))
            code, _ = await late.closed()
            assert code == 1001
        await asyncio.to_thread(wait_for, lambda: node.request("GET", "/readyz").status == 200, "Redis")
        back = await resumed(node, session, ada, after=1)
        async with back:
            assert (await back.signal(type="x"))[0]["ev"] == "ack"
