import type { Caller } from "./caller.ts";
import type { Form } from "./form.ts";
import type { PendingKey } from "./idempotency.ts";

/** What the gate found out about a request, by request. */
export interface RequestFacts {
  caller: Caller;
  requestId: string;
  pending: PendingKey | null;
  /** As it came, for signatures over the body. */
  rawBody: Uint8Array | null;
  /** A multipart form, its file on the disk. */
  form: Form | null;
}
