// Annotators: how far they agree, beside the scores of the systems, and the examples on which they do not.
import { bodyOf, breakable, button, byId, fill, folded, grouped, h, scrolling, visible } from "./dom.js";
import { NAMES, between, measured, shown } from "./numbers.js";
import { state } from "./state.js";
import { hasScores, showExamples, view } from "./view.js";

/** @import { AgreementRow, Coefficient, Interval } from "./types" */

const BY = "meta.annotator"; // the slices with the scores against each annotator

/** The annotators who marked exactly the span of an example, and those who saw its document.
 * @param {number} i
 * @returns {{marked: number[], seen: number[]} | null}
 */
export function votesOf(i) {
  const { head, scores } = view;
  const { annotators } = head;
  const by = scores.examples.by;
  if (!annotators || !by) return null;
  return { marked: annotators.groups[by[i]], seen: annotators.groups[annotators.seen[scores.examples.doc[i]]] };
}

/** Whether some annotators of the document marked the span of an example and others did not.
 * @param {number} i
 */
export function disputed(i) {
  const votes = votesOf(i);
  return votes !== null && votes.marked.length > 0 && votes.marked.length < votes.seen.length;
}

/** How many annotators marked the span of an example, if they disagree.
 * @param {number} i
 */
export function votesShown(i) {
  const votes = votesOf(i);
  const names = view.head.annotators?.names ?? [];
  if (!votes || !disputed(i)) return null;
  const { marked, seen } = votes;
  return h("span", { class: "votes", title: `marked by ${marked.map((code) => visible(names[code])).join(", ")}` }, `${marked.length} of ${seen.length} annotators`);
}

/** What to call the gold spans of a document: its annotator, if it has one.
 * @param {number} number
 */
export function goldName(number) {
  const { annotators, gold } = view.head;
  return annotators?.names[annotators.own[number] ?? -1] ?? gold;
}

/** The copies of a document with the spans of other annotators.
 * @param {number} number
 * @returns {number[]}
 */
export function copiesOf(number) {
  const { annotators } = view.head;
  if (!annotators || (annotators.own[number] ?? -1) < 0) return [];
  const same = annotators.document[number];
  return annotators.document.flatMap((one, i) => (one === same && i !== number ? [i] : []));
}

/** A score or a coefficient with its interval.
 * @param {number | null | undefined} value
 * @param {Interval | null | undefined} interval
 */
function withInterval(value, interval) {
  return h("td", {}, measured(value ?? null, interval ?? undefined, state.ci === "1"));
}

/** @param {Coefficient} one */
function coefficient(one) {
  return withInterval(one.value, one.interval);
}

/**
 * @param {string} first
 * @param {string[]} more
 */
function heads(first, ...more) {
  return h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "text" }, first), more.map((name) => h("th", { scope: "col" }, name))));
}

/** Each annotator: what was annotated, how far it agrees with the others, and the system's scores against it. */
function eachTable() {
  const { head, scores } = view;
  const { annotators } = head;
  if (!annotators) return null;
  const against = new Map(scores.slices[BY] ?? []);
  const numbers = NAMES.filter(() => against.size);
  const numbersOf = (/** @type {string} */ name) => numbers.map(([key]) => withInterval(against.get(name)?.[key], against.get(name)?.interval?.[key]));
  const overall = numbers.map(([key]) => withInterval(scores.overall[key], scores.overall.interval?.[key]));
  const caption = `F1 with the others: exact-match agreement on documents both annotators saw${against.size ? `. R, P, F${head.beta}: ${visible(scores.system)} against each annotator by ${scores.measure}` : ""}`;
  return scrolling("Annotators", h("table", { id: "each-annotator" },
    h("caption", {}, caption),
    heads("annotator", "documents", "spans", "F1 with the others", ...numbers.map(([key, text]) => (key === "f" ? `F${head.beta}` : text))),
    h("tbody", {},
      h("tr", { class: "total" }, h("th", { scope: "row" }, "all annotators"), h("td", {}, grouped(annotators.documents)), h("td", {}, grouped(annotators.table.reduce((sum, [, count]) => sum + count, 0))), h("td", {}, shown(annotators.together)), overall),
      annotators.table.map(([documents, spans, f], code) => h("tr", { "data-row": `an=${code}` },
        h("th", { scope: "row" }, button(visible(annotators.names[code]), () => showExamples({ an: code }), { class: "plain", id: `annotator-${code}` })),
        h("td", {}, grouped(documents)), h("td", {}, grouped(spans)), h("td", {}, shown(f)), numbersOf(annotators.names[code]))))));
}

