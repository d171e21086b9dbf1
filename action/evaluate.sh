#!/usr/bin/env bash
# Run a detector over the gold data, or score predictions, and write the results to a folder.
. "$(dirname "$0")/common.sh"

[ -n "$INPUT_GOLD" ] || fail "gold: name the gold data."
[ -n "$INPUT_OUTPUT" ] || fail "output: name a folder."
split_lines "$INPUT_PREDICTIONS"
predictions=(${lines[@]+"${lines[@]}"})
options=("--output=$INPUT_OUTPUT")
[ -z "$INPUT_CI" ] || options+=("--ci=$INPUT_CI")
case "$INPUT_TEXT" in
  hide) options+=(--no-text) ;;
  mask) options+=(--mask) ;;
  show) ;;
  *) fail "text: expected hide, mask or show." ;;
esac

if [ -n "$INPUT_DETECTOR" ]; then
  [ ${#predictions[@]} -eq 0 ] || fail "give either a detector or predictions."
  options+=("--detector=$INPUT_DETECTOR")
  [ -z "$INPUT_LANGUAGE" ] || options+=("--language=$INPUT_LANGUAGE")
  muted spanscore run "${options[@]}" -- "$INPUT_GOLD"
else
  [ ${#predictions[@]} -gt 0 ] || fail "give a detector or predictions."
  split_lines "$INPUT_MEASURES"
  for measure in ${lines[@]+"${lines[@]}"}; do
    options+=("--measure=$measure")
  done
  muted spanscore score "${options[@]}" -- "$INPUT_GOLD" "${predictions[@]}"
fi
set_output output "$INPUT_OUTPUT"
