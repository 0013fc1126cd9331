import type { Caller } from "./caller.ts";
import type { Form } from "./form.ts";
import type { PendingKey } from "./idempotency.ts";

/** A request that the gate has admitted, with what is known about it. */
export interface Asked {
  request: Request;
  /** Path of the URL, without a trailing slash. */
  path: string;
  query: URLSearchParams;
  /** Parameters of the path, decoded. */
  params: Record<string, string>;
  caller: Caller;
  requestId: string;
  pending: PendingKey | null;
  /** The raw body; null for a form. */
  bytes: Uint8Array | null;
  /** A multipart form, with its file on disk. */
  form: Form | null;
}
