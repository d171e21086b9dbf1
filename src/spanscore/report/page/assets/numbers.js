// Display of scores: three decimals, confidence intervals, and bars of what is missed.
import { grouped, h } from "./dom.js";

/** @import { Interval, Numbers } from "./types" */

/** @typedef {"recall" | "precision" | "f"} Number_ */

/** @type {[Number_, string][]} */
export const NAMES = [["recall", "R"], ["precision", "P"], ["f", "F"]];

/**
 * Format with three decimals; ties round half to even, like the other outputs of spanscore.
 * @param {number | null | undefined} value
 */
export function shown(value) {
  if (value === null || value === undefined) return "–";
  const scaled = value * 1000;
  const below = Math.floor(scaled);
  return scaled - below === 0.5 ? ((below % 2 ? below + 1 : below) / 1000).toFixed(3) : value.toFixed(3);
}

/** A difference with three decimals, or with one digit if these would hide that it is not zero.
 * @param {number | null | undefined} value
 */
export function difference(value) {
  if (value === null || value === undefined) return "–";
  const text = value && !Number(shown(value)) ? value.toFixed(Math.min(-Math.floor(Math.log10(Math.abs(value))), 20)) : shown(value);
  return text.replace("-", "−");
}

/** @param {Interval | undefined} interval */
export function between(interval) {
  return interval && interval[0] !== null ? `[${shown(interval[0])}, ${shown(interval[1])}]` : "";
}

/**
 * A score, whose interval shows on focus and, if `whole`, always.
 * @param {number | null} value
 * @param {Interval | undefined} interval
 * @param {boolean} whole
 */
export function measured(value, interval, whole) {
  const range = between(interval);
  if (!range) return h("span", {}, shown(value));
  if (whole) return h("span", {}, shown(value), h("small", {}, ` ${range}`));
  return h("span", { class: "tip", tabindex: "0", "data-tip": range }, shown(value), h("span", { class: "hidden" }, ` ${range}`));
}

/**
 * A bar that is red as far as annotations are missed, and green as far as they are found; none without annotations.
 * @param {Numbers} numbers
 */
export function missedBar({ missed, annotated }) {
  if (!annotated) return null;
  const bar = h("span", { class: "bar", "aria-hidden": "true" });
  const red = h("i");
  red.style.width = `${100 * Math.min(Math.max(missed / annotated, 0), 1)}%`;
  bar.append(red);
  return bar;
}

/**
 * @param {number} missed
 * @param {number} annotated
 */
export function ofTotal(missed, annotated) {
  return `${grouped(missed)} of ${grouped(annotated)}`;
}
