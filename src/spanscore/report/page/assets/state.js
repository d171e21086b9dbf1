// The view state. All of it is stored in the URL fragment, so that a link restores the same view.

const DEFAULTS = {
  m: "0", l: "0", s: "0", vs: "", by: "type", sort: "-missed", ci: "", cn: "", share: "", z: "12",
  v: "errors", g: "", c: "", ty: "", st: "", a: "", sus: "", fs: "", smin: "", smax: "", lmin: "", lmax: "", q: "", sl: "", an: "", ag: "",
  o: "", at: "0", t: "", ct: "", theme: "", w: "", doc: "", keys: "",
};

export const SOME = "some"; // the filter for any type, but not for none

/** @typedef {keyof typeof DEFAULTS} Name */
/** @typedef {Partial<Record<Name, string | number>>} Changes */

/**
 * The example filters and their cleared state, from which every selection of examples starts.
 * @type {Name[]}
 */
export const FILTERS = ["v", "g", "c", "ty", "st", "a", "sus", "fs", "smin", "smax", "lmin", "lmax", "q", "sl", "an", "ag"];
/** @type {Changes} */
export const CLEAR = Object.fromEntries([.../** @type {Name[]} */ ([...FILTERS, "at"])].map((name) => [name, DEFAULTS[name]]));

/**
 * Changes that the browser's Back undoes; the others, such as moving to the next example or typing a query, do not add an entry to the history.
 * @type {Set<string>}
 */
const STEPS = new Set(["m", "l", "s", "vs", "by", "v", "g", "c", "ty", "st", "a", "sus", "fs", "sl", "an", "ag", "doc"]);
/**
 * What the reader made or prefers, which Back does not undo.
 * @type {Name[]}
 */
const KEPT = ["w", "theme", "keys"];

export const state = { ...DEFAULTS };
const NAMES_OF_STATE = /** @type {Name[]} */ (Object.keys(DEFAULTS));
/** @type {((changed: Set<string>) => void)[]} */
const listeners = [];

export function readState() {
  const params = new URLSearchParams(location.hash.slice(1));
  for (const name of NAMES_OF_STATE) state[name] = params.get(name) ?? DEFAULTS[name];
}

function address() {
  const params = new URLSearchParams();
  for (const name of NAMES_OF_STATE) if (state[name] !== DEFAULTS[name]) params.set(name, state[name]);
  return `#${params}`;
}

/** Follow Back, Forward and edits of the address.
 * @param {() => void} call
 */
export function followHistory(call) {
  history.replaceState("own", "");
  addEventListener("popstate", (event) => {
    const before = { ...state };
    readState();
    if (event.state === "own") for (const name of KEPT) state[name] = before[name];
    history.replaceState("own", "", address());
    call();
  });
}

/** @param {(changed: Set<string>) => void} call */
export function whenChanged(call) {
  listeners.push(call);
}

/** @param {Changes} changes */
export function change(changes) {
  const changed = new Set();
  for (const name of NAMES_OF_STATE) {
    if (changes[name] === undefined) continue;
    const text = String(changes[name]);
    if (state[name] !== text) {
      state[name] = text;
      changed.add(name);
    }
  }
  if (!changed.size) return;
  if ([...changed].some((name) => STEPS.has(name))) history.pushState("own", "", address());
  else history.replaceState("own", "", address());
  for (const call of listeners) call(changed);
}

export function everything() {
  return new Set(/** @type {string[]} */ (NAMES_OF_STATE));
}
