"""The documents against the repository: comparison tables, links, the picture of the targets, and the names of types.

Each row of a comparison table (OPENTOK.md, opentok-web.md, opentok-swift.md) has a verdict and names a test that
exists. A reference is in backquotes:

  `session: SIG-4 to takes`       the beginning of a test name in session.test.js of web-test-client/test
  `classic: test_changing`        the same in Tests/BrowserTests/test_classic_page.py
  `test_rest_nobody_there`        a whole test name in Tests/BlackBoxTests
  `ApplicationTests: rotation`    a function in a Swift test file
  Session `before`, `presence`    the same in Tests/OpenTokTests/SessionTests.swift, in opentok-swift.md; "all" is the
                                  file
  `scripts: lost-ack-is-fetched`  a file of Tests/Vectors/client, without its extension
  `Tests/…/t1.json`, `web.json`   a file; a name without a folder is a file of Tests/Vectors
"""

import re

import pytest

from server_process import REPOSITORY

VERDICTS = ("same", "better", "different", "absent (media)", "absent")
DOCUMENTS = ("docs/OPENTOK.md", "docs/opentok-web.md", "docs/opentok-swift.md")
PYTHON_FILES = {
    "announced": "Tests/BrowserTests/test_announced_streams.py",
    "awaited": "Tests/BrowserTests/test_awaited_programs.py",
    "beside": "Tests/BrowserTests/test_beside_opentok.py",
    "camera": "Tests/BrowserTests/test_camera.py",
    "classic": "Tests/BrowserTests/test_classic_page.py",
    "page": "Tests/BrowserTests/test_page.py",
}


def rows(document):
    """The rows of those tables of a document that have a column of tests: name, verdict, tests."""
    header = None
    for number, line in enumerate((REPOSITORY / document).read_text().splitlines(), 1):
        if not line.startswith("|"):
            header = None
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if header is None:
            header = cells
        elif set(line) - set("| -") and header[-1] == "test":
            yield pytest.param(document, cells[0], cells[1], cells[-1], id=f"{document}:{number}")


def javascript_tests(file):
    """The names of a file's tests, each as its literal pieces. Any text may stand between two pieces."""
    paths = list((REPOSITORY / "web-test-client/test").glob(f"*/{file}.test.js"))
    if len(paths) != 1:
        return []
    found = re.findall(r"\btest\(\s*(['\"`])((?:\\.|(?!\1).)*)\1", paths[0].read_text())
    return [re.split(r"\$\{[^}]*\}", name.replace("\\'", "'")) for _, name in found]


def begins(pieces, text):
    """Whether a name made of these pieces can begin with the text."""
    first, *others = pieces
    if len(text) <= len(first) or not others:
        return first.startswith(text)
    return text.startswith(first) and any(begins(others, text[at:]) for at in range(len(first), len(text) + 1))


def python_tests(path):
    return re.findall(r"^(?:async )?def (test_\w+)", path.read_text(), re.MULTILINE)


def swift_functions(name):
    return {
        function
        for path in (REPOSITORY / "Tests").rglob(f"{name}.swift")
        for function in re.findall(r"\bfunc (\w+)\(", path.read_text())
    }


def is_there(reference):
    file, colon, name = reference.partition(": ")
    if colon and file in PYTHON_FILES:
        return any(each.startswith(name) for each in python_tests(REPOSITORY / PYTHON_FILES[file]))
    if file == "scripts":
        return (REPOSITORY / f"Tests/Vectors/client/{name}.json").is_file()
    if colon and file.endswith("Tests"):
        return name in swift_functions(file)
    if colon:
        return any(begins(pieces, name) for pieces in javascript_tests(file))
    if reference.startswith("test_"):
        tests = (each for path in (REPOSITORY / "Tests/BlackBoxTests").glob("test_*.py") for each in python_tests(path))
        return re.sub(r"\[.*\]$", "", reference) in tests
    if "/" in reference:
        return (REPOSITORY / reference).is_file()
    return reference.endswith(".json") and any((REPOSITORY / "Tests/Vectors").rglob(reference))


def references(document, cell):
    if document != "docs/opentok-swift.md":
        return re.findall(r"`([^`]+)`", cell)
    found, suite = [], None
    for word, function in re.findall(r"(\w+)(?=,? (?:all\b|`))|`([^`]+)`", cell):
        if word:
            suite = word
        else:
            found.append(f"OpenTokTests/{suite}Tests: {function}")
    found += [f"Tests/OpenTokTests/{suite}Tests.swift" for suite in re.findall(r"(\w+), all\b", cell)]
    return found


ROWS = [row for document in DOCUMENTS for row in rows(document)]


