/**
 * Reads SCIP indexes (Protocol Buffers, `scip.proto`): documents with occurrences of symbols. Only what the graph needs
 * is decoded. The input is untrusted: every length is checked against what contains it, and all counts are bounded.
 */

/** An occurrence of a symbol in a document. Lines count from 0, columns in code units of the document's encoding. */
export interface Occurrence {
  line: number;
  start: number;
  /** The column after the last; -1 if the occurrence ends on another line. */
  end: number;
  symbol: string;
  /** Bits: 1 definition, 2 import, 64 forward definition. */
  roles: number;
}

export interface ScipDocument {
  path: string;
  occurrences: Occurrence[];
  /** The unit of columns: 1 bytes of UTF-8, 2 units of UTF-16, 3 code points; 0 if the index does not say. */
  encoding: number;
}

/** Thrown if the input is not a SCIP index or exceeds a limit. The message is the rest of a sentence. */
export class ScipError extends Error {}

/** Limits: documents, occurrences in all documents, and bytes of a symbol or path. */
const MAX_DOCUMENTS = 200_000;
const MAX_OCCURRENCES = 20_000_000;
/** A document is held in memory as a whole. Those of files that people write have a few thousand occurrences. */
const MAX_OCCURRENCES_OF_DOCUMENT = 500_000;
const MAX_TEXT_BYTES = 16_384;

const decoder = new TextDecoder();

/** A field of a message: its number, and its bytes or its numeric value. */
interface Field {
  number: number;
  value: number;
  bytes: Uint8Array | undefined;
}

/** The fields of a message, in order. @throws ScipError if the message is cut short or has an unknown form */
function* fieldsOf(message: Uint8Array): Generator<Field> {
  let at = 0;
  const readVarint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 10; shift++) {
      const byte = message[at++];
      if (byte === undefined) throw new ScipError("it is cut short");
      value += (byte & 127) * 2 ** (7 * shift);
      if (byte < 128) return value;
    }
    throw new ScipError("a number in it is too long");
  };
  const skip = (length: number): Uint8Array => {
    if (length > message.length - at) throw new ScipError("it is cut short");
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = readVarint();
    const number = Math.floor(tag / 8);
    if (number === 0) throw new ScipError("it is no SCIP index");
    switch (tag % 8) {
      case 0:
        yield { number, value: readVarint(), bytes: undefined };
        break;
      case 1:
        skip(8);
        break;
      case 2:
        yield { number, value: 0, bytes: skip(readVarint()) };
        break;
      case 5:
        skip(4);
        break;
      default:
        throw new ScipError("it is no SCIP index");
    }
  }
}

function textOf(bytes: Uint8Array): string {
  if (bytes.length > MAX_TEXT_BYTES) throw new ScipError(`a name in it is longer than ${MAX_TEXT_BYTES} bytes`);
  return decoder.decode(bytes);
}

/** Reads the documents of an index, one at a time. @throws ScipError at the first part that it cannot read */
export function* readScip(index: Uint8Array): Generator<ScipDocument> {
  let [documents, occurrences] = [0, 0];
  for (const { number, bytes } of fieldsOf(index)) {
    if (number !== 2 || !bytes) continue;
    if (++documents > MAX_DOCUMENTS) throw new ScipError(`it has more than ${MAX_DOCUMENTS} documents`);
    const document = readDocument(bytes, MAX_OCCURRENCES - occurrences);
    occurrences += document.occurrences.length;
    yield document;
  }
}

function readDocument(message: Uint8Array, most: number): ScipDocument {
  const document: ScipDocument = { path: "", occurrences: [], encoding: 0 };
  for (const { number, bytes, value } of fieldsOf(message)) {
    if (number === 1 && bytes) document.path = textOf(bytes);
    if (number === 6) document.encoding = value;
    if (number !== 2 || !bytes) continue;
    if (document.occurrences.length >= MAX_OCCURRENCES_OF_DOCUMENT)
      throw new ScipError(`a document in it has more than ${MAX_OCCURRENCES_OF_DOCUMENT} occurrences`);
    if (document.occurrences.length >= most) throw new ScipError(`it has more than ${MAX_OCCURRENCES} occurrences`);
    const found = readOccurrence(bytes);
    if (found) document.occurrences.push(found);
  }
  return document;
}

/** @returns undefined for an occurrence without a symbol or a position */
function readOccurrence(message: Uint8Array): Occurrence | undefined {
  const range: number[] = [];
  let [symbol, roles] = ["", 0];
  for (const { number, bytes, value } of fieldsOf(message)) {
    if (number === 1) range.push(...(bytes ? packedOf(bytes) : [value]).slice(0, 4 - range.length));
    if (number === 2 && bytes) symbol = textOf(bytes);
    if (number === 3) roles = value;
  }
  const [line, start, third, fourth] = range;
  if (symbol === "" || line === undefined || start === undefined || third === undefined) return undefined;
  const end = fourth === undefined ? third : third === line ? fourth : -1;
  return { line, start, end, symbol, roles };
}

/** The first numbers of a packed list, at most four: a range has no more. */
function packedOf(bytes: Uint8Array): number[] {
  const numbers: number[] = [];
  let [value, shift] = [0, 0];
  for (const byte of bytes.subarray(0, 40)) {
    value += (byte & 127) * 2 ** (7 * shift++);
    if (byte >= 128) continue;
    numbers.push(value);
    [value, shift] = [0, 0];
    if (numbers.length === 4) break;
  }
  return numbers;
}
