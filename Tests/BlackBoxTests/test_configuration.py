"""`signalbox config`, secrets in files, and the one line and the exit status of each kind of bad input."""

import json
import re
import shutil
import socket
import stat
import subprocess


from credentials import Project
from server_process import DEADLINE, READY, TLS, Command, Server, environment, run

SECRET = "a secret that no output may contain"


def refused(status, *arguments, text, **settings):
    """Requires that `serve` ends at once with this status and one line that has this text."""
    done = run(*arguments, **settings)
    assert done.returncode == status, done
    assert re.search(text, done.stderr) and done.stderr.count("\n") == 1 and not done.stdout, done
    return done


def test_init_creates_a_file_that_check_accepts_and_print_shows(tmp_path):
    made = run("config", "init")
    assert made.returncode == 0
    example = json.loads(made.stdout)
    assert made.stdout != run("config", "init").stdout, "each has a secret of its own"
    assert any(name.startswith("//resumeSeconds") for name in example)
    example["stateDir"] = str(tmp_path / "state")
    file = tmp_path / "signalbox.json"
    file.write_text(json.dumps(example))
    checked = run("config", "check", file)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "the configuration is valid\n", "")
    assert not (tmp_path / "state").exists(), "a check creates nothing"
    printed = run("config", "print", "--config", file, "--port", "9000")
    assert re.search(r"^port +9000 +--port$", printed.stdout, re.MULTILINE)
    assert re.search(rf'^adminPort +9091 +"adminPort" in {file}$', printed.stdout, re.MULTILINE)
    assert re.search(r"^resumeSeconds +60 +default$", printed.stdout, re.MULTILINE)


def test_check_and_serve_report_all_faults_at_once(tmp_path):
    file = tmp_path / "settings.json"
    file.write_text('{"prot": 1, "resumeSeconds": -1, "tlsKey": "k", "projects": [{"apiKey": "1", "secrets": []}]}')
    for status, arguments in ((78, ("config", "check", file)), (64, ("serve", "--config", file))):
        done = run(*arguments, admin_token="t")
        lines = done.stderr.splitlines()
        assert done.returncode == status and not done.stdout, done
        assert all(line.startswith("signalbox: ") for line in lines)
        for text in ('unknown setting "prot"', "resumeSeconds is -1", "projects[0] has 0 secrets"):
            assert sum(text in line for line in lines) == 1, (text, lines)
    assert len(run("config", "check", file, admin_token="t").stderr.splitlines()) == 5, "and contradictions, too"


def test_check_compares_certificate_and_key(tmp_path):
    keys = sorted(TLS.glob("*.key.pem"))
    other = next(key for key in keys if key.name != "server.key.pem")
    for key, status in ((TLS / "server.key.pem", 0), (other, 78)):
        (tmp_path / "settings.json").write_text(json.dumps({"tlsCert": str(TLS / "server.pem"), "tlsKey": str(key)}))
        checked = run("config", "check", tmp_path / "settings.json")
        assert checked.returncode == status, checked


def test_secrets_come_from_files_and_systemd_credentials(tmp_path):
    (tmp_path / "secret").write_text("from a file\n")
    (tmp_path / "SIGNALBOX_WEBHOOK_SECRET").write_text("from systemd")
    printed = run("config", "print", "--json", api_key="1", api_secret_file=tmp_path / "secret",
                  webhook_url="http://127.0.0.1:1/")  # fmt: skip
    assert json.loads(printed.stdout)["apiSecret"]["source"].startswith("SIGNALBOX_API_SECRET_FILE")
    variables = environment(webhook_url="http://127.0.0.1:1/") | {"CREDENTIALS_DIRECTORY": str(tmp_path)}
    printed = run("config", "print", "--json", env=variables)
    assert json.loads(printed.stdout)["webhookSecret"]["source"] == "the credential SIGNALBOX_WEBHOOK_SECRET"
    refused(64, "serve", "--port", "0", text="both given", api_key="1", api_secret="a",
            api_secret_file=tmp_path / "secret")  # fmt: skip
    refused(64, "serve", "--port", "0", text="cannot be read", api_key="1", api_secret_file=tmp_path / "none")
    (tmp_path / "empty").write_text("\n")
    refused(64, "serve", "--port", "0", text="is empty", api_key="1", api_secret_file=tmp_path / "empty")


def test_a_secret_from_a_file_is_the_one_that_counts(tmp_path):
    (tmp_path / "secret").write_text("a secret of the tests, 32 bytes long\n")
    project = Project("100", "a secret of the tests, 32 bytes long")
    with Server(project=project, api_key="100", api_secret_file=tmp_path / "secret") as server:
        assert server.rest("POST", "/session/create").status == 200


