"""What a managed Redis may have: TLS, users, and commands that are refused (docs/SCALING.md)."""

from os import EX_CONFIG, EX_USAGE
import json
import re
import shlex
import shutil

import pytest

from certificates import Authority
from cluster import Redis, Sentinel
from server_process import LAB, REPOSITORY, Server, run
from signalbox_client import Client
from waiting import free_port, suspended, wait_for

CREDENTIALS = {"api_key": "100", "api_secret": "a-secret-of-the-tests"}
SCALING = (REPOSITORY / "docs/SCALING.md").read_text()


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certificates"))


class SecureRedis(Redis):
    """A Redis with a TLS port beside its plain one, which the tests use themselves."""

    def __init__(self, authority, certificate, *options):
        self.secure_port = free_port()
        file, key = certificate
        super().__init__(
            "--tls-port", str(self.secure_port), "--tls-cert-file", str(file), "--tls-key-file", str(key),
            "--tls-ca-cert-file", str(authority.file), *options)  # fmt: skip

    def address(self, host="127.0.0.1", sign_in=""):
        return f"rediss://{sign_in}{host}:{self.secure_port}"


@pytest.fixture(scope="module")
def secure_redis(authority):
    with SecureRedis(authority, authority.sign("redis", "IP:127.0.0.1", "DNS:redis.example"), "--tls-auth-clients", "no") as redis:
        yield redis


def refusal(redis, **settings):
    """The one line with which a server refuses this Redis at its start."""
    refused = run("serve", "--port", "0", redis=redis, **settings, **CREDENTIALS)
    assert refused.returncode != 0 and refused.stderr.count("\n") == 1, refused
    return refused.stderr


async def exchange(redis, **settings):
    """A signal from a client of one node to a client of another."""
    with Server(redis=redis, **settings) as first, Server(redis=redis, **settings) as second:
        session = first.project.session()
        async with await Client.join(first, session) as ada, await Client.join(second, session):
            await ada.expect("connectionCreated")
            await ada.request("signal", type="t", data="x" * 8_000)
            signal = await ada.expect("signal")
            assert len(signal["data"]) == 8_000


# TLS


async def test_redis_tls_two_nodes_share_a_session(authority, secure_redis):
    await exchange(secure_redis.address(), redis_tls_ca=authority.file)


async def test_redis_tls_a_node_comes_back_after_redis_was_away(authority):
    certificate = authority.sign("again", "IP:127.0.0.1")
    with SecureRedis(authority, certificate, "--tls-auth-clients", "no") as redis:
        with Server(redis=redis.address(), redis_tls_ca=authority.file) as server:
            session = server.project.session()
            async with await Client.join(server, session) as ada:
                redis.kill()
                redis.start()
                await ada.request("signal", type="t", data="after")
                assert (await ada.expect("signal"))["data"] == "after"


async def test_redis_tls_a_user_with_a_client_certificate(authority):
    certificate = authority.sign("strict", "IP:127.0.0.1")
    mine = dict(zip(("redis_tls_cert", "redis_tls_key"), authority.sign("client")))
    with SecureRedis(authority, certificate, "--tls-auth-clients", "yes", "--user", "node", "on", ">a-long-password", "~sb:*", "&sb:*", "+@all") as redis:
        address = redis.address(sign_in="node:a-long-password@")
        await exchange(address, redis_tls_ca=authority.file, **mine)
        line = refusal(address, redis_tls_ca=authority.file)
        # Redis may close before its alert can be read.
        assert ("refuses the TLS connection" in line or "Cannot reach" in line) and "--redis-tls-cert" in line, line
        line = refusal(redis.address(sign_in="node:wrong-password@"), redis_tls_ca=authority.file, **mine)
        assert "refuses the user or the password" in line and "wrong-password" not in line, line


async def test_redis_tls_the_name_of_the_certificate(authority, secure_redis):
    line = refusal(secure_redis.address("localhost"), redis_tls_ca=authority.file)
    assert "mismatch" in line and "--redis-tls-server-name" in line, line
    await exchange(secure_redis.address("localhost"), redis_tls_ca=authority.file, redis_tls_server_name="redis.example")


