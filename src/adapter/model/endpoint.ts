/** Where and how a provider is reached: no redirect takes a key to another host. */
import type { ProviderKind } from "./providers.ts";

export interface Endpoint {
  providerId: string;
  kind: ProviderKind;
  /** Without a trailing slash. */
  baseUrl: string;
  apiKey: string | undefined;
}

/** `fetch` that follows no redirect and leaves time limits to the caller. */
export function fetchDirectly(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  return fetch(input, { ...init, redirect: "manual", timeout: false });
}
