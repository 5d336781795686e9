"""Administration: the REST interface on the admin listener and with project credentials, and the commands."""

import asyncio
import http.client
import http.server
import json
import re
import signal
import threading
import urllib.parse

import pytest

from administration import Admin
from credentials import Project
from server_process import DEADLINE, Command, Server, run
from signalbox_client import Client, join_all
from test_feed import Reader
from waiting import free_port, until, wait_for

TOKEN = "an admin token of the tests"


@pytest.fixture(scope="module")
def admin_server():
    with Server("--admin-port", "0") as server:
        server.admin = Admin(server)
        yield server


async def test_sessions_and_connections_are_described_without_contents(admin_server):
    server, admin = admin_server, admin_server.admin
    session = server.project.session()
    async with (
        await Client.join(server, session, role="moderator", data="Ada") as ada,
        await Client.join(server, session, data="Bob") as bob,
    ):
        await ada.signal(type="secret-type", data="SECRET-DATA")
        await ada.signal(type="secret-type", data="SECRET-DATA", to=bob.id)
        details = admin.get(f"sessions/{session}")
        assert (details["sessionId"], details["apiKey"]) == (session, server.project.key)
        assert (details["connections"], details["detached"], details["lastSeq"]) == (2, 0, 4)
        assert details["logBytes"] > 0 and details["eventsPerSecond"] > 0 and details["sentBytes"] > 0
        listed = [each for each in admin.get("sessions")["items"] if each["sessionId"] == session]
        assert [each["connections"] for each in listed] == [2]
        members = admin.get(f"sessions/{session}/connections")
        assert [(each["connectionId"], each["data"], each["role"], each["state"]) for each in members["items"]] == [
            (ada.id, "Ada", "moderator", "connected"), (bob.id, "Bob", "publisher", "connected"),
        ]  # fmt: skip
        assert members["items"][0]["address"] == "127.0.0.1" and not members["items"][0]["isBacklogged"]
        events = admin.get(f"sessions/{session}/events")
        assert [(each["seq"], each["kind"], each.get("connectionId")) for each in events["items"]] == [
            (1, "presence", ada.id), (2, "presence", bob.id), (3, "signal", None), (4, "directedSignal", bob.id),
        ]  # fmt: skip
        assert admin.get(f"sessions/{session}/events?after=3")["items"][0]["seq"] == 4
        assert admin.get(f"sessions/{session}/events?after=4")["items"] == []
        everything = json.dumps([details, listed, members, events])
        assert "secret-type" not in everything and "SECRET" not in everything


async def test_a_label_is_in_the_list_and_found_as_people_are(tmp_path):
    label = "Suppört ~ 7 & more"
    with Server("--admin-port", "0") as server:
        admin = Admin(server)
        form = urllib.parse.urlencode({"archiveMode": "manual", "label": label}).encode()
        made = [
            server.request("POST", "/session/create", body, server.project.headers() | {"Content-Type": kind}).json()
            for body, kind in [
                (form, "application/x-www-form-urlencoded"), (json.dumps({"label": label}).encode(), "application/json"),
            ]
        ]  # fmt: skip
        named = [each[0]["session_id"] for each in made]
        plain = server.rest("POST", "/session/create").json()[0]["session_id"]
        printed = run("session", "create", "--label", label, api_key=server.project.key, api_secret=server.project.secret)
        named.append(printed.stdout.strip())
        clients = [await Client.join(server, session, data=f"Person {number}") for number, session in enumerate(named)]
        clients.append(await Client.join(server, plain, data='{"name": "Zoë Ångström"}'))
        assert {each["sessionId"]: each["label"] for each in admin.get("sessions")["items"]} == (
            dict.fromkeys(named, label) | {plain: None}
        )
        assert admin.get(f"sessions/{named[0]}")["label"] == label

        def found(text):
            answer = admin.get("sessions?" + urllib.parse.urlencode({"search": text}))
            assert answer["count"] == len(answer["items"])
            return {each["sessionId"] for each in answer["items"]}

        for text, expected in [
            ("SUPPÖRT", set(named)), ("ångström", {plain}), ("person 1", {named[1]}), (plain[20:], {plain}),
            ("", {plain, *named}), ("nobody", set()),
        ]:  # fmt: skip
            assert found(text) == expected, text
        listed = run("admin", "sessions", "--url", admin.url)
        assert label in listed.stdout


