/** The log on standard error, credentials cut out by name: for people on a terminal, JSON lines elsewhere. */
import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import pino, { type DestinationStream, type Logger } from "pino";
import type { Config } from "./config.ts";
import { logText } from "./log-text.ts";

export type { Logger };

const STANDARD_ERROR = 2;

export function createLog({
  logLevel,
  logFormat = "auto",
}: Pick<Config, "logLevel"> & Partial<Pick<Config, "logFormat">>): Logger {
  const asText = logFormat === "text" || (logFormat === "auto" && isatty(STANDARD_ERROR));
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
    asText ? textLines() : pino.destination({ dest: STANDARD_ERROR, sync: true }),
  );
}

function textLines(): DestinationStream {
  const colours = isatty(STANDARD_ERROR) && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
  return {
    write(line) {
      try {
        writeSync(STANDARD_ERROR, logText(line, colours));
      } catch {
        // A terminal that has gone must not end the server.
      }
    },
  };
}
