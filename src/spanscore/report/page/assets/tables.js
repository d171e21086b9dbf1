// The numbers: each system overall, then each type or slice, as a table that can be sorted.
import { byId, choice, fill, h, labelled, visible } from "./dom.js";
import { NAMES, measured } from "./numbers.js";
import { change, state } from "./state.js";

function cells(numbers, counts) {
  return [
    NAMES.map(([name]) => h("td", {}, measured(numbers[name], numbers.interval?.[name]))),
    counts.map((name) => {
      const count = numbers.counts[name];
      return h("td", count ? {} : { class: "zero" }, count === undefined ? "" : Number.isInteger(count) ? count.toLocaleString("en") : count.toFixed(3));
    }),
  ];
}

function header(first, counts, beta, sortable) {
  const [sorted, down] = [state.sort.replace(/^-/, ""), state.sort.startsWith("-")];
  const column = (key, text, css) => {
    if (!sortable) return h("th", { scope: "col", class: css }, text);
    const order = sorted === key ? (down ? "descending" : "ascending") : "none";
    const sign = sorted === key ? (down ? " ▼" : " ▲") : "";
    const next = sorted === key && !down && key !== "" ? `-${key}` : key;
    return h("th", { scope: "col", class: css, "aria-sort": order }, h("button", { type: "button", class: "plain", on: { click: () => change({ sort: sorted === key ? next : key === "name" ? key : `-${key}` }) } }, text + sign));
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
    h("caption", {}, `${scores.measure}, all types; bars with intervals at ${100 * head.level}%`),
    header("system", counts, head.beta, false),
    h("tbody", {}, same.map((one) => h("tr", one === scores ? { class: "total" } : {}, h("th", { scope: "row" }, visible(one.system)), cells(one.overall, counts)))))));
  const keys = Object.keys(scores.slices);
  const by = keys.includes(state.by) ? state.by : "type";
  if (keys.length) {
    body.push(h("div", { class: "row" }, labelled("split by", choice("by", [["type", "type"], ...keys.map((key) => [key, visible(key)])], by, (chosen) => change({ by: chosen, sort: "" })))));
  }
  const rows = (by === "type" ? scores.types : scores.slices[by]).slice();
  if (rows.length) {
    const key = state.sort.replace(/^-/, "");
    if (key && rows.length) {
      const sign = state.sort.startsWith("-") ? -1 : 1;
      rows.sort((a, b) => (value(a, key) < value(b, key) ? -sign : value(a, key) > value(b, key) ? sign : 0));
    }
    const select = (name) => (by === "type" ? change({ g: head.labels.indexOf(name), c: "", v: "errors" }) : change({ sl: `${by}=${head.slices[by].values.indexOf(name)}` }));
    body.push(h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "By type or slice" }, h("table", { id: "types" },
      h("caption", {}, `${scores.measure}, ${visible(scores.system)}, by ${visible(by)}; choose a name to see its examples`),
      header(visible(by), counts, head.beta, true),
      h("tbody", {}, rows.map(([name, numbers]) => h("tr", {}, h("th", { scope: "row" }, h("button", { type: "button", class: "plain", on: { click: () => { select(name); byId("examples-title").focus(); } } }, visible(name))), cells(numbers, counts)))))));
  } else {
    body.push(h("p", { class: "none" }, "This measure has no types."));
  }
  fill(byId("numbers").querySelector(".body"), body);
}
