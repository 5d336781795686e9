"""The options of `signalbox serve` are those of the table in docs/CONFIGURATION.md.

A Swift test compares the table with the declarations.
"""

import json
import re


from server_process import REPOSITORY, run

PRIVATE = {"ends-with-input", "help", "version"}


def rows():
    """The settings of the table that have an option: option, default, range, meaning."""
    for line in (REPOSITORY / "docs/CONFIGURATION.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 6 and re.fullmatch(r"`--[a-z-]+`", cells[0]):
            yield cells[0].strip("`").removeprefix("--"), *cells[3:]


ROWS = list(rows())


def options():
    """The options of `serve` by name, as argument-parser describes them."""
    dump = json.loads(run("serve", "--experimental-dump-help").stdout)
    return {each["preferredName"]["name"]: each for each in dump["command"]["arguments"] if "preferredName" in each}


def test_serve_has_the_options_of_the_table_and_no_others():
    assert sorted(options().keys() - PRIVATE) == sorted(name for name, *_ in ROWS)
    assert len(ROWS) > 20


def test_the_help_of_each_option_has_the_meaning_the_range_and_the_default_of_the_table():
    found = options()
    for name, default, bounds, meaning in ROWS:
        details = "; ".join(each for each in (bounds, "" if default == "none" else f"default: {default}") if each)
        assert found[name]["abstract"] == (f"{meaning} ({details})" if details else meaning), name


def test_each_option_reaches_its_setting():
    """The error for a wrong value names the option: -1 is below every range, and no text may be empty."""
    flags = ("log-level", "dev", "ephemeral", "share", "allow-partner-auth", "public-metrics", "access-log", "feed")
    given = {name: bounds for name, _, bounds, _ in ROWS if name not in flags}
    words = [word for name, bounds in given.items() for word in ([f"--{name}=-1"] if bounds else [f"--{name}", ""])]
    refused = run("serve", *words)
    assert refused.returncode == 64, refused
    # `serve` names all faults at once.
    assert [name for name in given if refused.stderr.count(f"(--{name})") != 1] == [], refused


def test_the_flags_and_the_log_level_reach_their_settings(tmp_path):
    """The command line has precedence, so that a wrong value in the file or the environment causes no error."""
    refused = run("serve", "--dev", api_key="100", api_secret="s")
    assert refused.returncode == 64 and "development mode" in refused.stderr, refused
    (tmp_path / "settings.json").write_text('{"allowPartnerAuth": "wrong"}')
    for arguments, variables in [
        (["--config", tmp_path / "settings.json", "--allow-partner-auth"], {}),
        (["--log-level", "info"], {"log_level": "loud"}),
    ]:  # fmt: skip
        refused = run("serve", *arguments, "--webhook-secret", "s", **variables)
        assert refused.returncode == 64 and "Add --webhook-url" in refused.stderr, refused
