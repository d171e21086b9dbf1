// Score tables: all systems overall, then a sortable table by type or slice.
import { bodyOf, breakable, button, choice, fill, grouped, h, labelled, listedWhole, plural, scrolling, short, visible } from "./dom.js";
import { NAMES, measured, missedBar, ofTotal, shown } from "./numbers.js";
import { beaten } from "./pairs.js";
import { sparkline } from "./plots.js";
import { SOME, change, state } from "./state.js";
import { hasScores, notLookedFor, selectSystem, showExamples, view } from "./view.js";

/** @import { Changes } from "./state.js" */
/** @import { Numbers } from "./types" */

/** Whether the examples behind what is missed and wrong can be listed: the measure counts spans. */
function hasExamples() {
  const { counts } = view.scores.overall;
  return "fn" in counts || "exposed" in counts;
}

/** @param {number} count */
function countCell(count) {
  return Number.isInteger(count) ? grouped(count) : count.toFixed(3);
}

/**
 * The columns of a table: those without a value in any row are left out.
 * @typedef {{numbers: typeof NAMES, wrong: boolean}} Columns
 */

/**
 * @param {[string, Numbers][]} rows
 * @returns {Columns}
 */
function columnsOf(rows) {
  return { numbers: NAMES.filter(([name]) => rows.some(([, one]) => one[name] !== null)), wrong: rows.some(([, one]) => one.predicted > 0) };
}

/**
 * @param {Numbers} numbers
 * @param {number | null} code the label code of a type; null for several types
 * @param {Columns} columns
 * @param {Changes} also what else selects the examples of the row
 */
function cells(numbers, code, columns, also = {}) {
  const linked = hasExamples();
  const missed = ofTotal(numbers.missed, numbers.annotated);
  const wrong = grouped(numbers.wrong);
  const whole = state.ci === "1";
  const hasWrong = numbers.predicted > 0;
  return [
    h("td", { "data-column": "missed" }, h("div", { class: "missed" },
      linked && numbers.missed ? button(missed, () => showExamples({ ...also, g: code ?? SOME }), { class: "plain", "aria-label": `${missed} ${notFound()}: show them` }) : h("span", {}, missed), missedBar(numbers))),
    columns.numbers.map(([name]) => h("td", { "data-column": name }, measured(numbers[name], numbers.interval?.[name], whole))),
    columns.wrong ? h("td", { "data-column": "wrong", class: numbers.wrong ? "" : "zero" }, !hasWrong && code !== null ? "–" : linked && numbers.wrong ? button(wrong, () => showExamples({ ...also, ...(code !== null ? { c: code } : view.scores.masking ? { g: -1 } : { c: SOME }) }), { class: "plain", "aria-label": `${plural(numbers.wrong, "wrong prediction")}: show ${numbers.wrong === 1 ? "it" : "them"}` }) : wrong) : null,
  ];
}

/** What the column of missed annotations counts. */
function notFound() {
  const { head, scores } = view;
  return head.gold !== "gold" ? `only ${visible(head.gold)}` : scores.masking ? "readable" : "not found";
}

/** What the column of wrong predictions counts. */
function wrongName() {
  const { head, scores } = view;
  return head.gold !== "gold" ? `only ${visible(scores.system)}` : scores.masking ? "needless" : "wrong";
}

/** @param {Numbers} numbers */
function counts(numbers) {
  return Object.keys(view.scores.overall.counts).map((name) => {
    const count = numbers.counts[name];
    return h("td", { "data-column": name, class: count ? "" : "zero" }, count === undefined ? "" : countCell(count));
  });
}

/**
 * @param {string} first
 * @param {boolean} sortable
 * @param {boolean} sparks
 * @param {Columns} columns
 */
