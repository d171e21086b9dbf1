#!/bin/sh
# Generate German and English text, run Presidio on both, and compare two runs. Usage: demo.sh BIN OUT [COUNT]
set -eu
bin=$1
out=$2
count=${3:-500}
here=$(dirname "$0")
spanscore=$bin/spanscore
mkdir -p "$out"

for language in de en; do
	locale=$([ $language = en ] && echo en_US || echo de_DE)
	echo "== Presidio on $count generated documents, $locale"
	"$spanscore" generate -n "$count" --locale $locale --seed 7 -o "$out/$language.jsonl"
	"$spanscore" run "$out/$language.jsonl" --detector presidio --language $language -o "$out/$language"
	echo
done

if grep -q '"spaCy model"' "$out/en/run.json"; then
	echo "== Is it worth having a model? English: patterns alone, and with the model that finds names"
	other='presidio(model=blank)' before=patterns after=names
else
	echo "== Is it worth having a threshold? English: all findings, and those with a score of at least 0.6"
	other="presidio(analyzer_config=\"$here/sure.yaml\")" before=all after=sure
fi
"$spanscore" run "$out/en.jsonl" --detector "$other" --language en -o "$out/other" -q >"$out/other.txt"
[ $after = names ] && set -- other en || set -- en other
"$spanscore" compare "$out/en.jsonl" "$before=$out/$1/predictions.jsonl" "$after=$out/$2/predictions.jsonl" \
	-m iou.pii --beta 2 --resolve score -o "$out/compare" -q
echo
echo "== What leaks most often in the English text, one of each type (all of it: $out/en/leaks.csv)"
"$bin/python" - "$out/en/leaks.csv" <<'END'
import csv, sys

with open(sys.argv[1], encoding="utf-8", newline="") as file:
    leaks = {}
    for row in csv.DictReader(file):
        leaks.setdefault(row["gold_type"], row)
for label, row in list(leaks.items())[:5]:
    print(f"{row['occurrences']:>4} x {row['text']!r} ({label})")
END
echo
echo "Open in a browser: $out/en/report.html, $out/de/report.html and $out/compare/report.html"
