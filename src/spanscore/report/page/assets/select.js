// Which examples match the filters, and in which order they are listed.
import { disputed } from "./annotators.js";
import { byId, grouped, plural } from "./dom.js";
import { loadShard } from "./data.js";
import { SOME, state } from "./state.js";
import { CORRECT, MOST, listed, spanOf, view } from "./view.js";

/** @type {[string, string][]} */
export const ORDERS = [["", "document"], ["frequency", "most frequent first"], ["score", "lowest score first"], ["-score", "highest score first"], ["iou", "lowest IoU first"], ["-iou", "highest IoU first"], ["length", "shortest first"], ["-length", "longest first"]];

/** @param {string} text */
function numberOrNull(text) {
  return text === "" ? null : Number(text);
}

/**
 * A test for label codes: any code passes without a filter, and any type does if some type is asked for.
 * @param {string} filter
 * @returns {(code: number) => boolean}
 */
function codes(filter) {
  if (filter === "") return () => true;
  return filter === SOME ? (code) => code >= 0 : (code) => code === Number(filter);
}

/** @param {number} i */
function lengthOf(i) {
  const [start, end] = spanOf(i);
  return end - start;
}

/**
 * Whether an example belongs to an annotator: to the annotator's copy of the document, or to a span that was marked by the annotator.
 * @param {number} annotator
 * @param {number} i
 */
function ofAnnotator(annotator, i) {
  const { head, scores } = view;
  const own = head.annotators?.own[scores.examples.doc[i]] ?? -1;
  return own >= 0 ? own === annotator : (head.annotators?.groups[scores.examples.by?.[i] ?? -1] ?? []).includes(annotator);
}

/**
 * The examples that match, and how many of each verdict match the other filters.
 * @param {Set<number> | null} found
 * @returns {{chosen: number[], counts: number[]}}
 */
function matches(found) {
  const { head, scores, status, suspected } = view;
  const { examples } = scores;
  const verdict = state.v === "errors" || state.v === "all" ? null : head.verdicts.indexOf(state.v);
  const [gold, cell] = [state.g, state.c].map(codes);
  const [either, string] = [state.ty, state.fs].map(numberOrNull);
  const first = state.a === "" || state.a === "any" ? null : Number(state.a);
  const [smin, smax, lmin, lmax] = [state.smin, state.smax, state.lmin, state.lmax].map(numberOrNull);
  const at = state.sl.lastIndexOf("=");
  const slices = state.sl ? head.slices[state.sl.slice(0, at)]?.codes ?? null : null;
  const part = Number(state.sl.slice(at + 1));
  const annotator = numberOrNull(state.an);
  const chosen = [];
  const counts = head.verdicts.map(() => 0);
  for (let i = 0; i < examples.doc.length; i++) {
    // an example with two sides stands for its gold span, and for the prediction (`also`) without a gold span
    const asGold = gold(examples.gl[i]) && (state.c === "" || (cell(examples.cell[i]) && (examples.cell[i] >= 0 || examples.gl[i] >= 0)));
    const asPredicted = examples.also[i] >= 0 && gold(-1) && cell(examples.also[i]);
    if (!asGold && !asPredicted) continue;
    if (either !== null && examples.gl[i] !== either && examples.cell[i] !== either && examples.also[i] !== either) continue;
    if (state.st && status?.[i]?.status !== state.st) continue;
    if (state.a && !status?.[i]) continue;
    if (first !== null && status?.[i]?.first !== first) continue;
    if (state.sus && !suspected?.[i]) continue;
    if (string !== null && examples.string?.[i] !== string) continue;
    const score = examples.score[i];
    if (smin !== null && !(score !== null && score >= smin)) continue;
    if (smax !== null && !(score !== null && score <= smax)) continue;
    if (lmin !== null && lengthOf(i) < lmin) continue;
    if (lmax !== null && lengthOf(i) > lmax) continue;
    if (slices !== null && slices[examples.doc[i]] !== part) continue;
    if (annotator !== null && !ofAnnotator(annotator, i)) continue;
    if (state.ag && disputed(i) !== (state.ag === "differ")) continue;
    if (found !== null && !found.has(examples.doc[i])) continue;
    counts[examples.verdict[i]] += 1;
    if (verdict === null ? state.v === "all" || examples.verdict[i] !== CORRECT : examples.verdict[i] === verdict) chosen.push(i);
  }
  return { chosen, counts };
}

/**
 * Sort the examples as asked for; those without a value come last, and ties stay in the order of the documents.
 * @param {number[]} rows
 */
function sorted(rows) {
  const { examples } = view.scores;
  const name = state.o.replace(/^-/, "");
  const sign = state.o.startsWith("-") || name === "frequency" ? -1 : 1;
  /** @type {Record<string, (i: number) => number | null>} */
  const values = { score: (i) => examples.score[i], iou: (i) => examples.iou[i], length: lengthOf, frequency: (i) => examples.times?.[i] ?? 0 };
  const value = values[name];
  if (!value) return rows;
  const keyed = rows.map((i) => ({ i, key: value(i) }));
  keyed.sort((a, b) => (a.key === null || b.key === null ? Number(a.key === null) - Number(b.key === null) : sign * (a.key - b.key)) || (name === "frequency" ? byString(a.i, b.i) : 0) || a.i - b.i);
  return keyed.map(({ i }) => i);
}

/**
 * Keep examples of one string together.
 * @param {number} a
 * @param {number} b
 */
function byString(a, b) {
  const { string } = view.scores.examples;
  return string ? string[a] - string[b] : 0;
}

/** @type {string[] | null} */
let texts = null; // lower-case texts of all documents, loaded by the first search
let asked = 0; // number of the latest filter request; results of earlier requests are discarded

/**
 * Find the documents whose id or text contains the query.
 * @param {string} words
 * @param {number} request
 */
async function search(words, request) {
  if (!words) return null;
  const { head } = view;
  if (texts === null) {
    const count = Math.ceil(head.ids.length / head.shard);
    /** @type {string[]} */
    const all = [];
    for (let i = 0; i < count; i++) {
      if (request === asked) byId("count").textContent = `Unpacking documents: part ${i + 1} of ${count}`;
      for (const [text] of await loadShard(i)) all.push((text ?? "").toLowerCase());
    }
    texts = all;
  }
  const known = texts;
  const sought = words.toLowerCase();
  /** @type {Set<number>} */
  const found = new Set();
  head.ids.forEach((id, i) => {
    if (known[i].includes(sought) || id.toLowerCase().includes(sought)) found.add(i);
  });
  return found;
}

/**
 * Select the examples that match, and return whether they are ready: a later request or a failed search is not.
 * @param {() => void} emptied
 */
export async function selectExamples(emptied) {
  const request = ++asked;
  if (state.q && texts === null) {
    view.rows = [];
    emptied();
  }
  try {
    const found = await search(state.q, request);
    if (request !== asked) return false;
    const { chosen, counts } = matches(found);
    view.rows = sorted(chosen);
    view.counts = counts;
  } catch (error) {
    if (request === asked) byId("count").textContent = `Cannot search the documents: ${/** @type {Error} */ (error).message}.`;
    return false;
  }
  state.at = String(Math.min(Number(state.at) || 0, Math.max(listed() - 1, 0)));
  const limit = view.rows.length > MOST ? `; only the first ${grouped(MOST)} are listed, so narrow the filters to see others` : "";
  byId("count").textContent = `${plural(view.rows.length, "example")} of ${grouped(view.scores.examples.doc.length)}${limit}`;
  return true;
}
