/** Expected errors of the graph. The API and the command line show these problems unchanged. */
import { Problem } from "../core/errors.ts";

const STATUS = { not_indexed: 409, not_found: 404, invalid: 422, no_repository: 409 } as const;
type GraphErrorCode = keyof typeof STATUS;

export const isGraphErrorCode = (text: string): text is GraphErrorCode => Object.hasOwn(STATUS, text);

export class GraphError extends Problem {
  /** @param reason what is wrong, as the rest of a sentence in lower case */
  constructor(code: GraphErrorCode, reason: string, data?: Record<string, unknown>) {
    const detail = `${reason[0]?.toUpperCase() ?? ""}${reason.slice(1)}${/[.?!]$/.test(reason) ? "" : "."}`;
    super(STATUS[code], code, detail, data ? { data } : {});
  }
}
