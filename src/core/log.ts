/** The log: JSON lines on standard error, credentials cut out by name. */
import pino, { type Logger } from "pino";
import type { Config } from "./config.ts";

export type { Logger };

export function createLog(config: Pick<Config, "logLevel">): Logger {
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
    pino.destination({ dest: 2, sync: true }),
  );
}
