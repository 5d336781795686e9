"""Metrics: their text, their numbers after known traffic, and Prometheus with the dashboard and the alert rules."""

import asyncio
import contextlib
import json
import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import pytest

from administration import Admin
from server_process import DEADLINE, REPOSITORY, Server
from signalbox_client import Client, connect_line, reconnect
from waiting import free_port, wait_for
from webhook_receiver import Receiver

OPERATIONS = REPOSITORY / "docs/operations"


@contextlib.contextmanager
def prometheus(admin, folder):
    """A Prometheus that scrapes the admin listener each second, and evaluates the alert rules."""
    port = free_port()
    (folder / "prometheus.yml").write_text(
        json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(OPERATIONS / "signalbox.rules.yml")],
            "scrape_configs": [
                {"job_name": "signalbox", "static_configs": [{"targets": [f"{admin.host}:{admin.port}"]}]}
            ],
        })
    )
    with open(folder / "prometheus.log", "wb") as log:
        process = subprocess.Popen(
            [
                "prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=log,
            stderr=log,
        )  # fmt: skip
    try:
        yield f"http://127.0.0.1:{port}/api/v1/"
    finally:
        process.kill()
        process.wait()


def ask(url, path, **query):
    """The answer of Prometheus; None while it does not answer yet."""
    try:
        with urllib.request.urlopen(f"{url}{path}?" + urllib.parse.urlencode(query), timeout=DEADLINE) as answer:
            return json.load(answer)["data"]
    except urllib.error.HTTPError as error:
        if error.code == 503:
            return None
        raise AssertionError(f"{query}: {error.read()}") from error
    except urllib.error.URLError:
        return None


def documented():
    """The names and types of docs/operations/metrics.md."""
    text = (OPERATIONS / "metrics.md").read_text()
    return dict(re.findall(r"^\| `((?:signalbox|process)_\w+)` \| (\w+) \|", text, re.MULTILINE))


@pytest.mark.waiting
async def test_prometheus_scrapes_all_metrics_and_evaluates_each_query_of_the_dashboard(tmp_path):
    with (
        Receiver() as receiver,
        Server("--admin-port", "0", "--state-dir", tmp_path / "state", webhook_url=receiver.url) as server,
    ):
        admin = Admin(server)
        session = server.project.session()
        async with await Client.join(server, session) as ada, await Client.join(server, session) as bob:
            await ada.signal(type="chat", data="hello")
            await ada.signal(type="not valid", data="x")
            await bob.signal(type="typing", onlineOnly=True)
            server.rest("POST", server.session_path(session, "/signal"), {"data": "from a backend"})
            server.rest("POST", server.session_path(session, "/signal"), {"data": "x" * 9000})
            server.rest("POST", server.session_path(session, "/moderation"), {"action": "freeze", "seconds": 1})
            async with await Client.open(server) as stranger:
                await stranger.send(connect_line(server, session, token="T1==forged"))
                await stranger.closed()

            text = admin.request("GET", "/metrics")
            assert text.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            check = subprocess.run(["promtool", "check", "metrics"], input=text.body, capture_output=True)
            assert check.returncode == 0 and not check.stdout + check.stderr, check
            types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text.body.decode(), re.MULTILINE))
            # Of a server with Redis: test_nodes.py
            types |= {"signalbox_nodes": "gauge", "signalbox_history_trimmed_total": "counter"}
            assert types == documented(), "the list in metrics.md, and what a server with everything publishes"

            # On a thread, so that the clients go on answering pings.
            await asyncio.to_thread(watch, admin, tmp_path)


def watch(admin, folder):
    """Requires that Prometheus gets data for each query of the dashboard, and evaluates each rule."""
    with prometheus(admin, folder) as url:
        wait_for(lambda: (ask(url, "query", query="count_over_time(up[30s]) >= 4") or {}).get("result"), "scrapes", 0.5)
        dashboard = json.loads((OPERATIONS / "signalbox.dashboard.json").read_text())
        expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
        assert len(expressions) > 30
        for expression in expressions:
            query = expression.replace("$__rate_interval", "20s").replace("$instance", ".*")
            assert ask(url, "query", query=query)["result"] or query.endswith("> 0"), query
        joined = ask(url, "query", query='signalbox_connections{state="joined"}')["result"]
        assert [each["value"][1] for each in joined] == ["2"]
        groups = wait_for(lambda: [
            group for group in (ask(url, "rules") or {}).get("groups", [])
            if all(rule["health"] == "ok" for rule in group["rules"])
        ], "the rules")  # fmt: skip
        assert len(groups[0]["rules"]) > 10


