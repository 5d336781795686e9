"""A server that keeps its sessions over a restart: docs/PROTOCOL.md RES-15, `--state-dir`."""

import pytest

from server_process import Server
from signalbox_client import Client
from test_resume import come_back

STATE = "sessions.state"


async def two_in_a_session(server, session):
    ada, bob = await Client.join(server, session), await Client.join(server, session)
    await ada.expect("connectionCreated", seq=2)
    return ada, bob


async def test_res_15_a_restart_loses_nothing_and_is_noticed_by_nobody(tmp_path):
    with Server("--state-dir", tmp_path / "state") as server:
        session = server.project.session()
        ada, bob = await two_in_a_session(server, session)
        answer, _ = await ada.signal(type="chat", data="say \"é\u2028\u0000\"")
        again = answer["id"]
        await bob.signal(type="chat", data="to her", to=ada.id)
        assert server.stop() == 0
    kept = tmp_path / "state" / STATE
    assert kept.stat().st_mode & 0o777 == 0o600
    assert ada.connected["resume"]["secret"] not in kept.read_text()
    with Server("--state-dir", tmp_path / "state") as server:
        assert not kept.exists(), "it is used once"
        async with await come_back(server, session, ada, after=2) as ada2, await come_back(server, session, bob, after=3) as bob2:
            for old, new in ((ada, ada2), (bob, bob2)):
                assert new.connected["outcome"] == "resumed" and new.me == old.me
                assert new.connected["epoch"] == old.connected["epoch"]
            await ada2.expect("signal", seq=3, data="say \"é\u2028\u0000\"", **{"from": ada.id})
            await ada2.expect("signal", seq=4, data="to her", to=ada.id)
            # RES-9: carried out once, over the restart as well.
            await ada2.send('{"op":"signal","id":%d,"type":"chat","data":"again"}' % again)
            await ada2.expect("ack", id=again, seq=3)
            answer, events = await bob2.signal(type="chat", data="on we go")
            assert answer["seq"] == 5 and [event["ev"] for event in events] == ["signal"]
            await ada2.expect("signal", seq=5, data="on we go")


async def test_res_15_the_time_to_come_back_goes_on_from_the_stop(tmp_path):
    with Server("--state-dir", tmp_path, "--resume-seconds", "1") as server:
        session = server.project.session()
        ada, bob = await two_in_a_session(server, session)
        assert server.stop() == 0
    text = (tmp_path / STATE).read_text()
    with Server("--state-dir", tmp_path, "--resume-seconds", "1") as server:
        # Who does not come back in time is given up; who does hears of it.
        async with await Client.join(server, session) as eve:
            gone = set()
            for _ in range(2):
                event = await eve.next()
                assert event["ev"] == "connectionDestroyed" and event["reason"] == "networkDisconnected"
                gone.add(event["connectionId"])
            assert gone <= {ada.id, bob.id} and eve.connected["epoch"] == ada.connected["epoch"]
            async with await come_back(server, session, ada, after=2) as late:
                assert late.connected["outcome"] == "recovered"
    assert ada.id in text


@pytest.mark.parametrize("damage", ["cut", "changed", "foreign", "version", "empty"])
async def test_g_4_a_state_that_is_not_whole_is_set_aside_and_the_loss_is_told(tmp_path, damage):
    with Server("--state-dir", tmp_path) as server:
        session = server.project.session()
        ada, _ = await two_in_a_session(server, session)
        assert server.stop() == 0
    kept = tmp_path / STATE
    text = kept.read_text()
    damaged = {
        "cut": text[:-20],
        "changed": text.replace('"seq":2', '"seq":3', 1),
        "foreign": "[]\n",
        "version": text.replace('"signalboxState":1', '"signalboxState":99', 1),
        "empty": "",
    }[damage]
    assert damaged != text
    kept.write_text(damaged)
    with Server("--state-dir", tmp_path) as server:
        server.err.until("are lost")
        assert not kept.exists()
        assert [each.read_text() for each in tmp_path.glob(STATE + ".refused")] == [damaged]
        async with await come_back(server, session, ada, after=2) as back:
            assert back.connected["outcome"] == "lost" and back.connected["epoch"] != ada.connected["epoch"]


async def test_g_4_after_a_kill_nothing_old_comes_back(tmp_path):
    """A state is read, more is acknowledged, the server is killed: the next one must not give the same numbers again."""
    with Server("--state-dir", tmp_path) as server:
        session = server.project.session()
        ada, _ = await two_in_a_session(server, session)
        assert server.stop() == 0
    with Server("--state-dir", tmp_path) as server:
        back = await come_back(server, session, ada, after=2)
        assert back.connected["outcome"] == "resumed"
        answer, _ = await back.signal(type="chat", data="acknowledged")
        assert answer["seq"] == 3
        server.process.kill()
        server.wait()
    with Server("--state-dir", tmp_path) as server:
        async with await come_back(server, session, back, after=3) as again:
            assert again.connected["outcome"] == "lost" and again.connected["epoch"] != ada.connected["epoch"]


def test_a_state_folder_has_one_server(tmp_path):
    with Server("--state-dir", tmp_path):
        from server_process import run

        second = run("serve", "--port", "0", "--state-dir", tmp_path)
        assert second.returncode == 1 and "in use by another server" in second.stderr
