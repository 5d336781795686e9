"""TOK-10 and REST-8: tokens that are refused before they expire."""

import asyncio
import json
import os
import shutil
import signal
import time

import pytest

from administration import Admin
from cluster import nodes
from credentials import Project
from server_process import Server, run
from signalbox_client import Client
from waiting import until, wait_for


def revoke(server, body=None, project=None):
    project = project or server.project
    answer = server.rest("POST", f"/v2/project/{project.key}/revocation", body or {}, project=project)
    assert answer.status == 200, answer
    return answer.json()


def revocations(server):
    answer = server.rest("GET", f"/v2/project/{server.project.key}/revocation")
    assert answer.status == 200, answer
    return answer.json()["revocations"]


def take_back(server, query=""):
    return server.rest("DELETE", f"/v2/project/{server.project.key}/revocation{query}").status


async def refused(server, session, token):
    error = await Client.denied(server, session, token)
    assert (error["code"], error["retryable"]) == (1004, False)
    assert "revoked" in error["message"]


async def seen(client, ev, **members):
    """The next event with these members; others are passed over."""
    while True:
        event = await client.next()
        if event["ev"] == ev and all(event.get(name) == value for name, value in members.items()):
            return event


def write_settings(folder, **settings):
    path = folder / "settings.json"
    path.write_text(json.dumps(settings))
    return path


async def ended(client):
    code, events = await client.closed()
    assert code == 4505
    assert {"ev": "disconnected", "reason": "networkDisconnected", "reconnect": False} in events, events


async def not_accepted(server, session, token):
    """Refused as revoked, or sent away: a node that has lost Redis does so with every client (LOG-34)."""
    async with await Client.open(server) as client:
        await client.request("connect", apiKey=server.project.key, sessionId=session, token=token)
        answer = await client.next()
        assert answer.get("code") == 1004 or (answer["ev"], answer["reconnect"]) == ("disconnected", True), answer


@pytest.fixture(scope="module")
def server():
    """Its revocations concern no other test."""
    with Server("--signal-rate", "0", "--admin-port", "0") as server:
        server.admin = Admin(server)
        yield server


@pytest.fixture
def session(server):
    return server.project.session()


async def test_tok_10_a_revoked_user_is_disconnected_and_refused_and_others_are_not(server, session):
    token = server.project.token(session, user="u-1")
    async with (
        await Client.join(server, session, token=token) as tab,
        await Client.join(server, session, token=server.project.jwt_token(session, user="u-1")) as other_tab,
        await Client.join(server, session, token=server.project.token(session, user="u-2")) as bob,
        await Client.join(server, session) as guest,
    ):
        revocation = revoke(server, {"user": "u-1"})
        assert revocation == {"user": "u-1", "before": revocation["before"]}
        # A token that is issued after the answer is valid, also within the same second.
        assert abs(revocation["before"] - time.time()) < 30
        async with await Client.join(server, session, token=server.project.token(session, user="u-1")) as again:
            assert again.me["user"] == "u-1"
        await asyncio.gather(ended(tab), ended(other_tab))
        assert (await seen(bob, "connectionCreated"))["connection"]["user"] == "u-1"
        gone = [await seen(bob, "connectionDestroyed", reason="networkDisconnected") for _ in range(2)]
        assert {event["connectionId"] for event in gone} == {tab.id, other_tab.id}
        await refused(server, session, token)
        assert (await guest.signal(data="x"))[0]["ev"] == "ack"
    later = server.project.token(session, user="u-1", create_time=revocation["before"])
    async with await Client.join(server, session, token=later) as back:
        assert back.me["user"] == "u-1"


async def test_tok_10_after_a_refresh_the_token_that_was_issued_last_counts(server, session):
    now = int(time.time())

    async def refresh(client, token):
        return (await client.answer(await client.request("refreshToken", token=token)))[0]

    def token(age, user="u-5"):
        return server.project.token(session, user=user, create_time=now - age)

    async with (
        await Client.join(server, session, token=token(100)) as refreshed,
        await Client.join(server, session, token=token(100)) as forger,
        await Client.join(server, session, token=token(10)) as delayed,
    ):
        assert (await refresh(refreshed, token(10)))["ev"] == "ack"
        # The newer token of another user does not help the revoked one.
        assert (await refresh(forger, token(10, "u-6")))["code"] == 1004
        # An older token, shown late, does not harm.
        assert (await refresh(delayed, token(100)))["ev"] == "ack"
        revoke(server, {"user": "u-5", "before": now - 50})
        await ended(forger)
        for client in (refreshed, delayed):
            assert (await client.signal(data="x"))[0]["ev"] == "ack"


