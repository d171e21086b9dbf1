// The page: what it is about, what can be chosen, and keys.
import { byId, choice, fill, h, labelled, plural, short, visible } from "./dom.js";
import { unpack } from "./data.js";
import { CLEAR, FILTERS, change, everything, readState, state, whenChanged } from "./state.js";
import { drawNumbers } from "./tables.js";
import { drawMatrix } from "./matrix.js";
import { drawThresholds, moveThreshold } from "./curve.js";
import { drawSystems } from "./systems.js";
import { drawDocument, drawFilters, drawList, filterExamples, forPrint, nextError, showMarks, showRow, step, suspectsNow, syncFilters, useScores } from "./examples.js";

let report = null;

const BANNERS = {
  show: "This page contains text of documents. Keep it where the documents may be.",
  mask: "Texts are masked: letters are shown as X and x, digits as 9. Ids, types, scores, offsets and the names of files are as they are.",
  hide: "This page contains no text of documents; ids, types, scores, offsets, verdicts and the names of files are in it.",
};
const KEYS = [["j", "next example"], ["k", "previous example"], ["n", "next error"], ["o or Enter", "open the document"], ["/", "search"], ["?", "this help"], ["Esc", "close"]];
const TERMS = [
  ["P, R, F", "precision: the share of what was predicted that is right; recall: the share of what was annotated that was found; F: their mean, recall counting more with a higher number beside it"],
  ["tp, fp, fn", "found; predicted but not right; annotated but not found. What counts as right is the measure's to say: spanscore measures NAME explains it"],
  ["missed, spurious", "without a match that is good enough. In the matrix a span with wrong boundaries is both: its gold span was missed, its prediction is spurious"],
  ["verdicts", "what became of a span: too short, too long, shifted, split (several predictions for one gold span), merged (one prediction over several), wrong type, wrong attribute, missed or spurious where nothing of its type is near"],
  ["IoU", "characters that a gold span and what was predicted for it share, of all that either has"],
  ["AP, ECE", "average precision over all thresholds; expected calibration error: how far scores are from the share that is right"],
];

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
    labelled("measure", choice("m", report.measures.map((name, i) => [i, name]), state.m, (m) => change({ ...CLEAR, m, sort: "", ct: "", t: "" }))),
    report.systems.length > 1 ? labelled("system", choice("s", report.systems.map((name, i) => [i, short(name)]), state.s, (s) => change({ s, at: "0", ct: "", t: "" }))) : null,
    labelled("colours", choice("theme", themes, state.theme, (theme) => change({ theme }))),
    h("button", { type: "button", id: "help-button", on: { click: showHelp } }, "Help (?)"));
}

function showHelp() {
  const dialog = byId("help");
  const off = h("input", { type: "checkbox", id: "keys", on: { change: () => change({ keys: off.checked ? "off" : "" }) } });
  off.checked = state.keys === "off";
  const list = (pairs, tag) => h("dl", { class: "keys" }, pairs.map(([key, what]) => [h("dt", {}, h(tag, {}, key)), h("dd", {}, what)]));
  fill(dialog, h("div", { class: "row" }, h("h2", { id: "help-title" }, "Help"), h("button", { type: "button", autofocus: true, on: { click: () => dialog.close() } }, "Close (Esc)")),
    h("h3", {}, "Keys"), list(KEYS, "kbd"), h("p", {}, h("label", { class: "inline", for: "keys" }, off, "keys of one letter are off")),
    h("h3", {}, "Words"), list(TERMS, "b"),
    h("p", {}, "Choose a count, a name or a cell of the matrix to see the examples behind it. In examples, gold spans stand above the text with a solid edge, systems' below it with dashed, dotted and double ones. The address of the page holds all that you chose: copy it to show someone the same."));
  dialog.onclick = (event) => event.target === dialog && dialog.close();
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
  if (fresh || any("ct", "theme")) drawThresholds(report, scores);
  else if (any("t")) moveThreshold(report, scores);
  if (fresh || any("st", "sus", "theme")) drawSystems(report, scores, suspectsNow());
  let ready = Promise.resolve();
  if (fresh) drawFilters();
  if (any("w")) showMarks();
  if (fresh || any("w", ...FILTERS)) syncFilters();
  if (fresh || any(...FILTERS)) ready = filterExamples();
  else if (any("at")) showRow(Number(state.at));
  if (any("doc", "at") || (fresh && state.doc)) ready.then(drawDocument);
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest?.("input, select, textarea");
  if (typing) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (byId("help").open || state.keys === "off") return;
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
  addEventListener("beforeprint", () => forPrint(true));
  addEventListener("afterprint", () => forPrint(false));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => state.theme || draw(new Set(["theme"])));
  byId("skip").addEventListener("click", () => byId("examples-title").focus());
  if ([...FILTERS, "at"].some((name) => state[name] !== CLEAR[name])) byId("examples").scrollIntoView();
  document.documentElement.dataset.ready = "1";
}

begin();