def test_the_alert_rules_are_valid_and_pass_their_tests():
    for arguments in (["check", "rules", "signalbox.rules.yml"], ["test", "rules", "signalbox.rules.test.yml"]):
        done = subprocess.run(["promtool", *arguments], cwd=OPERATIONS, capture_output=True, text=True)
        assert done.returncode == 0, done
    rules = (OPERATIONS / "signalbox.rules.yml").read_text()
    tests = (OPERATIONS / "signalbox.rules.test.yml").read_text()
    for alert in re.findall(r"- alert: (\w+)", rules):
        assert f'alertname="{alert}"' in tests, f"{alert} has no test"


def test_the_dashboard_and_the_rules_name_metrics_that_exist():
    names = documented()
    histograms = {f"{name}_{part}" for name, kind in names.items() if kind == "histogram" for part in ("bucket",)}
    for file in ("signalbox.dashboard.json", "signalbox.rules.yml", "signalbox.rules.test.yml"):
        used = set(re.findall(r"\bsignalbox_\w+", (OPERATIONS / file).read_text()))
        assert used - names.keys() - histograms == set(), file


async def test_the_numbers_count_what_clients_do():
    with Server("--admin-port", "0", resume_seconds=30) as server:
        admin = Admin(server)
        session = server.project.session()
        ada = await Client.join(server, session)
        async with await Client.join(server, session) as bob:
            for number in range(5):
                await bob.signal(data=str(number))
            await bob.signal(data="x" * 9000)
            before = admin.metrics()
            assert before['signalbox_signals_total{sender="client",outcome="accepted"}'] == "5"
            assert before['signalbox_signals_total{sender="client",outcome="too_long"}'] == "1"
            assert before['signalbox_connects_total{outcome="new"}'] == "2"
            assert before['signalbox_connections{state="joined"}'] == "2"
            assert before["signalbox_sessions"] == "1"
            assert int(before["signalbox_ack_latency_seconds_count"]) >= 5
            assert int(before["signalbox_received_bytes_total"]) > 9000 and int(before["signalbox_sent_bytes_total"]) > 0
            # Each event to both, and the second join to the first client.
            assert int(before['signalbox_deliveries_total{kind="event"}']) >= 11
            ada.socket.transport.abort()
            lost = 'signalbox_connections{state="detached"}'
            await asyncio.to_thread(wait_for, lambda: admin.value(lost) == 1, "the lost socket")
            async with await reconnect(server, session, ada, ada.connected["seq"]) as again:
                assert again.connected["outcome"] == "resumed"
                assert admin.value('signalbox_connects_total{outcome="resumed"}') == 1
                assert admin.value(lost) == 0
        assert float(admin.metrics()["signalbox_loop_busy_seconds_total"]) > 0


def test_g_5_the_main_port_has_metrics_only_if_asked_and_makes_them_at_most_once_a_second(server):
    """Anybody may ask for them. The admin listener, whose caller is known, always has the present numbers."""
    assert server.request("GET", "/metrics").status == 404
    with Server("--public-metrics", "--admin-port", "0") as server:
        first = server.request("GET", "/metrics")
        assert first.status == 200 and b"signalbox_sessions 0" in first.body
        # The counter of requests changes with each request that is not answered with a copy.
        answers = [server.request("GET", "/metrics").body for _ in range(50)]
        assert len(set(answers)) < len(answers)
        admin = Admin(server)
        assert admin.request("GET", "/metrics").body != admin.request("GET", "/metrics").body
        # A copy is not kept for ever.
        wait_for(lambda: server.request("GET", "/metrics").body != answers[-1], "new numbers")
