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
/** @type {Map<number, Promise<Packed[]>>} */
const coming = new Map(); // shards that are being unpacked
/** @type {Map<number, Error>} */
const failures = new Map();
/** @type {Map<number, (letters: string) => void>} */
const waiting = new Map();

/** @type {any} */ (globalThis).spanscoreShard = (/** @type {number} */ number, /** @type {string} */ letters) => waiting.get(number)?.(letters);

/**
 * Unpack a shard without keeping it.
 * @param {number} number
 * @returns {Promise<Packed[]>}
 */
function unpackShard(number) {
  const failed = failures.get(number);
  if (failed) return Promise.reject(failed);
  const known = coming.get(number);
  if (known) return known;
  const inside = document.getElementById(`shard-${number}`);
  /** @type {Promise<string>} */
  const letters = inside
    ? Promise.resolve(inside.textContent ?? "")
    : new Promise((done, failed) => {
        waiting.set(number, done);
        const script = document.createElement("script");
        script.src = `shard-${number}.js`;
        script.onload = () => script.remove();
        script.onerror = () => failed(new Error(`shard-${number}.js is missing from the report folder`));
        document.head.append(script);
      });
  const made = letters.then(unpack);
  coming.set(number, made);
  made.then(() => coming.delete(number), (error) => {
    coming.delete(number);
    failures.set(number, error);
  });
  return made;
}

/**
 * Unpack a shard and keep it.
 * @param {number} number
 * @returns {Promise<Packed[]>}
 */
export function loadShard(number) {
  const known = shards.get(number);
  if (known) return known;
  const made = unpackShard(number).then((found) => {
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
/** @type {Map<number, Document>} */
let held = new Map();
let requests = 0; // how often documents to hold were asked for

/**
 * @param {Head} head
 * @param {Packed[]} shard
 * @param {number} number
 */
function documentOf(head, shard, number) {
  return new Document(/** @type {Packed} */ (shard[number % head.shard]), head.entities ? 5 : 4);
}

/**
 * Return the document if it is unpacked, else null; `loadDocument` unpacks it first.
 * @param {Head} head
 * @param {number} number
 * @returns {Document | null}
 */
export function documentNow(head, number) {
  const known = documents.get(number) ?? held.get(number);
  if (known) return known;
  const shard = ready.get(Math.floor(number / head.shard));
  if (!shard) return null;
  if (documents.size > 2000) documents.clear();
  const found = documentOf(head, shard, number);
  documents.set(number, found);
  return found;
}

/**
 * Why a document cannot be unpacked, if that was tried.
 * @param {Head} head
 * @param {number} number
 */
export function failureOf(head, number) {
  return failures.get(Math.floor(number / head.shard));
}

/**
 * Unpack these documents and hold them instead of those held before, so that `documentNow` returns them. Shards that
 * are only needed for this are not kept. Return whether this is still the latest request.
 * @param {Head} head
 * @param {Iterable<number>} numbers
 */
export async function holdDocuments(head, numbers) {
  const request = ++requests;
  const wanted = [...new Set(numbers)].map((number) => ({ number, known: documentNow(head, number) }));
  held = new Map(wanted.flatMap(({ number, known }) => (known ? [[number, known]] : [])));
  const missing = wanted.flatMap(({ number, known }) => (known ? [] : [number]));
  for (const shard of new Set(missing.map((number) => Math.floor(number / head.shard)))) {
    const found = ready.get(shard) ?? (await unpackShard(shard).catch(() => null)); // the failure is kept
    if (request !== requests) return false;
    if (found) for (const number of missing) if (Math.floor(number / head.shard) === shard) held.set(number, documentOf(head, found, number));
  }
  return true;
}

/**
 * @param {Head} head
 * @param {number} number
 */
export async function loadDocument(head, number) {
  await loadShard(Math.floor(number / head.shard));
  return documentNow(head, number);
}
