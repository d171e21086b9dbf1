#!/usr/bin/env bash
# Check the results against the conditions: annotations, job summary, JUnit XML and the text of a comment.
. "$(dirname "$0")/common.sh"

comment=$INPUT_OUTPUT/comment.md
junit=$INPUT_OUTPUT/gate.xml
checks=()
add() {
  split_lines "$2"
  for line in ${lines[@]+"${lines[@]}"}; do
    checks+=("$1=$line")
  done
}
add --min "$INPUT_MIN"
add --max "$INPUT_MAX"
add --max-drop "$INPUT_MAX_DROP"

if [ ${#checks[@]} -eq 0 ]; then
  printf 'No conditions are given, so that nothing is checked.\n'
  printf '<!-- spanscore -->\n### spanscore: no conditions were checked\n' > "$comment"
  set_output passed true
  set_output comment "$comment"
  exit 0
fi

[ -z "$INPUT_BASELINE" ] || checks+=("--baseline=$INPUT_BASELINE")
code=0
spanscore gate "${checks[@]}" "--on=$INPUT_ON" --format=github "--junit=$junit" "--markdown=$comment.new" \
  -- "$INPUT_OUTPUT" || code=$?
if [ "$code" -gt 1 ]; then
  rm -f -- "$comment.new"
  fail "the conditions could not be checked; see the message above."
fi
# A comment that begins with this line can be found again and replaced, so that a pull request has only one.
{
  printf '<!-- spanscore -->\n'
  cat -- "$comment.new"
} > "$comment"
rm -f -- "$comment.new"
set_output passed "$([ "$code" -eq 0 ] && printf true || printf false)"
set_output comment "$comment"
set_output junit "$junit"
exit "$code"