def test_a_label_that_is_too_long_or_hostile_is_refused():
    with Server() as server:
        for label in ("x" * 65, "a\u202eb"):
            body = json.dumps({"label": label}).encode()
            refused = server.request("POST", "/session/create", body, server.project.headers())
            assert refused.status == 400 and "64 bytes" in refused.json()["message"], label
            made = run("session", "create", "--label", label, api_key="100", api_secret="s")
            assert made.returncode == 64 and "64 bytes" in made.stderr and not made.stdout, label
        for body in (b"label=", b"", b'{"label": null}', b'{"label": ""}', b"\xff=%zz", b"{nonsense"):
            assert server.request("POST", "/session/create", body, server.project.headers()).status == 200, body


async def test_pages_of_lists(admin_server):
    server, admin = admin_server, admin_server.admin
    session = server.project.session()
    clients = [await Client.join(server, session) for _ in range(5)]
    pages = [admin.get(f"sessions/{session}/connections?limit=2&offset={offset}") for offset in (0, 2, 4, 6)]
    assert [page["count"] for page in pages] == [5] * 4
    assert [each["connectionId"] for page in pages for each in page["items"]] == [client.id for client in clients]
    whole = admin.get("connections?limit=1000")
    parts = [each for offset in range(0, whole["count"], 2)
             for each in admin.get(f"connections?limit=2&offset={offset}")["items"]]  # fmt: skip
    assert [each["connectionId"] for each in parts] == [each["connectionId"] for each in whole["items"]]
    assert admin.get("sessions?limit=1")["count"] >= 1
    assert admin.get(f"sessions?search={session[10:]}")["count"] == 1
    for query in ("limit=0", "limit=1001", "limit=x", "offset=-1"):
        assert admin.request("GET", f"/admin/v1/sessions?{query}").status == 400, query
    for client in clients:
        await client.leave()


async def test_a_list_that_takes_several_turns_of_the_loop_is_whole_and_a_search_reads_every_member():
    """A turn reads 200 sessions, or 200 connections."""
    with Server("--admin-port", "0") as server:
        admin, large = Admin(server), server.project.session()
        clients = []
        # The members 0, 199, 200 and 229 of the large session have names.
        for others in (0, 198, 0, 28):
            clients += await join_all(server, [large] * others)
            clients.append(await Client.join(server, large, data=f"the member {len(clients)} of the search"))
        sessions = [large] * 230 + [server.project.session() for _ in range(230)]
        clients += await join_all(server, sessions[230:])
        ids = {client.id for client in clients}

        def lists():
            page = admin.get("connections?limit=1000")
            assert page["count"] == 460 and {each["connectionId"] for each in page["items"]} == ids
            parts = [admin.get(f"connections?limit=229&offset={offset}")["items"] for offset in (0, 229, 458)]
            assert [each["connectionId"] for part in parts for each in part] == [
                each["connectionId"] for each in page["items"]
            ]
            members = admin.get(f"sessions/{large}/connections?limit=1000&offset=5")
            assert (members["count"], len(members["items"])) == (230, 225)
            listed = admin.get("sessions?limit=1000")
            assert listed["count"] == 231 and {each["sessionId"] for each in listed["items"]} == set(sessions)
            assert server.rest("GET", server.session_path(large, "/connection")).json()["count"] == 230
            for number, count in ((0, 1), (199, 1), (200, 1), (229, 1), (230, 0)):
                search = urllib.parse.urlencode({"search": f"the member {number} of the search"})
                assert admin.get(f"sessions?{search}")["count"] == count, number

        # On a thread, so that the clients answer their pings meanwhile.
        await asyncio.to_thread(lists)
        await asyncio.gather(*(client.leave() for client in clients))


