"""docs/openapi.yaml against the server: valid and invalid requests get an answer that is described."""

import os
import re
import subprocess
import sys

import pytest

from administration import Admin
from server_process import REPOSITORY, Server

# The requests are the same in each run, so that a failure can be reproduced.
SEED = "20261121"
EXAMPLES = "10"
# Random requests take minutes of a processor. They are for a run of all tests (relevance.py).
PHASES = "examples,coverage,fuzzing" if os.environ.get("SIGNALBOX_TEST_ALL") == "1" else "examples,coverage"


@pytest.fixture(scope="module")
def admin_url():
    with Server("--admin-port", "0") as server:
        yield Admin(server).url


@pytest.fixture(scope="module")
def remembering_server():
    """A server whose sessions have a history."""
    with Server(history="all") as server:
        yield server


@pytest.mark.parametrize("mode", ["project", "development", "administration"])
def test_openapi_each_operation_answers_as_described(remembering_server, dev_server, admin_url, tmp_path, mode):
    server, session = remembering_server, remembering_server.project.session()
    configuration = tmp_path / "schemathesis.toml"
    # The server refuses a NUL in a path or query before it looks at the operation.
    settings = "[generation]\nallow-x00 = false\n"
    # OpenTok refuses a value that is too long with 413.
    settings += '[checks.negative_data_rejection]\nexpected-statuses = ["400", "403", "404", "405", "411", "413"]\n'
    # The media calls are described with 501.
    settings += '[checks.not_a_server_error]\nexpected-statuses = ["2xx", "3xx", "4xx", "501"]\n'
    if mode == "project":
        url = server.url
        # The server would refuse generated keys and sessions before it checks anything else.
        parameters = f'"path.project" = "{server.project.key}"\n"path.session" = "{session}"\n'
        # A generated token is never a valid one; `test_link.py` has those.
        link = '[[operations]]\ninclude-operation-id = "createLink"\nchecks.positive_data_acceptance.enabled = false\n'
        # A request may not have both positions, and erases by one of two names, which the description cannot say.
        page = '[[operations]]\ninclude-operation-id = ["readHistory", "eraseHistory"]\nchecks.positive_data_acceptance.enabled = false\n'
        # A moment in the future is refused, a user beside a jti, and a restriction of nobody: none of this can be described.
        moments = '[[operations]]\ninclude-operation-id = ["revoke", "takeBackRevocation", "moderate"]\nchecks.positive_data_acceptance.enabled = false\n'
        configuration.write_text(settings + "[parameters]\n" + parameters + link + page + moments)
        chosen = ["--exclude-tag", "development", "--exclude-tag", "administration", "--header", f"X-OPENTOK-AUTH: {server.project.credentials()}"]
    elif mode == "administration":
        url = admin_url
        # As `eraseHistory`.
        names = '[[operations]]\ninclude-operation-id = "adminErase"\nchecks.positive_data_acceptance.enabled = false\n'
        configuration.write_text(settings + names)
        chosen = ["--include-tag", "administration"]
    else:
        url = dev_server.url
        configuration.write_text(settings)
        chosen = ["--include-tag", "development", "--include-tag", "health"]
    run = subprocess.run(
        [
            sys.executable, "-m", "schemathesis.cli", "--config-file", str(configuration),
            "run", str(REPOSITORY / "docs/openapi.yaml"), "--url", url,
            "--phases", PHASES, "--max-examples", "5" if mode == "administration" else EXAMPLES, "--seed", SEED,
            # The server answers unknown methods with 501, whatever the path.
            "--exclude-checks", "unsupported_method",
            "--request-timeout", "60", "--no-color", *chosen,
        ],
        capture_output=True, text=True, timeout=600, cwd=tmp_path,
    )
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]


def test_openapi_describes_503_where_a_stopping_server_answers_so():
    """The description agrees with docs/PROTOCOL.md, section 14."""
    operations = re.split(r"\n  (?=/)", (REPOSITORY / "docs/openapi.yaml").read_text())
    described = {
        operation.split(":", 1)[0]
        for operation in operations
        if '"503"' in operation or "*signal-responses" in operation
    }
    project = "/v2/project/{project}/session/{session}"
    assert described == {
        f"{project}/signal",
        f"{project}/connection",
        f"{project}/connection/{{connection}}/signal",
        f"{project}/connection/{{connection}}",
        f"{project}/stream",
        f"{project}/stream/{{stream}}",
        f"{project}/message",
        f"{project}/message/{{seq}}",
        f"{project}/moderation",
        f"{project}/user/{{user}}/message",
        "/v2/project/{project}/feed",
        "/v2/project/{project}/revocation",
        "/admin/v1/sessions",
        "/admin/v1/sessions/{session}/messages",
        "/admin/v1/sessions/{session}/moderation",
        "/readyz",
    }
