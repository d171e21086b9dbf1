// The examples: filters, a list that draws only what is in view, and a document as a whole.
import { byId, choice, fill, h, labelled, plural, visible } from "./dom.js";
import { documentNow, loadDocument, loadShard } from "./data.js";
import { LINE, drawLanes } from "./lanes.js";
import { shown } from "./numbers.js";
import { change, state } from "./state.js";
import { STATUS, statuses, suspects } from "./systems.js";

const MOST = 100000; // rows that a list can be high
const AROUND = 90; // characters of context
const WHOLE = 20000; // characters of a document that are shown at once
const CORRECT = 0;

let head = null;
let scores = null;
let rows = []; // the numbers of the examples that are shown
let status = null;
let suspected = null;
let texts = null; // the lower-case texts of all documents, once they were searched
let height = 120;

export function suspectsNow() {
  return suspected;
}

export function useScores(theHead, theScores) {
  [head, scores] = [theHead, theScores];
  status = statuses(head, scores);
  suspected = suspects(head, scores);
}

function matches(found) {
  const { examples } = scores;
  const verdict = state.v === "errors" || state.v === "all" ? null : head.verdicts.indexOf(state.v);
  const [gold, cell, first] = [state.g, state.c, state.a].map((text) => (text === "" ? null : Number(text)));
  const [smin, smax, lmin, lmax] = [state.smin, state.smax, state.lmin, state.lmax].map((text) => (text === "" ? null : Number(text)));
  const [key, part] = state.sl ? [state.sl.slice(0, state.sl.lastIndexOf("=")), Number(state.sl.slice(state.sl.lastIndexOf("=") + 1))] : [null, null];
  const slices = key === null ? null : head.slices[key]?.codes ?? null;
  const chosen = [];
  for (let i = 0; i < examples.doc.length; i++) {
    if (state.v === "errors" && examples.verdict[i] === CORRECT) continue;
    if (verdict !== null && examples.verdict[i] !== verdict) continue;
    if (gold !== null && examples.gl[i] !== gold) continue;
    if (cell !== null && (examples.cell[i] !== cell || (cell < 0 && examples.gl[i] < 0))) continue;
    if (state.st && status?.[i]?.status !== state.st) continue;
    if (first !== null && status?.[i]?.first !== first) continue;
    if (state.sus && !suspected?.[i]) continue;
    if (smin !== null && !(examples.score[i] >= smin && examples.score[i] !== null)) continue;
    if (smax !== null && !(examples.score[i] <= smax && examples.score[i] !== null)) continue;
    const length = examples.gl[i] >= 0 ? examples.ge[i] - examples.gs[i] : examples.pe[i] - examples.ps[i];
    if (lmin !== null && length < lmin) continue;
    if (lmax !== null && length > lmax) continue;
    if (slices !== null && slices[examples.doc[i]] !== part) continue;
    if (found !== null && !found.has(examples.doc[i])) continue;
    chosen.push(i);
  }
  return chosen;
}

// The documents whose id or text has these words.
async function search(words) {
  if (!words) return null;
  if (texts === null) {
    const count = Math.ceil(head.ids.length / head.shard);
    const all = [];
    for (let i = 0; i < count; i++) {
      byId("count").textContent = `Unpacking the documents: ${i + 1} of ${count} parts`;
      for (const [text] of await loadShard(i)) all.push((text ?? "").toLowerCase());
    }
    texts = all;
  }
  const sought = words.toLowerCase();
  const found = new Set();
  head.ids.forEach((id, i) => {
    if (texts[i].includes(sought) || id.toLowerCase().includes(sought)) found.add(i);
  });
  return found;
}

export async function filterExamples() {
  const asked = state.q;
  const found = await search(asked);
  if (asked !== state.q) return;
  rows = matches(found);
  const at = Math.min(Number(state.at), Math.max(rows.length - 1, 0));
  state.at = String(at);
  tell();
  drawList();
  showRow(at);
}

function tell() {
  const total = scores.examples.doc.length;
  const kept = rows.length > MOST ? `; the first ${MOST.toLocaleString("en")} are listed, narrow the filters to see others` : "";
  byId("count").textContent = `${plural(rows.length, "example")} of ${total.toLocaleString("en")}${kept}`;
}