async def test_disconnect_ends_one_connection(admin_server):
    server, admin = admin_server, admin_server.admin
    session = server.project.session()
    async with await Client.join(server, session) as ada, await Client.join(server, session) as bob:
        path = f"/admin/v1/sessions/{session}/connections/{bob.id}"
        assert admin.request("GET", path).status == 405
        assert admin.request("DELETE", path, {"Origin": "https://evil.example"}).status == 403
        assert admin.request("DELETE", path).status == 204
        code, _ = await bob.closed()
        assert code == 4502
        await ada.expect("connectionCreated")
        await ada.expect("connectionDestroyed", connectionId=bob.id, reason="forceDisconnected")
        assert admin.request("DELETE", path).status == 404


async def test_project_credentials_show_that_project_only(tmp_path):
    one, other = Project("100", "the secret of one project"), Project("200", "the secret of another project")
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({
        "projects": [{"apiKey": each.key, "secrets": [each.secret]} for each in (one, other)]
    }))  # fmt: skip
    with Server("--config", file, project=one) as server:
        mine, foreign = one.session(), other.session()
        async with (
            await Client.join(server, mine) as ada,
            await Client.join(server, foreign, project=other) as bob,
        ):
            listed = server.rest("GET", "/admin/v1/sessions").json()
            assert [each["sessionId"] for each in listed["items"]] == [mine]
            assert [each["connectionId"] for each in server.rest("GET", "/admin/v1/connections").json()["items"]] == [
                ada.id
            ]
            for path in (foreign, f"{foreign}/connections", f"{foreign}/events"):
                assert server.rest("GET", f"/admin/v1/sessions/{path}").status == 404
            assert server.rest("DELETE", f"/admin/v1/sessions/{foreign}/connections/{bob.id}").status == 404
            assert server.rest("GET", "/admin/v1/stats").status == 403
            assert server.request("GET", "/admin/v1/sessions").status == 403


def test_the_admin_listener_is_for_its_own_machine_or_asks_for_a_token():
    with Server("--admin-port", "0", admin_token=TOKEN) as server:
        admin = Admin(server)
        assert admin.request("GET", "/").status == 200, "the page asks for the token"
        assert admin.request("GET", "/livez").status == 200
        for path in ("/metrics", "/admin/v1/stats", "/admin/v1/sessions"):
            assert admin.request("GET", path).status == 401
            assert admin.request("GET", path, {"Authorization": "Bearer wrong"}).status == 401
            assert admin.request("GET", path, {"Authorization": f"Bearer {TOKEN}"}).status == 200
            # A page that has resolved its own name to this machine.
            assert admin.request("GET", path, {"Host": "evil.example"}).status == 403
        assert admin.request("GET", "/v1/signaling").status in (404, 426)
        assert admin.request("POST", "/session/create").status == 401
        assert admin.request("POST", "/session/create", {"Authorization": f"Bearer {TOKEN}"}).status == 404


PROXIED = {"X-Forwarded-For": "203.0.113.9"}


