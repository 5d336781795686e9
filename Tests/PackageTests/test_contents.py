"""What the Debian package contains, judged by Debian's own tools."""

import gzip
import json
import pathlib
import re
import subprocess
import time

from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

import pytest
from conftest import MAINTAINER, REPOSITORY, run


def commands(program):
    """The names of all commands: `signalbox`, `signalbox-serve` and so on."""

    def walk(command, names):
        names = [*names, command["commandName"]]
        yield "-".join(names)
        for each in command.get("subcommands", []):
            if each["commandName"] != "help" and each.get("shouldDisplay", True):
                yield from walk(each, names)

    return list(walk(json.loads(run(program, "--experimental-dump-help"))["command"], []))


def test_lintian_finds_no_error(package):
    result = subprocess.run(["lintian", "--fail-on", "error", package], capture_output=True, text=True)
    print(result.stdout)
    assert result.returncode == 0, result.stdout


def test_the_package_has_the_version_of_the_program(package, program):
    version = run(program, "--version").strip()
    assert run("dpkg-deb", "--field", package, "Version").strip() == version
    assert package.name == f"signalbox_{version}_{run('dpkg', '--print-architecture').strip()}.deb"


def test_the_package_needs_libraries_of_debian_and_no_swift(package, contents):
    depends = run("dpkg-deb", "--field", package, "Depends")
    names = ("adduser", "libc6", "libhiredis0.14", "libjson-c5", "libsqlite3-0", "libwebsockets-evlib-uv")
    for name in names:
        assert re.search(rf"(^|, ){re.escape(name)}\b", depends), name
    libraries = run("ldd", contents / "usr/bin/signalbox")
    assert "swift" not in libraries.lower() and "not found" not in libraries


def test_the_program_takes_libraries_of_the_system_only(contents):
    # Debian's policy forbids a search path of the program's own. scripts/build release switches it off.
    dynamic = run("objdump", "-p", contents / "usr/bin/signalbox")
    assert "RPATH" not in dynamic and "RUNPATH" not in dynamic


def test_the_builder_is_the_maintainer(package):
    builder = MAINTAINER["DEBFULLNAME"] + " <" + MAINTAINER["DEBEMAIL"] + ">"
    assert run("dpkg-deb", "--field", package, "Maintainer").strip() == builder


