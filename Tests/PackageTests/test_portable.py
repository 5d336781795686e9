"""The portable program in bare Debians: a folder with what debootstrap makes, without packages."""

import json
import re
import subprocess
import time

import pytest
from conftest import REPOSITORY, run


def test_it_loads_the_c_library_alone(portable):
    needed = set(re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", portable)))
    assert needed <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}, needed
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", run("objdump", "-T", portable))
    assert max((int(major), int(minor)) for major, minor in versions) <= (2, 36)
    assert portable.stat().st_size <= 45e6


def test_its_version_lists_what_is_inside(portable):
    version, *libraries = run(portable, "--version").splitlines()
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    for name in ("curl", "hiredis", "json-c", "libuv1", "libwebsockets", "openssl", "sqlite3"):
        assert any(re.fullmatch(rf"{name} \d\S+", line) for line in libraries), name


def test_its_bill_of_materials_has_the_libraries_inside(portable):
    sbom = json.loads(run(REPOSITORY / "scripts/parts/make-sbom", portable))
    names = {package["name"] for package in sbom["packages"]}
    assert {"libwebsockets", "openssl", "sqlite3", "curl"} <= names


@pytest.mark.parametrize("suite", ["bookworm", "trixie"])
def test_it_serves_the_page_in_a_bare_debian(portable, suite, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bare") / suite
    run("debootstrap", "--variant=minbase", suite, folder)
    run("install", "-m", "755", portable, folder / "root/signalbox")
    # Swift reads the arguments of a program from /proc.
    script = f'mount -t proc proc {folder}/proc && exec chroot {folder} /root/signalbox "$@"'
    inside = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "-"]
    begin = time.monotonic()
    with subprocess.Popen(
        [*inside, "serve", "--port", "0", "--ephemeral"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True) as server:  # fmt: skip
        try:
            url = server.stdout.readline().split()[-1]
            print(f"\n{suite}: ready after {(time.monotonic() - begin) * 1000:.0f} ms")
            page = subprocess.run(["curl", "-sSf", url], capture_output=True, check=True).stdout
            assert page == (REPOSITORY / "web-test-client/dist/page.html").read_bytes()
            assert "no page" not in "".join(server.stdout.readline() for _ in range(2))
            session = run(*inside, "room", "lobby", "--server", url).strip()
            run(*inside, "signal", session, "--type", "chat", "--data", "hello", "--server", url)
        finally:
            server.terminate()
        assert server.wait(30) == 0