def test_the_admin_listener_answers_no_request_of_a_proxy_without_a_token(admin_server):
    admin = admin_server.admin
    for headers in (PROXIED, {"Forwarded": "for=203.0.113.9"}, {"Via": "1.1 front"}, {"X-Real-IP": "203.0.113.9"}):
        for path in ("/", "/metrics", "/admin/v1/stats"):
            assert admin.request("GET", path, headers).status == 403
        assert admin.request("GET", "/livez", headers).status == 200
    assert admin.request("GET", "/metrics").status == 200
    # The host is behind the @, and another scheme is another origin.
    host = admin.url.removeprefix("http://")
    for origin in (f"http://{host}@evil.example", f"http://evil.example@{host}", "null", host):
        assert admin.request("GET", "/metrics", {"Origin": origin}).status == 403, origin
    assert admin.request("GET", "/metrics", {"Origin": f"http://{host}"}).status == 200
    with Server("--admin-port", "0", admin_token=TOKEN) as server:
        assert Admin(server).request("GET", "/metrics", PROXIED | bearer(TOKEN)).status == 200


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def ask(admin, address, token):
    """The status for a token that comes from an address of this machine."""
    connection = http.client.HTTPConnection(admin.host, admin.port, DEADLINE, source_address=(address, 0))
    try:
        connection.request("GET", "/metrics", headers=bearer(token))
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def test_wrong_admin_tokens_are_counted_logged_and_slowed_for_their_address_only():
    with Server("--admin-port", "0", admin_token=TOKEN) as server:
        admin = Admin(server)
        statuses = [ask(admin, "127.0.0.2", f"guess {number}")[0] for number in range(40)]
        # Ten at once, and one more for each second that the loop took.
        assert statuses[:10] == [401] * 10 and 429 in statuses, statuses
        status, headers, _ = ask(admin, "127.0.0.2", "another guess")
        assert (status, headers["Retry-After"]) in ((429, "1"), (401, None))
        # Another address goes on, and its requests without a token are no guesses.
        assert [admin.request("GET", "/metrics").status for _ in range(20)] == [401] * 20
        status, _, text = ask(admin, "127.0.0.1", TOKEN)
        assert status == 200
        counts = {reason: int(re.search(rf'admin_token_refusals_total{{reason="{reason}"}} (\d+)', text)[1])
                  for reason in ("wrong", "tooMany")}  # fmt: skip
        assert counts["wrong"] >= statuses.count(401) and counts["tooMany"] >= statuses.count(429)
        assert sum(counts.values()) == 41
        # The right token counts again when the address has been quiet for a second.
        wait_for(lambda: ask(admin, "127.0.0.2", TOKEN)[0] == 200, "the right token of the slowed address")
        assert server.stop() == 0
        lines = [line for line in server.err.to_end() if "refused a request" in line]
        assert 2 <= len(lines) < 20, "a line for each kind of refusal in ten seconds"
        assert all("address=127.0.0.2" in line and "guess" not in line for line in lines), lines


@pytest.mark.parametrize("source, token", [("option", " "), ("variable", ""), ("file of the variable", "\t ")])
def test_a_blank_admin_token_is_refused(tmp_path, source, token):
    secret = tmp_path / "secret"
    secret.write_text(token)
    arguments, variables = {
        "option": (["--admin-token", token], {}), "variable": ([], {"admin_token": token}),
        "file of the variable": ([], {"admin_token_file": secret}),
    }[source]  # fmt: skip
    refused = run("serve", "--port", "0", "--admin-port", "0", *arguments, **variables)
    assert refused.returncode != 0 and refused.stdout == "" and refused.stderr.count("\n") == 1, refused
    assert "adminToken" in refused.stderr or "ADMIN_TOKEN" in refused.stderr, refused.stderr


async def test_the_commands_show_sessions_and_disconnect(admin_server):
    server, admin = admin_server, admin_server.admin
    session = server.project.session()

    async def command(*arguments):
        # On a thread, so that the client answers its pings meanwhile.
        return await asyncio.to_thread(run, "admin", *arguments, "--url", admin.url)

    async with await Client.join(server, session, data="Ada\x1b[31m") as ada:
        assert session in (await command("sessions")).stdout
        shown = (await command("session", session)).stdout
        assert ada.id in shown and "publisher" in shown and "\x1b" not in shown
        assert ada.id in (await command("connections")).stdout
        assert re.search(r"connections\.joined +\d+", (await command("stats")).stdout)
        assert json.loads((await command("sessions", "--json")).stdout)["count"] >= 1
        assert json.loads((await command("session", session, "--json")).stdout)["connections"]["count"] == 1
        done = await command("disconnect", session, ada.id)
        assert done.returncode == 0, done
        assert (await ada.closed())[0] == 4502
    assert (await command("session", server.project.session())).returncode == 1
    credentials = {"api_key": server.project.key, "api_secret": server.project.secret}
    assert run("admin", "sessions", "--url", server.url, **credentials).returncode == 0
    assert run("admin", "stats", "--url", server.url, **credentials).returncode == 77
    assert run("admin", "sessions", "--url", "http://127.0.0.1:1").returncode == 69
    assert run("admin", "sessions", "--url", "nonsense").returncode == 64