/** Each pair of annotators by the selected measure, and all of them together. */
function pairsTable() {
  const { head, scores } = view;
  const { pairs, alpha, annotators } = head.agreement ?? {};
  if (!pairs || !alpha || !annotators) return null;
  const all = row(null);
  return scrolling("Pairs of annotators", h("table", { id: "annotator-pairs" },
    h("caption", {}, `F${head.beta} by ${scores.measure}; kappa and alpha on tokens`),
    heads("annotators", "documents", `F${head.beta}`, "kappa", "kappa, marked tokens", "alpha"),
    h("tbody", {},
      h("tr", { class: "total" }, h("th", { scope: "row" }, `all ${annotators.length}`), h("td", {}), withInterval(all?.f, all?.interval?.f), h("td", {}), h("td", {}), coefficient(alpha)),
      pairs.map((one) => {
        const found = one.scores.find(({ measure }) => measure === scores.measure);
        return h("tr", {}, h("th", { scope: "row" }, `${visible(one.first)} and ${visible(one.second)}`), h("td", {}, grouped(one.documents)), withInterval(found?.f, found?.f_interval), coefficient(one.kappa), coefficient(one.kappa_marked), h("td", {}));
      }))));
}

/** The agreement of all annotators by the selected measure.
 * @param {string | null} type
 * @returns {AgreementRow | undefined}
 */
function row(type) {
  return view.head.agreement?.results.find((one) => one.measure === view.scores.measure && one.type === type);
}

/** The agreement of all annotators by type, beside the score of the system. */
function typesTable() {
  const { head, scores } = view;
  const rows = (head.agreement?.results ?? []).filter((one) => one.measure === scores.measure);
  if (!rows.length) return null;
  const alphas = head.agreement?.alpha_by_type;
  const systems = head.agreement?.pairs ? [] : head.scores.filter((one) => one.measure === scores.measure && one.level === scores.level);
  /** @type {(one: (typeof systems)[number], type: string | null) => HTMLElement} */
  const own = (one, type) => {
    const found = type === null ? one.overall : one.types.find(([name]) => name === type)?.[1];
    return found && hasScores(type, found.recall) ? withInterval(found.f, found.interval?.f) : h("td", {}, "–");
  };
  return scrolling("Agreement by type", h("table", { id: "agreement-types" },
    h("caption", {}, `F${head.beta} by ${scores.measure}${systems.length ? ": a system that agrees with the gold data as well as annotators agree with each other is as good as one of them" : ""}`),
    heads("type", "annotators", ...systems.map((one) => visible(one.system)), ...(alphas ? ["alpha"] : [])),
    h("tbody", {}, rows.map((one) => h("tr", one.type === null ? { class: "total" } : {}, h("th", { scope: "row" }, one.type === null ? "all types" : breakable(one.type)), withInterval(one.f, one.interval?.f), systems.map((system) => own(system, one.type)),
      alphas ? (one.type === null ? h("td", {}, shown(head.agreement?.alpha?.value)) : alphas[one.type] ? coefficient(alphas[one.type]) : h("td")) : null)))));
}

export function drawAnnotators() {
  const { head, scores } = view;
  const section = byId("annotators");
  section.hidden = !head.annotators && !row(null) && !head.agreement?.pairs;
  if (section.hidden) return;
  const count = head.annotators ? scores.examples.doc.reduce((sum, _, i) => sum + Number(disputed(i)), 0) : 0;
  if (head.agreement?.pairs) byId("left").prepend(section); // the page is about annotators
  const open = section.querySelector("details")?.open;
  fill(bodyOf("annotators"), eachTable(), pairsTable(),
    head.annotators ? h("p", {}, button(`Show ${grouped(count)} ${count === 1 ? "example" : "examples"} on which annotators disagree`, () => showExamples({ ag: "differ", v: "all" }), { id: "disputed", "aria-pressed": String(state.ag === "differ") })) : null,
    row(null) ? folded(head.agreement?.pairs ? "Agreement by type" : "Agreement by type, beside the systems", () => typesTable(), open) : null);
}

/** The agreement of annotators by the selected measure, for the tile of F. */
export function agreementNote() {
  const { head } = view;
  const all = head.agreement?.pairs ? undefined : row(null);
  return all ? h("p", { class: "change" }, `annotators agree at ${shown(all.f)} ${between(all.interval?.f)}`.trim()) : null;
}
