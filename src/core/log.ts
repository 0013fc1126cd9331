/** The log: JSON lines on standard error, credentials cut out by name. */
import pino, { type Logger } from "pino";
import type { Config } from "./config.ts";

export type { Logger };

/** @param mask takes secret values out of each line. */
export function createLog(config: Pick<Config, "logLevel">, mask: (line: string) => string = (line) => line): Logger {
  const output = pino.destination({ dest: 2, sync: true });
  return pino(
    {
      level: config.logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: ["authorization", "*.authorization", "*.api_key", "*.token", "*.password", "*.value"],
        censor: "…",
      },
    },
    { write: (line: string) => void output.write(mask(line)) },
  );
}