async def say(client, *texts):
    for text in texts:
        await client.signal(type="text-chat", data=text)


@pytest.mark.parametrize("where", ["memory", "folder"])
async def test_his_3_sleepers_are_listed_searched_moderated_and_erased_by_rest_and_commands(tmp_path, where):
    folder = ["--state-dir", str(tmp_path / "state")] if where == "folder" else []
    with Server("--admin-port", "0", *folder, history="text-chat") as server:
        admin, project = Admin(server), server.project
        named, awake, *others = [
            run("session", "create", "--label", f"Support {number}", api_key=project.key, api_secret=project.secret)
            .stdout.strip() for number in range(5)
        ]  # fmt: skip
        asleep = [named, *others]
        clients = [
            await Client.join(server, session, token=project.token(session, user="mallory"))
            for session in (*asleep, awake)
        ]
        for client in clients:
            await say(client, "SECRET-DATA")
        for client in clients[:-1]:
            await client.leave()

        def listed(query=""):
            page = admin.get(f"sessions?asleep=true{query}")
            return [each["sessionId"] for each in page["items"]], page.get("next")

        await until(lambda: set(listed()[0]) == set(asleep), "everybody has left")
        ids = sorted(asleep, reverse=True)
        assert listed() == (ids, None)
        pages = [listed("&limit=2"), listed(f"&limit=2&before={ids[1]}")]
        assert pages == [(ids[:2], ids[1]), (ids[2:], None)]
        row = next(each for each in admin.get("sessions?asleep=true")["items"] if each["sessionId"] == named)
        assert (row["label"], row["apiKey"], row["connections"]) == ("Support 0", project.key, 0)
        assert row["asleep"] is True and row["hasHistory"] is True and row["restrictions"] == 0
        assert clients[0].connected["connection"]["creationTime"] == row["lastJoinAt"]
        assert admin.get(f"sessions/{named}") == row and "asleep" not in admin.get(f"sessions/{awake}")
        assert named not in [each["sessionId"] for each in admin.get("sessions")["items"]]
        assert listed("&search=support%200") == ([named], None) and listed("&search=mallory") == ([], None)
        page = server.rest("GET", "/admin/v1/sessions?asleep=true").json()
        assert [each["sessionId"] for each in page["items"]] == ids, "with the project's credentials, too"
        for query in ("asleep=yes", "asleep=true&limit=0"):
            assert admin.request("GET", f"/admin/v1/sessions?{query}").status == 400, query

        async def command(*arguments):
            done = await asyncio.to_thread(run, "admin", *arguments, "--url", admin.url)
            assert done.returncode == 0, done
            return done.stdout

        # Nobody is in it: an operator bans, and reads what holds. Looking at it does not wake it.
        await command("ban", named, "mallory", "--reason", "Spam")
        await command("mute", named, "u-17")
        await until(lambda: listed("&search=MALLORY") == ([named], None), "it sleeps again")
        assert "user mallory" in await command("restrictions", named)
        assert listed("&search=mallory") == ([named], None)
        table = await command("sessions", "--asleep", "--search", "mallory")
        assert re.search(rf"{named} +Support 0 +{project.key} +\S+Z +\d+ +yes +2\n$", table), table
        first = json.loads(await command("sessions", "--asleep", "--limit", "3", "--json"))
        assert [each["sessionId"] for each in first["items"]] == ids[:3] and first["next"] == ids[2]
        assert f"--before {ids[2]}" in await command("sessions", "--asleep", "--limit", "3")
        assert ids[3] in await command("sessions", "--asleep", "--before", ids[2])
        shown = await command("session", named)
        assert re.search("asleep +nobody is here", shown) and "2 restrictions" in shown
        denied = await Client.denied(server, named, project.token(named, user="mallory"))
        assert denied["code"] == 1570 and denied["restriction"]["reason"] == "Spam"

        history = server.session_path(named, "/message")
        assert [each["data"] for each in server.rest("GET", history).json()["messages"]] == ["SECRET-DATA"]
        await command("erase", named, "mallory")
        assert [each.get("erased") for each in server.rest("GET", history).json()["messages"]] == [True]
        await command("unban", named, "mallory")
        await command("unmute", named, "u-17")
        await Client.join(server, named, token=project.token(named, user="mallory"))
        assert named not in listed()[0] and "asleep" not in admin.get(f"sessions/{named}")
        assert admin.request("DELETE", f"/admin/v1/sessions/{named}/messages").status == 400
        await command("erase", others[0], "--through", "9")
        assert admin.request("DELETE", f"/admin/v1/sessions/{project.session()}/messages?user=u").status == 404
        for wrong in (["erase", named], ["erase", named, "u", "--through", "1"], ["sessions", "--before", named]):
            assert run("admin", *wrong, "--url", admin.url).returncode == 64, wrong


