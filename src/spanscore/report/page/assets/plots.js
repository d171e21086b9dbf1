// Small drawings: sparklines, and curves with axes.
import { svg } from "./dom.js";

/**
 * @param {(number | null)[]} xs
 * @param {(number | null)[]} ys
 * @param {(x: number) => number} across
 * @param {(y: number) => number} up
 */
function path(xs, ys, across, up) {
  let drawn = "";
  xs.forEach((x, i) => {
    const y = ys[i];
    if (x === null || y === null || y === undefined) return;
    drawn += `${drawn ? "L" : "M"}${across(x).toFixed(2)} ${up(y).toFixed(2)}`;
  });
  return drawn;
}

/**
 * Recall by threshold, from the lowest threshold to the highest.
 * @param {number[]} thresholds
 * @param {(number | null)[]} recall
 */
export function sparkline(thresholds, recall) {
  const [wide, high] = [48, 18];
  const low = Math.min(...thresholds);
  const range = Math.max(...thresholds) - low || 1;
  const d = path(thresholds, recall, (x) => 1 + ((wide - 2) * (x - low)) / range, (y) => high - 1 - (high - 2) * y);
  return svg("svg", { class: "spark", viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, "aria-hidden": "true" }, svg("path", { class: "base", d: `M0 ${high - 0.5}H${wide}` }), svg("path", { class: "line", d }));
}

/**
 * A precision-recall curve with a marker at one of its points.
 * @param {(number | null)[]} recall
 * @param {(number | null)[]} precision
 * @param {number} at
 * @param {(i: number) => void} pick
 */
export function curvePlot(recall, precision, at, pick) {
  const [wide, high, left, bottom, top] = [460, 300, 44, 40, 10];
  const across = (/** @type {number} */ x) => left + (wide - left - 12) * x;
  const up = (/** @type {number} */ y) => high - bottom - (high - bottom - top) * y;
  const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1];
  const points = recall.map((x, i) => ({ x, y: precision[i], i })).filter((one) => one.x !== null && one.y !== null && one.y !== undefined);
  const [x, y] = [recall[at], precision[at]];
  return svg("svg", { id: "curve-plot", viewBox: `0 0 ${wide} ${high}`, class: "curve", role: "img", "aria-label": "Precision-recall curve; the table below has the same points" },
    ticks.map((tick) => [
      svg("path", { class: "grid", d: `M${across(0)} ${up(tick)}H${across(1)}M${across(tick)} ${up(0)}V${up(1)}` }),
      svg("text", { x: left - 6, y: up(tick) + 4, "text-anchor": "end" }, tick.toFixed(1)),
      svg("text", { x: across(tick), y: high - bottom + 16, "text-anchor": "middle" }, tick.toFixed(1)),
    ]),
    svg("text", { x: across(0.5), y: high - 6, "text-anchor": "middle" }, "recall"),
    svg("text", { x: 12, y: up(0.5), "text-anchor": "middle", transform: `rotate(-90 12 ${up(0.5)})` }, "precision"),
    svg("path", { class: "line", d: path(recall, precision, across, up) }),
    points.map((one) => svg("circle", { class: "point", cx: across(Number(one.x)), cy: up(Number(one.y)), r: 3, on: { click: () => pick(one.i) } })),
    x === null || y === null || x === undefined || y === undefined ? null : svg("path", { class: "marker", d: `M${across(x)} ${up(y) - 9}l9 9l-9 9l-9 -9z` }));
}
