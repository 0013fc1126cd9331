import type { Caller } from "./caller.ts";
import type { Form } from "./form.ts";
import type { PendingKey } from "./idempotency.ts";

/** A request that was let in, with what is known of it. */
export interface Asked {
  request: Request;
  /** Path of the address, without a slash at its end. */
  path: string;
  query: URLSearchParams;
  /** Of the path, decoded. */
  params: Record<string, string>;
  caller: Caller;
  requestId: string;
  pending: PendingKey | null;
  /** The body as it came; of a form, null. */
  bytes: Uint8Array | null;
  /** A multipart form, its file on the disk. */
  form: Form | null;
}
