"""The commands of docs/operations: they run as they are, on machines of the tests, while clients chat."""

import asyncio
import contextlib
import json
import re
import shutil
import subprocess
import threading

import pytest

from cluster import Balancer, Redis
from credentials import Project
from cutting_relay import Relay
from durable import time_passes
from machine import Machine
from server_process import DEADLINE, REPOSITORY, TLS, Command, Server
from signalbox_client import Client
from test_history import say
from test_proxies import both_in_one_file

PAGES = REPOSITORY / "docs/operations"


def blocks(page, heading=None):
    """The shell blocks of a page, or of one of its sections."""
    text = (PAGES / page).read_text()
    if heading:
        text = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)[1]
    return re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def project():
    return Project("100", "a secret of the tests, 32 bytes long")


class Chat:
    """A listener, and a backend that sends numbered signals to it through `front`, until the end of the block.

    At the end, the listener has heard every signal that was accepted, once and in order.
    """

    def __init__(self, front, project):
        self.front, self.project = front, project
        self.session = project.session()
        self.count = 0
        self.failure = None
        self._stopped = threading.Event()
        self._may_send = threading.Event()
        self._may_send.set()
        self._sending = threading.Lock()
        self._sender = threading.Thread(target=self._send, daemon=True)

    def _send(self):
        path = f"/v2/project/{self.project.key}/session/{self.session}/signal"
        headers = self.project.headers() | {"Content-Type": "application/json"}
        while not self._stopped.is_set():
            self._may_send.wait()
            with self._sending:
                body = json.dumps({"data": str(self.count + 1)}).encode()
                try:
                    answer = Server.request(self.front, "POST", path, body, headers)
                except OSError as error:
                    self.failure = error
                    return
                # After 503 the server has done nothing (REST-2), also when a proxy finds no server.
                if answer.status == 204:
                    self.count += 1
                elif answer.status != 503:
                    self.failure = answer
                    return
            self._stopped.wait(0.005)

    def __enter__(self):
        url = f"http://127.0.0.1:{self.front.port}"
        self.listen = Command(
            "listen", self.session, server=url, api_key=self.project.key, api_secret=self.project.secret
        )
        self.listen.out.until('"connected"')
        self._sender.start()
        return self

    def __exit__(self, kind, *_):
        self._stopped.set()
        self._may_send.set()
        self._sender.join(DEADLINE)
        try:
            if kind is None:
                assert self.failure is None, self.failure
                self.listen.out.until(f'"{self.count}"')
                events = [json.loads(line) for line in self.listen.out.seen]
                numbers = [each["data"] for each in events if each.get("seq") and each.get("data", "").isdigit()]
                assert numbers == [str(number + 1) for number in range(self.count)]
                self.outcomes = [each.get("outcome") for each in events if "reconnected" in each.values()]
        finally:
            self.listen.__exit__()

    def pause(self):
        """Sends nothing from now on: no request is on its way."""
        self._may_send.clear()
        with self._sending:
            pass

    def resume(self):
        self._may_send.set()

    def wait_for(self, more=30):
        """Waits until that many further signals were accepted."""
        target = self.count + more
        deadline = threading.Event()
        for _ in range(DEADLINE * 100):
            if self.count >= target or self.failure:
                break
            deadline.wait(0.01)
        assert self.failure is None and self.count >= target, self.failure


class Room:
    """A room with a history, and what the servers have acknowledged in it."""

    def __init__(self, project):
        self.session = project.session()
        # By their numbers.
        self.acknowledged = {}

    def say(self, machine, count):
        asyncio.run(self._say(machine.server, count))

    async def _say(self, server, count):
        async with await Client.join(server, self.session) as client:
            for text in [f"message {len(self.acknowledged) + number}" for number in range(count)]:
                (seq,) = await say(client, text)
                assert seq not in self.acknowledged
                self.acknowledged[seq] = text

    def require_everything(self, machine):
        """The server lives for longer than it takes to look at its files, and has each message under its number."""
        asyncio.run(time_passes(3))
        self.say(machine, 5)
        page = machine.server.rest("GET", machine.server.session_path(self.session, "/message?limit=200")).json()
        assert {message["seq"]: message["data"] for message in page["messages"]} == self.acknowledged


class Front:
    """An address that leads to one machine or another, as a DNS name does."""

    def __init__(self, machine):
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._relay = self._run(Relay(machine.server).__aenter__())
        self.host, self.port, self.tls = "127.0.0.1", int(self._relay.url.rpartition(":")[2]), None

    def _run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(DEADLINE)

    def lead_to(self, machine):
        self._relay.server = machine.server

    def close(self):
        self._run(self._relay.__aexit__())
        self._loop.call_soon_threadsafe(self._loop.stop)


@pytest.fixture
def machine(tmp_path, project):
    with Machine(tmp_path, project) as machine:
        yield machine.start()


