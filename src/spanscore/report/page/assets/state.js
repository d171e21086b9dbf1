// What is shown, all of it in the address of the page, so that a link shows the same again.

const DEFAULTS = {
  m: "0", s: "0", by: "type", sort: "", share: "", v: "errors", g: "", c: "", ty: "", st: "", a: "", sus: "", smin: "", smax: "",
  lmin: "", lmax: "", q: "", sl: "", at: "0", t: "", ct: "", theme: "", w: "", doc: "", keys: "",
};

// The filters of examples, all off: what shows a set of examples begins with these.
export const FILTERS = ["v", "g", "c", "ty", "st", "a", "sus", "smin", "smax", "lmin", "lmax", "q", "sl"];
export const CLEAR = Object.fromEntries([...FILTERS, "at"].map((name) => [name, DEFAULTS[name]]));

export const state = { ...DEFAULTS };
const listeners = [];

export function readState() {
  const said = new URLSearchParams(location.hash.slice(1));
  for (const name of Object.keys(DEFAULTS)) state[name] = said.get(name) ?? DEFAULTS[name];
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
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) if (value !== DEFAULTS[name]) said.set(name, value);
  history.replaceState(null, "", `#${said}`);
  for (const call of listeners) call(changed);
}

export function everything() {
  return new Set(Object.keys(DEFAULTS));
}
