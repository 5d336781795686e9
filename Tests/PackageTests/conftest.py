"""Makes the Debian package, and a Debian 12 in a folder to install it in. Takes minutes, and needs root.

SIGNALBOX_RELEASE   the program to put into the package; without it, scripts/build release builds it
SIGNALBOX_PORTABLE  the portable program; without it, scripts/build release --portable builds it
SIGNALBOX_PACKAGE   the package, made as below; without it, scripts/build package makes it
SIGNALBOX_DEBIAN    a folder with a bare Debian 12, which stays as it is; without it, debootstrap makes one
"""

import os
import pathlib
import re
import subprocess
import sys

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "Tests/BlackBoxTests"))

# What a server of an operator has: systemd, and curl for the examples.
BARE = "ca-certificates,curl,dbus,systemd,systemd-sysv"


MAINTAINER = {"DEBFULLNAME": "Ada Builder", "DEBEMAIL": "ada@tests.signalbox.test"}


def run(*command, **options):
    """Runs a command that must succeed, and returns its output."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert result.returncode == 0, f"{command}\n{result.stdout[-8000:]}\n{result.stderr[-8000:]}"
    return result.stdout


@pytest.fixture(scope="session")
def program():
    return pathlib.Path(os.environ.get("SIGNALBOX_RELEASE") or run(
        REPOSITORY / "scripts/build", "release", "signalbox", "signalbox-lab").split()[0])


@pytest.fixture(scope="session")
def portable():
    return pathlib.Path(os.environ.get("SIGNALBOX_PORTABLE") or REPOSITORY / run(
        REPOSITORY / "scripts/build", "release", "--portable").split()[-1])


@pytest.fixture(scope="session")
def packages(program, tmp_path_factory):
    """The package, and a newer one with the same contents."""
    folder = tmp_path_factory.mktemp("packages")
    package = os.environ.get("SIGNALBOX_PACKAGE") or run(
        REPOSITORY / "scripts/build", "package", "--program", program, "--output", folder,
        env=os.environ | MAINTAINER).split()[0]
    control = folder / "newer/DEBIAN/control"
    run("dpkg-deb", "--raw-extract", package, folder / "newer")
    control.write_text(re.sub(r"^(Version: .*)$", r"\1+newer", control.read_text(), flags=re.M))
    newer = folder / "signalbox-newer.deb"
    run("dpkg-deb", "-Zgzip", "-z1", "--root-owner-group", "--build", folder / "newer", newer)
    return [pathlib.Path(package), newer]


@pytest.fixture(scope="session")
def package(packages):
    return packages[0]


@pytest.fixture(scope="session")
def contents(package, tmp_path_factory):
    """The files of the package in a folder."""
    folder = tmp_path_factory.mktemp("contents")
    run("dpkg-deb", "--extract", package, folder)
    return folder


@pytest.fixture(scope="session")
def lab_contents(package, tmp_path_factory):
    """The files of the package signalbox-lab, which is made with the other one."""
    folder = tmp_path_factory.mktemp("lab")
    run("dpkg-deb", "--extract", package.with_name(package.name.replace("signalbox_", "signalbox-lab_", 1)), folder)
    return folder


@pytest.fixture(scope="session")
def debian(tmp_path_factory):
    """A bare Debian 12 with fresh lists of its packages."""
    if os.geteuid() != 0:
        pytest.exit("the tests of the package make system folders: run them as root", 64)
    if given := os.environ.get("SIGNALBOX_DEBIAN"):
        return pathlib.Path(given)
    folder = tmp_path_factory.mktemp("debian") / "bookworm"
    run("debootstrap", "--variant=minbase", f"--include={BARE}", "bookworm", folder)
    run("chroot", folder, "apt-get", "update")
    return folder


@pytest.fixture
def machine(debian, tmp_path):
    """A copy of that Debian, which a test may change."""
    folder = tmp_path / "machine"
    run("cp", "--archive", "--reflink=auto", debian, folder)
    yield folder
    run("rm", "-rf", "--one-file-system", folder)
