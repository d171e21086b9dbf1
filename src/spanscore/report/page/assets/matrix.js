// The confusion matrix: the same types in the same order on both axes, missed and spurious spans first. A measure that does
// not compare types, such as one of masking or linking, has a matrix of gold types and verdicts.
import { bodyOf, breakable, button, byId, choice, fill, grouped, h, labelled, scrolling, visible } from "./dom.js";
import { change, state } from "./state.js";
import { SYMBOLS, groupOf, verdictName } from "./verdicts.js";
import { showExamples, view } from "./view.js";

/** @import { Head, Scores } from "./types" */
/** @import { Group } from "./verdicts.js" */
/** @typedef {[number, number, number]} Cell gold code, predicted code, count */

export const OTHERS = -2; // the code of all types that have no row of their own
const FLAT = 8; // columns whose names are short enough to be horizontal
const CONFUSIONS = 10; // length of the list of the most frequent errors

/** What to call the column of gold spans without a match.
 * @param {Head} head
 */
export function missedName(head) {
  return head.gold === "gold" ? "(missed)" : `(only ${visible(head.gold)})`;
}

/** What to call the row of predictions without a match.
 * @param {Head} head
 * @param {Scores} scores
 */
function spuriousName(head, scores) {
  return head.gold === "gold" ? "(spurious)" : `(only ${visible(scores.system)})`;
}

/**
 * The types with the most errors first, then the most frequent ones; code -1 before them, the others together at the end.
 * @param {Cell[]} cells
 * @param {number} most
 */
export function orderOf(cells, most) {
  /** @type {Map<number, [number, number]>} */
  const weight = new Map();
  for (const [a, b, count] of cells) {
    for (const code of new Set([a, b])) {
      const [errors, all] = weight.get(code) ?? [0, 0];
      weight.set(code, [errors + (a === b ? 0 : count), all + count]);
    }
  }
  weight.delete(-1);
  const order = [...weight].sort(([a, [x, m]], [b, [y, n]]) => y - x || n - m || a - b).map(([code]) => code);
  return { codes: [-1, ...order.slice(0, most), ...(order.length > most ? [OTHERS] : [])], left: order.slice(most) };
}

/**
 * @param {Cell[]} cells
 * @param {{codes: number[], left: number[]}} order
 */
export function countsOf(cells, { codes, left }) {
  const place = new Map(codes.map((code, i) => [code, i]));
  for (const code of left) place.set(code, codes.length - 1);
  const counts = codes.map(() => codes.map(() => 0));
  for (const [a, b, count] of cells) counts[/** @type {number} */ (place.get(a))][/** @type {number} */ (place.get(b))] += count;
  return counts;
}

/**
 * What a cell counts; among the other types, right and wrong ones are mixed.
 * @param {number} a
 * @param {number} b
 * @returns {Group | "mixed"}
 */
function kindOfCell(a, b) {
  return a === -1 ? "needless" : b === -1 ? "missed" : a !== b ? "amber" : a === OTHERS ? "mixed" : "right";
}

/**
 * A matrix as a table, with a sum for each row and column.
 * @param {number[]} down the codes of the rows
 * @param {number[]} across the codes of the columns
 * @param {number[][]} counts
 * @param {{id: string, caption: string, rowTitle: string, columnTitle: string, rowName: (code: number) => string, columnName: (code: number) => string, shares: boolean,
 *   kind: (a: number, b: number) => Group | "mixed", pick: (a: number | null, b: number | null) => void, picks?: (a: number, b: number) => Record<string, string>}} options
 */
