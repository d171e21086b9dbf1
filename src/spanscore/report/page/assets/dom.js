// DOM helpers. Data is always inserted as text, never as markup.

export function h(tag, settings = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(settings)) {
    if (name === "on") for (const [event, call] of Object.entries(value)) made.addEventListener(event, call);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, String(value));
  }
  made.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  return made;
}

// Replace the children, and restore the focus to the element with the same id.
export function fill(place, ...children) {
  const had = place.contains(document.activeElement) ? document.activeElement.id : "";
  place.replaceChildren(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  if (had) document.getElementById(had)?.focus();
}

export function byId(id) {
  return document.getElementById(id);
}

// Invisible and bidirectional control characters are replaced by visible symbols: control characters by their Unicode
// pictures, direction marks and zero-width characters by an empty box. One for one, so that offsets stay valid.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g;

export function visible(text, keepLines = false) {
  return text.replace(UNSEEN, (found) => {
    const code = found.charCodeAt(0);
    if (code === 10) return keepLines ? "\n" : "⏎";
    if (code === 9) return keepLines ? "\t" : "⇥";
    return code < 32 ? String.fromCharCode(0x2400 + code) : code === 127 ? "␡" : "▯";
  });
}

// Shorten a name to fit in a drop-down list.
export function short(text) {
  const seen = visible(text);
  return seen.length > 60 ? `${seen.slice(0, 59)}…` : seen;
}

export function labelled(text, control) {
  return h("label", {}, text, control);
}

export function choice(name, options, chosen, change) {
  const made = h("select", { id: name, on: { change: () => change(made.value) } });
  for (const [value, text] of options) {
    made.append(h("option", { value, selected: String(value) === String(chosen) }, text));
  }
  return made;
}

export function plural(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}
