// DOM helpers. Data is always inserted as text, never as markup.

/** @import { Child, Settings } from "./types" */

/**
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function present(children) {
  return /** @type {unknown[]} */ (/** @type {any[]} */ (children).flat(Infinity))
    .filter((one) => one !== null && one !== undefined && one !== false)
    .map((one) => (one instanceof Node ? one : String(one)));
}

/**
 * @param {Element} made
 * @param {Settings} settings
 * @param {Child[]} children
 */
function equip(made, settings, children) {
  for (const [name, value] of Object.entries(settings)) {
    if (name === "on") for (const [event, call] of Object.entries(settings.on ?? {})) made.addEventListener(event, call);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, String(value));
  }
  made.append(...present(children));
}

/**
 * Make an element.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Settings} settings
 * @param {Child[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, settings = {}, ...children) {
  const made = document.createElement(tag);
  equip(made, settings, children);
  return made;
}

/**
 * Make an element of a drawing.
 * @param {string} tag
 * @param {Settings} settings
 * @param {Child[]} children
 * @returns {SVGElement}
 */
export function svg(tag, settings = {}, ...children) {
  const made = /** @type {SVGElement} */ (document.createElementNS("http://www.w3.org/2000/svg", tag));
  equip(made, settings, children);
  return made;
}

/**
 * Replace the children, and restore the focus to the element with the same id.
 * @param {Element} place
 * @param {Child[]} children
 */
export function fill(place, ...children) {
  const had = document.activeElement && place.contains(document.activeElement) ? document.activeElement.id : "";
  place.replaceChildren(...present(children));
  if (had) document.getElementById(had)?.focus({ preventScroll: true });
}

/**
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/**
 * Return the part of a section that scripts fill in.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function bodyOf(id) {
  return /** @type {HTMLElement} */ (byId(id).querySelector(".body"));
}

// Invisible and bidirectional control characters are replaced by visible symbols: control characters by their Unicode
// pictures, direction marks and zero-width characters by an empty box. One for one, so that offsets stay valid.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g;

/**
 * @param {string} text
 * @param {boolean} keepLines
 */
export function visible(text, keepLines = false) {
  return text.replace(UNSEEN, (found) => {
    const code = found.charCodeAt(0);
    if (code === 10) return keepLines ? "\n" : "⏎";
    if (code === 9) return keepLines ? "\t" : "⇥";
    return code < 32 ? String.fromCharCode(0x2400 + code) : code === 127 ? "␡" : "▯";
  });
}

/**
 * A name that may be broken after underscores, as names of types are long.
 * @param {string} name
 * @returns {Child[]}
 */
export function breakable(name) {
  return visible(name).split(/(?<=_)/).map((part, i) => (i ? [h("wbr"), part] : part));
}

/**
 * A sentence whose intervals, in brackets, stay on one line.
 * @param {string} text
 * @returns {Child[]}
 */
export function unbroken(text) {
  return visible(text).split(/(\S+ \[[^\]]*\]\.?)/).map((part, i) => (i % 2 ? h("span", { class: "unbroken" }, part) : part));
}

/**
 * A list of short texts, such as names with their values, each of which stays on one line.
 * @param {string[]} texts
 * @returns {Child[]}
 */
export function listedWhole(texts) {
  return texts.map((text, i) => [i ? ", " : "", h("span", { class: "unbroken" }, text)]);
}

/**
 * Shorten a name to fit in a drop-down list.
 * @param {string} text
 */
export function short(text, most = 60) {
  const seen = visible(text);
  return seen.length > most ? `${seen.slice(0, most - 1)}…` : seen;
}

/**
 * @param {string} text
 * @param {HTMLElement} control
 */
export function labelled(text, control) {
  return h("label", {}, text, control);
}

/**
 * @param {string} name
 * @param {[unknown, string][]} options
 * @param {unknown} chosen
 * @param {(value: string) => unknown} change
 */
export function choice(name, options, chosen, change) {
  const made = h("select", { id: name });
  made.addEventListener("change", () => change(made.value));
  for (const [value, text] of options) {
    made.append(h("option", { value, selected: String(value) === String(chosen) }, text));
  }
  return made;
}

/**
 * A button; `settings.id` lets it keep the focus when it is drawn again.
 * @param {Child} text
 * @param {() => unknown} call
 * @param {Settings} settings
 */
export function button(text, call, settings = {}) {
  return h("button", { type: "button", ...settings, on: { click: call } }, text);
}

/**
 * A box that scrolls if its table does not fit.
 * @param {string} name
 * @param {Child[]} content
 */
export function scrolling(name, ...content) {
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": name }, content);
}

/** @param {number} number */
export function grouped(number) {
  return number.toLocaleString("en", { maximumFractionDigits: 1 });
}

/**
 * @param {number} number
 * @param {string} noun
 */
export function plural(number, noun) {
  return `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/**
 * A collapsed part that is built when it is first opened, because it may be large.
 * @param {string} summary
 * @param {() => Child} make
 * @param {boolean | undefined} open
 */
export function folded(summary, make, open) {
  const made = h("details", { open: open ?? false }, h("summary", {}, summary));
  const fillIn = () => {
    if (made.open && made.children.length === 1) made.append(...present([make()]));
  };
  made.addEventListener("toggle", fillIn);
  fillIn();
  return made;
}