export function matrixTable(down, across, counts, { id, caption, rowTitle, columnTitle, rowName, columnName, shares, kind, pick, picks }) {
  const rows = counts.map((row) => row.reduce((sum, count) => sum + count, 0));
  const columns = across.map((_, j) => counts.reduce((sum, row) => sum + row[j], 0));
  const most = Math.log1p(Math.max(1, ...counts.flat()));
  /** @type {(text: string, call: () => void, code: number) => Node | string} */
  const name = (text, call, code) => (code === OTHERS ? text : button(breakable(text), call, { class: "plain" }));
  /** @type {(i: number, j: number) => HTMLElement} */
  const cell = (i, j) => {
    const [a, b, count] = [down[i], across[j], counts[i][j]];
    if (!count) return h("td", { class: "zero" }, a === -1 && b === -1 ? "" : "·");
    const heat = shares ? count / rows[i] : Math.log1p(count) / most;
    const text = shares ? `${(100 * count / rows[i]).toFixed(0)}%` : grouped(count);
    const about = `${rowTitle} ${rowName(a)}, ${columnTitle} ${columnName(b)}: ${count} (${(100 * count / rows[i]).toFixed(1)}% of the row)`;
    const made = h("td", { class: `cell ${kind(a, b)}` }, a === OTHERS || b === OTHERS ? h("span", { title: about }, text) : button(text, () => pick(a, b), { class: "plain", title: about, "aria-label": about, ...(picks ? picks(a, b) : {}) }));
    made.style.setProperty("--heat", String(0.12 + 0.38 * heat));
    return made;
  };
  return scrolling(caption, h("table", { id, class: down !== across && across.length <= FLAT ? "matrix flat" : "matrix" },
    h("caption", {}, caption),
    h("thead", {}, h("tr", {}, h("td", { class: "corner" }, `${rowTitle} ↓ ${columnTitle} →`), across.map((b) => h("th", { scope: "col", title: columnName(b) }, h("span", {}, name(columnName(b), () => pick(null, b), b)))), h("th", { scope: "col" }, h("span", {}, "sum")))),
    h("tbody", {}, down.map((a, i) => h("tr", {}, h("th", { scope: "row", title: rowName(a) }, name(rowName(a), () => pick(a, null), a)), across.map((_, j) => cell(i, j)), h("td", { class: "sum" }, grouped(rows[i])))),
      h("tr", {}, h("th", { scope: "row" }, "sum"), columns.map((sum) => h("td", { class: "sum" }, grouped(sum))), h("td", { class: "sum" }, grouped(rows.reduce((sum, one) => sum + one, 0)))))));
}

/** How many types have a row of their own.
 * @param {string} id
 * @param {number} types
 */
export function zoom(id, types) {
  const steps = [6, 12, 25, 60].filter((one) => one < types);
  if (!steps.length) return null;
  return labelled("zoom", choice(id, [...steps.map((one) => /** @type {[string, string]} */ ([String(one), `${one} types`])), ["all", `all ${types} types`]], steps.includes(Number(state.z)) ? state.z : "all", (z) => change({ z })));
}

export function zoomed() {
  return state.z === "all" ? Infinity : Number(state.z) || 12;
}

/** The outcome for the gold spans of each type, the types with the most errors first.
 * @param {{verdicts: string[], types: number[][]}} outcomes the last verdict is the right one
 */
function drawOutcomes({ verdicts, types }) {
  const { head, scores } = view;
  const across = verdicts.map((name) => head.verdicts.indexOf(name));
  const wrong = (/** @type {number[]} */ row) => row.slice(1, -1).reduce((sum, count) => sum + count, 0);
  const sorted = [...types].sort((one, other) => wrong(other) - wrong(one) || other[other.length - 1] - one[one.length - 1] || one[0] - other[0]);
  const left = sorted.slice(zoomed());
  const named = left.length ? sorted.slice(0, zoomed()) : sorted;
  const down = [...named.map(([code]) => code), ...(left.length ? [OTHERS] : [])];
  const counts = [...named.map(([, ...row]) => row), ...(left.length ? [across.map((_, j) => left.reduce((sum, row) => sum + row[j + 1], 0))] : [])];
  const type = (/** @type {number} */ code) => (code === OTHERS ? `(${left.length} other types)` : visible(head.labels[code]));
  const outcome = (/** @type {number} */ code) => verdictName(head, scores, head.verdicts[code]);
  const kind = (/** @type {number} */ code) => groupOf(head.verdicts[code]);
  const pick = (/** @type {number | null} */ a, /** @type {number | null} */ b) => showExamples(b === null ? { g: a ?? "", v: "all" } : { g: a ?? "", v: head.verdicts[b] });
  const picks = (/** @type {number} */ a, /** @type {number} */ b) => ({ "data-g": String(a), "data-c": "", "data-v": head.verdicts[b], "aria-pressed": "false" });
  const unmatched = scores.masking ? scores.confusion.filter(([a]) => a === -1) : [];
  const errors = types.flatMap(([code, ...row]) => row.slice(0, -1).map((count, j) => [code, across[j], count]));
  const ranked = /** @type {[number, number, number][]} */ ([...errors, ...unmatched]).filter(([, , count]) => count).sort((one, other) => other[2] - one[2]).slice(0, CONFUSIONS);
  const title = !scores.masking ? "Top errors" : unmatched.length ? "Top leaks and needless predictions" : "Top leaks";
  const caption = scores.masking ? "What masking all predictions leaves of each gold type, whatever type was predicted" : `${scores.measure} does not compare types: the outcome for each gold type, whatever type was predicted`;
  fill(bodyOf("matrix"),
    matrixTools(types.length),
    h("div", { class: "beside" },
      matrixTable(down, across, counts, { id: "confusion", caption, rowTitle: visible(head.gold), columnTitle: scores.masking ? "after masking" : "outcome", rowName: type, columnName: outcome, shares: state.share === "1", kind: (_, b) => kind(b), pick, picks }),
      ranked.length ? h("div", { id: "confusions" }, h("h3", {}, title), h("ol", {}, ranked.map(([a, b, count]) => {
        const group = a === -1 ? "needless" : kind(b);
        const call = () => (a === -1 ? showExamples({ g: -1, ty: b, v: "all" }) : pick(a, b));
        return h("li", {}, button([h("span", { class: `mark ${group}`, "aria-hidden": "true" }, SYMBOLS[group]), " ", breakable(a === -1 ? `needless ${type(b)}` : `${type(a)} ${outcome(b)}`), " ", h("b", {}, grouped(count))], call, { class: "plain", ...(a === -1 ? {} : picks(a, b)) }));
      }))) : null),
    legend(scores.masking ? [["right", "hidden"], ["amber", "partly hidden"], ["missed", "exposed"], ["needless", "needless"]] : [["right", "right"], ["amber", "found, but wrong"], ["missed", "missed"]]));
  markPicked();
}

