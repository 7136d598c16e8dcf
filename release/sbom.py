"""Prints a CycloneDX list of the crates that are compiled into what a release has: `python3 release/sbom.py TARGET...`

A crate counts if a package of the release needs it on one of the targets, with all features; crates for tests and
benches alone do not. The hash is that of the crate at crates.io. The list depends on the sources alone.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import uuid
from datetime import datetime, timezone
from pathlib import Path

PACKAGES = ("posse", "posse-render", "posse-cli", "posse-python", "posse-web", "posse-c")


def main(targets: list[str]) -> None:
    filters = [f"--filter-platform={target}" for target in targets]
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--all-features", *filters]
    metadata = json.loads(subprocess.check_output(command))
    packages = {package["id"]: package for package in metadata["packages"]}
    needs = {node["id"]: sorted(needed(node)) for node in metadata["resolve"]["nodes"]}
    members = [packages[name] for name in metadata["workspace_members"]]
    roots = [member["id"] for member in members if member["name"] in PACKAGES]
    found = set(roots)
    waiting = list(roots)
    while waiting:
        new = set(needs[waiting.pop()]) - found
        found |= new
        waiting.extend(new)
    version = next(member["version"] for member in members if member["name"] == "posse")
    sums = checksums(Path("Cargo.lock").read_text())
    ordered = sorted(found, key=lambda name: (packages[name]["name"], packages[name]["version"]))
    time = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc)
    components = [component(packages[name], sums) for name in ordered]
    edges = [{"ref": reference(packages[name]), "dependsOn": [reference(packages[to]) for to in needs[name]]} for name in ordered]
    head = {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": {"type": "application", "name": "posse", "version": version}}
    body = {"metadata": head, "components": components, "dependencies": edges}
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(body))
    json.dump({"bomFormat": "CycloneDX", "specVersion": "1.5", "serialNumber": f"urn:uuid:{serial}", "version": 1, **body}, sys.stdout, indent=1)
    print()


def needed(node: dict) -> set[str]:
    """The packages that a package needs to be built, but for its tests."""
    return {to["pkg"] for to in node["deps"] if any(kind["kind"] != "dev" for kind in to["dep_kinds"])}


def checksums(lock: str) -> dict[tuple[str, str], str]:
    """SHA-256 by name and version."""
    pattern = r'name = "(.*)"\nversion = "(.*)"\nsource = ".*"\nchecksum = "(.*)"'
    return {(name, version): checksum for name, version, checksum in re.findall(pattern, lock)}


def reference(package: dict) -> str:
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package: dict, sums: dict[tuple[str, str], str]) -> dict:
    name, version = package["name"], package["version"]
    entry = {"type": "library", "bom-ref": reference(package), "name": name, "version": version, "purl": reference(package)}
    if package["license"]:
        # An old way to write "or".
        entry["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if (name, version) in sums:
        entry["hashes"] = [{"alg": "SHA-256", "content": sums[name, version]}]
    return entry


if __name__ == "__main__":
    main(sys.argv[1:])