# Returns a time in 1970 instead of the clock's.
WRONG_CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (clock == CLOCK_REALTIME) { time->tv_sec = 90061; time->tv_nsec = 0; }
    return result;
}
"""


def test_a_clock_far_off_ends_the_start_with_the_time_and_what_to_do(tmp_path):
    (tmp_path / "clock.c").write_text(WRONG_CLOCK)
    library = tmp_path / "clock.so"
    compiler = shutil.which("cc") or shutil.which("clang")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "clock.c", "-ldl"], check=True)
    state = tmp_path / "state"
    variables = environment(api_key="1", api_secret="s") | {"LD_PRELOAD": str(library)}
    refused(78, "serve", "--port", "0", "--state-dir", state, text="1970-01-02T01:01:01Z.*Set the clock", env=variables)
    assert not state.exists()


def test_bad_input_ends_the_start_with_one_line_and_nothing_half_started(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        state = tmp_path / "state"
        refused(69, "serve", "--port", port, "--state-dir", state, text=rf"{port}.*choose another port")
        refused(69, "serve", "--port", "0", "--admin-port", port, "--state-dir", state, text=rf"{port}")
    refused(64, "serve", "--port", "70000", text="port is 70000")
    other = next(key for key in sorted(TLS.glob("*.key.pem")) if key.name != "server.key.pem")
    refused(78, "serve", "--port", "0", "--tls-cert", TLS / "server.pem", "--tls-key", other, text="does not match")
    refused(78, "serve", "--port", "0", "--tls-cert", tmp_path / "none.pem", "--tls-key", other, text="none.pem")
    refused(73, "serve", "--port", "0", "--state-dir", "/proc/signalbox", text="/proc/signalbox")
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(stat.S_IRWXU | stat.S_IRWXG | stat.S_IRWXO)
    refused(73, "serve", "--port", "0", "--state-dir", open_to_all, text=str(open_to_all))


def test_the_tools_take_secrets_from_files(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("a secret\n")
    token = run("token", run("session", "create", api_key="100", api_secret="a secret").stdout.strip(),
                api_key="100", api_secret_file=secret)  # fmt: skip
    assert (token.returncode, token.stderr) == (0, "")
    for given, message in [
        ({"api_secret": "a secret", "api_secret_file": secret}, "are both given"),
        ({"api_secret_file": tmp_path / "absent"}, "cannot be read"),
    ]:
        refused = run("session", "create", api_key="100", **given)
        assert refused.returncode == 64 and refused.stderr.count("\n") == 1 and message in refused.stderr
    with Server("--admin-port", "0", admin_token="a token") as server:
        url = re.search(r"http\S+", server.out.until("administration is at"))[0]
        (tmp_path / "token").write_text("a token\n")
        assert run("admin", "stats", "--url", url, admin_token_file=tmp_path / "token").returncode == 0
        assert run("admin", "stats", "--url", url, admin_token_file=secret).returncode == 77


# Answers like a kernel without IPv6.
NO_IPV6 = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>
int socket(int family, int type, int protocol) {
    int (*real)(int, int, int) = dlsym(RTLD_NEXT, "socket");
    if (family != AF_INET6) { return real(family, type, protocol); }
    errno = EAFNOSUPPORT;
    return -1;
}
"""


def answers(host, port):
    """Whether a server accepts connections at this address."""
    try:
        with socket.create_connection((host, port), timeout=DEADLINE) as connection:
            connection.sendall(b"GET /livez HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            return connection.recv(12) == b"HTTP/1.1 200"
    except ConnectionRefusedError:
        return False


def test_a_server_on_all_addresses_has_those_of_ipv6_and_ipv4():
    with Server(host="::") as server:
        assert answers("127.0.0.1", server.port) and answers("::1", server.port)
    with Command("serve", "--port", "0", host="::1", api_key="1", api_secret="s") as other:
        port = int(re.search(r"http://\[::1\]:([0-9]+)/", other.out.until("ready"))[1])
        assert answers("::1", port) and not answers("127.0.0.1", port)


def test_a_server_on_all_addresses_of_a_machine_without_ipv6_has_those_of_ipv4(tmp_path):
    (tmp_path / "socket.c").write_text(NO_IPV6)
    library = tmp_path / "socket.so"
    compiler = shutil.which("cc") or shutil.which("clang")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "socket.c", "-ldl"], check=True)
    variables = environment(api_key="1", api_secret="s", host="::", port=0) | {"LD_PRELOAD": str(library)}
    with Command("serve", env=variables) as server:
        port = int(READY.search(server.out.until("ready"))[2])
        assert answers("127.0.0.1", port) and not answers("::1", port)
    refused(64, "serve", text="Cannot listen on ::1: this machine has no IPv6",
            env=variables | {"SIGNALBOX_HOST": "::1"})  # fmt: skip


def test_a_server_starts_beside_the_variables_of_a_service_that_has_its_name():
    variables = {"SIGNALBOX_PORT": "tcp://10.0.0.1:8080", "SIGNALBOX_SERVICE_HOST": "10.0.0.1",
                 "SIGNALBOX_PORT_8080_TCP": "tcp://10.0.0.1:8080", "SIGNALBOX_REDIS": ""}  # fmt: skip
    with Command("serve", "--port", "0", env=environment(api_key="1", api_secret="s ") | variables) as server:
        assert answers("127.0.0.1", int(READY.search(server.out.until("ready"))[2]))
        server.err.until(r"warning .*SIGNALBOX_PORT and 2 more variables describe a service")
        server.err.until(r"warning .*empty variables count as not given: SIGNALBOX_REDIS")
        server.err.until(r"warning .*the secret \(SIGNALBOX_API_SECRET\) begins or ends with a blank")
    for server in ("", "http://127.0.0.1:1"):
        done = run("health", server=server, port="tcp://10.0.0.1:8080")
        assert done.returncode == 69 and (server or "http://127.0.0.1:8080") in done.stderr, done
