/**
 * Resolves a preset of an allow-list for one image. The preset's tool in the sandbox is asked for the addresses that it
 * is configured with, before any command of the agent runs there. So a mirror in the image's configuration is found,
 * and an image without the tool opens nothing. The answer comes from a container: only host names are taken from it.
 */

import { hostEntry, type NetworkPreset } from "../../core/network.ts";
import type { Sandbox } from "../../engine/sandbox.ts";

/**
 * Scripts for `sh` that print addresses. They run in `/` with a `HOME` that does not exist, so that no file of the work
 * has an effect.
 */
const SCRIPTS: Readonly<Record<NetworkPreset, string>> = {
  npm: "npm config get registry",
  pypi: `pip=$(command -v pip3 || command -v pip) || exit 0
    index=$("$pip" config get global.index-url 2>/dev/null) || index=https://pypi.org/simple
    echo "$index"; "$pip" config get global.extra-index-url 2>/dev/null
    case "$index" in https://pypi.org/*) echo https://files.pythonhosted.org ;; esac`,
  crates: `command -v cargo >/dev/null || exit 0
    found=$(cat "\${CARGO_HOME:-/usr/local/cargo}/config.toml" /root/.cargo/config.toml 2>/dev/null | sed -n 's/^ *\\(registry\\|index\\) *= *"\\(sparse+\\)\\{0,1\\}\\([^"]*\\)".*/\\3/p')
    echo "\${found:-https://index.crates.io https://static.crates.io https://crates.io}"`,
  go: `command -v go >/dev/null || exit 0
    go env GOPROXY | tr ',|' '  '; go env GOSUMDB | sed 's/^\\([a-z0-9.-]*\\).*/https:\\/\\/\\1/'`,
  debian:
    "cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null | sed 's/#.*//'",
};

const ADDRESS = /https?:\/\/[^\s/"'<>,|@]{1,300}/g;
const MAX_HOSTS = 20;
const TIMEOUT_MS = 60_000;
const OUTPUT_BYTES = 64 * 1024;

/** The `host:port` entries that the preset stands for in this sandbox; none when its tool is missing. */
export async function findPreset(sandbox: Pick<Sandbox, "exec">, preset: NetworkPreset): Promise<string[]> {
  const { output } = await sandbox.exec(["sh", "-c", SCRIPTS[preset]], {
    cwd: "/",
    env: { HOME: "/nonexistent" },
    timeoutMs: TIMEOUT_MS,
    maxOutputBytes: OUTPUT_BYTES,
  });
  return hostsIn(output);
}

export function hostsIn(text: string): string[] {
  const entries = [...text.matchAll(ADDRESS)].flatMap(([address]) => {
    const url = URL.parse(address);
    if (!url || url.hostname === "") return [];
    return [hostEntry(url.hostname, url.port || (url.protocol === "https:" ? "443" : "80"))];
  });
  return [...new Set(entries)].slice(0, MAX_HOSTS);
}
