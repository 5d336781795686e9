"""docs/openapi.yaml against the server: whatever fits the description, and what does not, gets a described answer."""

import re
import subprocess
import sys

import pytest

from server_process import REPOSITORY

# A sequence that repeats: a failure can be seen again.
SEED = "20261121"
EXAMPLES = "25"


@pytest.mark.parametrize("mode", ["project", "development"])
def test_openapi_each_operation_answers_as_described(server, dev_server, session, tmp_path, mode):
    configuration = tmp_path / "schemathesis.toml"
    # A NUL in a path or query makes libwebsockets hang up, which is no answer.
    settings = "[generation]\nallow-x00 = false\n"
    # 413 is how OpenTok refuses what is too long.
    settings += '[checks.negative_data_rejection]\nexpected-statuses = ["400", "403", "404", "405", "411", "413"]\n'
    # 501 is said of media, where it is described.
    settings += '[checks.not_a_server_error]\nexpected-statuses = ["2xx", "3xx", "4xx", "501"]\n'
    if mode == "project":
        url = server.url
        # Made-up keys and sessions would be refused before anything else is looked at.
        configuration.write_text(settings + f'''[parameters]\n"path.project" = "{server.project.key}"\n"path.session" = "{session}"\n''')
        chosen = ["--exclude-tag", "development", "--header", f"X-OPENTOK-AUTH: {server.project.credentials()}"]
    else:
        url = dev_server.url
        configuration.write_text(settings)
        chosen = ["--include-tag", "development", "--include-tag", "health"]
    run = subprocess.run(
        [
            sys.executable, "-m", "schemathesis.cli", "--config-file", str(configuration),
            "run", str(REPOSITORY / "docs/openapi.yaml"), "--url", url,
            "--phases", "examples,coverage,fuzzing", "--max-examples", EXAMPLES, "--seed", SEED,
            # libwebsockets answers methods that it does not know by itself, with 403.
            "--exclude-checks", "unsupported_method",
            "--request-timeout", "5", "--no-color", *chosen,
        ],
        capture_output=True, text=True, timeout=120, cwd=tmp_path,
    )
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]


def test_openapi_says_503_where_a_server_that_stops_says_it():
    """What docs/PROTOCOL.md section 14 says of each request stands in its description, too."""
    operations = re.split(r"\n  (?=/)", (REPOSITORY / "docs/openapi.yaml").read_text())
    said = {operation.split(":", 1)[0] for operation in operations if '"503"' in operation or "*signal-responses" in operation}
    project = "/v2/project/{project}/session/{session}"
    assert said == {f"{project}/signal", f"{project}/connection/{{connection}}/signal", f"{project}/connection/{{connection}}", "/readyz"}