def run_during_a_chat(machine, project, page, heading):
    """Runs the one block of a section while clients chat. Returns what it prints, and the chat, which has ended."""
    (block,) = blocks(page, heading)
    with Chat(machine.server, project) as chat:
        chat.wait_for()
        printed = machine.shell(block)
        chat.wait_for()
    return printed, chat


@pytest.fixture
def chatty(tmp_path, project):
    """A machine that keeps a history."""
    with Machine(tmp_path, project, history="chat") as machine:
        yield machine.start()


def test_upgrade_one_server_without_a_lost_signal(chatty, project):
    machine, room = chatty, Room(project)
    room.say(machine, 30)
    printed, chat = run_during_a_chat(machine, project, "upgrade.md", "Upgrade one server")
    assert "copied the sessions to" in printed and '{"status":"ok"}' in printed and "_connects_total{" in printed
    assert chat.outcomes == ["resumed"]
    # The page's last command may come before the client is back.
    look = blocks("upgrade.md", "Upgrade one server")[0].splitlines()[-1]
    assert 'outcome="resumed"} 1' in machine.shell(look)
    assert machine.calls == ["apt-get install --yes ./signalbox.deb"]
    room.require_everything(machine)


def test_upgrade_several_servers_without_a_lost_signal(tmp_path, project):
    with Redis() as redis, contextlib.ExitStack() as stack:
        nodes = [
            stack.enter_context(Machine(tmp_path, project, name=f"node{number}", redis=redis.url,
                                        trustedProxy="127.0.0.1", adminToken="a token of the tests")).start()
            for number in (1, 2)
        ]  # fmt: skip
        operator = stack.enter_context(Machine(tmp_path, project, others=nodes, name="operator"))
        front = stack.enter_context(Balancer("haproxy", [node.server for node in nodes]))
        with Chat(front, project) as chat:
            chat.wait_for()
            (block,) = blocks("upgrade.md", "Upgrade several servers")
            assert operator.shell(block).count('{"status":"ok"}') == 2
            chat.wait_for()
        assert set(chat.outcomes) <= {"resumed"} and chat.outcomes
        assert [node.calls for node in nodes] == [["apt-get install --yes ./signalbox.deb"]] * 2


def test_move_to_another_machine_without_a_lost_signal(tmp_path, project):
    with Machine(tmp_path, project, name="new-machine", history="chat") as new:
        with Machine(tmp_path, project, others=[new], name="old-machine", history="chat") as old:
            room = Room(project)
            old.start()
            new.start()
            room.say(old, 30)
            front = Front(old)
            with Chat(front, project) as chat:
                chat.wait_for()
                before, move = blocks("upgrade.md", "Move to another machine")
                old.shell(before)
                front.lead_to(old)
                chat.wait_for()
                chat.pause()
                old.shell(move)
                front.lead_to(new)
                chat.resume()
                chat.wait_for()
            assert chat.outcomes == ["resumed", "resumed"]
            room.require_everything(new)
            assert "resumeSeconds" in (old.root / "etc/signalbox/signalbox.json").read_text()
            front.close()


@pytest.mark.parametrize("is_folder_lost", [False, True])
def test_backup_and_restore(chatty, project, is_folder_lost):
    machine, room = chatty, Room(project)
    room.say(machine, 30)
    backup, _ = blocks("backup.md", "Back up")
    with Chat(machine.server, project) as chat:
        chat.wait_for()
        printed = machine.shell(backup)
        chat.wait_for()
    assert "no faults" in printed or "sound" in printed or "OK" in printed, printed
    assert (machine.root / "var/backups/signalbox.sqlite").stat().st_mode & 0o777 == 0o600
    (machine.root / "etc/signalbox/signalbox.json").write_text("lost")
    (restore,) = blocks("backup.md", "Restore")
    if is_folder_lost:
        machine.stop()
        shutil.rmtree(machine.root / "var/lib/signalbox")
        (machine.root / "var/lib/signalbox").mkdir(mode=0o700)
        restore = restore.replace("systemctl stop signalbox\n", "")
    assert "restored the history: 30 messages of 1 session" in machine.shell(restore)
    room.require_everything(machine)
    with Chat(machine.server, project) as chat:
        chat.wait_for()
    assert machine.calls == ["systemctl stop signalbox"] * (not is_folder_lost) + ["systemctl start signalbox"]


def test_begin_anew_after_a_snapshot_of_a_volume(chatty, project):
    machine, room = chatty, Room(project)
    room.say(machine, 100)
    _, begin_anew = blocks("backup.md", "Back up")
    assert "restored the history: 100 messages of 1 session" in machine.shell(begin_anew)
    room.require_everything(machine)


