"""The manifests under packaging/kubernetes/, held against the program: they have not run in a cluster here."""

import http.client
import json
import pathlib
import re

import pytest
import yaml

from server_process import DEADLINE, READY, REPOSITORY, Command, environment, run

FOLDER = REPOSITORY / "packaging/kubernetes"
PAGE = (REPOSITORY / "docs/operations/install.md").read_text().split("## Kubernetes\n")[1].split("\n## ")[0]
FILES = sorted(FOLDER.glob("*.yaml"))
WORKLOADS = {"one-server.yaml": "StatefulSet", "with-redis.yaml": "Deployment"}
# What Kubernetes gives every object, and names that the reader chooses.
PLAIN = {"apiVersion", "kind", "metadata", "spec", "template", "name", "value", "labels", "app", "containers"}


@pytest.fixture(params=FILES, ids=lambda file: file.stem)
def manifest(request):
    return request.param


def objects(manifest):
    return {item["kind"]: item for item in yaml.safe_load_all(manifest.read_text())}


def pod(manifest):
    return objects(manifest)[WORKLOADS[manifest.name]]["spec"]["template"]["spec"]


def variables(manifest, tmp_path):
    """The environment of the container, with its secrets and its volume in a folder of the test."""
    [container] = pod(manifest)["containers"]
    given = {item["name"]: item["value"] for item in container["env"]}
    for name, path in given.items():
        for mount in container["volumeMounts"]:
            if not path.startswith(mount["mountPath"] + "/"):
                continue
            here = tmp_path / mount["name"] / pathlib.PurePath(path).relative_to(mount["mountPath"])
            here.parent.mkdir(exist_ok=True)
            if name.endswith("_FILE"):
                here.write_text("redis://127.0.0.1:1\n" if "REDIS" in name else "a secret of the tests, 32 bytes\n")
            given[name] = str(here)
    return environment() | given


def facts_of_the_image():
    text = (REPOSITORY / "packaging/container/Dockerfile").read_text()
    return dict(re.findall(r"^(EXPOSE|VOLUME|ENV|USER) (.*)$", text, re.M)), text


def test_every_manifest_has_a_workload_a_service_and_a_disruption_budget(manifest):
    found = objects(manifest)
    assert set(found) == {"Service", "PodDisruptionBudget", WORKLOADS[manifest.name]}
    workload = found[WORKLOADS[manifest.name]]["spec"]
    labels = workload["template"]["metadata"]["labels"]
    assert workload["selector"]["matchLabels"] == labels == found["Service"]["spec"]["selector"]
    assert found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    [container] = pod(manifest)["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert all(port["targetPort"] in ports for port in found["Service"]["spec"]["ports"])
    volumes = [volume["name"] for volume in pod(manifest)["volumes"]]
    volumes += [claim["metadata"]["name"] for claim in workload.get("volumeClaimTemplates", [])]
    assert sorted(mount["name"] for mount in container["volumeMounts"]) == sorted(volumes)


def test_every_variable_is_a_setting_that_has_its_effect_and_no_warning(manifest, tmp_path):
    printed = run("config", "print", "--json", env=variables(manifest, tmp_path))
    assert printed.returncode == 0 and not printed.stderr, printed
    sources = [row["source"].split()[0] for row in json.loads(printed.stdout).values()]
    for item in pod(manifest)["containers"][0]["env"]:
        assert item["name"] in sources, item


def test_the_pod_fits_the_image(manifest):
    facts, text = facts_of_the_image()
    [container] = pod(manifest)["containers"]
    assert {"name": "http", "containerPort": int(facts["EXPOSE"])} in container["ports"]
    security = pod(manifest)["securityContext"]
    users = set(re.findall(r"--uid (\d+)|^USER (\d+)", text, re.M)[0]) - {""}
    assert users == {str(security["runAsUser"])} and security["runAsNonRoot"]
    assert container["securityContext"]["readOnlyRootFilesystem"] and "::" in facts["ENV"]
    mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert manifest.name != "one-server.yaml" or facts["VOLUME"] in mounts


def test_a_pod_has_longer_to_stop_than_the_server_needs(manifest):
    [container] = pod(manifest)["containers"]
    drain = next(int(item["value"]) for item in container["env"] if item["name"] == "SIGNALBOX_DRAIN_SECONDS")
    pause = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    # systemd gives the same server 60 s, with at most 30 s of drainSeconds.
    assert pod(manifest)["terminationGracePeriodSeconds"] >= pause + drain + 30


def test_a_server_with_the_settings_of_the_pod_answers_its_probes(tmp_path):
    manifest = FOLDER / "one-server.yaml"
    settings = variables(manifest, tmp_path) | {"SIGNALBOX_HOST": "::", "SIGNALBOX_ADMIN_PORT": "0"}
    with Command("serve", "--port", "0", env=settings) as server:
        port = READY.search(server.out.until("ready"))[2]
        [container] = pod(manifest)["containers"]
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            get = container[probe]["httpGet"]
            assert get["port"] == "http" and get["path"] in ("/readyz", "/livez")
            for host in ("127.0.0.1", "::1"):
                connection = http.client.HTTPConnection(host, int(port), timeout=DEADLINE)
                connection.request("GET", get["path"])
                assert connection.getresponse().status == 200, (probe, host)
                connection.close()
        assert run("health", server=f"http://127.0.0.1:{port}").returncode == 0, "the health check of the image"


def names(value):
    """All names of fields."""
    if isinstance(value, dict):
        return {name for key, inner in value.items() for name in {key} | names(inner)}
    return {name for inner in value for name in names(inner)} if isinstance(value, list) else set()


def test_the_page_explains_every_field_and_no_other(manifest):
    fields = {name for item in objects(manifest).values() for name in names(item)} - PLAIN
    code = " ".join(re.findall(r"`([^`]+)`", PAGE))
    missing = [name for name in sorted(fields) if not re.search(rf"\b{name}\b", code)]
    assert not missing
    for item in pod(manifest)["containers"][0]["env"]:
        assert item["name"] in code, item


def test_the_page_names_no_field_that_no_manifest_has():
    known = {name for file in FILES for item in objects(file).values() for name in names(item)}
    table = [row.split("|")[1] for row in PAGE.splitlines() if row.startswith("| `")]
    for field in re.findall(r"`([A-Za-z.]+)`", " ".join(table)):
        assert set(field.split(".")) <= known, field
