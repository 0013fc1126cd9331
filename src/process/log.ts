/**
 * The log, on standard error: text on a terminal, JSON lines elsewhere. Fields whose name is that of a credential are
 * redacted.
 */
import { isatty } from "node:tty";
import pino, { type Logger } from "pino";
import type { Config } from "../core/config.ts";
import { logText } from "../core/log-text.ts";

type LogOptions = Pick<Config, "logLevel"> & Partial<Pick<Config, "logFormat">>;

const STANDARD_ERROR = 2;

/** @param mask replaces secret values in each line. */
export function createLog(
  { logLevel, logFormat = "auto" }: LogOptions,
  mask: (line: string) => string = (line) => line,
): Logger {
  const onTerminal = isatty(STANDARD_ERROR);
  const colours = onTerminal && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
  const asText = logFormat === "text" || (logFormat === "auto" && onTerminal);
  const output = pino.destination({ dest: STANDARD_ERROR, sync: true });
  const formatLine = (line: string): string => (asText ? logText(mask(line), colours) : mask(line));
  return pino(
    {
      level: logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: ["authorization", "*.authorization", "*.api_key", "*.token", "*.password", "*.value"],
        censor: "…",
      },
    },
    { write: (line: string) => void output.write(formatLine(line)) },
  );
}