export function drawFilters() {
  const labels = (none) => [["", "any"], ...head.labels.map((name, i) => [i, visible(name)]), [-1, none]];
  const number = (name, text) => {
    const made = h("input", { type: "number", id: name, step: "any", value: state[name] });
    made.addEventListener("change", () => change({ [name]: made.value, at: "0" }));
    return labelled(text, made);
  };
  const query = h("input", { type: "search", id: "q", value: state.q });
  query.addEventListener("change", () => change({ q: query.value, at: "0" }));
  const slices = Object.entries(head.slices).flatMap(([key, { values }]) => values.map((value, i) => [`${key}=${i}`, `${visible(key)}: ${visible(value)}`]));
  const marked = state.w ? state.w.split(",").length : 0;
  const seen = head.verdicts.map((name, i) => [name, scores.examples.verdict.reduce((sum, one) => sum + (one === i), 0)]).filter(([, count]) => count);
  fill(byId("examples").querySelector(".body"),
    h("div", { class: "row", role: "search", "aria-label": "Filter the examples" },
      labelled("verdict", choice("v", [["errors", "all errors"], ["all", "everything"], ...seen.map(([name, count]) => [name, `${name} (${count.toLocaleString("en")})`])], state.v, (v) => change({ v, at: "0" }))),
      labelled("gold type", choice("g", labels("none (spurious)"), state.g, (g) => change({ g, at: "0" }))),
      labelled("taken for", choice("c", labels("nothing (missed)"), state.c, (c) => change({ c, at: "0" }))),
      status ? labelled("two systems", choice("st", [["", "any"], ...STATUS.map((name) => [name, name])], state.st, (st) => change({ st, at: "0" }))) : null,
      slices.length ? labelled("slice", choice("sl", [["", "any"], ...slices], state.sl, (sl) => change({ sl, at: "0" }))) : null,
      number("smin", "score from"), number("smax", "score to"), number("lmin", "length from"), number("lmax", "length to"),
      labelled(head.text === "hide" ? "search ids" : "search texts and ids", query),
      h("button", { type: "button", id: "clear", on: { click: () => change({ v: "errors", g: "", c: "", st: "", a: "", sus: "", smin: "", smax: "", lmin: "", lmax: "", q: "", sl: "", at: "0" }) } }, "Clear filters"),
      h("button", { type: "button", id: "export", disabled: marked === 0, on: { click: exportMarks } }, `Save ${plural(marked, "verdict")} on the gold data`)),
    h("p", { id: "count", role: "status" }),
    h("div", { class: "key", "aria-hidden": "true" }, h("span", { class: "lane gold" }, "gold, above"), head.systems.map((name, i) => h("span", { class: `lane system n${i % 3}` }, `${visible(name)}, below`)), h("span", {}, "Keys: j k n / ?")),
    h("div", { id: "list", tabindex: "0", role: "group", "aria-label": "List of examples" }, h("div", { role: "list" })));
  byId("list").addEventListener("scroll", drawList, { passive: true });
}

function systemsShown() {
  return head.systems.length <= 3 ? head.systems.map((_, i) => i) : [head.systems.indexOf(scores.system)];
}

function rowHeight() {
  const textual = head.text !== "hide";
  const lanes = [0, ...systemsShown().map((i) => i + 1)].reduce((sum, side) => sum + head.lanes[side], 0);
  return 64 + (textual ? LINE + 15 * lanes : 0);
}

export function drawList() {
  const list = byId("list");
  if (!list) return;
  height = rowHeight();
  const inner = list.firstElementChild;
  const count = Math.min(rows.length, MOST);
  inner.style.height = `${count * height}px`;
  const first = Math.max(0, Math.floor(list.scrollTop / height) - 6);
  const last = Math.min(count, Math.ceil((list.scrollTop + list.clientHeight) / height) + 6);
  const there = new Map([...inner.children].map((one) => [one.dataset.key, one]));
  const wanted = [];
  for (let place = first; place < last; place++) {
    const key = `${scores.system}/${scores.measure}/${rows[place]}/${place}/${state.w.length}`;
    const row = there.get(key) ?? makeRow(place, key);
    if (place === Number(state.at)) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
    wanted.push(row);
  }
  if (!count) inner.replaceChildren(h("p", { class: "none", role: "listitem" }, "Nothing matches these filters."));
  else if (wanted.length !== inner.children.length || wanted.some((one, i) => one !== inner.children[i])) {
    inner.replaceChildren(...wanted);
    for (const row of wanted) row.drawText?.();
  }
}