async def test_tok_10_all_tokens_of_a_project_and_not_those_of_another(tmp_path):
    one, two = Project("100", "one"), Project("101", "two")
    settings = write_settings(
        tmp_path, projects=[{"apiKey": each.key, "secrets": [each.secret]} for each in (one, two)]
    )
    with Server("--config", settings, project=one) as server:
        undated = one.token(session := one.session(), create_time=None)
        async with (
            await Client.join(server, session, project=one) as ada,
            await Client.join(server, session, token=undated, project=one) as old,
            await Client.join(server, two.session(), project=two) as bob,
        ):
            before = revoke(server)["before"]
            await asyncio.gather(ended(ada), ended(old))
            await refused(server, session, undated)
            assert (await bob.signal(data="x"))[0]["ev"] == "ack"
        async with await Client.join(server, session, token=one.token(session, create_time=before), project=one):
            pass
        assert revocations(server) == [{"before": before}]
        other = server.rest("GET", "/v2/project/101/revocation", project=two)
        assert other.json() == {"revocations": []}
        assert server.rest("GET", "/v2/project/101/revocation", project=one).status == 403


async def test_rest_8_revocations_are_listed_replaced_and_taken_back(server, session):
    now = int(time.time())
    for subject in ("u-8", "u-9"):
        take_back(server, f"?user={subject}")
    first = revoke(server, {"user": "u-8", "before": now - 100})
    assert first == {"user": "u-8", "before": now - 100}
    # An earlier moment changes nothing.
    assert revoke(server, {"user": "u-8", "before": now - 200}) == first
    assert revoke(server, {"user": "u-8", "before": now - 50}) == {"user": "u-8", "before": now - 50}
    assert [each for each in revocations(server) if each.get("user") == "u-8"] == [{"user": "u-8", "before": now - 50}]
    assert take_back(server, "?user=u-8") == 204
    assert take_back(server, "?user=u-8") == 404
    assert take_back(server) == 404
    async with await Client.join(server, session, token=server.project.token(session, user="u-8", create_time=now - 60)):
        pass


@pytest.mark.parametrize(
    "body",
    [
        {"user": ""}, {"jti": "a", "before": 1}, {"before": 4_102_444_800}, {"users": "u-17"}, [],
    ],
    ids=str,
)  # fmt: skip
def test_rest_8_a_malformed_revocation_gets_400(server, body):
    assert server.rest("POST", "/v2/project/100/revocation", body).status == 400


def test_rest_8_needs_the_credentials_of_the_project(server, session):
    path = "/v2/project/100/revocation"
    assert server.request("GET", path).status == 403
    assert server.rest("POST", path, {}, token=server.project.token(session)).status == 403
    assert server.rest("POST", "/v2/project/101/revocation", {}).status == 403
    assert server.rest("PUT", path, {}).status == 405
    for query in ("?user=", "?user=a&jti=b", "?jti=" + "a" * 257, "?user=%0A"):
        assert take_back(server, query) == 400, query


async def test_tok_10_a_revocation_survives_kill_9_after_its_answer(tmp_path):
    folder = tmp_path / "state"
    with Server(state_dir=folder) as server:
        session = server.project.session()
        token = server.project.token(session, user="u-17")
        ada = await Client.join(server, session, token=token)
        kept = [revoke(server, body) for body in ({"user": "u-17"}, {"jti": "Zoë \u2028"}, {"user": "u-18"})]
        assert take_back(server, "?user=u-18") == 204
        os.kill(server.pid, signal.SIGKILL)
        server.wait()
        await ada.closed()
    assert (folder / "revocations.json").stat().st_mode & 0o777 == 0o600
    with Server(state_dir=folder) as server:
        assert revocations(server) == kept[:2]
        await refused(server, session, token)
        backup = tmp_path / "backup"
        made = run("state", "backup", folder, backup)
        assert made.returncode == 0 and "revocations" in made.stdout, made
        assert run("state", "backup", folder, backup).returncode == 73
    copied = tmp_path / "backup.revocations"
    assert copied.read_bytes() == (folder / "revocations.json").read_bytes()
    assert copied.stat().st_mode & 0o777 == 0o600


def test_tok_10_a_server_does_not_start_with_a_damaged_list(tmp_path):
    folder = tmp_path / "state"
    with Server(state_dir=folder) as server:
        revoke(server)
        assert server.stop() == 0
    (folder / "revocations.json").write_text('{"version":1,"projects":[')
    failed = run("serve", "--port", "0", state_dir=folder, api_key="100", api_secret="s")
    assert failed.returncode == 73
    assert "revocations.json" in failed.stderr and "valid again" in failed.stderr


async def test_tok_10_the_settings_revoke_tokens_at_a_reload(tmp_path):
    project = Project("100", "a secret of the tests")
    entry = {"apiKey": project.key, "secrets": [project.secret]}
    settings = write_settings(tmp_path, projects=[entry])
    with Server("--config", settings, project=project) as server:
        session = project.session()
        token = project.token(session, user="u-17")
        async with (
            await Client.join(server, session, token=token) as ada,
            await Client.join(server, session, token=project.token(session, user="u-18")) as bob,
        ):
            revoke(server, {"jti": "by REST"})
            revoked = [{"user": "u-17", "before": int(time.time()) + 1}]
            write_settings(tmp_path, projects=[entry | {"revoked": revoked}])
            os.kill(server.pid, signal.SIGHUP)
            server.err.until("reloaded the settings")
            await ended(ada)
            await refused(server, session, token)
            assert (await bob.signal(data="x"))[0]["ev"] == "ack"
            assert revocations(server) == [{"jti": "by REST"}]


