# Functions that the steps of the action share. Inputs arrive in environment variables only.
set -euo pipefail

# Print a random word that nobody can guess.
token() {
  od -An -N16 -tx1 /dev/urandom | tr -d ' \n'
}

# Set an output of the step; the value may have several lines.
set_output() {
  local end
  end="end_$(token)"
  printf '%s<<%s\n%s\n%s\n' "$1" "$end" "$2" "$end" >> "$GITHUB_OUTPUT"
}

# Stop with an error message, which cannot be mistaken for several commands.
fail() {
  local message=${1//'%'/%25}
  message=${message//$'\r'/%0D}
  printf '::error title=spanscore::%s\n' "${message//$'\n'/%0A}"
  exit 2
}

# Run a command whose output is shown, but never obeyed: file names and detectors may print workflow commands. All of it
# goes to standard output, because the runner reads standard error on its own, maybe before the commands are stopped.
muted() {
  local end code=0
  end="resume_$(token)"
  printf '::stop-commands::%s\n' "$end"
  "$@" 2>&1 || code=$?
  printf '\n::%s::\n' "$end"
  return "$code"
}

# Read the lines of a text into the array `lines`, without those that are empty.
split_lines() {
  local line
  lines=()
  while IFS= read -r line || [ -n "$line" ]; do
    line=${line%$'\r'}
    [ -z "$line" ] || lines+=("$line")
  done <<< "$1"
}
