"""The npm package of the browser library and the chat: packed, installed without a network, and used.

The programs run on Node, with the socket of the package `ws`, and on Deno, which has one. TypeScript is that of Debian
(4.8), and that of Deno (5).
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

import pytest

from server_process import BINARY, DEADLINE, REPOSITORY

WEB = REPOSITORY / "web-test-client"
DENO = pathlib.Path(sys.prefix) / "bin/deno"
DENO_SETTINGS = {"nodeModulesDir": "manual", "compilerOptions": {"strict": True, "lib": ["es2022", "dom"]}}
QUIET = {"NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1", "npm_config_update_notifier": "false"}
# A compiler takes long on a busy machine.
SECONDS = 3 * DEADLINE

# Node before version 22 has no WebSocket; programs there use this package, which Debian has as node-ws.
SOCKET = "globalThis.WebSocket = require('/usr/share/nodejs/ws');\n"


def run(*command, cwd, **variables):
    result = subprocess.run(
        [str(each) for each in command],
        cwd=cwd,
        env=os.environ | QUIET | variables,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


@pytest.fixture(scope="module")
def tarball(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packed")
    run("npm", "pack", "--offline", "--pack-destination", folder, cwd=WEB, npm_config_cache=str(folder / "cache"))
    (path,) = folder.glob("*.tgz")
    return path


@pytest.fixture(scope="module")
def program(tarball, tmp_path_factory):
    """The folder of a program that has installed the package, once by its name and once in place of OpenTok's."""
    folder = tmp_path_factory.mktemp("program")
    (folder / "package.json").write_text('{"name": "program", "private": true}')
    (folder / "deno.json").write_text(json.dumps(DENO_SETTINGS))
    (folder / "socket.cjs").write_text(SOCKET)
    run(
        "npm", "install", "--offline", "--no-audit", "--no-fund", tarball, f"@opentok/client@file:{tarball}",
        cwd=folder, npm_config_cache=str(folder / "cache"),
    )  # fmt: skip
    return folder


def access(server, session):
    """The arguments of a program that connects to the session."""
    return server.url, server.project.key, session, server.project.token(session)


def write(folder, name, text):
    (folder / name).write_text(text)
    return name


def test_the_package_contains_what_users_need_and_nothing_else(tarball):
    with tarfile.open(tarball) as archive:
        names = {name.removeprefix("package/") for name in archive.getnames()}
    top = {name.split("/")[0] for name in names}
    assert top == {
        "LICENSE", "README.md", "package.json", "custom-elements.json", "chat", "client", "dist", "opentok", "text-chat"
    }  # fmt: skip
    assert {pathlib.Path(name).suffix for name in names} <= {"", ".md", ".json", ".js", ".ts", ".cjs", ".cts"}
    assert not [name for name in names if "test" in name]
    exports = json.loads((WEB / "package.json").read_text())["exports"]
    assert set(re.findall(r'"\./([^"]+\.\w+)"', json.dumps(list(exports.values())))) <= names


def test_the_package_has_the_version_of_the_program_and_its_licence(tarball, program):
    package = json.loads((program / "node_modules/signalbox-client/package.json").read_text())
    version = subprocess.run([BINARY, "--version"], capture_output=True, text=True, timeout=DEADLINE).stdout.strip()
    assert package["version"] == version
    assert tarball.name == f"signalbox-client-{version}.tgz"
    assert f"\n  version: {version}\n" in (REPOSITORY / "docs/openapi.yaml").read_text()
    for page in ("web-test-client/README.md", "docs/OPENTOK.md"):
        named = re.findall(r"signalbox-client-([\d.]+)\.tgz", (REPOSITORY / page).read_text())
        assert set(named) == {version}, page
    assert package["license"] == "Apache-2.0"
    licence = (program / "node_modules/signalbox-client/LICENSE").read_text()
    assert licence == (REPOSITORY / "LICENSE").read_text()


