// The view state. All of it is stored in the URL fragment, so that a link restores the same view.

const DEFAULTS = {
  m: "0", l: "0", s: "0", vs: "", by: "type", sort: "-missed", ci: "", cn: "", share: "", z: "12",
  v: "errors", g: "", c: "", ty: "", st: "", a: "", sus: "", fs: "", smin: "", smax: "", lmin: "", lmax: "", q: "", sl: "", an: "", ag: "",
  o: "", at: "0", t: "", ct: "", theme: "", w: "", doc: "", keys: "",
};

/** @typedef {keyof typeof DEFAULTS} Name */
/** @typedef {Partial<Record<Name, string | number>>} Changes */

/**
 * The example filters and their cleared state, from which every selection of examples starts.
 * @type {Name[]}
 */
export const FILTERS = ["v", "g", "c", "ty", "st", "a", "sus", "fs", "smin", "smax", "lmin", "lmax", "q", "sl", "an", "ag"];
/** @type {Changes} */
export const CLEAR = Object.fromEntries([.../** @type {Name[]} */ ([...FILTERS, "at"])].map((name) => [name, DEFAULTS[name]]));

export const state = { ...DEFAULTS };
const NAMES_OF_STATE = /** @type {Name[]} */ (Object.keys(DEFAULTS));
/** @type {((changed: Set<string>) => void)[]} */
const listeners = [];

export function readState() {
  const params = new URLSearchParams(location.hash.slice(1));
  for (const name of NAMES_OF_STATE) state[name] = params.get(name) ?? DEFAULTS[name];
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
  const params = new URLSearchParams();
  for (const name of NAMES_OF_STATE) if (state[name] !== DEFAULTS[name]) params.set(name, state[name]);
  history.replaceState(null, "", `#${params}`);
  for (const call of listeners) call(changed);
}

export function everything() {
  return new Set(/** @type {string[]} */ (NAMES_OF_STATE));
}
