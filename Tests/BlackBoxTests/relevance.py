#!/usr/bin/env python3
"""Which tests a run can leave out, because nothing that they read has changed lately.

    python3 Tests/BlackBoxTests/relevance.py PATH...      exit 0 if one of the last 30 commits, or a change that is not
                                                          committed, touches a path; 1 if none does
    python3 Tests/BlackBoxTests/relevance.py --self-test  fails if a change is overlooked, or a test wrongly left out

Tests of documents, packages and programs of others break only when their own folders change. `reads.toml` beside the
tests says what they read, and which of them run in any case:

    ["test_readme.py"]                              a file, or "test_a.py::test_b" for the tests with this beginning
    reads = ["README.md", "docs/operations"]        files and folders from the root of the repository
    smoke = ["test_readme_every_command"]           beginnings of names

The test's own file counts, too. The other tests are deselected if git says that no path was touched. All tests run

- with SIGNALBOX_TEST_ALL=1,
- without the history of git, as in an archive,
- in a clone with less history than 30 commits: its oldest commit has every file,
- and a file whose name stands on the command line runs as a whole.

The marks `reads(*paths)` and `smoke` in a test say the same.

This file is a plugin of pytest: `config.pluginmanager.register(relevance)` in a conftest.py.
"""

import functools
import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMIT_COUNT = 30
ALL = "SIGNALBOX_TEST_ALL"


def git(root, *arguments):
    """What git prints; None if it fails or is not there."""
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.decode(errors="surrogateescape") if done.returncode == 0 else None


@functools.cache
def touched(root=ROOT):
    """The paths that the last commits and the changes since then touch; None if git does not know."""
    top = git(root, "rev-parse", "--show-toplevel")
    # An archive in a folder of another repository has no history of its own.
    if top is None or pathlib.Path(top.rstrip("\n")).resolve() != root:
        return None
    # Of a merge, what it brings to the branch. A file that was renamed is touched under both names.
    options = ["-z", "--name-only", "--no-renames"]
    log = git(root, "log", f"-{COMMIT_COUNT}", "--format=", "-m", "--first-parent", *options)
    changed = git(root, "diff", *options, "HEAD")
    others = git(root, "ls-files", "-z", "--others", "--exclude-standard")
    if None in (log, changed, others):
        return None
    return {path.strip("\n") for text in (log, changed, others) for path in text.split("\0")} - {""}


def is_touched(paths, root=ROOT):
    """Whether one of these files and folders has changed lately, or may have."""
    changed = touched(root)
    return changed is None or any(
        each == path.rstrip("/") or each.startswith(path.rstrip("/") + "/") for path in paths for each in changed)


# The plugin


def pytest_configure(config):
    config.addinivalue_line("markers", "reads(*paths): runs if one of these files and folders has changed lately")
    config.addinivalue_line("markers", "smoke: runs in any case, although its module has the mark `reads`")
    config.left_out = {}
    if config.pluginmanager.hasplugin("xdist"):
        config.pluginmanager.register(Workers())


def pytest_collection_modifyitems(config, items):
    add_marks(items)
    reading = {}
    for item in items:
        if paths := [path for mark in item.iter_markers("reads") for path in mark.args]:
            reading.setdefault(item.path, []).append((item, paths))
    for file, pairs in reading.items():
        check(file, {path for _, paths in pairs for path in paths})
    if os.environ.get(ALL) == "1":
        return
    named = {pathlib.Path(argument.partition("::")[0]).name for argument in config.args}
    left_out = [
        item for file, pairs in reading.items() if file.name not in named
        for item, paths in pairs
        if not item.get_closest_marker("smoke") and not is_touched([*paths, relative(file)])
    ]  # fmt: skip
    for item in left_out:
        config.left_out[item.path.name] = config.left_out.get(item.path.name, 0) + 1
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        excluded = set(left_out)
        items[:] = [item for item in items if item not in excluded]


def add_marks(items):
    """Gives the tests the marks that `reads.toml` in their folder says."""
    import pytest

    tables = {}
    for item in items:
        folder = item.path.parent
        if folder not in tables:
            table = folder / "reads.toml"
            tables[folder] = tomllib.loads(table.read_text(encoding="utf-8")) if table.exists() else {}
        for key, entry in tables[folder].items():
            file, _, beginning = key.partition("::")
            if file == item.path.name and item.name.startswith(beginning):
                item.add_marker(pytest.mark.reads(*entry["reads"]))
                if any(item.name.startswith(each) for each in entry["smoke"]):
                    item.add_marker(pytest.mark.smoke)
    for folder, table in tables.items():
        check_table(folder, table)


def check_table(folder, table):
    """Requires that a table names tests that exist: it would be of no use with a misprint."""
    import pytest

    for key, entry in table.items():
        file, _, beginning = key.partition("::")
        text = (folder / file).read_text(encoding="utf-8") if (folder / file).exists() else ""
        for name in [beginning or "test_", *entry["smoke"]]:
            if f"def {name.partition('[')[0]}" not in text:
                raise pytest.UsageError(f"reads.toml names {name} in {file}, which is not there")


def check(file, paths):
    """Requires that what a test reads is there: nothing would ever touch a path with a misprint."""
    import pytest

    for path in paths:
        if not (ROOT / path).exists():
            raise pytest.UsageError(f"{relative(file)} reads {path}, which does not exist")