async def test_tok_10_all_nodes_learn_a_revocation_at_once():
    with nodes(3) as (redis, (first, second, third)):
        session = first.project.session()
        token = first.project.token(session, user="u-17")
        async with (
            await Client.join(first, session, token=token) as tab,
            await Client.join(second, session, token=token) as other_tab,
            await Client.join(third, session) as guest,
        ):
            revocation = revoke(third, {"user": "u-17"})
            await asyncio.gather(ended(tab), ended(other_tab))
            for node in (first, second, third):
                await refused(node, session, token)
            gone = [await seen(guest, "connectionDestroyed") for _ in range(2)]
            assert {event["connectionId"] for event in gone} == {tab.id, other_tab.id}
        with Server(redis=redis.url) as later:
            assert revocations(later) == [revocation]
            await refused(later, session, token)
        assert take_back(second, "?user=u-17") == 204
        await until(lambda: revocations(first) == [], "the other node")
        async with await Client.join(first, session, token=token):
            pass


async def test_tok_10_revocations_hold_while_redis_is_away_and_after_it_forgot():
    with nodes(2) as (redis, (first, second)):
        session = first.project.session()
        token = first.project.token(session, user="u-17")
        revocation = revoke(first, {"user": "u-17"})
        redis.kill()
        await not_accepted(second, session, token)
        answer = first.rest("POST", "/v2/project/100/revocation", {"user": "u-18"})
        assert answer.status in (503, 504), answer
        shutil.rmtree(redis.folder)
        os.mkdir(redis.folder)
        redis.start()
        wait_for(lambda: redis.call("EXISTS", "sb:revoked:100") == b":1", "the revocations in Redis")
        assert revocation in revocations(first) and revocation in revocations(second)
        await refused(first, session, token)


# `signalbox revoke`


def command(server, *arguments, project=None):
    project = project or server.project
    return run("revoke", *arguments, server=server.url, api_key=project.key, api_secret=project.secret)


async def test_revoke_refuses_the_tokens_of_a_user_and_accepts_them_again(server, session):
    token = server.project.token(session, user="u-30")
    async with await Client.join(server, session, token=token) as ada:
        done = await asyncio.to_thread(command, server, "--user", "u-30")
        assert done.returncode == 0 and "tokens of u-30 issued before 20" in done.stdout, done
        await ended(ada)
    await refused(server, session, token)
    listed = await asyncio.to_thread(command, server, "--list", "--json")
    rows = [json.loads(line) for line in listed.stdout.splitlines()]
    assert rows == revocations(server) and any(row.get("user") == "u-30" for row in rows)
    assert "tokens of u-30 issued before" in (await asyncio.to_thread(command, server, "--list")).stdout
    back = await asyncio.to_thread(command, server, "--user", "u-30", "--undo")
    assert (back.returncode, back.stdout) == (0, "accepted again\n")
    async with await Client.join(server, session, token=token):
        pass
    twice = await asyncio.to_thread(command, server, "--user", "u-30", "--undo")
    assert twice.returncode == 1 and "no such revocation" in twice.stderr, twice


async def test_revoke_refuses_one_token_and_the_older_ones_of_a_project(server, session):
    one = server.project.jwt_token(session, jti="lost-30")
    done = await asyncio.to_thread(command, server, "--jti", "lost-30")
    assert (done.returncode, done.stdout) == (0, "refused: the token lost-30\n")
    await refused(server, session, one)
    old = await asyncio.to_thread(command, server, "--all", "--before", "1000000000", "--json")
    assert json.loads(old.stdout) == {"before": 1000000000}
    assert "all tokens issued before 2001-09-09T01:46:40Z" in (await asyncio.to_thread(command, server, "--list")).stdout
    for subject in (("--jti", "lost-30"), ("--all",)):
        assert (await asyncio.to_thread(command, server, *subject, "--undo")).returncode == 0
    async with await Client.join(server, session, token=one):
        pass


@pytest.mark.parametrize("arguments, words", [
    ((), "--user, --jti, --all, or --list"), (("--jti", "x", "--before", "5"), "--before"),
])
def test_revoke_names_the_option_that_is_wrong(server, arguments, words):
    refused = command(server, *arguments)
    assert refused.returncode == 64 and words in refused.stderr, refused


def test_revoke_tells_what_the_server_refuses(server):
    future = command(server, "--all", "--before", str(2**40))
    assert future.returncode == 64 and "in the future" in future.stderr, future
    stranger = command(server, "--all", project=Project(server.project.key, "a wrong secret"))
    assert stranger.returncode == 77 and stranger.stderr.count("\n") == 1, stranger
    nobody = run("revoke", "--all", server="http://127.0.0.1:1", api_key="100", api_secret="x")
    assert nobody.returncode == 69 and "cannot be reached" in nobody.stderr, nobody