def test_redis_tls_a_wrong_authority_is_answered_by_a_sentence(authority, secure_redis, tmp_path):
    other = Authority(tmp_path, "other")
    for settings in ({"redis_tls_ca": other.file}, {}):
        line = refusal(secure_redis.address(), **settings)
        assert "certificate that cannot be trusted" in line and "--redis-tls-ca" in line, line


def test_redis_tls_an_expired_certificate_is_answered_by_a_sentence(authority):
    expired = authority.sign("expired", "IP:127.0.0.1", days=-1)
    with SecureRedis(authority, expired, "--tls-auth-clients", "no") as redis:
        line = refusal(redis.address(), redis_tls_ca=authority.file)
        assert "has expired" in line and "Renew the certificate of Redis" in line, line


def test_redis_tls_a_port_without_tls_and_the_other_way_round(authority, secure_redis):
    line = refusal(f"rediss://127.0.0.1:{secure_redis.port}", redis_tls_ca=authority.file)
    assert "If it has no TLS at this port" in line or "TLS handshake" in line, line
    line = refusal(f"redis://127.0.0.1:{secure_redis.secure_port}")
    assert "begin the address with rediss://" in line, line


def test_redis_tls_a_renewed_certificate_needs_no_restart(authority):
    """Redis trusts another authority from now on: a node that has its certificate renewed comes back by itself."""
    folder = authority.folder / "renewed"
    folder.mkdir()
    next_authority = Authority(folder, "next")
    old, new = authority.sign("old-client"), next_authority.sign("new-client")
    mine = [folder / "mine.pem", folder / "mine.key.pem"]
    for source, target in zip(old, mine):
        shutil.copy(source, target)
    with SecureRedis(authority, authority.sign("renewing", "IP:127.0.0.1"), "--tls-auth-clients", "yes") as redis:
        settings = {"redis_tls_ca": authority.file, "redis_tls_cert": mine[0], "redis_tls_key": mine[1]}
        with Server(redis=redis.address(), **settings) as server:
            redis.kill()
            redis.options = [*redis.options[:6], "--tls-ca-cert-file", str(next_authority.file), "--tls-auth-clients", "yes"]
            redis.start()
            server.err.until("refuses the TLS connection")
            for source, target in zip(new, mine):
                shutil.copy(source, target)
            server.err.until("commands are kept again")


@pytest.mark.parametrize("settings, words", [
    ({"redis_tls_ca": "/nowhere.pem"}, "/nowhere.pem"), ({"redis_tls_cert": "/some.pem"}, "--redis-tls-key"),
    ({"redis_sentinel_password": "a-long-secret"}, "redis+sentinel://"),
])
def test_redis_tls_a_wrong_setting_is_found_before_the_start(settings, words, tmp_path):
    file = tmp_path / "signalbox.json"
    file.write_text("{}")
    for command in (("serve", "--port", "0"), ("config", "check", file)):
        refused = run(*command, redis="rediss://127.0.0.1:1", **settings, **CREDENTIALS)
        assert refused.returncode in (EX_CONFIG, EX_USAGE) and words in refused.stderr, refused
        assert "a-long-secret" not in refused.stderr


def test_redis_tls_settings_without_tls_are_refused(authority):
    refused = run("serve", "--port", "0", redis="redis://127.0.0.1:1", redis_tls_ca=authority.file, **CREDENTIALS)
    assert refused.returncode != 0 and "rediss://" in refused.stderr, refused


# What providers refuse


async def test_redis_without_config_and_other_commands_of_operators_works():
    refused = ("CONFIG", "DEBUG", "KEYS", "FLUSHALL", "FLUSHDB", "MONITOR", "SHUTDOWN", "REPLICAOF", "ACL", "ROLE")
    with Redis(*(word for name in refused for word in ("--rename-command", name, ""))) as redis:
        assert b"unknown command" in redis.call("CONFIG", "GET", "save")
        await exchange(redis.url)


