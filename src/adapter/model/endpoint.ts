/** Where and how a provider is reached: no redirect takes a key to another host. */
import { likeFetch } from "../../core/like-fetch.ts";
import type { ProviderKind } from "./providers.ts";

export interface Endpoint {
  providerId: string;
  kind: ProviderKind;
  /** Without a trailing slash. */
  baseUrl: string;
  apiKey: string | undefined;
}

/** `fetch` that follows no redirect and leaves time limits to the caller. */
export const fetchDirectly = likeFetch((input, init) => fetch(input, { ...init, redirect: "manual", timeout: false }));