async def test_his_3_a_project_neither_sees_nor_erases_in_the_sleepers_of_another(tmp_path):
    one, other = Project("100", "the secret of one project"), Project("1001", "the secret of another project")
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({
        "history": "text-chat",
        "projects": [{"apiKey": each.key, "secrets": [each.secret]} for each in (one, other)],
    }))  # fmt: skip
    with Server("--config", file, "--admin-port", "0", project=one) as server:
        admin, sessions = Admin(server), [one.session(), other.session()]
        for session, project in zip(sessions, (one, other)):
            client = await Client.join(server, session, project=project)
            await say(client, "kept")
            await client.leave()
        await until(lambda: len(admin.get("sessions?asleep=true")["items"]) == 2, "both sleep")
        page = server.rest("GET", "/admin/v1/sessions?asleep=true").json()
        assert [each["sessionId"] for each in page["items"]] == sessions[:1] and "next" not in page
        foreign = f"/admin/v1/sessions/{sessions[1]}"
        assert server.rest("GET", foreign).status == 404
        assert server.rest("DELETE", f"{foreign}/messages?user=u").status == 404


@pytest.fixture
def deaf_webhook():
    """The settings of a server whose webhook does not answer, and what operators call the webhook."""
    url = f"http://127.0.0.1:{free_port()}"
    settings = {"history": "text-chat", "feed": True, "webhook_url": f"{url}/hooks", "webhook_types": "all"}
    return settings, url


