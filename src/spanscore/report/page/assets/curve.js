// Scores as thresholds: a slider, the numbers at it for all types, the curve, and how well scores are calibrated.
import { byId, choice, fill, h, labelled, visible } from "./dom.js";
import { PLOT, baseLayout, colours } from "./matrix.js";
import { NAMES, shown } from "./numbers.js";
import { change, state } from "./state.js";

const ALL = "all types";

export function drawThresholds(head, scores) {
  const section = byId("thresholds");
  const curves = scores.curves;
  section.hidden = !curves;
  if (!curves) return;
  const type = curves.types.find((one) => one.type !== null && String(head.labels.indexOf(one.type)) === state.ct) ?? curves.types[0];
  const count = curves.threshold.length;
  const asked = state.t === "" ? type.best : Number(state.t);
  let at = curves.threshold.findLastIndex((one) => one >= asked);
  if (at < 0) at = 0;
  const slider = h("input", { type: "range", id: "slider", min: 0, max: count - 1, step: 1, value: count - 1 - at, "aria-valuetext": `at least ${curves.threshold[at]}` });
  slider.addEventListener("input", () => change({ t: curves.threshold[count - 1 - Number(slider.value)] }));
  const options = curves.types.map((one) => [one.type === null ? "" : head.labels.indexOf(one.type), one.type === null ? ALL : visible(one.type)]);
  const had = document.activeElement?.id;
  const place = h("div", { id: "curve", class: "plot", role: "img", "aria-label": "Precision over recall; the table below has the same points" });
  const details = [...section.querySelectorAll("details")].map((one) => one.open);
  fill(section.querySelector(".body"),
    h("div", { class: "row" },
      labelled("type of the curve", choice("curve-type", options, state.ct, (chosen) => change({ ct: chosen, t: "" }))),
      labelled("threshold", slider),
      h("output", { id: "threshold", for: "slider" }, `scores of at least ${curves.threshold[at]}`),
      h("button", { type: "button", on: { click: () => change({ t: type.best ?? "" }) }, disabled: type.best === null }, `best F${head.beta}`)),
    h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Numbers at the threshold" }, h("table", { id: "at-threshold" },
      h("caption", {}, "Predictions with at least this score give"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "text" }, "type"), NAMES.map(([key, text]) => h("th", { scope: "col" }, key === "f" ? `F${head.beta}` : text)), h("th", { scope: "col" }, "AP"), h("th", { scope: "col" }, "ECE"), h("th", { scope: "col" }, "best threshold"))),
      h("tbody", {}, curves.types.map((one) => h("tr", one === type ? { class: "total" } : {}, h("th", { scope: "row" }, one.type === null ? ALL : visible(one.type)), NAMES.map(([key]) => h("td", {}, shown(one[key][at]))), h("td", {}, shown(one.ap)), h("td", {}, shown(one.calibration?.ece)), h("td", {}, one.best === null ? "–" : String(one.best))))))),
    globalThis.Plotly ? place : null,
    h("details", { open: details[0] }, h("summary", {}, "The curve as a table"), h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Points of the curve" }, h("table", { id: "points" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "threshold"), NAMES.map(([key, text]) => h("th", { scope: "col" }, key === "f" ? `F${head.beta}` : text)))),
      h("tbody", {}, curves.threshold.map((threshold, i) => h("tr", i === at ? { class: "total" } : {}, h("th", { scope: "row" }, String(threshold)), NAMES.map(([key]) => h("td", {}, shown(type[key][i]))))))))),
    type.calibration ? h("details", { open: details[1] }, h("summary", {}, "Calibration: are scores what they say?"), h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Calibration" }, h("table", { id: "calibration" },
      h("caption", {}, `Expected calibration error ${shown(type.calibration.ece)}`),
      h("thead", {}, h("tr", {}, ["scores", "predictions", "mean score", "share right"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, type.calibration.predictions.map((number, i, all) => h("tr", {}, h("th", { scope: "row" }, `${(i / all.length).toFixed(2)}–${((i + 1) / all.length).toFixed(2)}`), h("td", {}, number.toLocaleString("en")), h("td", {}, shown(type.calibration.score[i])), h("td", {}, shown(type.calibration.right[i])))))))) : null);
  if (had === "slider" || had === "curve-type") byId(had)?.focus();
  if (!globalThis.Plotly) return;
  const { system, wrong } = colours();
  const layout = baseLayout();
  const axis = (title) => ({ ...layout.axis, range: [-0.02, 1.02], title: { text: title } });
  const data = [
    { type: "scatter", mode: "lines+markers", x: type.recall, y: type.precision, text: curves.threshold.map((one) => `score ≥ ${one}`), hovertemplate: "%{text}<br>R %{x:.3f}<br>P %{y:.3f}<extra></extra>", line: { color: system }, marker: { size: 5 } },
    { type: "scatter", mode: "markers", x: [type.recall[at]], y: [type.precision[at]], marker: { size: 13, symbol: "diamond-open", color: wrong, line: { width: 3 } }, hoverinfo: "skip" },
  ];
  globalThis.Plotly.newPlot(place, data, { ...layout, width: 520, height: 360, margin: { l: 60, r: 20, t: 20, b: 50 }, showlegend: false, xaxis: axis("recall"), yaxis: axis("precision") }, PLOT).then(() => {
    place.on("plotly_click", ({ points: [point] }) => point.curveNumber === 0 && change({ t: curves.threshold[point.pointNumber] }));
  });
}
