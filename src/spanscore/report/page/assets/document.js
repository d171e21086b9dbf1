// The whole document of the current example, with the spans of all systems.
import { copiesOf, goldName } from "./annotators.js";
import { button, byId, fill, grouped, h, visible } from "./dom.js";
import { loadDocument } from "./data.js";
import { drawLanes } from "./lanes.js";
import { focusOf, kindOf, sidesOf, whyOf } from "./list.js";
import { change, state } from "./state.js";
import { spanOf, view } from "./view.js";

/** @import { Span } from "./types" */

const WHOLE = 20000; // maximum number of characters shown
const LISTED = 500; // maximum number of spans of each side in the table

export async function drawDocument() {
  const { head, scores } = view;
  const dialog = /** @type {HTMLDialogElement} */ (byId("dialog"));
  const i = view.rows[Number(state.at)];
  if (state.doc !== "1" || i === undefined) {
    if (dialog.open) dialog.close();
    return;
  }
  const number = scores.examples.doc[i];
  let found = null;
  /** @type {{name: string, spans: Span[]}[]} */
  let others = [];
  let failed = "";
  try {
    found = await loadDocument(head, number);
    others = await Promise.all(copiesOf(number).map(async (copy) => ({ name: goldName(copy), spans: (await loadDocument(head, copy))?.sides[0] ?? [] })));
  } catch (error) {
    failed = /** @type {Error} */ (error).message;
  }
  if (state.doc !== "1" || view.rows[Number(state.at)] !== i) return;
  const [start, end] = spanOf(i);
  const points = found?.points ?? 0;
  const from = Math.max(0, start - WHOLE / 2);
  const to = Math.min(points, from + WHOLE);
  const all = head.systems.map((_, system) => system);
  const above = 1 + others.length;
  const names = [goldName(number), ...others.map(({ name }) => name), ...head.systems];
  const kinds = [...names.slice(0, above).map((_, side) => (side ? "gold other" : "gold")), ...all.map(kindOf)];
  const focused = focusOf(i, all);
  const focus = (/** @type {number} */ side, /** @type {Span} */ span) => focused(side < above ? 0 : side - above + 1, span);
  const sides = found ? [found.sides[0], ...others.map(({ spans }) => spans), ...sidesOf(found, all).slice(1)] : [];
  const room = h("div");
  const line = (/** @type {number} */ side) => (/** @type {Span} */ span) => {
    const [a, b, label, score, entity] = span;
    return h("tr", focus(side, span) ? { class: "selected" } : {}, h("td", { class: "text" }, visible(names[side])), h("td", {}, a), h("td", {}, b), h("td", { class: "text" }, visible(head.labels[label])), head.entities ? h("td", { class: "text" }, visible(entity ?? "")) : null, h("td", {}, score ?? ""));
  };
  fill(dialog,
    h("div", { class: "row" }, h("h2", { id: "dialog-title", dir: "auto" }, visible(head.ids[number])), button("Close (Esc)", () => change({ doc: "" }), { id: "close", autofocus: true })),
    h("p", {}, visible(whyOf(i))),
    failed ? h("p", {}, `Cannot show the document: ${failed}.`) : null,
    found?.text !== null && (from > 0 || to < points) ? h("p", {}, `Showing characters ${grouped(from)} to ${grouped(to)} of ${grouped(points)}.`) : null,
    found?.text ? h("div", { class: "key" }, names.map((name, side) => h("span", { class: `lane ${kinds[side]}` }, visible(name)))) : null,
    room,
    h("details", {}, h("summary", {}, "Spans as a table"), h("table", {}, h("thead", {}, h("tr", {}, ["source", "start", "end", "type", ...(head.entities ? ["entity"] : []), "score"].map((name) => h("th", { scope: "col", class: "text" }, name)))),
      h("tbody", {}, sides.flatMap((spans, side) => spans.slice(0, LISTED).map(line(side)))))));
  dialog.onclose = () => {
    if (!dialog.open) change({ doc: "" });
  };
  dialog.onclick = (event) => {
    if (event.target === dialog) change({ doc: "" });
  };
  if (!dialog.open) dialog.showModal();
  if (!found || found.text === null) {
    room.append(h("p", { class: "none" }, `The report does not contain the text of this document. The example is at offsets ${start} to ${end}.`));
    return;
  }
  const { box, draw } = drawLanes(found, { from, to, sides, names, kinds, above, labels: head.labels, whole: true, focus });
  room.append(box);
  draw();
  box.querySelector(".lane.focus")?.scrollIntoView({ block: "center" });
}
