/** The logger type that all parts of the server use. */
export type { Logger } from "pino";
