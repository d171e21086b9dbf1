// A detector for `spanscore run --detector 'command(run="node detect.mjs")'`: people, places and organizations, found by
// the package `compromise`. Each line of standard input is {"id", "text", "language"}; each line of output {"id", "spans"}.
import { createInterface } from "node:readline";
import nlp from "compromise";

const FINDERS = { PERSON: "people", LOCATION: "places", ORGANIZATION: "organizations" };

// The number of code points before each UTF-16 unit: compromise counts units, spanscore counts code points.
function codePoints(text) {
  const before = new Uint32Array(text.length + 1);
  for (let unit = 0, point = 0; unit < text.length; ) {
    const size = text.codePointAt(unit) > 0xffff ? 2 : 1;
    before.fill(point, unit, unit + size);
    unit += size;
    point += 1;
    before[unit] = point;
  }
  return before;
}

// The place of a match in UTF-16 units. A match's own `offset.length` counts an opening quotation mark that its
// `offset.start` skips, so the place is that of its first and last term; a possessive "'s" does not belong to a name.
function place(match, text) {
  const terms = match.terms.filter((term) => term.text !== "");
  if (!terms.length) return null;
  const first = terms[0];
  const last = terms[terms.length - 1];
  const start = first.offset.start;
  const end = last.offset.start + last.text.length;
  if (!text.startsWith(first.text, start) || !text.startsWith(last.text, last.offset.start)) {
    throw new Error("an offset of compromise is not where its term is");
  }
  return [start, end - (/['’]s$/.exec(last.text)?.[0].length ?? 0)];
}

function find(text) {
  const before = codePoints(text);
  const doc = nlp(text);
  const spans = [];
  for (const [label, finder] of Object.entries(FINDERS)) {
    for (const match of doc[finder]().json({ offset: true })) {
      const found = place(match, text);
      if (found) spans.push({ start: before[found[0]], end: before[found[1]], label });
    }
  }
  return spans;
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { id, text } = JSON.parse(line);
  let answer;
  try {
    answer = { id, spans: find(text) };
  } catch (error) {
    answer = { id, error: error.message };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
