// Pairs of systems: what changed from one to the other for each gold span, and where all agree against the gold data.
import { visible } from "./dom.js";
import { state } from "./state.js";

/** @import { Comparison, Difference, Examples, Head, Pair, Scores } from "./types" */

export const STATUS = ["broken", "fixed", "both wrong", "both right"];

/**
 * @param {number} gold
 * @param {number} first
 * @param {number} second
 */
export function statusOf(gold, first, second) {
  return /** @type {string} */ (STATUS[first === gold ? (second === gold ? 3 : 0) : second === gold ? 1 : 2]);
}

/**
 * What to call a status; of annotators, none fixes or breaks anything.
 * @param {Head} head
 * @param {Pair | null} pair
 * @param {string} status
 */
export function statusName(head, pair, status) {
  if (head.gold === "gold" || !pair) return status;
  return [`only ${visible(pair.first)}`, `only ${visible(pair.second)}`, "neither", "both"][STATUS.indexOf(status)] ?? status;
}

/**
 * Return the scores of another system by the same measure.
 * @param {Head} head
 * @param {Scores} scores
 * @param {string} system
 */
export function sameMeasure(head, scores, system) {
  return head.scores.find((one) => one.measure === scores.measure && one.level === scores.level && one.system === system);
}

/**
 * The system that the selected one is compared with: the one asked for, else the first other one.
 * @param {Head} head
 * @param {Scores} scores
 * @returns {string | null}
 */
export function comparedWith(head, scores) {
  const asked = state.vs === "" ? undefined : head.systems[Number(state.vs)];
  if (asked !== undefined && asked !== scores.system) return asked;
  return head.systems.find((name) => name !== scores.system) ?? null;
}

/**
 * Gold spans from the system compared with to the selected one; if the first system is selected and no other is asked
 * for, from the first to the second.
 * @param {Head} head
 * @param {Scores} scores
 * @returns {Pair | null}
 */
export function pairFor(head, scores) {
  const other = comparedWith(head, scores);
  if (other === null) return null;
  const forward = state.vs === "" && scores.system === head.systems[0];
  const [from, to] = forward ? [scores.system, other] : [other, scores.system];
  for (const one of head.pairs) {
    if (one.measure !== scores.measure || one.level !== scores.level) continue;
    if (one.first === from && one.second === to) return one;
    if (one.first === to && one.second === from) {
      return { ...one, first: from, second: to, cells: one.cells.map(([gold, a, b, count]) => [gold, b, a, count]) };
    }
  }
  return null;
}

/**
 * The status of each example; null for unmatched predictions. Both systems list the gold spans in the same order.
 * @param {Head} head
 * @param {Scores} scores
 */
export function statuses(head, scores) {
  const pair = pairFor(head, scores);
  if (!pair) return null;
  /** @param {string} name */
  const cellsOf = (name) => {
    const examples = sameMeasure(head, scores, name)?.examples;
    return examples ? examples.cell.filter((_, i) => (examples.gl[i] ?? -1) >= 0) : [];
  };
  const [a, b] = [cellsOf(pair.first), cellsOf(pair.second)];
  if (a.length !== b.length) return null;
  let next = 0;
  return scores.examples.gl.map((gold) => {
    if (gold < 0) return null;
    const place = next++;
    const first = a[place] ?? -1;
    return { status: statusOf(gold, first, b[place] ?? -1), first };
  });
}

/**
 * Find the errors that all systems make in the same way: a gold span for which all predict the same wrong span or nothing,
 * or of which the predictions of all leave the same parts readable; or a span that all predict with the same type and that
 * is not in the gold data.
 * @param {Head} head
 * @param {Scores} scores
 * @returns {boolean[] | null}
 */
export function suspects(head, scores) {
  const same = head.scores.filter((one) => one.measure === scores.measure && one.level === scores.level);
  if (same.length < 2) return null;
  /** @type {(examples: Examples, i: number) => string} */
  const key = ({ doc, gs, ge, gl, ps, pe, pl, why }, i) => `${doc[i]} ${gs[i]} ${ge[i]} ${gl[i]} ${ps[i]} ${pe[i]} ${pl[i]} ${why[i]}`;
  /** @type {(examples: Examples, i: number) => boolean} */
  const wrong = (examples, i) => (examples.gl[i] ?? -1) < 0 || examples.cell[i] !== examples.gl[i];
  const sets = same.map(({ examples }) => {
    const found = new Set();
    for (let i = 0; i < examples.doc.length; i++) if (wrong(examples, i)) found.add(key(examples, i));
    return found;
  });
  return scores.examples.doc.map((_, i) => wrong(scores.examples, i) && sets.every((one) => one.has(key(scores.examples, i))));
}

/**
 * The tested difference of two systems, from the second to the first.
 * @param {Comparison | null} comparison
 * @param {{measure: string | null, level: string | null}} scores
 * @param {string} number
 * @param {string} first
 * @param {string} second
 * @returns {Difference | null}
 */
export function testedDifference(comparison, { measure, level }, number, first, second) {
  for (const one of comparison?.differences ?? []) {
    if (one.measure !== measure || one.level !== level || one.number !== number) continue;
    if (one.first === first && one.second === second) return one;
    if (one.first === second && one.second === first) {
      const [low, high] = one.interval;
      return { ...one, first, second, difference: one.difference === null ? null : -one.difference, interval: [high === null ? null : -high, low === null ? null : -low] };
    }
  }
  return null;
}

/**
 * The letters of the systems that one is significantly better than.
 * @param {Comparison | null} comparison
 * @param {Scores} scores
 * @param {string} number
 */
export function beaten(comparison, scores, number) {
  if (!comparison) return "";
  return comparison.systems
    .filter(({ system: other }) => {
      const found = testedDifference(comparison, scores, number, scores.system, other);
      return found !== null && found.p_holm < comparison.alpha && (found.difference ?? 0) > 0;
    })
    .map(({ letter }) => letter)
    .join("");
}
