// The view state. All of it is stored in the URL fragment, so that a link restores the same view.

const DEFAULTS = {
  m: "0", s: "0", by: "type", sort: "", share: "", v: "errors", g: "", c: "", ty: "", st: "", a: "", sus: "", smin: "", smax: "",
  lmin: "", lmax: "", q: "", sl: "", at: "0", t: "", ct: "", theme: "", w: "", doc: "", keys: "",
};

// The example filters and their cleared state, from which every selection of examples starts.
export const FILTERS = ["v", "g", "c", "ty", "st", "a", "sus", "smin", "smax", "lmin", "lmax", "q", "sl"];
export const CLEAR = Object.fromEntries([...FILTERS, "at"].map((name) => [name, DEFAULTS[name]]));

export const state = { ...DEFAULTS };
const listeners = [];

export function readState() {
  const params = new URLSearchParams(location.hash.slice(1));
  for (const name of Object.keys(DEFAULTS)) state[name] = params.get(name) ?? DEFAULTS[name];
}

export function whenChanged(call) {
  listeners.push(call);
}

export function change(changes) {
  const changed = new Set();
  for (const [name, value] of Object.entries(changes)) {
    const text = String(value);
    if (state[name] !== text) {
      state[name] = text;
      changed.add(name);
    }
  }
  if (!changed.size) return;
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) if (value !== DEFAULTS[name]) params.set(name, value);
  history.replaceState(null, "", `#${params}`);
  for (const call of listeners) call(changed);
}

export function everything() {
  return new Set(Object.keys(DEFAULTS));
}
