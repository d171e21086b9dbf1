// Verdicts in four groups, each with a color and a symbol: right, found but wrong, missed, needless.

import { visible } from "./dom.js";

/** @import { Head, Scores } from "./types" */

/** @typedef {"right" | "amber" | "missed" | "needless"} Group */

/** @type {Record<string, Group>} */
const GROUPS = {
  correct: "right", "wrong type": "amber", "wrong attribute": "amber", "too short": "amber", "too long": "amber", shifted: "amber", split: "amber", merged: "amber",
  "partly hidden": "amber", missed: "missed", exposed: "missed", spurious: "needless", needless: "needless", invented: "needless",
};

/** @type {Record<Group, string>} */
export const SYMBOLS = { right: "✓", amber: "≠", missed: "✗", needless: "+" };

/**
 * @param {string} verdict
 * @returns {Group}
 */
export function groupOf(verdict) {
  return GROUPS[verdict] ?? "amber";
}

/**
 * Return what to call a verdict: in linking data, a wrong attribute is a wrong link; of annotators, none is right or wrong.
 * @param {Head} head
 * @param {Scores} scores
 * @param {string} verdict
 */
export function verdictName(head, scores, verdict) {
  if (verdict === "wrong attribute" && scores.linking) return "wrong link";
  if (head.gold !== "gold" && verdict === "missed") return `only ${visible(head.gold)}`;
  if (head.gold !== "gold" && verdict === "spurious") return `only ${visible(scores.system)}`;
  if (head.gold !== "gold" && verdict === "correct") return "same";
  if (head.gold !== "gold" && verdict === "wrong type") return "another type";
  if (verdict === "correct" && scores.masking) return "hidden";
  return verdict;
}
