/** What a program wrote to a terminal, as text: without its colours, and of a line that was written over again the last. */
export const plainLog = (output: string): string =>
  output
    .replace(/\x1b\[[0-9;?]{0,30}[ -/]{0,4}[@-~]/g, "")
    .replace(/\r\n/g, "\n")
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\r") + 1))
    .join("\n")
    .replace(/(?![\t\n])[\p{Cc}\p{Cf}]/gu, "");