async def test_redis_the_user_of_the_page_may_do_all_that_a_node_needs():
    rules = shlex.split(re.search(r"redis-cli ACL SETUSER signalbox on '>PASSWORD' ((?:.*\\\n)*.*)", SCALING)[1].replace("\\\n", " "))
    with Redis("--user", "signalbox", "on", ">a-long-password", *rules) as redis:
        await exchange(f"redis://signalbox:a-long-password@127.0.0.1:{redis.port}", history="all")


@pytest.mark.parametrize("command, words", [
    ("INFO", "'INFO'"), ("SUBSCRIBE", "'SUBSCRIBE'"), ("FUNCTION", "FUNCTION"), ("FCALL", "'FCALL'"),
])
def test_redis_a_renamed_command_is_named(command, words):
    with Redis("--rename-command", command, "another") as redis:
        line = refusal(redis.url)
        assert words in line and ("rename-command" in line or "allow FUNCTION" in line), line


def test_redis_a_user_without_the_channels_is_told_so():
    with Redis("--user", "node", "on", ">a-long-password", "~*", "resetchannels", "+@all") as redis:
        line = refusal(f"redis://node:a-long-password@127.0.0.1:{redis.port}")
        assert "NOPERM" in line and "channels" in line and "docs/SCALING.md" in line, line


def test_redis_an_eviction_policy_is_refused_with_the_next_step():
    with Redis("--maxmemory", "100mb", "--maxmemory-policy", "volatile-lru") as redis:
        line = refusal(redis.url)
        assert "volatile-lru" in line and "noeviction" in line, line


# Sentinel


async def test_redis_sentinel_a_node_goes_to_the_new_primary_at_once():
    """A switch without a death: the old primary stays, as a replica, and no connection to it breaks by itself."""
    with Redis() as first, Redis("--replicaof", f"127.0.0.1 {first.port}") as second:
        with Sentinel(first.port, "sentinel down-after-milliseconds room 2000") as sentinel:
            wait_for(lambda: "master_link_status:up" in second.text("INFO"), "the replica")
            wait_for(lambda: sentinel.fields()["num-slaves"] == "1", "the Sentinel to know the replica")
            with Server(redis=sentinel.url) as server:
                session = server.project.session()
                async with await Client.join(server, session) as ada:
                    await ada.signal(type="t", data="before")
                    assert sentinel.call("SENTINEL", "FAILOVER", "room") == b"+OK"
                    wait_for(lambda: sentinel.fields()["port"] == str(second.port), "the failover")
                    answer, events = await ada.signal(type="t", data="after")
                    assert answer["ev"] == "ack" and [each["data"] for each in events if each["ev"] == "signal"] == ["after"]
            assert second.call("EXISTS", "sb:nodes") == b":1"


async def test_redis_sentinel_an_announcement_ends_the_wait_for_a_primary_that_hangs():
    """No connection to it breaks, and the node would wait for ten seconds."""
    with Redis() as first, Redis("--replicaof", f"127.0.0.1 {first.port}") as second:
        with Sentinel(first.port, "sentinel down-after-milliseconds room 1000") as sentinel:
            wait_for(lambda: "master_link_status:up" in second.text("INFO"), "the replica")
            wait_for(lambda: sentinel.fields()["num-slaves"] == "1", "the Sentinel to know the replica")
            with Server(redis=sentinel.url) as server:
                session = server.project.session()
                async with await Client.join(server, session) as ada:
                    with suspended(first.process.pid):
                        answer, _ = await ada.signal(type="t", data="after")
                        assert answer["ev"] == "ack"
                        server.err.until(f"have made 127.0.0.1:{second.port} the primary")


