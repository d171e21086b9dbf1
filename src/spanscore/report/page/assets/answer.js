// The first screen: the headline, the tiles, and what a reader must know before trusting the numbers.
import { agreementNote } from "./annotators.js";
import { button, byId, fill, h, plural, unbroken, visible } from "./dom.js";
import { ofTotal, shown } from "./numbers.js";
import { comparedWith, sameMeasure, testedDifference } from "./pairs.js";
import { isReview, showExamples, view } from "./view.js";

/** @import { Tile } from "./types" */

/** The change of a number from the system compared with, with its p-value if it was tested.
 * @param {Tile} tile
 */
function changeOf(tile) {
  const { head, scores } = view;
  const other = comparedWith(head, scores);
  if (other === null || tile.value === null) return null;
  const before = sameMeasure(head, scores, other)?.answer.tiles.find((one) => one.name === tile.name);
  if (!before || before.value === null) return null;
  const gap = tile.value - before.value;
  const percent = tile.name === "leak" || tile.name === "documents";
  const size = percent ? `${(100 * Math.abs(gap)).toFixed(1)} points` : shown(Math.abs(gap));
  const [more, less] = percent ? ["more", "less"] : ["higher", "lower"];
  const change = gap === 0 ? "same as" : Number.parseFloat(size) === 0 ? "nearly the same as" : `${size} ${gap > 0 ? more : less} than`;
  const tested = tile.measure === null ? null : testedDifference(head.comparison, tile, tile.name === "leak" ? "recall" : tile.name, scores.system, other);
  const better = percent ? gap < 0 : gap > 0;
  const significant = tested !== null && gap !== 0 && tested.p_holm < (head.comparison?.alpha ?? 0);
  const p = tested === null ? "" : `, p\u00a0${tested.p_holm < 0.001 ? "<\u00a00.001" : `=\u00a0${tested.p_holm.toFixed(3)}`}`;
  return h("p", { class: `change ${significant ? (better ? "better" : "worse") : ""}` }, `${change} ${visible(other)}${p}`);
}

export function drawAnswer() {
  const { head, scores } = view;
  const { answer } = scores;
  const measure = answer.kind === "leak" ? { m: head.measures.indexOf(answer.tiles[0].measure ?? "") } : {};
  const most = `${isReview() ? "Most disputed" : "Worst"} ${answer.worst.length === 1 ? "type" : "types"}: `;
  // The stop is part of the button, because a long name fills the line.
  const worst = answer.worst.map(([name, missed, annotated], i, all) => [
    button([h("b", {}, visible(name)), " ", h("span", { class: "unbroken" }, ofTotal(missed, annotated), h("span", { class: "stop" }, i + 1 < all.length ? "," : "."))], () => showExamples({ ...measure, g: head.labels.indexOf(name) }), { class: "plain", id: `worst-${i}` }),
    " ",
  ]);
  const who = head.systems.length > 1 && !isReview() ? `${visible(scores.system)}: ` : "";
  fill(byId("answer"),
    h("p", { id: "lead" }, who, unbroken(answer.lead)),
    worst.length || answer.documents ? h("p", { id: "worst" }, worst.length ? [most, worst] : null, unbroken(answer.documents ?? "")) : null,
    h("ul", { id: "tiles", "aria-label": "Key numbers" }, answer.tiles.map((tile) =>
      h("li", { class: tile.value && ["leak", "documents"].includes(tile.name) ? "tile alarm" : "tile", "data-tile": tile.name },
        h("p", { class: "label" }, tile.label),
        h("p", { class: "value" }, tile.shown),
        tile.interval ? h("p", { class: "interval" }, tile.interval.split(/ (?=\[)/).map((part, i) => [i ? " " : "", h("span", { class: "unbroken" }, part)])) : null,
        h("p", { class: "note" }, visible(tile.note)),
        tile.name === "f" ? agreementNote() : null,
        changeOf(tile)))),
    h("p", { id: "certainty" }, `In brackets: ${100 * head.confidence}% confidence intervals over documents.`));
}

const BANNERS = {
  show: "This page contains document text. Store it only where the documents may be stored.",
  mask: "Document text is masked: letters are shown as X or x, digits as 9. IDs, types, scores, offsets and file names are not masked.",
  hide: "This page contains no document text, but it does contain IDs, types, scores, offsets, verdicts and file names.",
};

export function drawNotes() {
  const { head, scores } = view;
  const { notes, important, text, skipped } = head;
  const list = (/** @type {string[]} */ some) => h("ul", {}, some.map((one) => h("li", {}, visible(one))));
  const first = [...(skipped ? [skipped[Number(scores.blind)]] : []), ...notes.slice(0, important)];
  const rest = notes.slice(important);
  const open = byId("notes").querySelector("details")?.open ?? false;
  byId("banner").textContent = BANNERS[text];
  byId("notes").hidden = !first.length && !rest.length;
  byId("notes").className = first.length ? "" : "quiet";
  fill(byId("notes"), h("h2", { id: "notes-title" }, first.length ? "Before you trust the numbers" : "Notes"), first.length ? list(first) : null,
    rest.length ? h("details", { open }, h("summary", {}, first.length ? plural(rest.length, "more note") : plural(rest.length, "note")), list(rest)) : null);
}
