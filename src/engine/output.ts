/** Cutting text to a bound so that what matters stays: its head and its tail. */

/** At most about `bytes` bytes: the first and the last parts, with a line between that counts what is left out. */
export function keepEnds(text: string, bytes: number): string {
  if (text.length <= bytes && Buffer.byteLength(text) <= bytes) return text;
  const data = Buffer.from(text);
  const head = data
    .subarray(0, Math.floor(bytes * 0.6))
    .toString("utf8")
    .replace(/�+$/, "");
  const tail = data
    .subarray(data.length - Math.floor(bytes * 0.35))
    .toString("utf8")
    .replace(/^�+/, "");
  const left = data.length - Buffer.byteLength(head) - Buffer.byteLength(tail);
  return `${head}\n… ${left} bytes left out …\n${tail}`;
}
