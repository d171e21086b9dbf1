// The examples: filters, a virtual list that renders only the visible rows, and the document view.
import { byId, choice, fill, h, labelled, plural, short, visible } from "./dom.js";
import { documentNow, loadDocument, loadShard } from "./data.js";
import { LINE, drawLanes } from "./lanes.js";
import { shown } from "./numbers.js";
import { CLEAR, FILTERS, change, state } from "./state.js";
import { STATUS, statuses, suspects } from "./systems.js";

const MOST = 100000; // maximum number of rows in the list
const AROUND = 90; // characters of context on either side
const WHOLE = 20000; // maximum number of characters shown in the document view
const PRINTED = 200; // maximum number of printed examples
const CORRECT = 0;

let head = null;
let scores = null;
let rows = []; // indices of the listed examples
let status = null;
let suspected = null;
let texts = null; // lower-case texts of all documents, loaded by the first search
let height = 120;
let asked = 0; // number of the latest filter request; results of earlier requests are discarded
let printing = false;

export function suspectsNow() {
  return suspected;
}

export function useScores(theHead, theScores) {
  [head, scores] = [theHead, theScores];
  rows = [];
  status = statuses(head, scores);
  suspected = suspects(head, scores);
}

function matches(found) {
  const { examples } = scores;
  const verdict = state.v === "errors" || state.v === "all" ? null : head.verdicts.indexOf(state.v);
  const [gold, cell, either] = [state.g, state.c, state.ty].map((text) => (text === "" ? null : Number(text)));
  const first = state.a === "" || state.a === "any" ? null : Number(state.a);
  const [smin, smax, lmin, lmax] = [state.smin, state.smax, state.lmin, state.lmax].map((text) => (text === "" ? null : Number(text)));
  const [key, part] = state.sl ? [state.sl.slice(0, state.sl.lastIndexOf("=")), Number(state.sl.slice(state.sl.lastIndexOf("=") + 1))] : [null, null];
  const slices = key === null ? null : head.slices[key]?.codes ?? null;
  const chosen = [];
  for (let i = 0; i < examples.doc.length; i++) {
    if (state.v === "errors" && examples.verdict[i] === CORRECT) continue;
    if (verdict !== null && examples.verdict[i] !== verdict) continue;
    if (gold !== null && examples.gl[i] !== gold) continue;
    if (cell !== null && (examples.cell[i] !== cell || (cell < 0 && examples.gl[i] < 0))) continue;
    if (either !== null && examples.gl[i] !== either && examples.cell[i] !== either) continue;
    if (state.st && status?.[i]?.status !== state.st) continue;
    if (state.a && !status?.[i]) continue;
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

// Find the documents whose id or text contains the query.
async function search(words, request) {
  if (!words) return null;
  if (texts === null) {
    const count = Math.ceil(head.ids.length / head.shard);
    const all = [];
    for (let i = 0; i < count; i++) {
      if (request === asked) byId("count").textContent = `Unpacking documents: part ${i + 1} of ${count}`;
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
  const request = ++asked;
  if (state.q && texts === null) {
    rows = [];
    drawList();
  }
  try {
    const found = await search(state.q, request);
    if (request !== asked) return;
    rows = matches(found);
  } catch (error) {
    if (request === asked) byId("count").textContent = `Cannot search the documents: ${error.message}.`;
    return;
  }
  state.at = String(Math.min(Number(state.at), Math.max(listed() - 1, 0)));
  showCount();
  drawList();
  showRow(Number(state.at), false);
}

function listed() {
  return Math.min(rows.length, MOST);
}

function showCount() {
  const total = scores.examples.doc.length;
  const limit = rows.length > MOST ? `; only the first ${MOST.toLocaleString("en")} are listed, so narrow the filters to see others` : "";
  byId("count").textContent = `${plural(rows.length, "example")} of ${total.toLocaleString("en")}${limit}`;
}

// Buttons that remove filters without a control of their own.
function hiddenFilters() {
  const name = (code) => (code === "any" ? "anything" : code === "-1" ? "(missed)" : visible(head.labels[Number(code)]));
  const off = (key, text) => h("button", { type: "button", id: `off-${key}`, on: { click: () => change({ [key]: "", at: "0" }) } }, `${text} ✕`);
  return [
    state.sus ? off("sus", "suspected gold errors") : null,
    state.a && state.a !== "any" ? off("a", `${visible(head.systems[0])} predicted: ${name(state.a)}`) : null,
    state.a === "any" ? off("a", "gold spans") : null,
  ];
}

export function drawFilters() {
  byId("examples-title").textContent = `Examples: ${visible(scores.system)}, ${scores.measure}`;
  const labels = (none) => [["", "any"], ...head.labels.map((name, i) => [i, short(name)]), ...(none ? [[-1, none]] : [])];
  const number = (name, text) => {
    const made = h("input", { type: "number", id: name, step: "any", value: state[name] });
    made.addEventListener("change", () => change({ [name]: made.value, at: "0" }));
    return labelled(text, made);
  };
  let later = 0;
  const query = h("input", { type: "search", id: "q", value: state.q });
  query.addEventListener("input", () => {
    clearTimeout(later);
    later = setTimeout(() => change({ q: query.value, at: "0" }), 250);
  });
  const slices = Object.entries(head.slices).flatMap(([key, { values }]) => values.map((value, i) => [`${key}=${i}`, short(`${key}: ${value}`)]));
  const seen = head.verdicts.map((name, i) => [name, scores.examples.verdict.reduce((sum, one) => sum + (one === i), 0)]).filter(([, count]) => count);
  const pick = (name) => (value) => change({ [name]: value, at: "0" });
  fill(byId("examples").querySelector(".body"),
    h("div", { class: "chips", id: "verdicts", role: "group", "aria-label": "Verdicts" },
      [["errors", "all errors", seen.reduce((sum, [name, count]) => sum + (name === "correct" ? 0 : count), 0)], ...seen.map(([name, count]) => [name, name, count])].map(([value, text, count]) =>
        h("button", { type: "button", id: `verdict-${value.replaceAll(" ", "-")}`, "data-verdict": value, on: { click: () => change({ v: value, at: "0" }) } }, `${count.toLocaleString("en")} ${text}`))),
    h("div", { class: "row", role: "search", "aria-label": "Filter the examples" },
      labelled("verdict", choice("v", [["errors", "all errors"], ["all", "all examples"], ...seen.map(([name, count]) => [name, `${name} (${count.toLocaleString("en")})`])], state.v, pick("v"))),
      labelled("gold or predicted type", choice("ty", labels(""), state.ty, pick("ty"))),
      labelled("gold type", choice("g", labels("none (spurious)"), state.g, pick("g"))),
      labelled("predicted type", choice("c", labels("none (missed)"), state.c, pick("c"))),
      status ? labelled("comparison", choice("st", [["", "any"], ...STATUS.map((name) => [name, name])], state.st, pick("st"))) : null,
      slices.length ? labelled("slice", choice("sl", [["", "any"], ...slices], state.sl, pick("sl"))) : null,
      number("smin", "min score"), number("smax", "max score"), number("lmin", "min length"), number("lmax", "max length"),
      labelled(head.text === "hide" ? "search IDs" : "search text and IDs", query),
      h("span", { id: "hidden-filters", class: "chips" }),
      h("button", { type: "button", id: "clear", on: { click: () => change(CLEAR) } }, "Clear filters"),
      h("button", { type: "button", id: "export", on: { click: exportMarks } })),
    h("p", { id: "count", role: "status" }),
    h("div", { class: "key", "aria-hidden": "true" }, h("span", { class: "lane gold" }, "gold (above)"), head.systems.map((name, i) => h("span", { class: `lane ${kindOf(i)}` }, `${visible(name)} (below)`)), h("span", {}, "Shortcuts: j k n o / ?")),
    h("div", { id: "list", tabindex: "0", role: "group", "aria-label": "List of examples" }, h("div", { role: "list" })));
  byId("list").addEventListener("scroll", drawList, { passive: true });
  syncFilters();
}

// Update the controls after the state has changed.
export function syncFilters() {
  for (const name of FILTERS) {
    const control = byId(name);
    if (control && document.activeElement !== control && control.value !== state[name]) control.value = state[name];
  }
  for (const one of byId("verdicts").children) one.setAttribute("aria-pressed", String(one.dataset.verdict === state.v));
  fill(byId("hidden-filters"), hiddenFilters());
  const marked = state.w ? state.w.split(",").length : 0;
  byId("export").textContent = `Export ${plural(marked, "marked gold error")}`;
  byId("export").disabled = !marked;
}

function kindOf(system) {
  return `system n${system % 3}`;
}

function systemsShown() {
  return head.systems.length <= 3 ? head.systems.map((_, i) => i) : [head.systems.indexOf(scores.system)];
}

function rowHeight() {
  const lanes = [0, ...systemsShown().map((i) => i + 1)].reduce((sum, side) => sum + head.lanes[side], 0);
  return 84 + (head.text === "hide" ? 0 : LINE + 16 * lanes);
}

export function drawList() {
  const list = byId("list");
  if (!list) return;
  height = rowHeight();
  const inner = list.firstElementChild;
  const count = listed();
  inner.style.height = `${Math.max(count * height, 40)}px`;
  list.style.height = `${Math.min(Math.max(count, 1) * height + 2, Math.max(innerHeight * 0.75, 300))}px`;
  const first = printing ? 0 : Math.max(0, Math.floor(list.scrollTop / height) - 6);
  const last = printing ? Math.min(count, PRINTED) : Math.min(count, Math.ceil((list.scrollTop + list.clientHeight) / height) + 6);
  const there = new Map([...inner.children].map((one) => [one.dataset.key, one]));
  const wanted = [];
  for (let place = first; place < last; place++) {
    const key = `${scores.system}/${scores.measure}/${rows[place]}/${place}`;
    const row = there.get(key) ?? makeRow(place, key);
    if (place === Number(state.at)) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
    wanted.push(row);
  }
  if (!count) inner.replaceChildren(h("p", { class: "none", role: "listitem" }, "No examples match these filters."));
  else if (wanted.length !== inner.children.length || wanted.some((one, i) => one !== inner.children[i])) {
    inner.replaceChildren(...wanted);
    for (const row of wanted) row.drawText();
  }
}

// Paper does not scroll: render the first examples in full and open all collapsed sections.
export function forPrint(on) {
  printing = on;
  for (const one of document.querySelectorAll("main details")) {
    one.open = on;
    one.dispatchEvent(new Event("toggle")); // build lazy tables now
  }
  drawList();
}

function sides(found, shownSystems) {
  return [found.sides[0], ...shownSystems.map((i) => found.sides[i + 1])];
}

// Return a test for the spans in focus: those inside the example's span, as the measure saw it, with the same type.
function focusOf(i, shownSystems) {
  const { examples } = scores;
  const mine = shownSystems.indexOf(head.systems.indexOf(scores.system)) + 1;
  const typed = scores.types.length > 0;
  const inside = (from, to, code, [start, end, label]) => code >= 0 && start >= from && end <= to && (!typed || label === code);
  return (side, span) => {
    if (side === 0) return inside(examples.gs[i], examples.ge[i], examples.gl[i], span);
    return side === mine && inside(examples.ps[i], examples.pe[i], examples.pl[i], span);
  };
}

function spanOf(i) {
  const { examples } = scores;
  return examples.gl[i] >= 0 ? [examples.gs[i], examples.ge[i]] : [examples.ps[i], examples.pe[i]];
}

function typesOf(i) {
  const { examples } = scores;
  const name = (code) => (code < 0 ? "no match" : visible(head.labels[code]));
  return [name(examples.gl[i]), name(examples.cell[i])];
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
      loadDocument(head, number).then(() => row.isConnected && row.drawText(), (error) => room.replaceChildren(h("div", { class: "none" }, `Cannot show the document: ${error.message}.`)));
      return;
    }
    drawn = true;
    if (found.text === null) {
      room.append(h("div", { class: "none" }, "No text is available for this document."));
      return;
    }
    const [start, end] = spanOf(i);
    const systems = systemsShown();
    const { box, draw } = drawLanes(found, {
      from: Math.max(0, start - AROUND), to: Math.min(found.points, Math.min(end, start + 200) + AROUND), sides: sides(found, systems),
      names: ["gold", ...systems.map((one) => head.systems[one])], kinds: ["gold", ...systems.map(kindOf)], labels: head.labels, most: 2, focus: focusOf(i, systems),
    });
    room.append(box);
    draw();
  };
  return row;
}

// Marks: the examples that the reader has flagged as gold errors.
function markKey(i) {
  const [start, end] = spanOf(i);
  const { examples } = scores;
  return `${examples.doc[i]}.${start}.${end}.${examples.gl[i]}.${examples.cell[i]}`;
}

function marksNow() {
  return new Set(state.w ? state.w.split(",") : []);
}

function markButton(i) {
  const key = markKey(i);
  const made = h("button", { type: "button", "data-mark": key, "aria-pressed": String(marksNow().has(key)), on: { click: () => {
    const marks = marksNow();
    if (!marks.delete(key)) marks.add(key);
    change({ w: [...marks].join(",") });
  } } }, "gold is wrong");
  return made;
}

export function showMarks() {
  const marks = marksNow();
  for (const one of document.querySelectorAll("[data-mark]")) one.setAttribute("aria-pressed", String(marks.has(one.dataset.mark)));
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

// Scroll a row of the list into view and, if the reader moved to it, the list as well.
export function showRow(place, moved = true) {
  const list = byId("list");
  if (!list) return;
  if (place * height < list.scrollTop) list.scrollTop = place * height;
  else if ((place + 1) * height > list.scrollTop + list.clientHeight) list.scrollTop = (place + 1) * height - list.clientHeight;
  drawList();
  if (moved) list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}

export function step(by) {
  if (rows.length) change({ at: Math.min(Math.max(Number(state.at) + by, 0), listed() - 1) });
}

export function nextError() {
  for (let place = Number(state.at) + 1; place < listed(); place++) {
    if (scores.examples.verdict[rows[place]] !== CORRECT) {
      change({ at: place });
      return;
    }
  }
}

// Show the whole document of the current example with the spans of all systems.
export async function drawDocument() {
  const dialog = byId("dialog");
  const i = rows[Number(state.at)];
  if (state.doc !== "1" || i === undefined) {
    if (dialog.open) dialog.close();
    return;
  }
  const number = scores.examples.doc[i];
  let found = null;
  let failed = "";
  try {
    found = await loadDocument(head, number);
  } catch (error) {
    failed = error.message;
  }
  if (state.doc !== "1" || rows[Number(state.at)] !== i) return;
  const [start, end] = spanOf(i);
  const points = found?.points ?? 0;
  const from = Math.max(0, start - WHOLE / 2);
  const to = Math.min(points, from + WHOLE);
  const all = head.systems.map((_, system) => system);
  const names = ["gold", ...head.systems];
  const focus = focusOf(i, all);
  const room = h("div");
  const line = (side) => ([a, b, label, score]) => h("tr", focus(side, [a, b, label]) ? { class: "total" } : {}, h("td", { class: "text" }, visible(names[side])), h("td", {}, a), h("td", {}, b), h("td", { class: "text" }, visible(head.labels[label])), h("td", {}, score ?? ""));
  fill(dialog,
    h("div", { class: "row" }, h("h2", { id: "dialog-title", dir: "auto" }, visible(head.ids[number])), h("button", { type: "button", id: "close", autofocus: true, on: { click: () => change({ doc: "" }) } }, "Close (Esc)")),
    h("p", {}, visible(why(i))),
    failed ? h("p", {}, `Cannot show the document: ${failed}.`) : null,
    found?.text !== null && (from > 0 || to < points) ? h("p", {}, `Showing characters ${from.toLocaleString("en")} to ${to.toLocaleString("en")} of ${points.toLocaleString("en")}.`) : null,
    room,
    h("details", {}, h("summary", {}, "Spans as a table"), h("table", {}, h("thead", {}, h("tr", {}, ["source", "start", "end", "type", "score"].map((name) => h("th", { scope: "col", class: "text" }, name)))),
      h("tbody", {}, (found?.sides ?? []).flatMap((spans, side) => spans.slice(0, 500).map(line(side)))))));
  dialog.onclose = () => dialog.open || change({ doc: "" });
  dialog.onclick = (event) => event.target === dialog && change({ doc: "" });
  if (!dialog.open) dialog.showModal();
  if (!found || found.text === null) {
    room.append(h("p", { class: "none" }, `The report does not contain the text of this document. The example is at offsets ${start} to ${end}.`));
    return;
  }
  const { box, draw } = drawLanes(found, { from, to, sides: sides(found, all), names, kinds: ["gold", ...all.map(kindOf)], labels: head.labels, whole: true, focus });
  room.append(box);
  draw();
  box.querySelector(".lane.focus")?.scrollIntoView({ block: "center" });
}