function header(first, sortable, sparks, columns) {
  const { key: sorted, down } = sortOf(columns);
  /** @type {(key: string, text: string, css?: string) => HTMLElement} */
  const column = (key, text, css) => {
    if (!sortable) return h("th", { scope: "col", class: css }, text);
    const order = sorted === key ? (down ? "descending" : "ascending") : "none";
    const sign = sorted === key ? (down ? " ▼" : " ▲") : "";
    const next = sorted === key ? (down ? key : `-${key}`) : key === "name" ? key : `-${key}`;
    return h("th", { scope: "col", class: css, "aria-sort": order }, button(text + sign, () => change({ sort: next }), { class: "plain", id: `sort-${key}` }));
  };
  const { beta } = view.head;
  const raw = sortable && state.cn === "1" ? Object.keys(view.scores.overall.counts).map((name) => column(`count-${name}`, name)) : [];
  return h("thead", {}, h("tr", {}, column("name", first, "text"), column("missed", notFound()), columns.numbers.map(([key, text]) => column(key, key === "f" ? `F${beta}` : text)), columns.wrong ? column("wrong", wrongName()) : null,
    sparks ? h("th", { scope: "col", class: "spark", title: "recall by threshold, from the lowest to the highest" }, "R by threshold") : null, raw));
}

/** The column to sort by; if it is not shown, the first one.
 * @param {Columns} columns
 */
function sortOf(columns) {
  const key = state.sort.replace(/^-/, "");
  const raw = state.cn === "1" ? Object.keys(view.scores.overall.counts).map((name) => `count-${name}`) : [];
  const keys = ["name", "missed", ...columns.numbers.map(([name]) => name), ...(columns.wrong ? ["wrong"] : []), ...raw];
  return keys.includes(key) ? { key, down: state.sort.startsWith("-") } : { key: "missed", down: true };
}

/**
 * @param {[string, Numbers]} row
 * @param {string} key
 */
function value([name, numbers], key) {
  if (key === "name") return name;
  if (key === "wrong" && !numbers.predicted) return -Infinity;
  const found = key.startsWith("count-") ? numbers.counts[key.slice(6)] : /** @type {any} */ (numbers)[key];
  return typeof found === "number" ? found : -Infinity;
}

/** The systems, the best of each column in bold, and which others a system is significantly better than. */
function systemsTable() {
  const { head, scores } = view;
  const same = head.scores.filter((one) => one.measure === scores.measure && one.level === scores.level);
  const letters = new Map((head.comparison?.systems ?? []).map(({ system, letter }) => [system, letter]));
  const best = Object.fromEntries(NAMES.map(([name]) => [name, Math.max(...same.map((one) => one.overall[name] ?? -1))]));
  const columns = columnsOf(same.map((one) => [one.system, one.overall]));
  const fewest = Math.min(...same.map((one) => one.overall.missed));
  return scrolling("Systems", h("table", { id: "overall" },
    h("caption", {}, `All types by ${scores.measure}${same.length > 1 ? "; best in bold" : ""}${letters.size ? "; letters: significantly better than these systems" : ""}`),
    header(head.gold === "gold" ? "system" : "annotator", false, false, columns),
    h("tbody", {}, same.map((one) => {
      const name = [letters.has(one.system) ? h("span", { class: "letter" }, letters.get(one.system)) : null, visible(one.system)];
      const place = head.systems.indexOf(one.system);
      const row = h("tr", one === scores && same.length > 1 ? { class: "selected", "aria-current": "true" } : {},
        h("th", { scope: "row" }, same.length > 1 ? button(name, () => selectSystem(place), { class: "plain", id: `system-${place}` }) : name), cells(one.overall, null, columns, place === head.systems.indexOf(scores.system) ? {} : { s: place, ct: "", t: "" }));
      for (const [number] of columns.numbers) {
        const cell = /** @type {HTMLElement} */ (row.querySelector(`[data-column=${number}]`));
        const better = beaten(head.comparison, one, number);
        if (same.length > 1 && one.overall[number] === best[number]) cell.classList.add("best");
        if (better) cell.append(h("sup", { title: `significantly better than ${better}` }, better));
      }
      if (same.length > 1 && one.overall.missed === fewest) row.querySelector("[data-column=missed]")?.classList.add("best");
      return row;
    }))));
}

/**
 * A row of the table without the scores of a type that the detector does not look for, unless its predictions of other types count.
 * @param {[string, Numbers]} row
 * @returns {[string, Numbers]}
 */
