// The confusion matrix: a table, and a heatmap if the page includes Plotly.
import { byId, fill, h, visible } from "./dom.js";
import { change, state } from "./state.js";
import { showExamples } from "./tables.js";

const MISSED = "(missed)";
const SPURIOUS = "(spurious)";

// Escape text for Plotly, which interprets markup in its labels.
export function plain(text) {
  return visible(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

export function colours() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(["ink", "paper", "faint", "line", "system", "gold", "wrong"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

export function baseLayout() {
  const { ink, faint, line } = colours();
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: ink, family: "system-ui, sans-serif", size: 12 },
    dragmode: false, hoverlabel: { font: { family: "system-ui, sans-serif" } }, axis: { gridcolor: faint, linecolor: line, zerolinecolor: faint, fixedrange: true },
  };
}

export const PLOT = { displayModeBar: false, displaylogo: false, responsive: false, doubleClick: false, doubleClickDelay: 0, showTips: false };

// Build a matrix of counts from [row, column, count] cells, with code -1 last.
export function matrixOf(cells) {
  const order = (codes) => [...new Set(codes)].sort((a, b) => (a < 0) - (b < 0) || a - b);
  const [rows, columns] = [order(cells.map((one) => one[0])), order(cells.map((one) => one[1]))];
  const counts = rows.map(() => columns.map(() => 0));
  for (const [a, b, count] of cells) counts[rows.indexOf(a)][columns.indexOf(b)] += count;
  return { rows, columns, counts };
}

export const MANY = 60; // maximum number of types in a heatmap

// Keep the types with the most errors; return their cells and the number of omitted types.
function largest(cells) {
  const weight = new Map();
  for (const [a, b, count] of cells) for (const code of [a, b]) weight.set(code, (weight.get(code) ?? 0) + (a === b ? count / 1000 : count));
  const kept = new Set([...weight].sort((one, other) => other[1] - one[1]).slice(0, MANY).map(([code]) => code).concat(-1));
  return [cells.filter(([a, b]) => kept.has(a) && kept.has(b)), Math.max(weight.size - kept.size, 0)];
}

// A collapsed table that is built when it is first opened, because it may be large.
export function folded(summary, make, open) {
  const made = h("details", { open }, h("summary", {}, summary));
  const fillIn = () => made.open && made.children.length === 1 && made.append(make());
  made.addEventListener("toggle", fillIn);
  fillIn();
  return made;
}

export function matrixTable({ rows, columns, counts }, { rowName, columnName, pick, rowTitle, columnTitle, caption, id, shares = false }) {
  const button = (text, call, name) => h("button", { type: "button", class: "plain", "aria-label": name, on: { click: call } }, text);
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption }, h("table", { id },
    h("caption", {}, caption),
    h("thead", {}, h("tr", {}, h("td"), columns.map((b) => h("th", { scope: "col" }, button(columnName(b), () => pick(null, b)))))),
    h("tbody", {}, rows.map((a, i) => {
      const total = counts[i].reduce((sum, count) => sum + count, 0);
      return h("tr", {}, h("th", { scope: "row" }, button(rowName(a), () => pick(a, null))), columns.map((b, j) => {
        const count = counts[i][j];
        const text = shares ? `${(100 * count / total).toFixed(1)}%` : count.toLocaleString("en");
        return h("td", count ? {} : { class: "zero" }, count ? button(text, () => pick(a, b), `${rowTitle} ${rowName(a)}, ${columnTitle} ${columnName(b)}: ${count}`) : "0");
      }));
    }))));
}