async def test_the_command_shows_how_far_each_backend_is_behind(deaf_webhook):
    settings, webhook = deaf_webhook
    with Server("--admin-port", "0", **settings) as server:
        admin = Admin(server)

        async def command(*arguments):
            done = await asyncio.to_thread(run, "admin", "feed", *arguments, "--url", admin.url)
            assert done.returncode == 0, done
            return done.stdout

        # A terminal would write backwards what follows such a name.
        late, prompt = Reader(server, reader="late%E2%80%AE"), Reader(server, reader="prompt")
        ada = await Client.join(server, server.project.session())
        await late.until(lambda event: event["event"] == "connectionCreated")
        await say(ada, "a", "b")
        # What one backend has, all entries of it are in the feed.
        read = await prompt.until(lambda event: event.get("data") == "b")
        answer = json.loads(await command("--json"))
        assert answer["count"] == 3 and {each["apiKey"] for each in answer["items"]} == {server.project.key}
        assert [(each["name"], each["kind"], each["events"]) for each in answer["items"]] == [
            ("late\u202e", "pull", 1), ("prompt", "pull", len(read)), (webhook, "push", 0),
        ]  # fmt: skip
        assert [each["offset"] for each in answer["items"][:2]] == [late.offset, prompt.offset]
        behind, nothing, everything = (each["waitingEntries"] for each in answer["items"])
        assert 0 == nothing < behind < everything and not any(each["hasMore"] for each in answer["items"])
        times = [each["waitingSeconds"] for each in answer["items"]]
        assert times[1] == 0 and 0 < times[0] <= times[2] < DEADLINE

        head, *rows = (await command()).splitlines()
        assert head.split() == "PROJECT WAY CONSUMER EVENTS ENTRIES BEHIND SECONDS BEHIND".split()
        assert [row.split()[:-1] for row in rows] == [
            [server.project.key, "pull", "late", "1", str(behind)],
            [server.project.key, "pull", "prompt", str(len(read)), "0"],
            [server.project.key, "push", webhook, "0", str(everything)],
        ]
        assert all(re.fullmatch(r"\d+\.\d\d", row.split()[-1]) for row in rows), rows


async def test_a_project_sees_its_own_backends_only(tmp_path, deaf_webhook):
    settings, webhook = deaf_webhook
    one, other = Project("100", "the secret of one project"), Project("1001", "the secret of another project")
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"projects": [{"apiKey": each.key, "secrets": [each.secret]} for each in (one, other)]}))
    with Server("--config", file, "--admin-port", "0", project=one, **settings) as server:
        for project, reader in ((one, "mine"), (other, "theirs")):
            assert server.rest("GET", f"/v2/project/{project.key}/feed?reader={reader}", project=project).status == 200
        admin = Admin(server)
        everybody = [("100", "mine"), ("1001", "theirs"), ("100", webhook), ("1001", webhook)]

        def names(answer):
            return [(each["apiKey"], each["name"]) for each in answer["items"]]

        # The server begins to post when it has asked for the feed.
        await until(lambda: names(admin.get("feeds")) == everybody, "both webhooks")
        for project, reader in ((one, "mine"), (other, "theirs")):
            mine = [(project.key, reader), (project.key, webhook)]
            assert names(server.rest("GET", "/admin/v1/feeds", project=project).json()) == mine
            credentials = {"api_key": project.key, "api_secret": project.secret}
            done = run("admin", "feed", "--json", "--url", server.url, **credentials)
            assert names(json.loads(done.stdout)) == mine, done
        assert server.request("GET", "/admin/v1/feeds").status == 403


def test_the_command_says_who_is_further_behind_than_the_feed_reaches():
    """A server of the test answers: a feed reaches back for days."""
    common = {"apiKey": "100", "kind": "pull", "events": 7, "offset": "0" * 16}
    items = [
        common | {"name": "gone", "isGone": True},
        common | {"name": "busy", "waitingEntries": 1000, "hasMore": True, "waitingSeconds": 86_400.5},
        common | {"name": "unknown"},
    ]

    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps({"count": len(items), "items": items}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        done = run("admin", "feed", "--url", f"http://127.0.0.1:{other.server_address[1]}")
        other.shutdown()
    assert [re.split("  +", row.strip()) for row in done.stdout.splitlines()[1:]] == [
        ["100", "pull", "gone", "7", "further than the feed reaches"],
        ["100", "pull", "busy", "7", "1000+", "86400.50"],
        ["100", "pull", "unknown", "7"],
    ]


def test_watch_repeats_until_it_is_interrupted(admin_server):
    with Command("admin", "stats", "--watch", "--json", "--url", admin_server.admin.url) as watch:
        for _ in range(2):
            assert "uptimeSeconds" in watch.out.next()
        watch.process.send_signal(signal.SIGINT)
        assert watch.wait() != 0