def relative(file):
    """The path from the root of the repository."""
    return str(file.relative_to(ROOT)) if file.is_relative_to(ROOT) else str(file)


def pytest_sessionfinish(session):
    # The workers of pytest-xdist collect, and not the process that prints.
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.left_out


class Workers:
    """Hears of the end of each worker."""

    def pytest_testnodedown(self, node):
        node.config.left_out = getattr(node, "workeroutput", {}).get("left_out", {}) or node.config.left_out


def pytest_terminal_summary(terminalreporter, config):
    if config.left_out:
        files = ", ".join(f"{file} {count}" for file, count in sorted(config.left_out.items()))
        terminalreporter.write_line(
            f"left out {sum(config.left_out.values())} tests, since none of the last {COMMIT_COUNT} commits touches what "
            f"they read ({ALL}=1 runs them): {files}")


# The self-test


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()

        def commit(path):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text((root / path).read_text() + "x" if (root / path).exists() else "x")
            identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
            assert git(root, "add", "--all") is not None
            assert git(root, *identity, "commit", "--quiet", "--message=Change") is not None

        def asks(*paths):
            touched.cache_clear()
            return is_touched(paths, root)

        assert asks("docs"), "no repository: everything may have changed"
        assert git(root, "init", "--quiet") is not None
        assert asks("docs"), "no commit"
        for path in ["docs/old", "docs/a b ü", *["Sources/x.swift"] * (COMMIT_COUNT - 1)]:
            commit(path)
        assert asks("docs/a b ü") and asks("docs") and asks("nothing", "docs/"), "the oldest of the last commits"
        assert not asks("docs/old") and not asks("doc") and not asks("docs/a"), "before them, or another name"
        commit("Sources/x.swift")
        assert not asks("docs") and asks("Sources", "docs")
        (root / "docs/old").rename(root / "docs/new")
        assert asks("docs/old") and asks("docs/new"), "not committed, under both names"
        commit("Sources/x.swift")
        assert asks("docs/old") and asks("docs/new"), "committed"
        archive = root / "archive"
        archive.mkdir()
        touched.cache_clear()
        assert is_touched(["docs"], archive), "a folder of another repository"
        touched.cache_clear()
        plugin_test(root)
    print("relevance: no change is overlooked")


def plugin_test(root):
    """Runs the tests of a repository of its own, of which one commit too old is all that they read."""
    import shutil

    folder = root / "Tests/BlackBoxTests"
    folder.mkdir(parents=True)
    shutil.copy(__file__, folder)
    (root / "read").mkdir()
    (root / "read/file").write_text("x")
    (folder / "conftest.py").write_text(
        "import relevance\n\n\ndef pytest_configure(config):\n    config.pluginmanager.register(relevance)\n")
    (folder / "test_read.py").write_text(
        "import pytest\n\npytestmark = pytest.mark.reads('read')\n\n\n@pytest.mark.smoke\ndef test_smoke():\n    pass\n\n\n"
        "def test_other():\n    pass\n\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test_more(n):\n    pass\n")
    (folder / "test_plain.py").write_text("def test_plain():\n    pass\n\n\ndef test_page():\n    pass\n")
    (folder / "test_listed.py").write_text("def test_one():\n    pass\n\n\ndef test_two():\n    pass\n")
    table = """["test_listed.py"]\nreads = ["read/file"]\nsmoke = ["test_on"]\n
        ["test_plain.py::test_pa"]\nreads = ["read"]\nsmoke = []\n"""
    (folder / "reads.toml").write_text(table)
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    git(root, "add", "--all")
    git(root, *identity, "commit", "--quiet", "--message=Tests")

    def run(*arguments, status=0, **variables):
        environment = {name: value for name, value in os.environ.items() if name != ALL} | variables
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments], cwd=root, env=environment,
            capture_output=True, text=True, check=False)  # fmt: skip
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    folder_name = "Tests/BlackBoxTests"
    assert "8 passed" in run(folder_name), "just committed"
    for _ in range(COMMIT_COUNT):
        git(root, *identity, "commit", "--quiet", "--allow-empty", "--message=Other")
    for workers in ([], ["-n", "2"]):
        output = run(folder_name, *workers)
        assert "3 passed" in output and "left out 5 tests" in output, output
        assert "test_listed.py 1, test_plain.py 1, test_read.py 3" in output, output
        assert "skipped" not in output
    assert "8 passed" in run(folder_name, **{ALL: "1"})
    assert "4 passed" in run(f"{folder_name}/test_read.py"), "a file that the command line names"
    assert "1 passed" in run(f"{folder_name}/test_read.py::test_other")
    (root / "read/file").write_text("y")
    assert "8 passed" in run(folder_name), "a change that is not committed"
    (folder / "reads.toml").write_text(table.replace("test_on", "test_no"))
    assert "names test_no in test_listed.py, which is not there" in run(folder_name, status=4)
    (folder / "reads.toml").write_text(table)
    (folder / "test_more.py").write_text("import pytest\n\n\n@pytest.mark.reads('raed')\ndef test_it():\n    pass\n")
    assert "reads raed, which does not exist" in run(folder_name, status=4)


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) == 1 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    else:
        sys.exit(0 if is_touched(sys.argv[1:]) else 1)
