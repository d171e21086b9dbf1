// Display of scores: three decimals, and a bar with its confidence interval.
import { h } from "./dom.js";

export const NAMES = [["precision", "P"], ["recall", "R"], ["f", "F"]];

// Format with three decimals; ties round half to even, like the other outputs of spanscore.
export function shown(value) {
  if (value === null || value === undefined) return "–";
  const scaled = value * 1000;
  const below = Math.floor(scaled);
  return scaled - below === 0.5 ? ((below % 2 ? below + 1 : below) / 1000).toFixed(3) : value.toFixed(3);
}

export function between(interval) {
  return interval && interval[0] !== null ? `${shown(interval[0])}–${shown(interval[1])}` : "";
}

export function measured(value, interval) {
  const track = h("span", { class: "track", "aria-hidden": "true" });
  if (value !== null) {
    const bar = h("i");
    bar.style.width = `${100 * value}%`;
    track.append(bar);
  }
  if (interval && interval[0] !== null) {
    const whisker = h("b");
    whisker.style.left = `${100 * interval[0]}%`;
    whisker.style.width = `${100 * (interval[1] - interval[0])}%`;
    track.append(whisker);
  }
  const range = between(interval);
  return h("div", { class: "measured", title: range }, h("span", {}, shown(value), range ? h("span", { class: "hidden" }, ` (${range})`) : null), track);
}