# Connects as the arguments say, sends a message through the chat, and prints its rows when it is sent.
CHAT = r"""
const [server, apiKey, sessionId, token] = globalThis.Deno?.args ?? process.argv.slice(2);
OT.setServer(server);
const session = OT.initSession(apiKey, sessionId);
const component = new chat.TextChatComponent();
component.channel = new chat.SessionChannel(session, (event) => component.handle(event, Date.now()));
session.connect(token, async (error) => {
  if (error) throw error;
  component.edit('hello from a package');
  const { outcome } = await component.send(Date.now(), chat.newLocalId());
  for (const { message } of component.rows) console.log(outcome, message.state, message.text);
  session.disconnect();
});
"""

MODULE = "import OT, {{ initSession }} from '{0}';\nimport * as chat from '{0}/text-chat';\n"
MODULE += "if (OT.initSession !== initSession) throw new Error('two libraries');\n"
COMMON = "const OT = require('{0}');\nconst chat = require('{0}/text-chat');\n"
COMMON += "if (OT !== require('{0}/opentok')) throw new Error('two libraries');\n"
COMMON += "if ('default' in OT) throw new Error('require returns a module, and not OT');\n"
FORMS = pytest.mark.parametrize("suffix, imports", [("mjs", MODULE), ("cjs", COMMON)])
NAMES = pytest.mark.parametrize("name", ["signalbox-client", "@opentok/client"])


@FORMS
@NAMES
def test_a_program_on_node_sends_a_message(program, server, session, suffix, imports, name):
    file = write(program, f"on-node.{suffix}", imports.format(name) + CHAT)
    printed = run("node", "--require", "./socket.cjs", file, *access(server, session), cwd=program)
    assert printed == "sent sent hello from a package\n"


@FORMS
def test_a_bundled_program_sends_a_message(program, server, session, suffix, imports):
    file = write(program, f"source.{suffix}", imports.format("signalbox-client") + CHAT)
    run("esbuild", "--bundle", "--format=iife", "--minify", file, f"--outfile=bundled-{suffix}.cjs", cwd=program)
    printed = run("node", "--require", "./socket.cjs", f"bundled-{suffix}.cjs", *access(server, session), cwd=program)
    assert printed == "sent sent hello from a package\n"


@FORMS
def test_a_program_sends_a_message_to_a_running_server(program, server, session, suffix, imports):
    file = write(program, f"on-deno.{suffix}", imports.format("signalbox-client") + CHAT)
    printed = run(
        DENO, "run", "--no-remote", "--allow-net=127.0.0.1", "--allow-read", "--allow-env", file,
        *access(server, session), cwd=program,
    )  # fmt: skip
    assert printed == "sent sent hello from a package\n"


@FORMS
def test_without_a_socket_the_package_loads_and_says_that_it_cannot_connect(program, suffix, imports):
    """Programs that render pages on a server load the package there, too."""
    check = "console.log(OT.checkSystemRequirements() === OT.NOT_HAS_REQUIREMENTS);"
    write(program, "no-socket.cjs", "delete globalThis.WebSocket;")
    file = write(program, f"no-socket.{suffix}", imports.format("signalbox-client") + "void chat;" + check)
    assert run("node", "--require", "./no-socket.cjs", file, cwd=program) == "true\n"


# Programs that render pages on a server, and what their runtimes and frameworks define of a page's globals.
SERVERS = {
    "nothing of a page": "",
    "window is the global object": "globalThis.window = globalThis;",
    "an empty document": "globalThis.window = globalThis; globalThis.document = {}; globalThis.location = {};",
    "elements without a document":
        "globalThis.HTMLElement = class {}; globalThis.customElements = { define() { throw new Error('defined'); } };",
}  # fmt: skip
LOADED = """
const before = Object.getOwnPropertyNames(globalThis).length;
const load = async () => {
  for (const name of NAMES) {
    const loaded = await LOAD(name);
    if (name.endsWith('/chat') && typeof loaded.SignalboxChat !== 'function') throw new Error('no class');
  }
};
load().then(() => console.log(Object.getOwnPropertyNames(globalThis).length - before));
"""


def entry_points():
    package = json.loads((WEB / "package.json").read_text())
    return [package["name"] + path.removeprefix(".") for path in package["exports"]]


