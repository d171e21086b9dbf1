// Marks: the reader's verdicts on examples. In a report on systems: the gold data is wrong. In a report on annotators, whose
// gold data is one of them or their majority: who is right.
import { button, choice, h, visible } from "./dom.js";
import { change, state } from "./state.js";
import { isReview, spanOf, view } from "./view.js";

/** Who may be right; if documents are listed once for each annotator, these are together one system.
 * @param {string} system
 */
function verdictsOn(system) {
  return [`${view.head.gold} is right`, `${system === "annotators" ? "the annotator" : system} is right`, "neither is right"];
}

/** @param {number} i */
function markKey(i) {
  const [start, end] = spanOf(i);
  const { head, scores } = view;
  const { doc, gl, cell } = scores.examples;
  return [doc[i], start, end, gl[i], cell[i], ...(isReview() ? [head.systems.indexOf(scores.system)] : [])].join(".");
}

/** The marked examples, each with the number of its verdict. */
export function marksNow() {
  return new Map((state.w ? state.w.split(",") : []).map((one) => /** @type {[string, string]} */ ([one.split("!")[0], one.split("!")[1] ?? ""])));
}

/**
 * @param {string} key
 * @param {string | null} verdict
 */
function mark(key, verdict) {
  const marks = marksNow();
  marks.delete(key);
  if (verdict !== null) marks.set(key, verdict);
  change({ w: [...marks].map(([one, said]) => (said === "" ? one : `${one}!${said}`)).join(",") });
}

/** @param {number} i */
export function markControl(i) {
  const key = markKey(i);
  if (!isReview()) return button("gold is wrong", () => mark(key, marksNow().has(key) ? null : ""), { "data-mark": key, "aria-pressed": String(marksNow().has(key)) });
  const made = choice("", [["", "who is right?"], .../** @type {[unknown, string][]} */ (verdictsOn(view.scores.system).map((text, code) => [code, visible(text)]))], marksNow().get(key) ?? "", (said) => mark(key, said === "" ? null : said));
  made.removeAttribute("id");
  made.setAttribute("data-mark", key);
  made.setAttribute("aria-label", "Verdict");
  return made;
}

export function showMarks() {
  const marks = marksNow();
  for (const one of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-mark]"))) {
    const key = one.dataset.mark ?? "";
    if (one instanceof HTMLSelectElement) one.value = marks.get(key) ?? "";
    else one.setAttribute("aria-pressed", String(marks.has(key)));
  }
}

export function exportMarks() {
  const { ids, labels, systems, gold: reference, annotators } = view.head;
  const type = (/** @type {number} */ code) => (code < 0 ? null : labels[code]);
  const lines = [...marksNow()].map(([key, said]) => {
    const [doc, start, end, gold, cell, system] = key.split(".").map(Number);
    const who = annotators?.names[annotators.own[doc] ?? -1];
    const place = { document: ids[doc], start, end, gold: type(gold), predicted: type(cell) };
    return JSON.stringify(isReview() ? { ...place, annotators: [reference, systems[system]], verdict: verdictsOn(systems[system])[Number(said)] } : { ...place, ...(who === undefined ? {} : { annotator: who }), verdict: "gold is wrong" });
  });
  const link = h("a", { href: URL.createObjectURL(new Blob([lines.join("\n"), "\n"], { type: "application/jsonl" })), download: "gold-verdicts.jsonl" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