function lookedFor([name, numbers]) {
  if (hasScores(name, numbers.recall)) return [name, numbers];
  return [name, { ...numbers, recall: null, precision: null, f: null, interval: undefined }];
}

export function drawNumbers() {
  const { head, scores } = view;
  const keys = Object.keys(scores.slices);
  const by = keys.includes(state.by) ? state.by : "type";
  const rows = by === "type" ? scores.types.map(lookedFor) : scores.slices[by].slice();
  /** @type {(name: "ci" | "cn", text: string) => HTMLElement} */
  const toggle = (name, text) => button(text, () => change({ [name]: state[name] === "1" ? "" : "1" }), { id: `toggle-${name}`, "aria-pressed": String(state[name] === "1") });
  const tools = h("div", { class: "row tools" },
    keys.length ? labelled("split by", choice("by", [["type", "type"], .../** @type {[string, string][]} */ (keys.map((key) => [key, short(key)]))], by, (chosen) => change({ by: chosen, sort: "-missed" }))) : null,
    toggle("ci", "intervals"), toggle("cn", "all counts"));
  if (!rows.length) {
    fill(bodyOf("numbers"), systemsTable(), tools, h("p", { class: "none" }, scores.overall.annotated ? "This measure has no scores by type." : "No type has annotations that this measure counts, so there are no scores by type."));
    return;
  }
  const columns = columnsOf(rows);
  const { key, down } = sortOf(columns);
  const sign = down ? -1 : 1;
  rows.sort((a, b) => (value(a, key) < value(b, key) ? -sign : value(a, key) > value(b, key) ? sign : 0));
  const code = (/** @type {string} */ name) => (by === "type" ? head.labels.indexOf(name) : null);
  const curves = by === "type" ? scores.curves : null;
  const curveOf = (/** @type {string} */ name) => curves?.types.find((one) => one.type === name);
  const slice = (/** @type {string} */ name) => (by === "type" ? {} : { sl: `${by}=${head.slices[by].values.indexOf(name)}` });
  const select = (/** @type {string} */ name) => showExamples(by === "type" ? { ty: head.labels.indexOf(name) } : slice(name));
  const all = by === "type" ? h("tr", { class: "total", "data-row": `ty=${SOME}` }, h("th", { scope: "row" }, "all types"), cells(scores.overall, null, columns), curves ? h("td", { class: "spark" }, sparkline(curves.threshold, curves.types[0].recall)) : null, state.cn === "1" ? counts(scores.overall) : null) : null;
  const overall = [
    ...NAMES.filter((one) => !columns.numbers.includes(one) && scores.overall[one[0]] !== null).map(([name, text]) => `${name === "f" ? `F${head.beta}` : text} ${shown(scores.overall[name])}`),
    ...(columns.wrong || !scores.overall.predicted ? [] : [`${grouped(scores.overall.wrong)} ${wrongName()}`]),
  ];
  const only = by === "type" && overall.length ? [". Over all types only: ", listedWhole(overall)] : null;
  fill(bodyOf("numbers"), head.systems.length > 1 ? systemsTable() : null, tools,
    scrolling("Scores by type or slice", h("table", { id: "types" },
      h("caption", {}, `${visible(scores.system)} by ${visible(by)}, measured by ${scores.measure}`, h("span", { class: "screen" }, "; select a name or a count to see the examples behind it"), only),
      header(visible(by), true, Boolean(curves), columns),
      h("tbody", {}, all, rows.map(([name, numbers]) => {
        const curve = curveOf(name);
        return h("tr", { "data-row": by === "type" ? `ty=${code(name)}` : `sl=${by}=${head.slices[by].values.indexOf(name)}` },
          h("th", { scope: "row" }, button(breakable(name), () => select(name), { class: "plain" }), by === "type" && head.not_looked_for.includes(name) ? notLookedFor() : null),
          cells(numbers, code(name), columns, slice(name)),
          curves ? h("td", { class: "spark" }, curve && hasScores(name, numbers.recall) ? sparkline(curves.threshold, curve.recall) : null) : null,
          state.cn === "1" ? counts(numbers) : null);
      })))));
}