@pytest.mark.parametrize("prepare", SERVERS.values(), ids=SERVERS.keys())
@pytest.mark.parametrize("suffix, load", [("mjs", "(name => import(name))"), ("cjs", "require")])
def test_every_entry_point_loads_on_a_server_without_an_effect(program, prepare, suffix, load):
    names = [name for name in entry_points() if suffix == "cjs" or not name.endswith(".json")]
    assert {"signalbox-client/chat", "signalbox-client/dist/opentok.min.js"} <= set(names)
    write(program, "parts-of-a-page.cjs", prepare)
    text = LOADED.replace("NAMES", json.dumps(names)).replace("LOAD", load)
    file = write(program, f"on-a-server.{suffix}", text)
    assert run("node", "--require", "./parts-of-a-page.cjs", file, cwd=program) == "0\n"


@pytest.mark.parametrize("form", ["esm", "cjs"])
def test_a_bundle_for_a_server_with_the_element_in_it_loads_there(program, form):
    source = write(program, "renders.mjs", "import 'signalbox-client/chat';\nconsole.log('rendered');\n")
    bundle = f"renders-bundled.{'mjs' if form == 'esm' else 'cjs'}"
    run(
        "esbuild", "--bundle", "--platform=node", f"--format={form}", "--log-level=error", source,
        f"--outfile={bundle}", cwd=program,
    )  # fmt: skip
    # The bundler keeps the module, which defines the element in a page.
    assert "signalbox-chat" in (program / bundle).read_text()
    assert run("node", bundle, cwd=program) == "rendered\n"


# What a program does that bundles OpenTok's package: most import it without a name, and use the global.
IMPORTS = {
    "without a name": ("mjs", "import '{0}';"),
    "the default": ("mjs", "import Named from '{0}'; if (Named !== globalThis.OT) throw new Error('another library');"),
    "by name": ("mjs", "import {{ initSession }} from '{0}'; if (!initSession) throw new Error('no name');"),
    "require": ("cjs", "if (require('{0}') !== globalThis.OT) throw new Error('another library');"),
}
IN_A_PAGE = """
const { get } = Object.getOwnPropertyDescriptor(globalThis, 'TB');
console.log(typeof OT.initSession, get() === OT, OT.noConflict() === get(), typeof globalThis.OT, typeof globalThis.TB);
"""


@pytest.mark.parametrize("suffix, imports", IMPORTS.values(), ids=IMPORTS.keys())
@NAMES
def test_a_bundled_program_has_the_global_in_a_page(program, suffix, imports, name):
    write(program, "page.cjs", "globalThis.window = globalThis; globalThis.document = { addEventListener() {} };")
    file = write(program, f"in-a-page.{suffix}", imports.format(name) + IN_A_PAGE)
    run("esbuild", "--bundle", "--format=iife", "--minify", file, "--outfile=in-a-page-bundled.cjs", cwd=program)
    printed = run("node", "--require", "./page.cjs", "in-a-page-bundled.cjs", cwd=program)
    assert printed == "function true true undefined undefined\n"


def test_the_script_for_a_page_is_a_commonjs_module_too(program):
    for suffix, imports in [("mjs", "import OT from '{0}';"), ("cjs", "const OT = require('{0}');")]:
        text = imports.format("signalbox-client/dist/opentok.min.js")
        file = write(program, f"script.{suffix}", text + "console.log(typeof OT.initSession, globalThis.OT);")
        assert run("node", file, cwd=program) == "function undefined\n"


def test_a_browsers_script_is_in_the_package(program):
    script = program / "node_modules/signalbox-client/dist/opentok.min.js"
    assert script.read_bytes() == (WEB / "dist/opentok.min.js").read_bytes()


# Types

TYPED_MODULE = (REPOSITORY / "web-test-client/test-support/types/package-usage.ts").read_text()
TYPED_REQUIRE = """\
import OT = require('signalbox-client');
import chat = require('signalbox-client/text-chat');
import element = require('signalbox-client/chat');
const session: OT.Session = OT.initSession(1, 'x');
const channel: chat.ChatChannel = new chat.SessionChannel(session, () => {});
// @ts-expect-error the channel is an object
const text: string = channel;
console.log(text, element.SignalboxChat.defaultServer);
"""
# What programs of OpenTok's form do in a module: they use the global.
TYPED_GLOBAL = """\
import '{0}';
const session: OT.Session = OT.initSession(1, 'x');
console.log(session.id, window.name);
"""
STRICT = ["--strict", "--noEmit", "--target", "es2022", "--lib", "es2022,dom"]
NODENEXT = ["--module", "nodenext", "--moduleResolution", "nodenext"]
CLASSIC = ["--module", "commonjs", "--moduleResolution", "node", "--esModuleInterop"]
BUNDLED = ["--module", "esnext", "--moduleResolution", "node", "--esModuleInterop"]


