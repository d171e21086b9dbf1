#!/usr/bin/env bash
# Install spanscore from the folder of the action, with the extras that were asked for, then packages pinned by hash.
. "$(dirname "$0")/common.sh"

extras=${INPUT_EXTRAS// /}
[[ "$extras" =~ ^[a-z0-9,]*$ ]] || fail "extras: expected names separated by commas, such as presidio,parquet."
muted python3 -m pip install --disable-pip-version-check --quiet "${GITHUB_ACTION_PATH}${extras:+[$extras]}"
[ -z "$INPUT_REQUIREMENTS" ] || muted python3 -m pip install --disable-pip-version-check --quiet --no-deps \
  --require-hashes "--requirement=$INPUT_REQUIREMENTS"
