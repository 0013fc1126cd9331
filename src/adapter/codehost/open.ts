/** Opens the client of a code host. Its library is loaded at first use. */
import type { CodeHost, CodeHostAccess } from "./code-host.ts";
import { createHostFetch } from "./host-fetch.ts";

/** @param onToken is called with every short-lived token before it is used. */
export async function openCodeHost(access: CodeHostAccess, onToken: (token: string) => void): Promise<CodeHost> {
  const fetch = createHostFetch();
  if (access.kind === "gitea") return (await import("./gitea.ts")).createGitea(access, fetch);
  return (await import("./github.ts")).createGitHub(access, fetch, onToken);
}