@pytest.mark.parametrize(
    "options, texts",
    [
        pytest.param(
            NODENEXT, {"module.mts": TYPED_MODULE, "import.cts": TYPED_MODULE, "require.cts": TYPED_REQUIRE},
            id="nodenext",
        ),
        pytest.param(CLASSIC, {"import.ts": TYPED_MODULE, "require.ts": TYPED_REQUIRE}, id="CommonJS"),
        pytest.param(BUNDLED, {"module.ts": TYPED_MODULE}, id="a bundler"),
    ],
)  # fmt: skip
def test_the_types_are_clean_for_debians_compiler(program, options, texts):
    """The compiler checks the declarations of the package, too."""
    files = [write(program, name, text) for name, text in texts.items()]
    assert run("tsc", *STRICT, *options, *files, cwd=program) == ""


@pytest.mark.parametrize("options", [NODENEXT, BUNDLED], ids=["nodenext", "a bundler"])
def test_the_types_have_the_global_in_modules(program, options):
    file = write(program, "global.mts" if options is NODENEXT else "global.ts", TYPED_GLOBAL.format("@opentok/client"))
    assert run("tsc", *STRICT, *options, file, cwd=program) == ""


def test_the_types_of_the_library_by_its_entry_point_declare_no_global(program):
    """Programs that also use OpenTok's own package, whose types have the global, need these."""
    other = "declare namespace OT { const version: 'of another'; }\n"
    write(program, "other.d.ts", other)
    text = "import Signals from 'signalbox-client/opentok';\nconst text: 'of another' = OT.version;\n"
    file = write(program, "beside.mts", text + "console.log(text, Signals.initSession(1, 'x').id);\n")
    assert run("tsc", *STRICT, *NODENEXT, file, "other.d.ts", cwd=program) == ""


def test_the_types_for_react_are_clean(program, tmp_path):
    """The package's own tests have both versions of React, and here is what the package has of these types."""
    react = tmp_path / "node_modules/react"
    shutil.copytree(WEB / "test-support/types/react-19", react)
    exports = {".": {"types": "./index.d.ts"}, "./jsx-runtime": {"types": "./jsx-runtime.d.ts"}}
    (react / "package.json").write_text(json.dumps({"name": "react", "version": "19.0.0", "exports": exports}))
    shutil.copytree(program / "node_modules/signalbox-client", tmp_path / "node_modules/signalbox-client")
    component = (WEB / "test-support/types/chat-react-19.tsx").read_text()
    file = write(tmp_path, "chat.tsx", component.replace("'../../chat/react'", "'signalbox-client/chat/react'"))
    assert run("tsc", *STRICT, *NODENEXT, "--jsx", "react-jsx", file, cwd=tmp_path) == ""


def test_the_types_are_clean_for_typescript_5(program):
    assert re.search(r"^typescript 5\.", run(DENO, "--version", cwd=program), re.MULTILINE)
    texts = {"module.mts": TYPED_MODULE, "import.cts": TYPED_MODULE, "require.cts": TYPED_REQUIRE}
    files = [write(program, f"five-{name}", text) for name, text in texts.items()]
    run(DENO, "check", "--no-remote", *files, cwd=program)
    # As files of the program, since the compiler ignores errors in packages. The package itself would be a second global.
    files = []
    for name in ("dist/opentok.d.cts", "dist/text-chat.d.cts", "text-chat/index.d.ts", "chat/index.d.ts"):
        source = program / "node_modules/signalbox-client" / name
        text = source.read_text().replace("'../text-chat/index.js'", "'signalbox-client/text-chat'")
        files.append(write(program, f"five-{source.parent.name}-{source.name}", text))
    run(DENO, "check", "--no-remote", *files, cwd=program)
