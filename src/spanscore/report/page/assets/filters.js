// The filters and the order of the examples.
import { bodyOf, button, byId, choice, fill, grouped, h, labelled, plural, short, visible } from "./dom.js";
import { kindOf, systemsShown, watchList } from "./list.js";
import { exportMarks, marksNow } from "./marks.js";
import { missedName } from "./matrix.js";
import { STATUS, statusName } from "./pairs.js";
import { ORDERS } from "./select.js";
import { CLEAR, FILTERS, SOME, change, state } from "./state.js";
import { SYMBOLS, groupOf, verdictName } from "./verdicts.js";
import { CORRECT, isReview, view } from "./view.js";

/** @import { Name } from "./state.js" */

/** @type {Name[]} */
const MORE = ["ty", "g", "c", "st", "sl", "smin", "smax", "lmin", "lmax"]; // filters in the collapsed part

/** Buttons that remove filters without a control of their own. */
function hiddenFilters() {
  const { head, pair, scores } = view;
  const name = (/** @type {string} */ code) => (code === "-1" ? missedName(head) : visible(head.labels[Number(code)] ?? "unknown type"));
  const off = (/** @type {Name} */ key, /** @type {string} */ text) => button(`${text} ✕`, () => change({ [key]: "", at: "0" }), { id: `off-${key}` });
  const string = scores.frequent[Number(state.fs)];
  return [
    state.sus ? off("sus", "suspected gold errors") : null,
    state.fs ? off("fs", string ? `“${short(string[2], 30)}”` : "unknown string") : null,
    state.a && state.a !== "any" ? off("a", `${visible(pair?.first ?? "")} predicted: ${name(state.a)}`) : null,
    state.a === "any" ? off("a", "gold spans") : null,
  ];
}

/** The types that the measure has, on the gold side or on the predicted one.
 * @param {(cell: [number, number, number]) => number[]} side
 */
function codesOf(side) {
  const { scores } = view;
  return [...new Set(scores.confusion.flatMap(side))].filter((code) => code >= 0).sort((a, b) => a - b);
}

/** How many examples a chip stands for, within the other filters.
 * @param {string} name
 */
function chipCount(name) {
  const { head, counts } = view;
  const all = counts.reduce((sum, one) => sum + one, 0);
  return name === "all" ? all : name === "errors" ? all - (counts[CORRECT] ?? 0) : counts[head.verdicts.indexOf(name)] ?? 0;
}

/** Count within the active filters. */
export function syncChips() {
  for (const one of /** @type {NodeListOf<HTMLElement>} */ (byId("verdicts").querySelectorAll("[data-verdict]"))) {
    const count = chipCount(one.dataset.verdict ?? "");
    /** @type {HTMLElement} */ (one.querySelector("b")).textContent = grouped(count);
    one.classList.toggle("empty", !count);
  }
}

