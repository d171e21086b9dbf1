// Score tables: all systems overall, then a sortable table by type or slice.
import { byId, choice, fill, h, labelled, short, visible } from "./dom.js";
import { NAMES, measured } from "./numbers.js";
import { CLEAR, change, state } from "./state.js";

// The filters that show the examples behind a count.
const BEHIND = { tp: (code) => ({ g: code, v: "correct" }), fn: (code) => ({ g: code }), fp: (code) => ({ c: code }) };

export function showExamples(changes) {
  change({ ...CLEAR, ...changes });
  byId("examples-title").focus();
  byId("examples").scrollIntoView();
}

function cells(numbers, counts, code = null) {
  return [
    NAMES.map(([name]) => h("td", {}, measured(numbers[name], numbers.interval?.[name]))),
    counts.map((name) => {
      const count = numbers.counts[name];
      const text = count === undefined ? "" : Number.isInteger(count) ? count.toLocaleString("en") : count.toFixed(3);
      const behind = code !== null && count && BEHIND[name];
      return h("td", count ? {} : { class: "zero" }, behind ? h("button", { type: "button", class: "plain", on: { click: () => showExamples(behind(code)) } }, text) : text);
    }),
  ];
}

function header(first, counts, beta, sortable) {
  const [sorted, down] = [state.sort.replace(/^-/, ""), state.sort.startsWith("-")];
  const column = (key, text, css) => {
    if (!sortable) return h("th", { scope: "col", class: css }, text);
    const order = sorted === key ? (down ? "descending" : "ascending") : "none";
    const sign = sorted === key ? (down ? " ▼" : " ▲") : "";
    const next = sorted === key ? (down ? key : `-${key}`) : key === "name" ? key : `-${key}`;
    return h("th", { scope: "col", class: css, "aria-sort": order }, h("button", { type: "button", class: "plain", id: `sort-${key}`, on: { click: () => change({ sort: next }) } }, text + sign));
  };
  return h("thead", {}, h("tr", {}, column("name", first, "text"), NAMES.map(([key, text]) => column(key, key === "f" ? `F${beta}` : text)), counts.map((name) => column(name, name))));
}

function value(row, key) {
  if (key === "name") return row[0];
  const found = key in row[1] ? row[1][key] : row[1].counts[key];
  return found === null || found === undefined ? -Infinity : found;
}

export function drawNumbers(head, scores) {
  const counts = Object.keys(scores.overall.counts);
  const same = head.scores.filter((one) => one.measure === scores.measure);
  const body = [];
  body.push(h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Systems" }, h("table", { id: "overall" },
    h("caption", {}, `${scores.measure}, all types${scores.overall.interval ? `; bars show ${100 * head.level}% confidence intervals` : ""}`),
    header("system", counts, head.beta, false),
    h("tbody", {}, same.map((one) => h("tr", one === scores ? { class: "total" } : {}, h("th", { scope: "row" }, visible(one.system)), cells(one.overall, counts)))))));
  const keys = Object.keys(scores.slices);
  const by = keys.includes(state.by) ? state.by : "type";
  if (keys.length) {
    body.push(h("div", { class: "row" }, labelled("split by", choice("by", [["type", "type"], ...keys.map((key) => [key, short(key)])], by, (chosen) => change({ by: chosen, sort: "" })))));
  }
  const rows = (by === "type" ? scores.types : scores.slices[by]).slice();
  if (rows.length) {
    const key = state.sort.replace(/^-/, "");
    if (key) {
      const sign = state.sort.startsWith("-") ? -1 : 1;
      rows.sort((a, b) => (value(a, key) < value(b, key) ? -sign : value(a, key) > value(b, key) ? sign : 0));
    }
    const code = (name) => (by === "type" ? head.labels.indexOf(name) : null);
    const select = (name) => showExamples(by === "type" ? { ty: code(name) } : { sl: `${by}=${head.slices[by].values.indexOf(name)}` });
    body.push(h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Scores by type or slice" }, h("table", { id: "types" },
      h("caption", {}, `${scores.measure}, ${visible(scores.system)}, by ${visible(by)}; select a name or a count to see the examples behind it`),
      header(visible(by), counts, head.beta, true),
      h("tbody", {}, rows.map(([name, numbers]) => h("tr", {}, h("th", { scope: "row" }, h("button", { type: "button", class: "plain", on: { click: () => select(name) } }, visible(name))), cells(numbers, counts, code(name))))))));
  } else {
    body.push(h("p", { class: "none" }, "This measure has no scores by type."));
  }
  fill(byId("numbers").querySelector(".body"), body);
}
