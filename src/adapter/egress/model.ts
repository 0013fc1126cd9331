/** What an egress proxy needs, and what it tells of a connection. */
import type { ResolvedAddress } from "../address-guard.ts";
import type { HostCertificate } from "./certificate.ts";
import type { Credential } from "./credentials.ts";

/** `denied`: not allowed, so nothing was sent. `failed`: allowed, and it could not be reached or was cut. */
export type Verdict = "allowed" | "denied" | "failed";

export interface EgressRecord {
  host: string;
  port: number;
  verdict: Verdict;
  /** Why it was denied or failed: `not_allowed`, `address_refused`, `host_unknown`, `name_mismatch`, `full`, `too_much`, `unreachable`, `not_encrypted`. */
  reason: string | null;
  sentBytes: number;
  receivedBytes: number;
  /** Unix milliseconds. */
  startedAt: number;
  durationMs: number;
}

export interface EgressDeps {
  /** Whether the lists allow it. @param host in its one spelling. */
  allows(host: string, port: number): boolean;
  /** @throws Problem 422 `address_refused`, `host_unknown`. */
  resolve(host: string): Promise<ResolvedAddress[]>;
  /** Called once for each connection and each plain request, at its end. */
  onEnd(record: EgressRecord): void;
  /** A place among the connections of all executions; undefined when there is none. */
  takePlace(): (() => void) | undefined;
  now(): number;
  /** Credentials to add to requests to that host, read again for each connection; see `credentials.ts`. */
  edge?: Edge | undefined;
  /** Of one sandbox: connections, refused ones too, and bytes of both directions. */
  bounds?: { connections: number; bytes: number };
}

export interface Edge {
  credentialsFor(host: string, port: number): readonly Credential[];
  certificateFor(host: string): HostCertificate;
  /** Certificates that are trusted besides the usual ones. */
  ca?: readonly string[] | undefined;
}
