// Thresholds: a slider, the scores of all types at the selected threshold, the precision-recall curve, and calibration.
import { bodyOf, breakable, button, byId, choice, fill, grouped, h, labelled, listedWhole, scrolling, short } from "./dom.js";
import { NAMES, shown } from "./numbers.js";
import { curvePlot } from "./plots.js";
import { change, state } from "./state.js";
import { hasScores, notLookedFor, view } from "./view.js";

/** @import { Curve, Curves } from "./types" */

const ALL = "all types";

/**
 * @param {Curves} curves
 * @returns {Curve}
 */
function typeOf(curves) {
  return curves.types.find((one) => one.type !== null && String(view.head.labels.indexOf(one.type)) === state.ct) ?? curves.types[0];
}

/**
 * The index of the selected threshold; without a selection, the one that keeps all predictions.
 * @param {Curves} curves
 */
function placeOf(curves) {
  const asked = state.t === "" ? -Infinity : Number(state.t);
  return Math.max(curves.threshold.findLastIndex((one) => one >= asked), 0);
}

/** A threshold without the digits that floating-point numbers add.
 * @param {number} score
 */
function threshold(score) {
  return String(Number(score.toPrecision(12)));
}

/**
 * @param {string} first
 * @param {string[]} more
 */
function headRow(first, ...more) {
  return h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "text" }, first), more.map((name) => h("th", { scope: "col" }, name))));
}

/** @param {(typeof NAMES)[number]} number */
function nameOf([key, text]) {
  return key === "f" ? `F${view.head.beta}` : text;
}

/** Whether a curve has a score at any threshold.
 * @param {Curve} curve
 * @param {(typeof NAMES)[number]} number
 */
function has(curve, [key]) {
  return curve[key].some((value) => value !== null);
}

/** Draw the section. `moveThreshold` updates the rest, so that the slider is not replaced while it is dragged. */
export function drawThresholds() {
  const { head, scores } = view;
  const curves = scores.curves;
  byId("thresholds").hidden = !curves;
  if (!curves) return;
  const type = typeOf(curves);
  const numbers = NAMES.filter((number) => has(type, number));
  const count = curves.threshold.length;
  const slider = h("input", { type: "range", id: "slider", min: 0, max: count - 1, step: 1, value: count - 1 - placeOf(curves) });
  slider.addEventListener("input", () => change({ t: curves.threshold[count - 1 - Number(slider.value)] }));
  const { calibration } = type;
  fill(bodyOf("thresholds"),
    h("p", {}, "Scores when only predictions at or above this threshold are kept. The matrix and the examples always cover all predictions."),
    h("div", { class: "row" },
      labelled("curve for type", choice("curve-type", curves.types.map((one) => [one.type === null ? "" : head.labels.indexOf(one.type), one.type === null ? ALL : short(one.type)]), state.ct, (chosen) => change({ ct: chosen }))),
      labelled("threshold", slider),
      h("output", { id: "threshold", for: "slider" }),
      button("all predictions", () => change({ t: "" }), { id: "all-scores" }),
      button(`best F${head.beta}`, () => change({ t: type.best ?? "" }), { id: "best-score", disabled: type.best === null })),
    h("p", { class: "caption", id: "at-note" }),
    h("div", { id: "at-and-curve" }, h("div", { id: "at" }), h("div", { id: "curve" })),
    h("details", {}, h("summary", {}, "Curve as a table"), scrolling("Points of the curve", h("table", { id: "points" },
      headRow("threshold", ...numbers.map(nameOf)),
      h("tbody", {}, curves.threshold.map((score, i) => h("tr", {}, h("th", { scope: "row" }, threshold(score)), numbers.map(([key]) => h("td", {}, shown(type[key][i]))))))))),
    calibration ? h("details", {}, h("summary", {}, "Calibration: do scores match the fraction of correct predictions?"), scrolling("Calibration", h("table", { id: "calibration" },
      h("caption", {}, `Expected calibration error ${shown(calibration.ece)}`),
      h("thead", {}, h("tr", {}, ["scores", "predictions", "mean score", "fraction correct"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, calibration.predictions.map((number, i, all) => h("tr", {}, h("th", { scope: "row" }, `${(i / all.length).toFixed(2)}–${((i + 1) / all.length).toFixed(2)}`), h("td", {}, grouped(number)), h("td", {}, shown(calibration.score[i])), h("td", {}, shown(calibration.right[i])))))))) : null);
  moveThreshold();
}

export function moveThreshold() {
  const curves = view.scores.curves;
  if (!curves) return;
  const [type, at] = [typeOf(curves), placeOf(curves)];
  const count = curves.threshold.length;
  const description = `score of at least ${threshold(curves.threshold[at])}`;
  const slider = /** @type {HTMLInputElement} */ (byId("slider"));
  slider.value = String(count - 1 - at);
  slider.setAttribute("aria-valuetext", description);
  byId("threshold").textContent = at === count - 1 ? `all predictions kept (lowest score ${threshold(curves.threshold[at])})` : description;
  const typed = curves.types.filter((one) => one.type !== null);
  const said = (/** @type {Curve} */ one) => hasScores(one.type, one.recall.at(-1) ?? null);
  const rows = (typed.length ? typed : curves.types).filter(said);
  /** @type {[string, (one: Curve) => string, boolean][]} */
  const all = [
    ...NAMES.map((number) => /** @type {[string, (one: Curve) => string, boolean]} */ ([nameOf(number), (one) => shown(one[number[0]][at]), rows.some((one) => has(one, number))])),
    ["AP", (one) => shown(one.ap), rows.some((one) => one.ap !== null)],
    ["ECE", (one) => shown(one.calibration?.ece), rows.some((one) => (one.calibration?.ece ?? null) !== null)],
    ["best threshold", (one) => (one.best === null ? "–" : threshold(one.best)), rows.some((one) => one.best !== null)],
  ];
  const columns = all.filter(([, , byType]) => byType);
  const overall = all.filter(([, value, byType]) => !byType && value(curves.types[0]) !== "–").map(([text, value]) => `${text} ${value(curves.types[0])}`);
  // A paragraph, as a caption would be as narrow as the table.
  fill(byId("at-note"), "AP: average precision over all thresholds; ECE: expected calibration error", overall.length ? [". Over all types only: ", listedWhole(overall)] : "");
  fill(byId("at"), scrolling("Scores at the threshold", h("table", { id: "at-threshold", "aria-describedby": "at-note" },
    headRow("type", ...columns.map(([text]) => text)),
    h("tbody", {}, curves.types.map((one) => h("tr", one === type ? { class: "selected" } : {}, h("th", { scope: "row" }, one.type === null ? ALL : breakable(one.type), said(one) ? null : notLookedFor()), columns.map(([, text]) => h("td", {}, said(one) ? text(one) : "–"))))))));
  fill(byId("curve"), curvePlot(type.recall, type.precision, at, (i) => change({ t: curves.threshold[i] })));
}