async def test_redis_sentinel_with_tls_and_passwords(authority):
    file, key = authority.sign("watched", "IP:127.0.0.1")
    secure = ("--tls-cert-file", str(file), "--tls-key-file", str(key), "--tls-ca-cert-file", str(authority.file))
    port = free_port()
    with Redis("--tls-port", str(port), *secure, "--tls-auth-clients", "no", "--requirepass", "a-long-password") as redis:
        lines = [f"tls-cert-file {file}", f"tls-key-file {key}", f"tls-ca-cert-file {authority.file}"]
        secure_port = free_port()
        with Sentinel(
            port, f"tls-port {secure_port}", *lines, "tls-auth-clients no", "tls-replication yes",
            "sentinel auth-pass room a-long-password", "requirepass another-long-password",
        ):
            address = f"rediss+sentinel://:a-long-password@127.0.0.1:{secure_port}/room"
            settings = {"redis_tls_ca": authority.file, "redis_sentinel_password": "another-long-password"}
            await exchange(address, **settings)
            line = refusal(address, redis_tls_ca=authority.file)
            assert "--redis-sentinel-password" in line, line
            line = refusal(address, redis_tls_ca=authority.file, redis_sentinel_password="wrong-long-password")
            assert "--redis-sentinel-password" in line and "wrong-long" not in line, line
            line = refusal(address, redis_sentinel_password="another-long-password")
            assert "The Sentinel 127.0.0.1" in line and "--redis-tls-ca" in line, line


async def test_redis_sentinel_the_user_of_the_page_may_do_all_that_a_node_needs():
    rules = re.search(r"A user of the Sentinels needs `(.*)`", SCALING)[1].split()
    with Redis() as redis, Sentinel(redis.port) as sentinel:
        user = ("node", "on", ">a-long-password", "resetchannels", "-@all", *rules)
        assert sentinel.call("ACL", "SETUSER", *user) == sentinel.call("ACL", "SETUSER", "default", "off") == b"+OK"
        await exchange(sentinel.url, redis_sentinel_user="node", redis_sentinel_password="a-long-password")
        line = refusal(sentinel.url)
        assert "refuses the user or the password of Sentinel" in line, line


def test_redis_sentinel_what_is_wrong_is_answered_by_a_sentence():
    with Redis() as redis, Sentinel(redis.port) as sentinel:
        line = refusal(sentinel.url.replace("/room", "/other"))
        assert "know no Redis with the name other" in line, line
        line = refusal(f"redis://127.0.0.1:{sentinel.port}")
        assert "is a Sentinel" in line and "redis+sentinel://" in line, line
        line = refusal(f"redis+sentinel://127.0.0.1:{redis.port}/room")
        assert "does not answer as a Sentinel does" in line, line
        line = refusal("redis+sentinel://127.0.0.1:1,127.0.0.1:2/room")
        assert "cannot be reached" in line, line


async def test_redis_sentinel_one_of_three_that_is_away_or_wrong_does_not_matter():
    with Redis() as redis, Sentinel(redis.port) as one, Sentinel(redis.port) as two, Redis() as wrong:
        with Sentinel(wrong.port) as misled:
            ports = ",".join(f"127.0.0.1:{each.port}" for each in (misled, one, two))
            await exchange(f"redis+sentinel://{ports}/room")
            assert redis.call("EXISTS", "sb:nodes") == b":1" and wrong.call("EXISTS", "sb:nodes") == b":0"
        await exchange(f"redis+sentinel://127.0.0.1:{one.port},127.0.0.1:1,127.0.0.1:{two.port}/room")


def test_g_2_g_3_log_31_redis_sentinel_nothing_is_lost_over_a_failover_under_load():
    """300 signals a second on two nodes, while the primary of a Redis with two replicas and three Sentinels dies."""
    done = run("verify", "--json", "--bare", "--nodes", 2, "--signals", 6000, "--sessions", 3, "--redis-failovers", 1,
               timeout=300, program=LAB)
    report = json.loads(done.stdout)
    assert done.returncode == 0 and report["violations"] == [] and report["settled"] is True, report
    assert report["lost"] == report["duplicated"] == report["reordered"] == 0
    assert report["acknowledged"] > 5_900
    [time] = report["failoverMilliseconds"]
    assert time < 15_000
