#!/usr/bin/env bash
# Install spanscore from the folder of the action, with the extras that were asked for.
. "$(dirname "$0")/common.sh"

extras=${INPUT_EXTRAS// /}
[[ "$extras" =~ ^[a-z0-9,]*$ ]] || fail "extras: expected names separated by commas, such as presidio,parquet."
muted python3 -m pip install --disable-pip-version-check --quiet "${GITHUB_ACTION_PATH}${extras:+[$extras]}"
