// The strings that are most often missed or needlessly predicted.
import { bodyOf, button, byId, fill, grouped, h, visible } from "./dom.js";
import { SYMBOLS } from "./verdicts.js";
import { isReview, showExamples, view } from "./view.js";

const SHOWN = 8; // strings of each side that are listed at once

/** @import { Group } from "./verdicts.js" */

export function drawFrequent() {
  const { head, scores } = view;
  byId("frequent").hidden = !scores.frequent.length;
  if (!scores.frequent.length) return;
  const found = scores.frequent.map(([predicted, label, string, count], i) => ({ predicted, label, string, count, i }));
  /** @type {(title: string, group: Group, some: typeof found) => HTMLElement | null} */
  const list = (title, group, some) => {
    if (!some.length) return null;
    /** @type {(one: (typeof found)[number]) => HTMLElement} */
    const item = ({ label, string, count, i }) => h("li", {}, button([h("b", {}, `${grouped(count)}×`), " ", h("q", { dir: "auto" }, visible(string)), " ", h("span", { class: "type" }, visible(head.labels[label] ?? ""))], () => showExamples({ fs: i }), { class: "plain", id: `string-${i}` }));
    return h("div", {}, h("h3", {}, h("span", { class: `mark ${group}`, "aria-hidden": "true" }, SYMBOLS[group]), ` ${title}`), h("ol", {}, some.slice(0, SHOWN).map(item)),
      some.length > SHOWN ? h("details", {}, h("summary", {}, `${some.length - SHOWN} more`), h("ol", { start: SHOWN + 1 }, some.slice(SHOWN).map(item))) : null);
  };
  const about = scores.answer.kind === "leak" && scores.measure.startsWith("leak");
  fill(bodyOf("frequent"), h("div", { class: "halves" },
    list(isReview() ? `marked by ${visible(head.gold)}, not by ${visible(scores.system)}` : about ? "stay readable" : "missed or wrong", "missed", found.filter((one) => !one.predicted)),
    list(isReview() ? `marked by ${visible(scores.system)}, not by ${visible(head.gold)}` : about ? "needlessly masked" : "needless predictions", "needless", found.filter((one) => one.predicted))),
    head.text === "mask" ? h("p", { class: "none" }, "Strings are grouped by their masked shape.") : null);
}
