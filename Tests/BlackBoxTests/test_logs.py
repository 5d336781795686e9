"""The log of the server."""

from server_process import Server
from signalbox_client import Client, connect_line


async def test_logs_contain_no_secrets_even_at_trace_level():
    with Server("--allow-partner-auth", log_level="trace") as server:
        project = server.project
        session = project.session()
        token = project.token(session, data="DATA-IN-TOKEN")
        jwt, credentials = project.jwt_token(session), project.credentials()
        expired = project.token(session, create_time=1, expire_time=2)
        async with (
            await Client.join(server, session, token=token) as ada,
            await Client.join(server, session, token=jwt),
        ):
            await ada.signal(type="SECRET-TYPE", data="SECRET-BODY")
            await ada.signal(type="a", data="SECRET-BODY", to="SECRET-TARGET")
            await ada.send('{"op":"SECRET-LINE"}')
            await ada.send("SECRET-LINE")
            secrets = [ada.connected["resume"]["secret"]]
            async with await Client.open(server) as bob:
                await bob.send(connect_line(server, session, token=expired))
                await bob.closed()
            server.rest("POST", server.session_path(session, "/signal"), {"data": "SECRET-BODY"}, credentials)
            server.rest("POST", server.session_path(session, "/signal"), {"data": 1, "SECRET-BODY": 2}, credentials)
            server.request("GET", "/room/x?token=" + token)
            for secret in (project.secret, "SECRET-GUESS"):
                server.request("POST", "/session/create", b"", {"X-TB-PARTNER-AUTH": f"{project.key}:{secret}"})
            server.request("POST", "/session/create", b"", {"Authorization": "Bearer " + credentials})
        assert server.stop() == 0
        while server.err.next() is not None:
            pass
        log = "\n".join(server.err.seen) + "\n".join(server.out.seen)
        assert "closing" in log or len(server.err.seen) > 3, "the trace level logs something"
        secrets += [
            project.secret, token, token[5:], jwt, jwt.split(".")[2], credentials, credentials.split(".")[2], expired
        ]
        secrets += ["SECRET-", "DATA-IN-TOKEN"]
        assert [secret for secret in secrets if secret in log] == []
