// The list of examples, of which only the visible rows are drawn.
import { goldName, votesShown } from "./annotators.js";
import { button, byId, grouped, h, visible } from "./dom.js";
import { documentNow, failureOf, holdDocuments, loadDocument } from "./data.js";
import { HEIGHT, LINE, drawLanes } from "./lanes.js";
import { markControl } from "./marks.js";
import { selectExamples } from "./select.js";
import { change, state } from "./state.js";
import { SYMBOLS, groupOf, verdictName } from "./verdicts.js";
import { CORRECT, isNarrow, isReview, listed, sideBySide, spanOf, view } from "./view.js";

/** @import { Span } from "./types" */
/** @import { Document } from "./data.js" */

const LETTER = 7; // pixels of a narrow letter; if the letters are wider, fewer are shown
const PAPER = 660; // pixels of a line on paper
const PRINTED = 200; // maximum number of printed examples

let height = 120;
/** @type {WeakMap<Element, () => void>} */
const drawers = new WeakMap();

/** @param {() => void} counted */
export async function filterExamples(counted) {
  delete document.documentElement.dataset.printable;
  if (!(await selectExamples(drawList))) return;
  counted();
  drawList();
  showRow(Number(state.at), false);
  preparePrint();
}

/** Unpack the documents of the examples to print beforehand: printing does not wait. The page then says that it is printable. */
async function preparePrint() {
  const { head, rows, scores } = view;
  const numbers = head.text === "hide" ? [] : rows.slice(0, PRINTED).map((i) => scores.examples.doc[i]);
  if ((await holdDocuments(head, numbers)) && view.rows === rows) document.documentElement.dataset.printable = "1";
}

/** @param {number} system */
export function kindOf(system) {
  return `system n${system % 3}`;
}

/** The systems whose spans are shown below the text: all if there are few, else the selected and the compared one. */
export function systemsShown() {
  const { head, scores, pair } = view;
  const all = head.systems.map((_, i) => i);
  return all.length <= 3 ? all : all.filter((i) => [scores.system, pair?.first, pair?.second].includes(head.systems[i]));
}

/** Lanes of a row: one for each side, and another one if any of them has spans that overlap. */
function lanesOfRow() {
  const { head } = view;
  const sides = [0, ...systemsShown().map((i) => i + 1)];
  return sides.length + Math.max(...sides.map((side) => head.lanes[side] - 1));
}

function rowHeight() {
  const { head, scores } = view;
  const more = scores.examples.ge_id || head.annotators ? 17 : 0; // a third line below the text
  return (isNarrow() ? 103 + more : 76) + (head.text === "hide" ? 0 : LINE + HEIGHT * lanesOfRow());
}

/** How wide the text of an example may be; the list is drawn again when that changes much. */
function lineWidth() {
  return view.printing ? PAPER : Math.floor(Math.max(byId("list").clientWidth - 20, 200) / 40) * 40;
}

export function drawList() {
  const list = document.getElementById("list");
  if (!list) return;
  const { rows, scores, printing } = view;
  height = rowHeight();
  const inner = /** @type {HTMLElement} */ (list.firstElementChild);
  const count = listed();
  inner.style.height = `${Math.max(count * height, 40)}px`;
  list.style.height = count ? `${Math.min(count * height + 2, sideBySide() && !printing ? innerHeight : Math.max(innerHeight * 0.75, 300))}px` : "auto";
  const first = printing ? 0 : Math.max(0, Math.floor(list.scrollTop / height) - 6);
  const last = printing ? Math.min(count, PRINTED) : Math.min(count, Math.ceil((list.scrollTop + list.clientHeight) / height) + 6);
  const there = new Map([...inner.children].map((one) => [/** @type {HTMLElement} */ (one).dataset.key, /** @type {HTMLElement} */ (one)]));
  const wanted = [];
  for (let place = first; place < last; place++) {
    const key = `${scores.system}/${scores.measure}/${scores.level}/${rows[place]}/${place}/${height}/${lineWidth()}`;
    const row = there.get(key) ?? makeRow(place, key);
    if (place === Number(state.at)) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
    wanted.push(row);
  }
  if (!count) inner.replaceChildren(h("div", { class: "none", role: "listitem" }, noneListed()));
  else if (wanted.length !== inner.children.length || wanted.some((one, i) => one !== inner.children[i])) {
    inner.replaceChildren(...wanted);
    for (const row of wanted) drawers.get(row)?.();
  }
}

