// Comparison of two systems, and suspected gold errors, where all systems agree against the gold data.
import { byId, fill, h, plural, visible } from "./dom.js";
import { showExamples } from "./tables.js";
import { MANY, folded, heatmap, matrixOf, matrixTable } from "./matrix.js";
import { state } from "./state.js";

export const STATUS = ["broken", "fixed", "both wrong", "both right"];

export function statusOf(gold, first, second) {
  return STATUS[first === gold ? (second === gold ? 3 : 0) : second === gold ? 1 : 2];
}

// The first system paired with the selected one, or with the second if the first is selected.
export function pairFor(head, scores) {
  const found = head.pairs.filter((one) => one.measure === scores.measure);
  return found.find((one) => one.second === scores.system) ?? found[0] ?? null;
}

// The status of each example; null for unmatched predictions. Both systems list the gold spans in the same order.
export function statuses(head, scores) {
  const pair = pairFor(head, scores);
  if (!pair) return null;
  const of = (name) => head.scores.find((one) => one.measure === scores.measure && one.system === name).examples;
  const [first, second] = [of(pair.first), of(pair.second)];
  const cells = (examples) => examples.cell.filter((_, i) => examples.gl[i] >= 0);
  const [a, b] = [cells(first), cells(second)];
  if (a.length !== b.length) return null;
  let next = 0;
  return scores.examples.gl.map((gold) => {
    if (gold < 0) return null;
    const place = next++;
    return { status: statusOf(gold, a[place], b[place]), first: a[place] };
  });
}

// Find examples where all systems agree with each other but not with the gold data: a gold span for which all predict
// the same wrong span or nothing, or a span that all predict with the same type and that is not in the gold data.
export function suspects(head, scores) {
  const same = head.scores.filter((one) => one.measure === scores.measure);
  if (same.length < 2) return null;
  const key = ({ doc, gs, ge, gl, ps, pe, pl }, i) => `${doc[i]} ${gs[i]} ${ge[i]} ${gl[i]} ${ps[i]} ${pe[i]} ${pl[i]}`;
  const wrong = (examples, i) => examples.gl[i] < 0 || examples.cell[i] !== examples.gl[i];
  const sets = same.map(({ examples }) => {
    const found = new Set();
    for (let i = 0; i < examples.doc.length; i++) if (wrong(examples, i)) found.add(key(examples, i));
    return found;
  });
  return scores.examples.doc.map((_, i) => wrong(scores.examples, i) && sets.every((one) => one.has(key(scores.examples, i))));
}

export function drawSystems(head, scores, suspected) {
  const section = byId("systems");
  const pair = pairFor(head, scores);
  section.hidden = !pair;
  if (!pair) return;
  const counts = Object.fromEntries(STATUS.map((name) => [name, 0]));
  for (const [gold, a, b, count] of pair.cells) counts[statusOf(gold, a, b)] += count;
  const show = (changes) => showExamples({ v: "all", s: head.systems.indexOf(pair.second), ...changes });
  const matrix = matrixOf(pair.cells.map(([, a, b, count]) => [a, b, count]));
  const name = (code) => (code < 0 ? "(missed)" : visible(head.labels[code]));
  const options = {
    rowName: name, columnName: name, rowTitle: visible(pair.first), columnTitle: visible(pair.second), id: "disagreement",
    caption: `Predicted types of the same gold spans by ${visible(pair.first)} (rows) and ${visible(pair.second)} (columns)`,
    pick: (a, b) => show({ a: a ?? "any", c: b ?? "" }),
  };
  const open = section.querySelector("details")?.open;
  const place = h("div", { class: "plot", role: "img", "aria-label": "Heatmap of the disagreement matrix; the table below has the same counts" });
  const agreed = suspected ? suspected.filter(Boolean).length : 0;
  fill(section.querySelector(".body"),
    h("p", {}, `Gold spans broken and fixed from ${visible(pair.first)} to ${visible(pair.second)}:`),
    h("div", { class: "chips", id: "status" }, STATUS.map((one) => h("button", { type: "button", id: `status-${one.replace(" ", "-")}`, "aria-pressed": String(state.st === one), on: { click: () => show({ st: one }) } }, `${counts[one].toLocaleString("en")} ${one}`))),
    globalThis.Plotly ? place : null,
    globalThis.Plotly ? folded("Disagreement matrix as a table", () => matrixTable(matrix, options), open) : matrixTable(matrix, options),
    h("h3", {}, "Suspected gold errors"),
    h("p", {}, "Where all systems agree with each other but not with the gold data, the gold data may be wrong. Mark these examples below and export them."),
    h("button", { type: "button", id: "suspected", "aria-pressed": String(state.sus === "1"), on: { click: () => show({ sus: "1" }) } }, `Show ${plural(agreed, "suspected gold error")}`));
  if (globalThis.Plotly && matrix.rows.length <= MANY) heatmap(place, matrix, options);
}
