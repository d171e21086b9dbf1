// The data of the page, as report/page/payload.py writes it. Only the type checker reads this file.

export type Interval = [number | null, number | null];

export interface Numbers {
  precision: number | null;
  recall: number | null;
  f: number | null;
  counts: Record<string, number>;
  missed: number;
  annotated: number;
  wrong: number;
  predicted: number;
  interval?: { precision: Interval; recall: Interval; f: Interval };
}

export interface Tile {
  name: string;
  label: string;
  value: number | null;
  shown: string;
  interval: string;
  note: string;
  measure: string | null;
  level: string | null;
}

export interface Answer {
  kind: "leak" | "errors";
  lead: string;
  worst: [string, number, number][];
  documents: string | null;
  tiles: Tile[];
}

export interface Calibration {
  ece: number | null;
  predictions: number[];
  score: (number | null)[];
  right: (number | null)[];
}

export interface Curve {
  type: string | null;
  precision: (number | null)[];
  recall: (number | null)[];
  f: (number | null)[];
  best: number | null;
  ap: number | null;
  calibration: Calibration | null;
}

export interface Curves {
  threshold: number[];
  types: Curve[];
}

// Columns with a row for each example; label codes are -1 for none.
export interface Examples {
  doc: number[];
  gs: number[];
  ge: number[];
  gl: number[];
  ps: number[];
  pe: number[];
  pl: number[];
  score: (number | null)[];
  cell: number[];
  verdict: number[];
  also: number[];
  iou: number[];
  why: string[];
  times?: number[];
  string?: number[];
  ge_id?: (string | null)[];
  pe_id?: (string | null)[];
  by?: number[]; // the set of annotators who marked the span
}

// Annotators of the gold data; documents are those of the page, and sets of annotators are places in 'groups'.
export interface Annotators {
  names: string[];
  groups: number[][];
  document: number[]; // the same number for all copies of a document
  own: number[]; // the annotator of a copy, or -1
  seen: number[]; // who saw the document
  documents: number;
  table: [number, number, number | null][]; // documents, spans, F1 with the others
  together: number | null;
}

export interface AgreementRow {
  measure: string;
  type: string | null;
  f: number | null;
  interval?: { f: Interval };
}

export interface Coefficient {
  value: number | null;
  interval: Interval | null;
}

// agreement.json, or the part of it that results keep.
export interface Agreement {
  annotators: string[];
  results: AgreementRow[];
  pairs?: { first: string; second: string; documents: number; scores: { measure: string; f: number | null; f_interval: Interval | null }[]; kappa: Coefficient; kappa_marked: Coefficient }[];
  alpha?: Coefficient;
  alpha_by_type?: Record<string, Coefficient>;
}

export interface Scores {
  system: string;
  measure: string;
  level: string | null;
  linking: boolean;
  signature: string;
  overall: Numbers;
  types: [string, Numbers][];
  slices: Record<string, [string, Numbers][]>;
  confusion: [number, number, number][];
  masking: boolean; // whether the measure is about what masking leaves readable
  blind: boolean; // whether the types of predictions do not matter
  outcomes: { verdicts: string[]; types: number[][] } | null; // gold spans by type (its code first) and verdict; null if types are compared
  curves: Curves | null;
  answer: Answer;
  frequent: [number, number, string, number][];
  examples: Examples;
}

export interface Pair {
  measure: string;
  level: string | null;
  first: string;
  second: string;
  cells: [number, number, number, number][];
}

export interface Difference {
  measure: string;
  level: string | null;
  number: string;
  first: string;
  second: string;
  difference: number | null;
  interval: Interval;
  p: number;
  p_holm: number;
}

export interface Comparison {
  systems: { system: string; letter: string }[];
  alpha: number;
  permutations: number;
  differences: Difference[];
}

export interface Input {
  source: string | null;
  documents: number;
  spans: number;
  fingerprint: string;
}

export interface Head {
  version: string;
  title: string;
  text: "show" | "mask" | "hide";
  systems: string[];
  measures: string[];
  levels: (string | null)[];
  labels: string[];
  verdicts: string[];
  beta: number;
  confidence: number;
  inputs: { gold: Input; systems: Record<string, Input> };
  notes: string[];
  skipped: [string, string] | null; // the note on types that are not looked for, where types are compared and where they are not
  important: number; // how many of the notes are about data that was not scored
  shard: number;
  lanes: number[];
  laneLevel: string | null;
  entities: boolean;
  pairs: Pair[];
  comparison: Comparison | null;
  annotators: Annotators | null;
  agreement: Agreement | null;
  gold: string; // what to call the gold data
  not_looked_for: string[];
  scores: Scores[];
  leftOut: { documents: number; wrong: number; right: number };
  ids: string[];
  slices: Record<string, { values: string[]; codes: number[] }>;
}

// Start, end, label, score and, in linking data, the entity.
export type Span = [number, number, number, number | null, (string | null)?];

export type Child = Node | string | number | null | undefined | false | Child[];

export interface Settings {
  on?: Record<string, (event: any) => unknown>;
  [name: string]: unknown;
}
