"""What an operator and clients see while messages cannot be written to the history."""

import contextlib
import sqlite3

import pytest

import cluster
import durable
from administration import Admin
from server_process import DEADLINE, Server
from signalbox_client import Client
from waiting import until

WRITABLE = "signalbox_history_healthy"


def readiness(server):
    answer = server.request("GET", "/readyz")
    return answer.status, answer.json()


async def say(client, count):
    """Sends messages of a kept type, as many as are worth a transaction of the history, and requires their acks."""
    for number in range(count):
        answer, _ = await client.signal(type="chat", data=str(number))
        assert answer["ev"] == "ack", answer


@pytest.mark.waiting
async def test_his_2_a_locked_history_is_reported_and_takes_no_traffic_away(tmp_path):
    folder = tmp_path / "state"
    with durable.serve(folder, "--admin-port", "0", history="chat") as server:
        admin = Admin(server)
        session = server.project.session()
        ada = await Client.join(server, session)
        assert readiness(server) == (200, {"status": "ok"}) and admin.value(WRITABLE) == 1
        with contextlib.closing(sqlite3.connect(folder / durable.HISTORY)) as other:
            other.execute("BEGIN IMMEDIATE")
            await say(ada, 100)
            await until(lambda: readiness(server) == (200, {"status": "ok", "history": "locked"}), "the report")
            assert admin.value(WRITABLE) == 0
            # Newcomers are accepted, and read everything.
            eve = await Client.join(server, session, options={"history": {"last": 200}})
            assert len((await eve.expect("history"))["messages"]) == 100
            other.rollback()
        await until(lambda: readiness(server) == (200, {"status": "ok"}), "the end of the report")
        assert admin.value(WRITABLE) == 1
        # The server counts them once a minute.
        are_counted = lambda: admin.value("signalbox_history_messages") == 100
        await until(are_counted, "the messages in the history", seconds=3 * DEADLINE, pause=1)


@pytest.mark.waiting
async def test_his_2_a_redis_that_was_away_leaves_no_report_behind():
    with cluster.Redis() as redis:
        with Server("--admin-port", "0", redis=redis.url, history="chat") as server:
            admin = Admin(server)
            assert admin.value(WRITABLE) == 1
            redis.kill()
            await until(lambda: "history" in readiness(server)[1], "the report")
            assert admin.value(WRITABLE) == 0
            redis.start()
            # Nobody writes anything meanwhile.
            await until(lambda: readiness(server) == (200, {"status": "ok"}), "the end of the report")
            assert admin.value(WRITABLE) == 1
