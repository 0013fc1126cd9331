/** Creates SCIP indexes for tests, encoded as the format's Protocol Buffers require. */

interface ScipPlace {
  /** Line number, from 0. */
  line: number;
  start: number;
  end: number;
  symbol: string;
  definition?: true;
}

/** Places by the path of their document. */
export type ScipSample = Readonly<Record<string, readonly ScipPlace[]>>;

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) | 128);
  }
}

const field = (number: number, bytes: readonly number[]): number[] => [
  number * 8 + 2,
  ...varint(bytes.length),
  ...bytes,
];
const text = (number: number, value: string): number[] => field(number, [...Buffer.from(value)]);

/** Encodes an index. */
export function scipOf(sample: ScipSample): Uint8Array {
  const documents = Object.entries(sample).flatMap(([path, places]) => {
    const occurrences = places.flatMap(({ line, start, end, symbol, definition }) =>
      field(2, [...field(1, [line, start, end].flatMap(varint)), ...text(2, symbol), ...(definition ? [24, 1] : [])]),
    );
    return field(2, [...text(1, path), ...occurrences]);
  });
  return Uint8Array.from([...field(1, text(3, "file:///made")), ...documents]);
}