export function heatmap(place, { rows, columns, counts }, { rowName, columnName, pick, rowTitle, columnTitle, shares = false }) {
  const { ink } = colours();
  const totals = counts.map((row) => row.reduce((sum, count) => sum + count, 0));
  const value = (count, i) => (shares ? (totals[i] ? count / totals[i] : 0) : count ? Math.log10(1 + count) : 0);
  const text = counts.map((row, i) => row.map((count) => (count ? (shares ? `${(100 * count / totals[i]).toFixed(0)}%` : String(count)) : "")));
  const dark = document.documentElement.dataset.theme === "dark";
  const layout = baseLayout();
  const widest = Math.max(...rows.map((a) => rowName(a).length), 4);
  const highest = Math.max(...columns.map((b) => columnName(b).length), 4);
  const [left, top] = [Math.min(60 + 7 * widest, 320), Math.min(60 + 6 * highest, 280)];
  const data = [{
    type: "heatmap", z: counts.map((row, i) => row.map((count) => value(count, i))), x: columns.map((_, j) => j), y: rows.map((_, i) => i), text, texttemplate: "%{text}",
    hovertext: counts.map((row, i) => row.map((count, j) => `${plain(rowTitle)} ${plain(rowName(rows[i]))}<br>${plain(columnTitle)} ${plain(columnName(columns[j]))}<br>${count} (${totals[i] ? (100 * count / totals[i]).toFixed(1) : 0}% of the row)`)),
    hovertemplate: "%{hovertext}<extra></extra>", showscale: false, xgap: 1, ygap: 1,
    colorscale: dark ? [[0, "#1f2226"], [1, "#2f6fb8"]] : [[0, "#f4f5f7"], [1, "#7fb2ea"]], textfont: { color: ink },
  }];
  const axis = (names, title) => ({ ...layout.axis, showgrid: false, tickvals: names.map((_, i) => i), ticktext: names.map(plain), title: { text: plain(title), standoff: 8 } });
  const made = {
    ...layout, width: left + 30 + Math.max(46 * columns.length, 180), height: top + 30 + Math.max(30 * rows.length, 90), margin: { l: left, r: 30, t: top, b: 30 },
    xaxis: { ...axis(columns.map(columnName), columnTitle), side: "top", tickangle: -60 }, yaxis: { ...axis(rows.map(rowName), rowTitle), autorange: "reversed" },
  };
  globalThis.Plotly.newPlot(place, data, made, PLOT).then(() => {
    place.on("plotly_click", ({ points: [point] }) => pick(rows[point.y], columns[point.x]));
    for (const [selector, call] of [[".xtick text", (i) => pick(null, columns[i])], [".ytick text", (i) => pick(rows[i], null)]]) {
      place.querySelectorAll(selector).forEach((tick, i) => tick.addEventListener("click", () => call(i)));
    }
  });
}

export function drawMatrix(head, scores) {
  const body = byId("matrix").querySelector(".body");
  const [shownCells, leftOut] = largest(scores.confusion);
  const matrix = matrixOf(scores.confusion);
  const shares = state.share === "1";
  const options = {
    rowName: (code) => (code < 0 ? SPURIOUS : visible(head.labels[code])), columnName: (code) => (code < 0 ? MISSED : visible(head.labels[code])), rowTitle: "gold", columnTitle: "predicted", shares,
    pick: (a, b) => showExamples({ g: a ?? "", c: b ?? "", v: "all" }),
    caption: "Rows are gold types, columns are predicted types; missed and spurious spans have no good enough match", id: "confusion",
  };
  const toggle = (text, value) => h("button", { type: "button", id: `share-${value}`, "aria-pressed": String(state.share === value), on: { click: () => change({ share: value }) } }, text);
  const place = h("div", { id: "heatmap", class: "plot", role: "img", "aria-label": "Heatmap of the confusion matrix; the table below has the same counts" });
  if (globalThis.Plotly) {
    const open = body.querySelector("details")?.open;
    fill(body, h("div", { class: "row", role: "group", "aria-label": "Cell values" }, toggle("counts", ""), toggle("row percentages", "1"), h("span", {}, "Select a cell or a name to see its examples.")), place, leftOut ? h("p", {}, `The heatmap omits the types with the fewest errors (${leftOut}); the table lists all types.`) : null, folded("Matrix as a table", () => matrixTable(matrix, { ...options, shares }), open));
    heatmap(place, matrixOf(shownCells), options);
  } else {
    fill(body, h("div", { class: "row", role: "group", "aria-label": "Cell values" }, toggle("counts", ""), toggle("row percentages", "1")), matrixTable(matrix, options));
  }
}
