// Thresholds: a slider, the scores of all types at the selected threshold, the precision-recall curve, and calibration.
import { byId, choice, fill, h, labelled, short, visible } from "./dom.js";
import { PLOT, baseLayout, colours } from "./matrix.js";
import { NAMES, shown } from "./numbers.js";
import { change, state } from "./state.js";

const ALL = "all types";

function typeOf(head, curves) {
  return curves.types.find((one) => one.type !== null && String(head.labels.indexOf(one.type)) === state.ct) ?? curves.types[0];
}

// The index of the selected threshold; without a selection, the one that keeps all predictions.
function placeOf(curves) {
  const asked = state.t === "" ? -Infinity : Number(state.t);
  return Math.max(curves.threshold.findLastIndex((one) => one >= asked), 0);
}

function headRow(head, first, ...more) {
  return h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "text" }, first), NAMES.map(([key, text]) => h("th", { scope: "col" }, key === "f" ? `F${head.beta}` : text)), more.map((name) => h("th", { scope: "col" }, name))));
}

function scrolling(name, table) {
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": name }, table);
}

// Draw the section. `moveThreshold` updates the rest, so that the slider is not replaced while it is dragged.
export function drawThresholds(head, scores) {
  const section = byId("thresholds");
  const curves = scores.curves;
  section.hidden = !curves;
  if (!curves) return;
  const type = typeOf(head, curves);
  const count = curves.threshold.length;
  const slider = h("input", { type: "range", id: "slider", min: 0, max: count - 1, step: 1, value: count - 1 - placeOf(curves) });
  slider.addEventListener("input", () => change({ t: curves.threshold[count - 1 - Number(slider.value)] }));
  const options = curves.types.map((one) => [one.type === null ? "" : head.labels.indexOf(one.type), one.type === null ? ALL : short(one.type)]);
  fill(section.querySelector(".body"),
    h("p", {}, "Results if only predictions with at least this score were kept. The matrix and the examples always cover all predictions."),
    h("div", { class: "row" },
      labelled("curve for type", choice("curve-type", options, state.ct, (chosen) => change({ ct: chosen }))),
      labelled("threshold", slider),
      h("output", { id: "threshold", for: "slider" }),
      h("button", { type: "button", id: "all-scores", on: { click: () => change({ t: "" }) } }, "all predictions"),
      h("button", { type: "button", id: "best-score", on: { click: () => change({ t: type.best ?? "" }) }, disabled: type.best === null }, `best F${head.beta}`)),
    h("div", { id: "at" }),
    globalThis.Plotly ? h("div", { id: "curve", class: "plot", role: "img", "aria-label": "Precision-recall curve; the table below has the same points" }) : null,
    h("details", {}, h("summary", {}, "Curve as a table"), scrolling("Points of the curve", h("table", { id: "points" },
      headRow(head, "threshold"),
      h("tbody", {}, curves.threshold.map((threshold, i) => h("tr", {}, h("th", { scope: "row" }, String(threshold)), NAMES.map(([key]) => h("td", {}, shown(type[key][i]))))))))),
    type.calibration ? h("details", {}, h("summary", {}, "Calibration: do scores match the fraction of correct predictions?"), scrolling("Calibration", h("table", { id: "calibration" },
      h("caption", {}, `Expected calibration error ${shown(type.calibration.ece)}`),
      h("thead", {}, h("tr", {}, ["scores", "predictions", "mean score", "fraction correct"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, type.calibration.predictions.map((number, i, all) => h("tr", {}, h("th", { scope: "row" }, `${(i / all.length).toFixed(2)}–${((i + 1) / all.length).toFixed(2)}`), h("td", {}, number.toLocaleString("en")), h("td", {}, shown(type.calibration.score[i])), h("td", {}, shown(type.calibration.right[i])))))))) : null);
  moveThreshold(head, scores);
}

export function moveThreshold(head, scores) {
  const curves = scores.curves;
  if (!curves) return;
  const [type, at] = [typeOf(head, curves), placeOf(curves)];
  const count = curves.threshold.length;
  const description = `score of at least ${curves.threshold[at]}`;
  byId("slider").value = count - 1 - at;
  byId("slider").setAttribute("aria-valuetext", description);
  byId("threshold").textContent = at === count - 1 ? `all predictions: ${description}` : description;
  fill(byId("at"), scrolling("Scores at the threshold", h("table", { id: "at-threshold" },
    h("caption", {}, "AP: average precision over all thresholds; ECE: expected calibration error"),
    headRow(head, "type", "AP", "ECE", "best threshold"),
    h("tbody", {}, curves.types.map((one) => h("tr", one === type ? { class: "total" } : {}, h("th", { scope: "row" }, one.type === null ? ALL : visible(one.type)), NAMES.map(([key]) => h("td", {}, shown(one[key][at]))), h("td", {}, shown(one.ap)), h("td", {}, shown(one.calibration?.ece)), h("td", {}, one.best === null ? "–" : String(one.best))))))));
  if (globalThis.Plotly) plotCurve(curves, type, at);
}

function plotCurve(curves, type, at) {
  const { system, wrong } = colours();
  const layout = baseLayout();
  const axis = (title) => ({ ...layout.axis, range: [-0.02, 1.02], title: { text: title } });
  const data = [
    { type: "scatter", mode: "lines+markers", x: type.recall, y: type.precision, text: curves.threshold.map((one) => `score ≥ ${one}`), hovertemplate: "%{text}<br>R %{x:.3f}<br>P %{y:.3f}<extra></extra>", line: { color: system }, marker: { size: 5 } },
    { type: "scatter", mode: "markers", x: [type.recall[at]], y: [type.precision[at]], marker: { size: 13, symbol: "diamond-open", color: wrong, line: { width: 3 } }, hoverinfo: "skip" },
  ];
  const place = byId("curve");
  const drawn = place.classList.contains("js-plotly-plot");
  globalThis.Plotly.react(place, data, { ...layout, width: 520, height: 360, margin: { l: 60, r: 20, t: 20, b: 50 }, showlegend: false, xaxis: axis("recall"), yaxis: axis("precision") }, PLOT).then(() => {
    if (!drawn) place.on("plotly_click", ({ points: [point] }) => point.curveNumber === 0 && change({ t: Number(point.text.split("≥")[1]) }));
  });
}
