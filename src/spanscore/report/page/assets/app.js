// The page: what it is about, what can be chosen, and keys.
import { byId, choice, fill, h, labelled, plural, visible } from "./dom.js";
import { unpack } from "./data.js";
import { change, everything, readState, state, whenChanged } from "./state.js";
import { drawNumbers } from "./tables.js";
import { drawMatrix } from "./matrix.js";
import { drawThresholds } from "./curve.js";
import { drawSystems } from "./systems.js";
import { drawDocument, drawFilters, drawList, filterExamples, nextError, showRow, step, suspectsNow, useScores } from "./examples.js";

let report = null;

const FILTERS = ["v", "g", "c", "st", "a", "sus", "smin", "smax", "lmin", "lmax", "q", "sl"];
const BANNERS = {
  show: "This page contains text of documents. Keep it where the documents may be.",
  mask: "Texts are masked: letters are shown as X and x, digits as 9. Ids, types and offsets are as they are.",
  hide: "This page contains no text of documents; ids, types, offsets and verdicts only.",
};
const KEYS = [["j", "next example"], ["k", "previous example"], ["n", "next error"], ["Enter or o", "open the document"], ["/", "search"], ["?", "this help"], ["Esc", "close"]];

function current() {
  const measure = report.measures[Number(state.m)] ?? report.measures[0];
  const system = report.systems[Number(state.s)] ?? report.systems[0];
  return report.scores.find((one) => one.measure === measure && one.system === system);
}

function applyTheme() {
  const dark = state.theme ? state.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

function drawHead() {
  byId("title").textContent = visible(report.title);
  byId("banner").textContent = BANNERS[report.text];
  const { leftOut, inputs } = report;
  const left = [
    leftOut.wrong ? `${plural(leftOut.wrong, "document")} with errors` : null,
    leftOut.right ? `${plural(leftOut.right, "document")} without errors` : null,
  ].filter(Boolean);
  const about = (name, one) => h("tr", {}, h("th", { scope: "row" }, visible(name)), h("td", { class: "text" }, visible(one.source ?? "–")), h("td", {}, one.documents.toLocaleString("en")), h("td", {}, one.spans.toLocaleString("en")), h("td", { class: "text" }, h("code", {}, one.fingerprint)));
  fill(byId("about"),
    h("p", { id: "shown" }, `${plural(report.ids.length, "document")} of ${leftOut.documents.toLocaleString("en")} ${report.ids.length === 1 ? "is" : "are"} in this page`, left.length ? `; left out: ${left.join(" and ")}. All numbers are of all documents.` : "."),
    report.warnings.length ? h("ul", { id: "warnings" }, report.warnings.map((one) => h("li", {}, visible(one)))) : null,
    h("details", {}, h("summary", {}, "Data and signatures"),
      h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Data" }, h("table", {}, h("thead", {}, h("tr", {}, ["", "file", "documents", "spans", "fingerprint"].map((name) => (name ? h("th", { scope: "col", class: "text" }, name) : h("td"))))), h("tbody", {}, about("gold", inputs.gold), Object.entries(inputs.systems).map(([name, one]) => about(name, one))))),
      report.scores.map((one) => h("p", { class: "code" }, visible(one.signature))),
      h("p", {}, `Made by spanscore ${report.version}.`)));
}

function drawControls() {
  const themes = [["", "as the system"], ["light", "light"], ["dark", "dark"]];
  fill(byId("controls"),
    labelled("measure", choice("m", report.measures.map((name, i) => [i, name]), state.m, (m) => change({ m, g: "", c: "", a: "", at: "0", sort: "", ct: "", t: "" }))),
    report.systems.length > 1 ? labelled("system", choice("s", report.systems.map((name, i) => [i, visible(name)]), state.s, (s) => change({ s, at: "0", ct: "", t: "" }))) : null,
    labelled("colours", choice("theme", themes, state.theme, (theme) => change({ theme }))),
    h("button", { type: "button", on: { click: showHelp } }, "Help (?)"));
}

function showHelp() {
  const dialog = byId("dialog");
  dialog.dataset.what = "help";
  dialog.onclose = null;
  fill(dialog, h("h2", { id: "dialog-title" }, "Keys"), h("dl", { class: "keys" }, KEYS.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
    h("p", {}, "Choose a count in the matrix, a row or a column to see its examples. In examples, gold spans stand above the text with a solid edge, systems' below it with dashed, dotted and double ones. The address of the page holds all that you chose: copy it to show someone the same."),
    h("p", {}, h("button", { type: "button", on: { click: () => dialog.close() } }, "Close")));
  if (!dialog.open) dialog.showModal();
}

function draw(changed) {
  const any = (...names) => names.some((name) => changed.has(name));
  const fresh = any("m", "s");
  if (any("theme")) applyTheme();
  const scores = current();
  if (fresh) useScores(report, scores);
  if (fresh || any("theme")) drawControls();
  if (fresh || any("by", "sort")) drawNumbers(report, scores);
  if (fresh || any("share", "theme")) drawMatrix(report, scores);
  if (fresh || any("t", "ct", "theme")) drawThresholds(report, scores);
  if (fresh || any("st", "sus", "theme")) drawSystems(report, scores, suspectsNow());
  let ready = Promise.resolve();
  if (fresh || any("w", ...FILTERS)) {
    const had = document.activeElement?.id;
    drawFilters();
    if (had && [...FILTERS, "clear", "export"].includes(had)) byId(had)?.focus();
    ready = filterExamples();
  } else if (any("at")) {
    showRow(Number(state.at));
  }
  if (any("doc", "at") || (fresh && state.doc)) ready.then(drawDocument);
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest?.("input, select, textarea");
  if (typing) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const helping = byId("dialog").open && byId("dialog").dataset.what === "help";
  if (helping) return;
  const onButton = event.target.closest?.("button, summary, a");
  const keys = {
    j: () => step(1), k: () => step(-1), n: nextError, o: () => change({ doc: "1" }), "?": showHelp,
    "/": () => { byId("q").focus(); byId("q").select(); },
    ...(onButton ? {} : { Enter: () => change({ doc: "1" }) }),
  };
  const call = keys[event.key];
  if (!call) return;
  event.preventDefault();
  call();
}

async function begin() {
  report = await unpack(byId("head").textContent);
  byId("head").remove();
  readState();
  applyTheme();
  drawHead();
  whenChanged(draw);
  draw(everything());
  document.addEventListener("keydown", pressed);
  addEventListener("hashchange", () => { readState(); draw(everything()); });
  addEventListener("resize", () => drawList());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => state.theme || draw(new Set(["theme"])));
  byId("skip").addEventListener("click", () => byId("examples-title").focus());
  document.documentElement.dataset.ready = "1";
}

begin();
