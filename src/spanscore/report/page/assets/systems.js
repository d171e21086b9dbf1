// Comparison of two systems: what was fixed and broken, where they disagree, and suspected gold errors.
import { bodyOf, breakable, button, byId, choice, fill, folded, grouped, h, labelled, plural, scrolling, short, visible } from "./dom.js";
import { countsOf, matrixTable, missedName, orderOf, zoomed } from "./matrix.js";
import { NAMES, difference } from "./numbers.js";
import { STATUS, comparedWith, statusName, statusOf, testedDifference } from "./pairs.js";
import { change, state } from "./state.js";
import { isReview, showExamples, view } from "./view.js";

/** @import { Pair } from "./types" */

/**
 * Fixed and broken gold spans by type, the most broken first.
 * @param {Pair} pair
 * @param {(changes: object) => void} show
 */
function byTypeTable(pair, show) {
  /** @type {Map<number, Record<string, number>>} */
  const found = new Map();
  for (const [gold, a, b, count] of pair.cells) {
    const row = found.get(gold) ?? Object.fromEntries(STATUS.map((name) => [name, 0]));
    row[statusOf(gold, a, b)] += count;
    found.set(gold, row);
  }
  const changed = [...found].sort(([, a], [, b]) => b.broken - a.broken || b.fixed - a.fixed);
  return scrolling(isReview() ? "Who agrees, by type" : "Fixed and broken by type", h("table", { id: "changed" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "text" }, "type"), STATUS.map((name) => h("th", { scope: "col" }, statusName(view.head, pair, name))), isReview() ? null : h("th", { scope: "col" }, "net"))),
    h("tbody", {}, changed.map(([gold, row]) => {
      const net = row.fixed - row.broken;
      return h("tr", {}, h("th", { scope: "row" }, breakable(view.head.labels[gold])), STATUS.map((name) => h("td", { class: row[name] ? "" : "zero" }, row[name] ? button(grouped(row[name]), () => show({ st: name, g: gold }), { class: "plain" }) : "0")),
        isReview() ? null : h("td", { class: net > 0 ? "better" : net < 0 ? "worse" : "zero" }, `${net > 0 ? "+" : net < 0 ? "−" : "±"}${grouped(Math.abs(net))}`));
    }))));
}

/**
 * The tested differences in the direction of the pair: the second system minus the first. Bold are the significant ones, as in the letters of the command line.
 * @param {Pair} pair
 */
function differencesTable({ first, second }) {
  const { head, scores } = view;
  const tested = NAMES.map(([name, text]) => ({ name, text, found: testedDifference(head.comparison, scores, name, second, first) })).filter(({ found }) => found);
  if (!tested.length || !head.comparison) return null;
  return scrolling("Differences", h("table", { id: "differences" },
    h("caption", {}, `${visible(second)} minus ${visible(first)}; paired permutation test (${grouped(head.comparison.permutations)} permutations), p after Holm correction; bold: p < ${head.comparison.alpha}`),
    h("thead", {}, h("tr", {}, ["", "difference", "interval", "p"].map((name) => (name ? h("th", { scope: "col" }, name) : h("td"))))),
    h("tbody", {}, tested.map(({ name, text, found }) => h("tr", {}, h("th", { scope: "row" }, name === "f" ? `F${head.beta}` : text),
      h("td", {}, difference(found?.difference)), h("td", {}, found?.interval[0] === null ? "" : `[${(found?.interval ?? []).map(difference).join(", ")}]`),
      h("td", { class: (found?.p_holm ?? 1) < (head.comparison?.alpha ?? 0) && found?.difference ? "best" : "" }, (found?.p_holm ?? 1) < 0.001 ? "< 0.001" : found?.p_holm.toFixed(3)))))));
}

export function drawSystems() {
  const { head, scores, pair, suspected } = view;
  const section = byId("systems");
  section.hidden = head.systems.length < 2;
  if (section.hidden) return;
  const other = comparedWith(head, scores);
  const picker = labelled("compare with", choice("vs", head.systems.map((name, i) => /** @type {[number, string]} */ ([i, short(name)])).filter(([i]) => head.systems[i] !== scores.system), head.systems.indexOf(other ?? ""), (vs) => change({ vs, st: "", a: "" })));
  if (!pair) {
    fill(bodyOf("systems"), h("div", { class: "row" }, picker), h("p", { class: "none" }, isReview() ? "These annotators have no documents in common by this measure." : "These systems have no gold spans in common by this measure."));
    return;
  }
  /** @type {Record<string, number>} */
  const counts = Object.fromEntries(STATUS.map((name) => [name, 0]));
  for (const [gold, a, b, count] of pair.cells) counts[statusOf(gold, a, b)] += count;
  const show = (/** @type {object} */ changes) => showExamples({ v: "all", s: head.systems.indexOf(pair.second), vs: head.systems.indexOf(pair.first), ...changes });
  /** @type {[number, number, number][]} */
  const cells = pair.cells.map(([, a, b, count]) => [a, b, count]);
  const order = orderOf(cells, zoomed());
  const name = (/** @type {number} */ code) => (code === -1 ? missedName(head) : code < 0 ? `(${order.left.length} other types)` : visible(head.labels[code]));
  const [first, second] = [visible(pair.first), visible(pair.second)];
  const agreed = suspected ? suspected.filter(Boolean).length : 0;
  const open = section.querySelector("details")?.open;
  fill(bodyOf("systems"),
    h("div", { class: "row" }, picker),
    differencesTable(pair),
    h("p", {}, isReview() ? `Spans of ${visible(head.gold)}, and who marked the same:` : `Gold spans broken and fixed from ${first} to ${second}:`),
    h("div", { class: "chips", id: "status" }, STATUS.map((one) => button(`${grouped(counts[one])} ${statusName(head, pair, one)}`, () => show({ st: one }), { id: `status-${one.replace(" ", "-")}`, "aria-pressed": String(state.st === one) }))),
    byTypeTable(pair, show),
    scores.masking ? null : folded(`What each of the two ${isReview() ? "marked" : "predicted"}`, () => matrixTable(order.codes, order.codes, countsOf(cells, order), {
      id: "disagreement", caption: `${isReview() ? `Types of the spans of ${visible(head.gold)} by` : "Predicted types of the same gold spans by"} ${first} (rows) and ${second} (columns)`, rowTitle: first, columnTitle: second, rowName: name, columnName: name, shares: false,
      kind: (a, b) => (a === b ? "right" : "amber"), pick: (a, b) => show({ a: a ?? "any", c: b ?? "" }),
    }), open),
    isReview() ? null : [h("h3", {}, "Suspected gold errors"),
    h("p", {}, "Errors that all systems make in the same way: the gold data may be at fault.", h("span", { class: "screen" }, " Mark these examples and export them.")),
    button(`Show ${plural(agreed, "suspected gold error")}`, () => showExamples({ v: "all", sus: "1" }), { id: "suspected", "aria-pressed": String(state.sus === "1") })]);
}
