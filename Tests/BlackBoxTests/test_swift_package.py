"""The package as a dependency: a program in another folder names it by its git URL, and builds without a word of ours.

SwiftPM builds dependencies with warnings suppressed, and in other folders than the package's own."""

import os
import shutil
import subprocess

import pytest

from server_process import REPOSITORY

MANIFEST = """// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "my-chat",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: "URL", branch: "main")],
    targets: [
        .executableTarget(
            name: "MyChat",
            dependencies: [
                .product(name: "SignalingClient", package: "signalbox"),
                .product(name: "TextChat", package: "signalbox"),
            ]),
        .executableTarget(
            name: "MyVideo", dependencies: [.product(name: "VonageClientSDKVideo", package: "signalbox")]),
    ])
"""
CHAT = """import SignalingClient
import TextChat

let session = Session(apiKey: "100", sessionId: "1_x", server: "http://127.0.0.1:1")
print(session.sessionId, ChatMessage.self)
"""
VIDEO = """import Foundation
import OpenTok
import VonageClientSDKVideo

let session = OTSession(applicationId: "a", sessionId: "1_x", delegate: nil)!
print(session.sessionId)
"""
# Beside other tests, on two processors.
SECONDS = 540


def git(*arguments, folder):
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, timeout=SECONDS
    ).stdout  # fmt: skip


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A repository with the files of this one, and a package that depends on it, in a folder with an odd name."""
    # SwiftPM clones no file URL with encoded characters.
    repository = tmp_path_factory.mktemp("repository") / "signalbox"
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", folder=REPOSITORY)
    for name in filter(None, listed.decode().split("\0")):
        if (REPOSITORY / name).is_file():
            (repository / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, repository / name)
    git("init", "--quiet", "--initial-branch=main", folder=repository)
    git("add", "--all", folder=repository)
    git("commit", "--quiet", "--message=Everything", folder=repository)
    package = tmp_path_factory.mktemp("my chat ü")
    for name, text in [
        ("Package.swift", MANIFEST.replace("URL", repository.as_uri())),
        ("Sources/MyChat/main.swift", CHAT), ("Sources/MyVideo/main.swift", VIDEO),
    ]:  # fmt: skip
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    return package


def test_a_package_that_depends_on_this_one_builds_and_runs_with_both_build_systems(packages):
    # What scripts/test sets is not set on the machine of somebody else.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SIGNALBOX_")}

    def swift(build_system, command, *arguments):
        # The tests beside this one wait for deadlines: leave them the processors.
        result = subprocess.run(
            ["nice", "-n", "15", "swift", command, "--build-system", build_system,
             "--scratch-path", f".build-{build_system}", *arguments],
            cwd=packages, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
        return result.stdout

    for build_system in ("native", "swiftbuild"):
        swift(build_system, "build", "--jobs", "1")
        assert swift(build_system, "run", "--skip-build", "MyChat").strip() == "1_x ChatMessage"
        assert swift(build_system, "run", "--skip-build", "MyVideo").strip() == "1_x"
