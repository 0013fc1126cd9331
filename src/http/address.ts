/** Whose request it is on the network: host names that we answer to, proxies that we believe, origins that may call. */
import ipaddr from "ipaddr.js";
import type { Config } from "../core/config.ts";
import { isLoopback } from "../core/config.ts";

/** True if `address` is in one of the addresses or CIDR networks. */
export function inNetworks(address: string, networks: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return networks.some((network) => {
    try {
      const [range, bits] = network.includes("/") ? ipaddr.parseCIDR(network) : [ipaddr.process(network), -1];
      if (range.kind() !== parsed.kind()) return false;
      return bits < 0 ? range.toString() === parsed.toString() : parsed.match(range, bits);
    } catch {
      return false;
    }
  });
}

/** The client's address: the last hop of X-Forwarded-For that no trusted proxy wrote. */
export function clientAddress(socket: string, forwarded: string | null, trusted: readonly string[]): string {
  if (!forwarded || !inNetworks(socket, trusted)) return socket;
  const hops = forwarded.split(",").map((hop) => hop.trim());
  for (const hop of hops.reverse()) if (!inNetworks(hop, trusted)) return ipaddr.isValid(hop) ? hop : socket;
  return socket;
}

/** Whether a Host header is one name or address, perhaps with a port. */
export const isHost = (host: string | null): host is string =>
  host !== null && /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i.test(host);

const hostName = (host: string): string => host.replace(/:\d+$/, "").toLowerCase();

/**
 * Whether we answer to this Host. On a loopback bind only loopback names count, so that a page elsewhere cannot
 * reach us by a name that it points here; elsewhere any host does, since credentials are asked for.
 */
export function hostAllowed(host: string | null, config: Config): boolean {
  if (host === null) return false;
  if (!isLoopback(config.host) && config.authRequired) return true;
  const name = hostName(host);
  if (isLoopback(name) || name === config.host) return true;
  if (config.publicUrl && new URL(config.publicUrl).hostname === name) return true;
  return config.allowedHosts.some((allowed) => hostName(allowed) === name);
}

/** Origin of previews, with `*` for the name of each; undefined: there are none. Of one without PREVIEW_URL the port follows. */
export function previewAddress({ previewUrl, host, authRequired, publicUrl }: Config): string | undefined {
  if (previewUrl !== undefined) return previewUrl;
  const isOwn = isLoopback(host) && (publicUrl === undefined || isLoopback(new URL(publicUrl).hostname));
  // Browsers take names below `localhost` for this machine.
  return isOwn || (isLoopback(host) && !authRequired) ? "http://*.preview.localhost" : undefined;
}

/** Whether an origin is that of a preview: pages that agents made. */
export function isPreviewOrigin(origin: string, config: Config): boolean {
  const address = previewAddress(config);
  const name = URL.parse(origin)?.hostname;
  return address !== undefined && name?.endsWith(new URL(address).hostname.slice(1)) === true;
}

/** Whether a request with this Origin may change something or be read: our own pages, and the listed ones. */
export function originAllowed(origin: string | null, host: string | null, config: Config): boolean {
  if (origin === null) return true;
  if (config.corsOrigins.includes(origin)) return true;
  if (config.publicUrl && new URL(config.publicUrl).origin === origin) return true;
  try {
    return new URL(origin).host === host;
  } catch {
    return false;
  }
}
