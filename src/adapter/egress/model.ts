/** What an egress proxy needs from its caller, and the record that it makes of each connection. */
import type { ResolvedAddress } from "../address-guard.ts";
import type { HostCertificate } from "./certificate.ts";
import type { Credential } from "./credentials.ts";

/**
 * `denied`: not allowed, so nothing was sent. `failed`: allowed, but the host could not be reached or the connection
 * was cut.
 */
export type Verdict = "allowed" | "denied" | "failed";

export interface EgressRecord {
  host: string;
  port: number;
  verdict: Verdict;
  /**
   * Why the connection was denied or failed: `not_allowed`, `address_refused`, `host_unknown`, `name_mismatch`, `full`,
   * `too_much`, `too_long`, `unreachable`, `not_encrypted`.
   */
  reason: string | null;
  sentBytes: number;
  receivedBytes: number;
  /** Unix milliseconds. */
  startedAt: number;
  durationMs: number;
}

export interface EgressDeps {
  /** Whether the allow-lists permit it. @param host in its canonical spelling. */
  allows(host: string, port: number): boolean;
  /** Resolves a host name. @throws Problem 422 `address_refused`, `host_unknown`. */
  resolve(host: string): Promise<ResolvedAddress[]>;
  /** Called once for each connection and each plain request, at its end. */
  onEnd(record: EgressRecord): void;
  /**
   * Takes a place among the connections of all executions. @returns the function that frees it; undefined when all are
   * taken.
   */
  takePlace(): (() => void) | undefined;
  now(): number;
  /** Credentials to add to requests to that host, read again for each connection. See `credentials.ts`. */
  edge?: Edge | undefined;
  /** Bounds of one sandbox: its connections (refused ones count, too), and its bytes in both directions. */
  bounds?: { connections: number; bytes: number };
}

export interface Edge {
  credentialsFor(host: string, port: number): readonly Credential[];
  certificateFor(host: string): HostCertificate;
  /** Certificates that are trusted in addition to the usual ones. */
  ca?: readonly string[] | undefined;
}