def test_change_a_secret_without_a_refused_client(machine, project):
    newer = Project(project.key, "another secret of the tests, also long")
    move, reload = blocks("backup.md", "Change a secret")
    with Chat(machine.server, project) as chat:
        chat.wait_for()
        machine.write_settings(projects=[{"apiKey": project.key, "secrets": [newer.secret, project.secret]}])
        machine.shell(move)
        chat.wait_for()
        assert machine.server.rest("POST", "/session/create", project=newer).status == 200
    assert chat.outcomes == ["resumed"]
    with Chat(machine.server, newer) as chat:
        chat.wait_for()
        machine.write_settings(projects=[{"apiKey": project.key, "secrets": [newer.secret]}])
        assert "reloaded the settings" in machine.shell(reload)
        chat.wait_for()
        assert machine.server.rest("POST", "/session/create", project=project).status == 403
    assert chat.outcomes == []


def test_change_a_certificate(tmp_path, project):
    with Machine(tmp_path, project, tls=True) as machine:
        machine.start()
        for name, source in (("fullchain.pem", "elsewhere.pem"), ("privkey.pem", "elsewhere.key.pem")):
            (machine.root / "root" / name).write_bytes((TLS / source).read_bytes())
        (block,) = blocks("backup.md", "Change a certificate")
        printed = machine.shell(block)
        assert "notAfter=" in printed and "reloaded the settings" in printed
        shown = machine.shell(
            "openssl s_client -connect 127.0.0.1:8080 </dev/null 2>/dev/null | openssl x509 -outform PEM")
        assert shown.strip().splitlines()[1] in (TLS / "elsewhere.pem").read_text()


def test_the_key_of_the_certificate_as_a_credential(tmp_path, project):
    with Machine(tmp_path, project, tls=True) as machine:
        machine.start()
        (machine.root / "root/privkey.pem").write_bytes((TLS / "server.key.pem").read_bytes())
        (block,) = blocks("backup.md", "Secrets and keys as credentials")
        machine.shell(block)
        assert machine.calls == ["systemctl daemon-reload", "systemctl restart signalbox"]
        assert not (machine.root / "etc/signalbox/tls/privkey.pem").exists()
        # A path of the repository is no path of the machine, so it does not stand in the command.
        assert '"status":"ok"' in machine.shell(
            'curl --silent --cacert "$AUTHORITY" https://127.0.0.1:8080/readyz', AUTHORITY=str(TLS / "authority.pem"))


def test_the_first_minute_of_an_incident(machine, project):
    printed, chat = run_during_a_chat(machine, project, "incidents.md", "The first minute")
    assert "HTTP/1.1 200 OK" in printed and chat.session in printed and "listening" in printed


def test_users_report_missing_messages(machine, project):
    with Chat(machine.server, project) as chat:
        chat.wait_for(3)
        look, verify = blocks("incidents.md", "Users report missing messages")
        # The listener goes on in the background.
        end = '\nuntil grep -q \'"test \' /tmp/heard.jsonl; do sleep 0.05; done\nkill %1'
        assert chat.session in machine.shell(look + end, has_credentials=True, SESSION=chat.session)
    assert "every promise was kept" in machine.shell(verify)


def test_every_alert_has_its_paragraph():
    rules = (PAGES / "signalbox.rules.yml").read_text()
    text = (PAGES / "incidents.md").read_text().partition("## What each alert means\n")[2]
    explained = dict(re.findall(r"^### (\w+)\n\n(.+?)(?=\n###|\Z)", text, re.MULTILINE | re.DOTALL))
    assert list(explained) == re.findall(r"- alert: (\w+)", rules)
    for name, paragraph in explained.items():
        assert len(paragraph.split()) > 20, f"{name} is not explained"


def test_links_between_the_pages_lead_somewhere():
    def anchors(path):
        headings = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
        return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}

    for page in PAGES.glob("*.md"):
        for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)", page.read_text()):
            path = (page.parent / target) if target else page
            assert path.exists(), f"{page.name}: {target}"
            assert not anchor or anchor in anchors(path), f"{page.name}: {target}#{anchor}"


def test_the_configurations_of_the_proxies_pass_their_own_check(tmp_path):
    (block,) = [each for each in blocks("proxies.md") if "nginx -t" in each]
    folder = tmp_path / "docs/operations/proxies"
    folder.mkdir(parents=True)
    for source in ("nginx.conf", "haproxy.cfg"):
        text = (PAGES / "proxies" / source).read_text()
        text = text.replace("/etc/nginx/signalbox.pem", f'"{TLS}/server.pem"')
        text = text.replace("/etc/nginx/signalbox.key.pem", f'"{TLS}/server.key.pem"')
        text = text.replace("/etc/haproxy/signalbox.pem", both_in_one_file())
        (folder / source).write_text(text)
    result = subprocess.run(["bash", "-euc", block], cwd=tmp_path, capture_output=True, text=True, timeout=DEADLINE)
    assert result.returncode == 0, result


def test_the_question_for_a_lost_upgrade_is_answered(machine):
    (block,) = [each for each in blocks("proxies.md") if "curl" in each]
    assert '"upgradeMissing":false' in machine.shell(block)