/** What to say if nothing is listed: there is nothing, nothing matches, or only correct examples do. */
function noneListed() {
  const { examples, overall } = view.scores;
  if (!examples.doc.length) return overall.annotated || overall.predicted ? "There are no examples." : "There are no examples, because nothing is annotated or predicted.";
  const right = state.v === "errors" ? view.counts[CORRECT] ?? 0 : 0;
  if (!right) return "No examples match these filters.";
  const said = isReview() ? `No disagreements: ${right === 1 ? "the only span is" : `all ${grouped(right)} are`} the same. `
    : right === 1 ? "No error: the only example is right. " : `No errors: all ${grouped(right)} are right. `;
  return [said, button(right === 1 ? "Show it" : "Show them", () => change({ v: "all" }), { id: "show-right" })];
}

/** @type {HTMLDetailsElement[]} */
let closed = []; // sections to collapse again after printing

/** Paper does not scroll: render the first examples in full and open all collapsed sections.
 * @param {boolean} on
 */
export function forPrint(on) {
  view.printing = on;
  if (on) closed = [.../** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll("main details:not(.more, [open]), #about details:not([open])"))];
  for (const one of closed) {
    one.open = on;
    one.dispatchEvent(new Event("toggle")); // build lazy tables now
  }
  byId("printed").textContent = listed() > PRINTED ? `The first ${PRINTED} of ${grouped(view.rows.length)} examples are printed.` : "";
  drawList();
}

/**
 * @param {Document} found
 * @param {number[]} systems
 */
export function sidesOf(found, systems) {
  return [found.sides[0], ...systems.map((i) => found.sides[i + 1])];
}

/**
 * Return a test for the spans in focus: those inside the example's span, as the measure saw it, with the same type.
 * @param {number} i
 * @param {number[]} systems
 * @returns {(side: number, span: Span) => boolean}
 */
export function focusOf(i, systems) {
  const { head, scores } = view;
  const { examples } = scores;
  const mine = systems.indexOf(head.systems.indexOf(scores.system)) + 1;
  const typed = scores.types.length > 0 && scores.level === head.laneLevel;
  /** @type {(from: number, to: number, code: number, span: Span) => boolean} */
  const inside = (from, to, code, [start, end, label]) => code >= 0 && start >= from && end <= to && (!typed || label === code);
  return (side, span) => {
    if (side === 0) return inside(examples.gs[i], examples.ge[i], examples.gl[i], span);
    return side === mine && inside(examples.ps[i], examples.pe[i], examples.pl[i], span);
  };
}

/** Gold and predicted type of an example; a boundary error has both, though it counts as missed.
 * @param {number} i
 */
function typesOf(i) {
  const { examples } = view.scores;
  const name = (/** @type {number} */ code) => (code < 0 ? (view.head.gold === "gold" ? "no match" : "nothing") : visible(view.head.labels[code]));
  return [name(examples.gl[i]), name(examples.cell[i] < 0 && examples.also[i] >= 0 ? examples.also[i] : examples.cell[i])];
}

/** The linked entities of both sides, if they differ or matter.
 * @param {number} i
 */
function entitiesOf(i) {
  const { ge_id: gold, pe_id: pred, gl, pl } = view.scores.examples;
  if (!gold || !pred || (!gold[i] && !pred[i])) return null;
  const name = (/** @type {string | null} */ id, /** @type {number} */ code) => (code < 0 ? "none" : visible(id ?? "no entity"));
  const text = `${name(gold[i], gl[i])} → ${name(pred[i], pl[i])}`;
  return h("span", { class: "entity", title: text }, text);
}

/** @param {number} i */
export function whyOf(i) {
  const { head, scores } = view;
  const { examples } = scores;
  const span = `${typesOf(i)[0]} [${examples.gs[i]}, ${examples.ge[i]})`;
  if (head.gold !== "gold") return examples.why[i] || `${span} is marked by ${head.gold} and by ${scores.system}.`;
  return examples.why[i] || `Gold ${span} ${scores.masking ? "is hidden by predictions" : "was found"}.`;
}

/**
 * A window of so many characters around a span, or from the beginning of a longer one.
 * @param {number} start
 * @param {number} end
 * @param {number} size
 * @param {number} points
 * @returns {[number, number]}
 */
function around(start, end, size, points) {
  const before = Math.max(Math.floor((size - (end - start)) / 2), Math.min(10, Math.floor(size / 4)));
  const from = Math.max(0, Math.min(start - before, points - size));
  return [from, Math.min(points, from + size)];
}

/** The width of the text of an example.
 * @param {HTMLElement} box
 */
function textWidth(box) {
  const range = document.createRange();
  range.selectNodeContents(/** @type {Node} */ (box.firstChild));
  return range.getBoundingClientRect().width;
}

/**
 * @param {number} place
 * @param {string} key
 */
function makeRow(place, key) {
  const { head, scores, rows } = view;
  const { examples } = scores;
  const i = rows[place];
  const verdict = head.verdicts[examples.verdict[i]];
  const group = groupOf(verdict);
  const [gold, cell] = typesOf(i);
  const types = scores.masking ? (examples.gl[i] < 0 ? cell : gold) : `${gold} → ${cell}`;
  const number = examples.doc[i];
  const room = h("div", { class: "room" });
  const times = examples.times?.[i] ?? 0;
  const facts = [
    entitiesOf(i),
    votesShown(i),
    examples.score[i] === null ? null : h("span", { class: "extra" }, `score ${examples.score[i]}`),
    times > 1 ? h("span", { class: "extra", title: "errors with the same text and type" }, `${times}×`) : null,
  ];
  const row = h("div", { class: "example", role: "listitem", "aria-setsize": rows.length, "aria-posinset": place + 1, "data-key": key, on: { click: (event) => event.target.closest("button, select") ?? change({ at: place }) } },
    h("div", { class: "top" },
      h("span", { class: `verdict ${group}` }, `${SYMBOLS[group]} ${verdictName(head, scores, verdict)}`),
      h("span", { class: "types", title: types }, types),
      h("span", { class: "id", title: visible(head.ids[number]), dir: "auto" }, visible(head.ids[number])),
      button("open", () => change({ at: place, doc: "1" }), { "aria-label": `Open document ${visible(head.ids[number])}` }),
      markControl(i)),
    room,
    h("div", { class: "below" }, facts.map((one) => one && [one, " "]), h("span", { class: "why" }, visible(whyOf(i)))));
  row.style.top = `${place * height}px`;
  row.style.height = `${height}px`;
  let drawn = false;
  const say = (/** @type {string} */ text) => room.replaceChildren(h("div", { class: "none" }, text));
  const drawText = () => {
    if (drawn || head.text === "hide") return;
    const found = documentNow(head, number);
    if (found === null) {
      const failed = (/** @type {Error} */ error) => say(`Cannot show the document: ${error.message}.`);
      const known = failureOf(head, number);
      if (known) failed(known);
      else loadDocument(head, number).then(() => row.isConnected && drawText(), failed);
      if (!known && view.printing) say("The document was still being unpacked. Print again to see it.");
      return;
    }
    drawn = true;
    if (found.text === null) {
      say("No text is available for this document.");
      return;
    }
    const [start, end] = spanOf(i);
    const systems = systemsShown();
    const wide = lineWidth();
    const drawnWith = (/** @type {number} */ size) => {
      const [from, to] = around(start, end, size, found.points);
      const made = drawLanes(found, {
        from, to, sides: sidesOf(found, systems),
        names: [goldName(number), ...systems.map((one) => head.systems[one])], kinds: ["gold", ...systems.map(kindOf)], labels: head.labels, most: 2, room: lanesOfRow(), focus: focusOf(i, systems),
      });
      room.replaceChildren(made.box);
      return made;
    };
    let size = Math.floor(wide / LETTER);
    let made = drawnWith(size);
    for (let tries = 0; tries < 4 && textWidth(made.box) > wide; tries++) {
      size = Math.floor((size * 0.97 * wide) / textWidth(made.box));
      made = drawnWith(size);
    }
    made.draw();
  };
  drawers.set(row, drawText);
  return row;
}

/**
 * Scroll a row of the list into view and, if the reader moved to it, the list as well.
 * @param {number} place
 */
export function showRow(place, moved = true) {
  const list = document.getElementById("list");
  if (!list) return;
  if (place * height < list.scrollTop) list.scrollTop = place * height;
  else if ((place + 1) * height > list.scrollTop + list.clientHeight) list.scrollTop = (place + 1) * height - list.clientHeight;
  drawList();
  if (moved) list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}

/** @param {number} by */
export function step(by) {
  if (view.rows.length) change({ at: Math.min(Math.max(Number(state.at) + by, 0), listed() - 1) });
}

export function nextError() {
  for (let place = Number(state.at) + 1; place < listed(); place++) {
    if (view.scores.examples.verdict[view.rows[place]] !== CORRECT) {
      change({ at: place });
      return;
    }
  }
}

export function watchList() {
  byId("list").addEventListener("scroll", drawList, { passive: true });
}
