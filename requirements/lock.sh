#!/usr/bin/env bash
# Resolves the three hashed locks again from pyproject.toml (make lock). The widest one is resolved first,
# so that the same versions run in production, in the tests and beside the libraries we compare with.
set -euo pipefail
cd "$(dirname "$0")/.."
uv=${UV:-uv}
lock() { "$uv" pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --quiet --no-annotate --no-header "$@"; }
lock --extra dev --extra bench -o requirements/bench.txt
lock --extra dev -c requirements/bench.txt -o requirements/dev.txt
lock -c requirements/bench.txt -o requirements/runtime.txt