function sides(found, shownSystems) {
  return [found.sides[0], ...shownSystems.map((i) => found.sides[i + 1])];
}

// Whether a lane is of the span that an example is about.
function focusOf(i, shownSystems) {
  const { examples } = scores;
  const mine = shownSystems.indexOf(head.systems.indexOf(scores.system)) + 1;
  return (side, [start, end]) => {
    if (side === 0) return examples.gl[i] >= 0 && start < Math.max(examples.ge[i], examples.gs[i] + 1) && end > examples.gs[i] - (start === end ? 1 : 0);
    return side === mine && examples.pl[i] >= 0 && start < Math.max(examples.pe[i], examples.ps[i] + 1) && end > examples.ps[i] - (start === end ? 1 : 0);
  };
}

function spanOf(i) {
  const { examples } = scores;
  return examples.gl[i] >= 0 ? [examples.gs[i], examples.ge[i]] : [examples.ps[i], examples.pe[i]];
}

function typesOf(i) {
  const { examples } = scores;
  const gold = examples.gl[i] < 0 ? "nothing" : head.labels[examples.gl[i]];
  return [gold, examples.cell[i] < 0 ? "nothing" : head.labels[examples.cell[i]]].map(visible);
}

function why(i) {
  return scores.examples.why[i] || `Gold ${typesOf(i)[0]} [${scores.examples.gs[i]}, ${scores.examples.ge[i]}) was found.`;
}

function makeRow(place, key) {
  const { examples } = scores;
  const i = rows[place];
  const verdict = head.verdicts[examples.verdict[i]];
  const [gold, cell] = typesOf(i);
  const number = examples.doc[i];
  const room = h("div", { class: "room" });
  const row = h("div", { class: "example", role: "listitem", "aria-setsize": rows.length, "aria-posinset": place + 1, "data-key": key, on: { click: (event) => event.target.closest("button") ?? change({ at: place }) } },
    h("div", { class: "top" },
      h("span", { class: `verdict ${verdict === "correct" ? "correct" : ""}` }, verdict === "correct" ? "✓ correct" : `✗ ${verdict}`),
      h("span", {}, `${gold} → ${cell}`),
      examples.score[i] === null ? null : h("span", {}, `score ${examples.score[i]}`),
      h("span", {}, `IoU ${shown(examples.iou[i])}`),
      h("button", { type: "button", "aria-label": `Open document ${visible(head.ids[number])}`, on: { click: () => change({ at: place, doc: "1" }) } }, "open"),
      markButton(i),
      h("span", { class: "id", dir: "auto" }, visible(head.ids[number]))),
    room,
    h("div", { class: "why" }, visible(why(i))));
  row.style.top = `${place * height}px`;
  row.style.height = `${height}px`;
  let drawn = false;
  row.drawText = () => {
    if (drawn || head.text === "hide") return;
    const found = documentNow(head, number);
    if (found === null) {
      loadDocument(head, number).then(() => row.isConnected && row.drawText());
      return;
    }
    drawn = true;
    if (found.text === null) {
      room.append(h("div", { class: "none" }, "The text of this document is not known."));
      return;
    }
    const [start, end] = spanOf(i);
    const systems = systemsShown();
    const { box, draw } = drawLanes(found, {
      from: Math.max(0, start - AROUND), to: Math.min(found.points, Math.min(end, start + 200) + AROUND), sides: sides(found, systems),
      names: ["gold", ...systems.map((one) => head.systems[one])], labels: head.labels, most: 2, focus: focusOf(i, systems),
    });
    room.append(box);
    draw();
  };
  return row;
}