/** @param {number} types */
function matrixTools(types) {
  const toggle = (/** @type {string} */ text, /** @type {string} */ value) => button(text, () => change({ share: value }), { id: `share-${value}`, "aria-pressed": String(state.share === value) });
  return h("div", { class: "row tools" }, h("div", { class: "group", role: "group", "aria-label": "Cell values" }, toggle("counts", ""), toggle("row percentages", "1")), zoom("z", types));
}

/** @param {[Group, string][]} groups */
function legend(groups) {
  return h("p", { class: "legend" }, groups.map(([group, text]) => [h("span", { class: `mark ${group}` }, SYMBOLS[group]), ` ${text}  `]));
}

export function drawMatrix() {
  const { head, scores } = view;
  byId("matrix-title").textContent = scores.masking ? "What stays readable" : scores.outcomes ? "Outcome by type" : "Confusion matrix";
  if (scores.outcomes) {
    drawOutcomes(scores.outcomes);
    return;
  }
  const cells = scores.confusion;
  const order = orderOf(cells, zoomed());
  const others = `(${order.left.length} other types)`;
  const type = (/** @type {number} */ code, /** @type {string} */ none) => (code === -1 ? none : code === OTHERS ? others : visible(head.labels[code]));
  const rowName = (/** @type {number} */ code) => type(code, spuriousName(head, scores));
  const columnName = (/** @type {number} */ code) => type(code, missedName(head));
  const pick = (/** @type {number | null} */ a, /** @type {number | null} */ b) => showExamples({ g: a ?? "", c: b ?? "", v: "all" });
  const picks = (/** @type {number} */ a, /** @type {number} */ b) => ({ "data-g": String(a), "data-c": String(b), "aria-pressed": "false" });
  const ranked = cells.filter(([a, b]) => a !== b).sort((one, other) => other[2] - one[2]).slice(0, CONFUSIONS);
  const types = orderOf(cells, Infinity).codes.length - 1;
  fill(bodyOf("matrix"),
    matrixTools(types),
    h("div", { class: "beside" },
      matrixTable(order.codes, order.codes, countsOf(cells, order), { id: "confusion", caption: head.gold === "gold" ? "Gold types in rows, predicted types in columns" : `Types of ${visible(head.gold)} in rows, types of ${visible(scores.system)} in columns`, rowTitle: visible(head.gold), columnTitle: head.gold === "gold" ? "predicted" : visible(scores.system), rowName, columnName, shares: state.share === "1", kind: kindOfCell, pick, picks }),
      ranked.length ? h("div", { id: "confusions" }, h("h3", {}, "Top confusions"), h("ol", {}, ranked.map(([a, b, count]) => {
        const group = /** @type {Group} */ (kindOfCell(a, b));
        return h("li", {}, button([h("span", { class: `mark ${group}`, "aria-hidden": "true" }, SYMBOLS[group]), " ", breakable(`${rowName(a)} → ${columnName(b)}`), " ", h("b", {}, grouped(count))], () => pick(a, b), { class: "plain", ...picks(a, b) }));
      }))) : null),
    legend([["right", head.gold === "gold" ? "right" : "same type"], ["amber", head.gold === "gold" ? "wrong type" : "another type"], ["missed", head.gold === "gold" ? "missed" : `only ${visible(head.gold)}`], ["needless", head.gold === "gold" ? "spurious" : `only ${visible(scores.system)}`]]));
  markPicked();
}

/** Mark the cells and rows whose examples are listed, without drawing them again. */
export function markPicked() {
  for (const one of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-g]"))) {
    one.setAttribute("aria-pressed", String(one.dataset.g === state.g && one.dataset.c === state.c && (one.dataset.v ?? state.v) === state.v));
  }
  for (const one of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-row]"))) {
    one.classList.toggle("selected", [`ty=${state.ty}`, `ty=${state.g}`, `sl=${state.sl}`, `an=${state.an}`].includes(one.dataset.row ?? ""));
  }
}
