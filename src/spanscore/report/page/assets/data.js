// The data of the page, unpacked on demand from the page itself or from the files next to it.

export async function unpack(letters) {
  const binary = atob(letters);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

const shards = new Map(); // number -> promise of documents
const ready = new Map(); // number -> documents
const waiting = new Map(); // number -> callback for its file

globalThis.spanscoreShard = (number, letters) => waiting.get(number)?.(letters);

export function loadShard(number) {
  if (!shards.has(number)) {
    const inside = document.getElementById(`shard-${number}`);
    const letters = inside
      ? Promise.resolve(inside.textContent)
      : new Promise((done, failed) => {
          waiting.set(number, done);
          const script = document.createElement("script");
          script.src = `shard-${number}.js`;
          script.onerror = () => failed(new Error(`shard-${number}.js is missing from the report folder`));
          document.head.append(script);
        });
    shards.set(number, letters.then(unpack).then((documents) => {
      ready.set(number, documents);
      return documents;
    }));
  }
  return shards.get(number);
}

// A document: its text, and the spans of the gold data and of each system as [start, end, label, score].
export class Document {
  constructor(packed) {
    [this.text] = packed;
    this.sides = packed.slice(1).map(unflatten);
    this.units = null;
  }

  // Convert a code point offset to a UTF-16 string index.
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
    return this.units[Math.min(point, this.units.length - 1)];
  }

  get points() {
    this.at(0);
    return this.text === null ? 0 : this.units ? this.units.length - 1 : this.text.length;
  }

  slice(from, to) {
    return this.text.slice(this.at(from), this.at(to));
  }
}

function unflatten(flat) {
  const spans = [];
  for (let i = 0; i < flat.length; i += 4) spans.push(flat.slice(i, i + 4));
  return spans;
}

const documents = new Map();

// Return the document if its shard is unpacked, else null; `loadDocument` unpacks it first.
export function documentNow(head, number) {
  const shard = Math.floor(number / head.shard);
  if (!ready.has(shard)) return null;
  if (!documents.has(number)) {
    if (documents.size > 2000) documents.clear();
    documents.set(number, new Document(ready.get(shard)[number % head.shard]));
  }
  return documents.get(number);
}

export async function loadDocument(head, number) {
  await loadShard(Math.floor(number / head.shard));
  return documentNow(head, number);
}
