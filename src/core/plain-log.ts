/**
 * Turns a program's terminal output into plain text: without colors, and of a line that was overwritten only the last
 * version.
 */
export const plainLog = (output: string): string =>
  output
    .replace(/\x1b\[[0-9;?]{0,30}[ -/]{0,4}[@-~]/g, "")
    .replace(/\r\n/g, "\n")
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\r") + 1))
    .join("\n")
    .replace(/(?![\t\n])[\p{Cc}\p{Cf}]/gu, "");