export function drawFilters() {
  const { head, pair, scores, status } = view;
  byId("examples-title").textContent = head.systems.length > 1 ? `Examples: ${visible(scores.system)}` : "Examples";
  /** @type {(side: (cell: [number, number, number]) => number[], none: string) => [unknown, string][]} */
  const labels = (side, none) => [["", "any"], .../** @type {[unknown, string][]} */ (none ? [[SOME, "some type"]] : []), .../** @type {[unknown, string][]} */ (codesOf(side).map((code) => [code, short(head.labels[code])])), .../** @type {[unknown, string][]} */ (none ? [[-1, none]] : [])];
  const number = (/** @type {Name} */ name, /** @type {string} */ text) => {
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
  /** @type {[unknown, string][]} */
  const slices = Object.entries(head.slices).flatMap(([key, { values }]) => values.map((value, i) => /** @type {[unknown, string]} */ ([`${key}=${i}`, short(`${key}: ${value}`)])));
  const there = new Set(scores.examples.verdict);
  const seen = head.verdicts.map((name) => ({ name, text: `${SYMBOLS[groupOf(name)]} ${verdictName(head, scores, name)}`, group: groupOf(name) })).filter((_, i) => there.has(i));
  const chips = [{ name: "errors", text: isReview() ? "all disagreements" : "all errors", group: "" }, ...seen, { name: "all", text: "all examples", group: "" }];
  const pick = (/** @type {Name} */ name) => (/** @type {string} */ value) => change({ [name]: value, at: "0" });
  const people = head.annotators;
  const orders = ORDERS.filter(([name]) => (name !== "frequency" || scores.examples.times) && (!name.endsWith("score") || scores.examples.score.some((one) => one !== null)) && (!name.endsWith("iou") || scores.examples.iou.some((one) => one > 0)));
  fill(bodyOf("examples"),
    h("div", { class: "chips", id: "verdicts", role: "group", "aria-label": "Verdicts" }, chips.map(({ name, text, group }) =>
      button([h("span", { class: group ? `mark ${group}` : "" }, text), " ", h("b")], () => change({ v: name, at: "0" }), { id: `verdict-${name.replaceAll(" ", "-")}`, "data-verdict": name }))),
    h("div", { class: "row", role: "search", "aria-label": "Filter the examples" },
      labelled(head.text === "hide" ? "search IDs" : "search text and IDs", query),
      labelled("sort by", choice("o", orders, state.o, (o) => change({ o, at: "0" }))),
      people ? labelled("annotator", choice("an", [["", "any"], .../** @type {[unknown, string][]} */ (people.names.map((name, i) => [i, short(name)]))], state.an, pick("an"))) : null,
      people ? labelled("agreement", choice("ag", [["", "any"], ["differ", "annotators disagree"], ["same", "annotators agree"]], state.ag, pick("ag"))) : null,
      button("Clear filters", () => change(CLEAR), { id: "clear" }),
      h("details", { class: "more", id: "more" }, h("summary", {}, "More filters"), h("div", { class: "row" },
        labelled(head.gold === "gold" ? "gold or predicted type" : "type of either", choice("ty", labels(([a, b]) => [a, b], ""), state.ty, pick("ty"))),
        labelled(`${visible(head.gold)} type`, choice("g", labels(([a]) => [a], head.gold === "gold" ? (scores.masking ? "none (needless)" : "none (spurious)") : "none"), state.g, pick("g"))),
        scores.masking ? null : labelled(head.gold === "gold" ? "predicted type" : `${visible(scores.system)} type`, choice("c", labels(([, b]) => [b], head.gold === "gold" ? "none (missed)" : "none"), state.c, pick("c"))),
        status ? labelled("comparison", choice("st", [["", "any"], .../** @type {[unknown, string][]} */ (STATUS.map((name) => [name, statusName(head, pair, name)]))], state.st, pick("st"))) : null,
        slices.length ? labelled("slice", choice("sl", [["", "any"], ...slices], state.sl, pick("sl"))) : null,
        number("smin", "min score"), number("smax", "max score"), number("lmin", "min length"), number("lmax", "max length")))),
    h("div", { class: "row" }, h("p", { id: "count", role: "status" }), h("p", { id: "printed" }), h("span", { id: "hidden-filters", class: "chips" }), button("", exportMarks, { id: "export", hidden: true }),
      h("div", { class: "key", "aria-hidden": "true" }, head.text === "hide" ? null : [h("span", { class: "lane gold" }, visible(head.gold)), systemsShown().map((i) => h("span", { class: `lane ${kindOf(i)}` }, visible(head.systems[i])))], h("span", { class: "shortcuts", title: "Keyboard: j next, k previous, n next error, o open the document, / search, ? help" }, "keys: j k next, previous · n next error · o open · / search"))),
    h("div", { id: "list", tabindex: "0", role: "group", "aria-label": "List of examples" }, h("div", { role: "list" })));
  watchList();
  syncFilters();
}

/** Update the controls after the state has changed. */
export function syncFilters() {
  for (const name of FILTERS.concat("o")) {
    const control = /** @type {HTMLInputElement | HTMLSelectElement | null} */ (document.getElementById(name));
    if (control && document.activeElement !== control && control.value !== state[name]) control.value = state[name];
  }
  for (const one of byId("verdicts").children) one.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (one).dataset.verdict === state.v));
  const active = MORE.filter((name) => state[name] !== "").length;
  /** @type {HTMLElement} */ (byId("more").querySelector("summary")).textContent = active ? `More filters (${active} active)` : "More filters";
  fill(byId("hidden-filters"), hiddenFilters());
  const marked = marksNow().size;
  const exporter = /** @type {HTMLButtonElement} */ (byId("export"));
  exporter.textContent = `Export ${plural(marked, isReview() ? "verdict" : "marked gold error")}`;
  exporter.hidden = !marked;
}
