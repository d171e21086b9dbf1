// The data of the page, unpacked on demand from the page itself or from the files next to it.

/** @import { Head, Span } from "./types" */

/**
 * @param {string} letters
 * @returns {Promise<any>}
 */
export async function unpack(letters) {
  const binary = atob(letters);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** @typedef {[string | null, ...unknown[][]]} Packed text, then the spans of each side as a flat list */

/** @type {Map<number, Promise<Packed[]>>} */
const shards = new Map();
/** @type {Map<number, Packed[]>} */
const ready = new Map();
/** @type {Map<number, (letters: string) => void>} */
const waiting = new Map();

/** @type {any} */ (globalThis).spanscoreShard = (/** @type {number} */ number, /** @type {string} */ letters) => waiting.get(number)?.(letters);

/**
 * @param {number} number
 * @returns {Promise<Packed[]>}
 */
export function loadShard(number) {
  const known = shards.get(number);
  if (known) return known;
  const inside = document.getElementById(`shard-${number}`);
  /** @type {Promise<string>} */
  const letters = inside
    ? Promise.resolve(inside.textContent ?? "")
    : new Promise((done, failed) => {
        waiting.set(number, done);
        const script = document.createElement("script");
        script.src = `shard-${number}.js`;
        script.onerror = () => failed(new Error(`shard-${number}.js is missing from the report folder`));
        document.head.append(script);
      });
  const made = letters.then(unpack).then((found) => {
    ready.set(number, found);
    return found;
  });
  shards.set(number, made);
  return made;
}

/** A document: its text, and the spans of the gold data and of each system. */
export class Document {
  /**
   * @param {Packed} packed
   * @param {number} width
   */
  constructor(packed, width) {
    this.text = packed[0];
    this.sides = packed.slice(1).map((flat) => unflatten(/** @type {unknown[]} */ (flat), width));
    /** @type {Uint32Array | false | null} */
    this.units = null;
  }

  /**
   * Convert a code point offset to a UTF-16 string index.
   * @param {number} point
   * @returns {number}
   */
  at(point) {
    if (this.text === null) return 0;
    if (this.units === null) {
      this.units = false;
      if (/[\ud800-\udfff]/.test(this.text)) {
        const places = [];
        let place = 0;
        for (const one of this.text) {
          places.push(place);
          place += one.length;
        }
        places.push(place);
        this.units = Uint32Array.from(places);
      }
    }
    if (!this.units) return Math.min(point, this.text.length);
    return this.units[Math.min(point, this.units.length - 1)] ?? 0;
  }

  get points() {
    this.at(0);
    return this.text === null ? 0 : this.units ? this.units.length - 1 : this.text.length;
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  slice(from, to) {
    return (this.text ?? "").slice(this.at(from), this.at(to));
  }
}

/**
 * @param {unknown[]} flat
 * @param {number} width
 * @returns {Span[]}
 */
function unflatten(flat, width) {
  const spans = [];
  for (let i = 0; i < flat.length; i += width) spans.push(/** @type {Span} */ (flat.slice(i, i + width)));
  return spans;
}

/** @type {Map<number, Document>} */
const documents = new Map();

/**
 * Return the document if its shard is unpacked, else null; `loadDocument` unpacks it first.
 * @param {Head} head
 * @param {number} number
 * @returns {Document | null}
 */
export function documentNow(head, number) {
  const shard = ready.get(Math.floor(number / head.shard));
  if (!shard) return null;
  let found = documents.get(number);
  if (!found) {
    if (documents.size > 2000) documents.clear();
    found = new Document(/** @type {Packed} */ (shard[number % head.shard]), head.entities ? 5 : 4);
    documents.set(number, found);
  }
  return found;
}

/**
 * @param {Head} head
 * @param {number} number
 */
export async function loadDocument(head, number) {
  await loadShard(Math.floor(number / head.shard));
  return documentNow(head, number);
}
