// Text with gold spans above it and the spans of each system below it. Nested and crossing spans get separate lanes.
// The browser lays out the text, in any script and direction; the bars are placed where it put the characters.
import { h, visible } from "./dom.js";

/** @import { Span } from "./types" */
/** @import { Document } from "./data.js" */

export const HEIGHT = 16;
export const LINE = 22;

/**
 * Assign each span to the first free lane, starting with the spans in focus.
 * @param {Span[]} spans
 * @param {(span: Span) => boolean} inFocus
 * @returns {[Span, number][]}
 */
export function stacked(spans, inFocus = () => false) {
  /** @type {[number, number][][]} */
  const lanes = [];
  const order = [...spans].sort((a, b) => Number(inFocus(b)) - Number(inFocus(a)) || a[0] - b[0] || b[1] - a[1]);
  return order.map((span) => {
    const [start, end] = [span[0], Math.max(span[1], span[0] + 1)];
    let lane = lanes.findIndex((taken) => taken.every(([from, to]) => end <= from || start >= to));
    if (lane < 0) lane = lanes.push([]) - 1;
    lanes[lane].push([start, end]);
    return [span, lane];
  });
}

/** @param {[Span, number][]} stack */
function lanesOf(stack) {
  return stack.reduce((most, [, lane]) => Math.max(most, lane + 1), 0);
}

/**
 * Put the names that do not fit into their bars to the right of them, where the lane has room.
 * @param {HTMLElement} box
 * @param {HTMLElement[]} bars
 */
function namesBeside(box, bars) {
  const edge = box.scrollWidth;
  const placed = bars.map((bar) => ({ bar, left: bar.offsetLeft, right: bar.offsetLeft + bar.offsetWidth, top: bar.offsetTop, cut: bar.scrollWidth > bar.clientWidth, needed: bar.scrollWidth }));
  for (const { bar, right, top, needed } of placed.filter(({ cut }) => cut)) {
    const next = Math.min(edge, ...placed.filter((one) => one.top === top && one.left >= right - 1 && one.bar !== bar).map(({ left }) => left));
    if (right + needed + 4 <= next) bar.classList.add("short");
  }
}

/**
 * @param {Document} found
 * @param {{from: number, to: number, sides: Span[][], names: string[], kinds: string[], labels: string[], above?: number, whole?: boolean, most?: number, room?: number, focus: (side: number, span: Span) => boolean}} options
 *   `from` and `to` are the code point offsets of the visible window; `sides` holds the spans of gold and of each system, of which the
 *   first `above` stand above the text; each side has at most `most` lanes, and all together at most `room`
 */
export function drawLanes(found, { from, to, sides, names, kinds, labels, above: upper = 1, whole = false, most = Infinity, room: total = Infinity, focus }) {
  const inside = sides.map((spans) => spans.filter(([start, end]) => start <= to && end >= from && (end > from || start === end) && (start < to || start === end)));
  const stacks = inside.map((spans, side) => stacked(spans, (span) => focus(side, span)));
  const counts = stacks.map((stack) => Math.min(most, lanesOf(stack)));
  let used = counts.reduce((sum, count) => sum + Math.max(count, 1), 0);
  for (let side = counts.length - 1; side >= 0; side--) {
    while (used > total && counts[side] > 1) {
      counts[side] -= 1;
      used -= 1;
    }
  }
  const above = counts.slice(0, upper).reduce((sum, count) => sum + count, 0) * HEIGHT;
  const below = counts.slice(upper).reduce((sum, count) => sum + Math.max(count, 1), 0) * HEIGHT;
  const box = h("div", { class: whole ? "lanes whole" : "lanes line", dir: "auto" });
  const before = from > 0 ? "…" : "";
  const content = `${before}${visible(found.slice(from, to), whole)}${to < found.points ? "…" : ""}`;
  const node = document.createTextNode(content);
  box.append(node);
  const room = whole ? 2 * Math.max(above, below) : 0;
  box.style.lineHeight = `${LINE + room}px`;
  if (!whole) {
    box.style.paddingTop = `${above}px`;
    box.style.paddingBottom = `${below}px`;
  }
  const place = (/** @type {number} */ point) => before.length + found.at(Math.min(Math.max(point, from), to)) - found.at(from);
  const draw = () => {
    const origin = box.getBoundingClientRect();
    const range = document.createRange();
    /** @type {HTMLElement[]} */
    const bars = [];
    let [over, under] = [0, 0];
    stacks.forEach((stack, side) => {
      for (const [span, lane] of stack) {
        if (lane >= counts[side]) continue;
        const [start, end, label, score, entity] = span;
        const [a, b] = [place(start), place(end)];
        range.setStart(node, Math.min(a, content.length));
        range.setEnd(node, Math.min(Math.max(b, a), content.length));
        /** @type {{left: number, top: number, bottom: number, width: number}[]} */
        let boxes = [...range.getClientRects()].filter((one) => one.width > 0);
        if (!boxes.length) {
          range.setStart(node, Math.max(0, Math.min(a, content.length - 1)));
          range.setEnd(node, Math.min(content.length, Math.max(a, 0) + 1));
          boxes = [...range.getClientRects()].slice(0, 1).map((one) => ({ left: one.left, top: one.top, bottom: one.bottom, width: 3 }));
        }
        const name = labels[label] ?? "";
        const picked = focus(side, span);
        boxes.forEach((one, number) => {
          const title = `${names[side]}: ${name}${entity ? ` ${entity}` : ""}${score === null || score === undefined ? "" : ` ${score}`}`;
          const bar = h("span", { class: `lane ${kinds[side]}${picked ? " focus" : ""}`, title: visible(title) }, h("span", {}, number === 0 ? visible([side < upper && upper > 1 ? names[side] : null, entity, name].filter(Boolean).join(" · ")) : ""));
          bar.style.left = `${one.left - origin.left + box.scrollLeft}px`;
          bar.style.width = `${Math.max(one.width, 3)}px`;
          const offset = side < upper ? one.top - origin.top - (over + lane + 1) * HEIGHT : one.bottom - origin.top + (under + lane) * HEIGHT + 1;
          bar.style.top = `${offset}px`;
          bars.push(bar);
        });
      }
      if (side < upper) over += counts[side];
      else under += Math.max(counts[side], 1);
    });
    for (const old of box.querySelectorAll(".lane")) old.remove();
    box.append(...bars);
    namesBeside(box, bars);
    const target = /** @type {HTMLElement | null} */ (box.querySelector(".lane.focus"));
    if (!whole && target) {
      const middle = target.offsetLeft + target.offsetWidth / 2 - box.clientWidth / 2;
      if (Math.abs(middle) > 1) box.scrollLeft = middle;
    }
  };
  return { box, draw };
}