@pytest.mark.parametrize("document, what, verdict, tests", ROWS)
def test_each_row_for_opentoks_programs_has_a_verdict_and_a_test(document, what, verdict, tests):
    said = next((each for each in VERDICTS if re.match(re.escape(each) + r"(?![\w-])", verdict)), None)
    assert said, f"{what}: {verdict!r} is none of {VERDICTS}"
    named = references(document, tests)
    assert named or said == "absent (media)", f"{what}: no test"
    assert [reference for reference in named if not is_there(reference)] == [], what


def test_the_tables_are_read_at_all():
    assert {document for document, *_ in (row.values for row in ROWS)} == set(DOCUMENTS)
    assert len(ROWS) > 100
    for wrong in (
        "session: no such test", "nofile: SIG-1", "classic: test_no_such", "test_no_such", "ApplicationTests: noSuch",
        "Tests/nothing.json",
        "nothing.json", "Tests/BlackBoxTests", "SessionTests: OTSession", "prose",
    ):  # fmt: skip
        assert not is_there(wrong), wrong
    assert is_there("compatibility: signal: the server's 418")
    assert not is_there("compatibility: signal: the client's 418")


MARKDOWN = sorted(
    path for folder in ("", "docs", "docs/decisions", "docs/operations", "docs/reports", "web-test-client", "Tests/Vectors")
    for path in (REPOSITORY / folder).glob("*.md"))  # fmt: skip


def without_code(text):
    return re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(path):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(
        r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL), re.MULTILINE
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", MARKDOWN, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_links_lead_to_files_and_headings_that_exist(path):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(path.read_text())):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def test_the_index_of_the_documents_has_every_page():
    folder = REPOSITORY / "docs"
    linked = {(folder / target).resolve() for target in re.findall(r"\]\(([^)\s#]+)\)", (folder / "README.md").read_text())}
    pages = [path for each in (folder, folder / "operations") for path in each.glob("*.md")]
    assert [path.name for path in pages if path not in linked] == ["README.md"]


def targets():
    """The targets of the product in Package.swift."""
    manifest = (REPOSITORY / "Package.swift").read_text()
    found = re.findall(r'\.(?:module|program)\(\s*"(\w+/[\w-]+)"', manifest)
    return [place.partition("/")[2] for place in found if (REPOSITORY / "Sources" / place).is_dir()]


def target_rows():
    return re.findall(
        r"^\| `([\w-]+)` \|",
        (REPOSITORY / "docs/ARCHITECTURE.md").read_text().partition("\n## One signal")[0],
        re.MULTILINE,
    )


def test_the_picture_has_every_target():
    document = (REPOSITORY / "docs/ARCHITECTURE.md").read_text()
    picture = re.search(r"^```\n(programs .*?)^```$", document, re.MULTILINE | re.DOTALL)[1]
    assert len(targets()) > 25
    assert [name for name in targets() if not re.search(rf"\b{name}\b", picture)] == []


def test_the_table_of_targets_has_every_target():
    assert set(targets()) <= set(target_rows())


# Of Swift, of Foundation and of swift-metrics, and the name of a file.
OF_OTHERS = {"Sendable", "AsyncSequence", "Mutex", "JSONDecoder", "JSONEncoder", "MetricsFactory", "OSAllocatedUnfairLock", "Package", "URLSession"}


@pytest.fixture(scope="module")
def declared_types():
    folders = [REPOSITORY / "Sources", REPOSITORY / "Tests"]
    sources = "\n".join(path.read_text() for folder in folders for path in folder.rglob("*.swift"))
    return set(re.findall(r"\b(?:struct|class|enum|protocol|actor|typealias) (\w+)", sources))


DECISIONS = [str(path.relative_to(REPOSITORY)) for path in sorted((REPOSITORY / "docs/decisions").glob("*.md"))]


@pytest.mark.parametrize("document", ["docs/ARCHITECTURE.md", "docs/COMMAND-LOG.md", *DECISIONS])
def test_types_that_a_document_names_exist(document, declared_types):
    words = re.findall(r"`([\w.]+)`", (REPOSITORY / document).read_text())
    named = {name for word in words for name in word.split(".") if re.fullmatch(r"[A-Z][A-Za-z]*[a-z][A-Za-z]*", name)}
    unknown = named - declared_types - set(targets()) - set(target_rows()) - OF_OTHERS
    assert unknown == set()


def test_the_built_documentation_has_every_library_of_the_package():
    manifest = (REPOSITORY / "Package.swift").read_text()
    products = re.findall(r'\.library\(name: "\w+", targets: \[(.*?)\]\)', manifest)
    libraries = {name for targets in products for name in re.findall(r'"(\w+)"', targets)}
    listed = re.search(r"^modules=\((.*?)^\)", (REPOSITORY / "scripts/builds/docs").read_text(), re.MULTILINE | re.DOTALL)
    assert set(listed[1].split()) == libraries
