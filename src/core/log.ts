/** What the parts of the server write their log to. */
export type { Logger } from "pino";
