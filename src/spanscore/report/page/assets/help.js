// Help: keyboard shortcuts and a glossary.
import { button, byId, fill, h } from "./dom.js";
import { change, state } from "./state.js";

/** @type {[string, string][]} */
const KEYS = [["j", "next example"], ["k", "previous example"], ["n", "next error"], ["o or Enter", "open the document"], ["/", "search"], ["?", "show this help"], ["Esc", "close"]];
/** @type {[string, string][]} */
const TERMS = [
  ["leak", "a private span that can still be read, wholly or in part, after everything that the system predicted is masked, whatever type it predicted"],
  ["P, R, F", "precision: the fraction of predictions that are correct; recall: the fraction of annotations that were found; F: their harmonic mean, where a higher number (as in F2) gives more weight to recall"],
  ["not found, wrong", "annotations that were not found or have the wrong type, and predictions that are not correct. The measure defines what counts as correct; run spanscore measures NAME to see its definition"],
  ["missed, spurious", "in the matrix: a gold span or a prediction without a good enough match. A span with wrong boundaries counts as both, but is one example with both sides"],
  ["verdicts", "the outcome for a span: too short, too long, shifted, split (several predictions for one gold span), merged (one prediction for several gold spans), wrong type, wrong attribute or wrong link, or missed or spurious if nothing of its type is nearby; invented: a prediction that is not in the text at all; for leak, what masking all predictions leaves of a span: hidden, partly hidden or exposed, and needless for a prediction that overlaps no gold span"],
  ["annotators", "where the gold data names several: how many of those who saw a document marked exactly this span. With --annotator all, a document is listed once for each of them, and its gold spans are that annotator's"],
  ["IoU", "intersection over union: the characters that a gold span and its prediction share, divided by the characters that either of them covers"],
  ["AP, ECE", "average precision over all thresholds; expected calibration error: the mean gap between scores and the fraction that is correct"],
];

export function showHelp() {
  const dialog = /** @type {HTMLDialogElement} */ (byId("help"));
  const off = h("input", { type: "checkbox", id: "keys" });
  off.addEventListener("change", () => change({ keys: off.checked ? "off" : "" }));
  off.checked = state.keys === "off";
  /** @type {(pairs: [string, string][], tag: "kbd" | "b") => HTMLElement} */
  const list = (pairs, tag) => h("dl", { class: "keys" }, pairs.map(([key, what]) => [h("dt", {}, h(tag, {}, key)), h("dd", {}, what)]));
  fill(dialog, h("div", { class: "row" }, h("h2", { id: "help-title" }, "Help"), button("Close (Esc)", () => dialog.close(), { autofocus: true })),
    h("h3", {}, "Keyboard shortcuts"), list(KEYS, "kbd"), h("p", {}, h("label", { class: "inline", for: "keys" }, off, "turn off single-key shortcuts")),
    h("h3", {}, "Glossary"), list(TERMS, "b"),
    h("p", {}, "Select a count, a name or a cell of the matrix to see the examples behind it. In the examples, gold spans are above the text and have a solid border; the spans of the systems are below it and have dashed, dotted or double borders. The URL of the page contains all your settings: copy it to share the current view. The browser's Back undoes a selection."));
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close();
  };
  if (!dialog.open) dialog.showModal();
}