// Marks: which examples a reader says the gold data is wrong about.
function markKey(i) {
  const [start, end] = spanOf(i);
  const { examples } = scores;
  return `${examples.doc[i]}.${start}.${end}.${examples.gl[i]}.${examples.cell[i]}`;
}

function markButton(i) {
  const marks = new Set(state.w ? state.w.split(",") : []);
  const key = markKey(i);
  const on = marks.has(key);
  return h("button", { type: "button", "aria-pressed": String(on), on: { click: () => {
    if (on) marks.delete(key);
    else marks.add(key);
    change({ w: [...marks].join(",") });
  } } }, "gold is wrong");
}

function exportMarks() {
  const lines = state.w.split(",").map((key) => {
    const [doc, start, end, gold, cell] = key.split(".").map(Number);
    return JSON.stringify({ document: head.ids[doc], start, end, gold: gold < 0 ? null : head.labels[gold], taken_for: cell < 0 ? null : head.labels[cell], verdict: "gold is wrong" });
  });
  const link = h("a", { href: URL.createObjectURL(new Blob([lines.join("\n"), "\n"], { type: "application/jsonl" })), download: "gold-verdicts.jsonl" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Bring a row of the list into view.
export function showRow(place) {
  const list = byId("list");
  if (!list) return;
  if (place * height < list.scrollTop) list.scrollTop = place * height;
  else if ((place + 1) * height > list.scrollTop + list.clientHeight) list.scrollTop = (place + 1) * height - list.clientHeight;
  drawList();
}

export function step(by) {
  const place = Math.min(Math.max(Number(state.at) + by, 0), rows.length - 1);
  if (rows.length) change({ at: place });
}

export function nextError() {
  for (let place = Number(state.at) + 1; place < rows.length; place++) {
    if (scores.examples.verdict[rows[place]] !== CORRECT) {
      change({ at: place });
      return;
    }
  }
}

// The document of the current example as a whole, with all lanes of all systems.
export async function drawDocument() {
  const dialog = byId("dialog");
  const i = rows[Number(state.at)];
  if (state.doc !== "1" || i === undefined) {
    if (dialog.open && dialog.dataset.what === "document") dialog.close();
    return;
  }
  const number = scores.examples.doc[i];
  const found = await loadDocument(head, number);
  const [start] = spanOf(i);
  const from = Math.max(0, start - WHOLE / 2);
  const to = Math.min(found.points, from + WHOLE);
  const cut = from > 0 || to < found.points;
  const all = head.systems.map((_, system) => system);
  dialog.dataset.what = "document";
  const room = h("div");
  const names = ["gold", ...head.systems];
  fill(dialog,
    h("h2", { id: "dialog-title", dir: "auto" }, visible(head.ids[number])),
    h("p", {}, visible(why(i))),
    cut && found.text !== null ? h("p", {}, `Characters ${from.toLocaleString("en")} to ${to.toLocaleString("en")} of ${found.points.toLocaleString("en")}.`) : null,
    room,
    h("details", {}, h("summary", {}, "The spans as a table"), h("table", {}, h("thead", {}, h("tr", {}, ["from", "start", "end", "type", "score"].map((name) => h("th", { scope: "col", class: "text" }, name)))),
      h("tbody", {}, found.sides.flatMap((spans, side) => spans.slice(0, 500).map(([a, b, label, score]) => h("tr", {}, h("td", { class: "text" }, visible(names[side])), h("td", {}, a), h("td", {}, b), h("td", { class: "text" }, visible(head.labels[label])), h("td", {}, score ?? ""))))))),
    h("p", {}, h("button", { type: "button", on: { click: () => change({ doc: "" }) } }, "Close")));
  dialog.onclose = () => dialog.open || change({ doc: "" }); // another dialog's closing may be told late
  if (!dialog.open) dialog.showModal();
  if (found.text === null) {
    room.append(h("p", { class: "none" }, "The text of this document is not in the report."));
    return;
  }
  const { box, draw } = drawLanes(found, { from, to, sides: sides(found, all), names, labels: head.labels, whole: true, focus: focusOf(i, all) });
  room.append(box);
  draw();
  box.querySelector(".lane.focus")?.scrollIntoView({ block: "center" });
}