def test_the_program_is_small_and_starts_quickly(package, contents):
    """Prints the figures (pytest -s). The bounds are wide: they find a step of another order of magnitude."""
    program = contents / "usr/bin/signalbox"
    times = []
    for _ in range(5):
        begin = time.monotonic()
        command = [program, "serve", "--port", "0", "--ephemeral"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            assert server.stdout.readline().startswith("signalbox is ready")
            times.append(time.monotonic() - begin)
            memory = re.search(r"VmRSS:\s*(\d+) kB", pathlib.Path(f"/proc/{server.pid}/status").read_text())[1]
            server.kill()
    sizes = package.stat().st_size / 1e6, program.stat().st_size / 1e6
    median = sorted(times)[2] * 1000
    print(f"\npackage {sizes[0]:.1f} MB, program {sizes[1]:.1f} MB, start {median:.0f} ms, {int(memory) >> 10} MiB")
    assert sizes[0] < 60 and sizes[1] < 200
    assert min(times) < 2


def test_settings_are_conffiles_and_no_secret_is_inside(package, contents):
    conffiles = run("dpkg-deb", "--info", package, "conffiles").split()
    assert conffiles == ["/etc/signalbox/signalbox.json"]
    assert sorted(path.name for path in (contents / "etc/signalbox").iterdir()) == ["signalbox.json"]
    settings = json.loads((contents / "etc/signalbox/signalbox.json").read_text())
    assert "apiSecret" not in settings


def test_the_page_and_the_browser_library_are_inside_of_the_program(contents):
    command = [contents / "usr/bin/signalbox", "serve", "--port", "0", "--ephemeral"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd="/") as server:
        try:
            url = server.stdout.readline().split()[-1]
            for path, name in (("", "page.html"), ("opentok.js", "opentok.js"), ("signalbox-chat.js", "signalbox-chat.js")):
                sent = subprocess.run(["curl", "-sSf", url + path], capture_output=True, check=True).stdout
                assert sent == (REPOSITORY / "web-test-client/dist" / name).read_bytes(), path
        finally:
            server.kill()


@pytest.mark.parametrize("suffix, folder", [("", "contents"), ("-lab", "lab_contents")])
def test_every_command_has_a_manual_page_without_a_fault(request, program, suffix, folder):
    pages = request.getfixturevalue(folder) / "usr/share/man/man1"
    names = commands(f"{program}{suffix}")
    assert sorted(path.name for path in pages.iterdir()) == sorted(f"{name}.1.gz" for name in names)
    for name in names:
        path = pages / f"{name}.1.gz"
        text = gzip.decompress(path.read_bytes()).decode()
        assert f".TH {name.upper()} " in text and f"\n{name} \\- " in text and "\n.SH SYNOPSIS\n" in text, name
        result = subprocess.run(
            ["man", "--warnings", "--encoding=UTF-8", "--local-file", "-Tutf8", "-Z", path], capture_output=True,
            env={"LC_ALL": "C.UTF-8", "MANWIDTH": "80", "PATH": "/usr/bin:/bin"})
        assert result.returncode == 0 and result.stderr == b"", (name, result.stderr)
        for other in re.findall(r"^\.BR (\S+) \(1\)", text, re.M):
            assert other in names, f"{name} refers to {other}"
    if suffix:
        return
    serve = gzip.decompress((pages / "signalbox-serve.1.gz").read_bytes()).decode().replace("\\-", "-")
    for option in ("--host", "--state-dir", "--redis", "--admin-port"):
        assert option in serve


def test_the_completions_are_where_the_shells_look(contents, lab_contents):
    for name, word in (
        ("bash-completion/completions/signalbox", "complete "), ("zsh/vendor-completions/_signalbox", "#compdef signalbox"),
        ("fish/vendor_completions.d/signalbox.fish", "complete -c"),
        ("bash-completion/completions/signalbox-lab", "complete "),
        ("zsh/vendor-completions/_signalbox-lab", "#compdef signalbox-lab"),
        ("fish/vendor_completions.d/signalbox-lab.fish", "complete -c"),
    ):  # fmt: skip
        text = ((lab_contents if "-lab" in name else contents) / "usr/share" / name).read_text()
        assert word in text and ("upgrade" if "-lab" in name else "disconnect") in text and not text.startswith("#!"), name


def test_the_bill_of_materials_is_valid_and_names_everything(contents):
    file = contents / "usr/share/doc/signalbox/sbom.spdx.json"
    document = parse_file(str(file))
    assert validate_full_spdx_document(document) == []
    versions = {each.name: each.version for each in document.packages}
    pins = json.loads((REPOSITORY / "Package.resolved").read_text())["pins"]
    assert {pin["identity"]: pin["state"]["version"] for pin in pins}.items() <= versions.items()
    declared = re.findall(r'url: "https://\S+/([\w-]+)"', (REPOSITORY / "Package.swift").read_text())
    assert declared and set(declared) <= versions.keys()
    needed = set(re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", contents / "usr/bin/signalbox")))
    assert "libwebsockets.so.17" in needed and "libjson-c.so.5" in needed
    for name in ("libwebsockets17", "libwebsockets-evlib-uv", "libjson-c5", "libsqlite3-0", "libhiredis0.14"):
        assert versions[name] == run("dpkg-query", "-W", "-f", "${Version}", name)
    assert "swift-runtime" in versions
    locators = [each.locator for package in document.packages for each in package.external_references]
    assert len(locators) == len(set(locators)) and all(each.startswith("pkg:") for each in locators)


def test_the_same_sources_give_the_same_bill_of_materials(contents, program):
    once, again = (run(REPOSITORY / "scripts/parts/make-sbom", contents / "usr/bin/signalbox") for _ in range(2))
    assert once == again


def test_the_licences_of_what_is_linked_are_inside(contents):
    text = (contents / "usr/share/doc/signalbox/copyright").read_text()
    for pin in json.loads((REPOSITORY / "Package.resolved").read_text())["pins"]:
        assert f"\n{pin['identity']}\n=" in text, pin["identity"]
    assert "Runtime Library Exception" in text and "Permission is hereby granted, free of charge" in text


def test_the_documents_are_inside(contents):
    folder = contents / "usr/share/doc/signalbox"
    unit = (contents / "lib/systemd/system/signalbox.service").read_text()
    for path in re.findall(r"file://(/usr/share/doc/signalbox/\S+)", unit):
        assert (contents / path.lstrip("/")).is_file(), path
    for name in ("CONFIGURATION.md", "operations/metrics.md", "CHANGELOG.md"):
        assert (folder / name).is_file(), name
    assert pathlib.Path(folder / "changelog.gz").is_file()


def test_links_between_the_documents_lead_somewhere(contents):
    folder = contents / "usr/share/doc/signalbox"
    for page in folder.rglob("*.md"):
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
