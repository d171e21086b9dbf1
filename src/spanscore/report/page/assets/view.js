// What the page shows now: the selected scores, and the listed examples.
import { pairFor, statuses, suspects } from "./pairs.js";
import { change, CLEAR, state } from "./state.js";
import { byId, h } from "./dom.js";

/** @import { Head, Pair, Scores } from "./types" */
/** @import { Changes } from "./state.js" */

export const MOST = 100000; // maximum number of rows in the list
export const CORRECT = 0;

/** @typedef {{status: string, first: number} | null} Status */

/**
 * `counts` has the number of examples of each verdict that match the other filters.
 * @type {{head: Head, scores: Scores, rows: number[], counts: number[], status: Status[] | null, suspected: boolean[] | null, pair: Pair | null, printing: boolean}}
 */
export const view = { head: /** @type {any} */ (null), scores: /** @type {any} */ (null), rows: [], counts: [], status: null, suspected: null, pair: null, printing: false };

/** The scores that the state asks for; a level that the measure does not have is replaced by its first one. */
export function current() {
  const { head } = view;
  const measure = head.measures[Number(state.m)] ?? head.measures[0];
  const system = head.systems[Number(state.s)] ?? head.systems[0];
  const found = head.scores.filter((one) => one.measure === measure && one.system === system);
  const level = head.levels[Number(state.l)];
  return /** @type {Scores} */ (found.find((one) => one.level === level) ?? found[0] ?? head.scores[0]);
}

export function useScores() {
  view.scores = current();
  view.rows = [];
  view.suspected = suspects(view.head, view.scores);
  usePair();
}

export function usePair() {
  view.pair = pairFor(view.head, view.scores);
  view.status = statuses(view.head, view.scores);
}

/** Whether the page compares annotators. */
export function isReview() {
  return view.head.gold !== "gold";
}

export function listed() {
  return Math.min(view.rows.length, MOST);
}

/** Whether the examples stand beside the numbers, so that they are in view whatever is selected. */
export function sideBySide() {
  return matchMedia("(min-width: 68rem)").matches;
}

/** Whether the head of an example needs two lines. */
export function isNarrow() {
  return matchMedia("(max-width: 45rem)").matches;
}

/** Select a system; filters by what only holds for the one before are dropped.
 * @param {string | number} s
 */
export function selectSystem(s) {
  change({ s, at: 0, ct: "", t: "", fs: "", a: "" });
}

/**
 * Whether the scores of a type say something: not those of a type that the detector does not look for, where types are compared.
 * @param {string | null} name
 * @param {number | null} recall
 */
export function hasScores(name, recall) {
  return view.scores.blind || name === null || !view.head.not_looked_for.includes(name) || Boolean(recall);
}

/** The tag of a type that the detector does not look for. */
export function notLookedFor() {
  return h("span", { class: "tag" }, "not looked for");
}

/** @param {Changes} changes */
export function showExamples(changes) {
  change({ ...CLEAR, ...changes });
  if (sideBySide()) return;
  byId("examples-title").focus({ preventScroll: true });
  byId("examples").scrollIntoView();
}

/**
 * The span that an example is about: the gold span, or the prediction if there is none.
 * @param {number} i
 * @returns {[number, number]}
 */
export function spanOf(i) {
  const { gl, gs, ge, ps, pe } = view.scores.examples;
  return (gl[i] ?? -1) >= 0 ? [gs[i] ?? 0, ge[i] ?? 0] : [ps[i] ?? 0, pe[i] ?? 0];
}
