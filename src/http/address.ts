/** Where a request comes from on the network: host names we answer to, proxies we trust, origins that may call. */
import ipaddr from "ipaddr.js";
import type { Config } from "../core/config.ts";
import { isLoopback } from "../core/config.ts";
import { isHostHeader } from "../core/plain-host.ts";

/** True if `address` equals one of the addresses or is in one of the CIDR networks. */
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

/** The client's address: the last hop of X-Forwarded-For that is not a trusted proxy. */
export function clientAddress(socket: string, forwarded: string | null, trusted: readonly string[]): string {
  if (!forwarded || !inNetworks(socket, trusted)) return socket;
  const hops = forwarded.split(",").map((hop) => hop.trim());
  for (const hop of hops.reverse()) if (!inNetworks(hop, trusted)) return ipaddr.isValid(hop) ? hop : socket;
  return socket;
}

/** Whether a Host header is there, and is a single name or address with an optional port. */
export const isHost = (host: string | null): host is string => host !== null && isHostHeader(host);

const hostName = (host: string): string => host.replace(/:\d+$/, "").toLowerCase();

/**
 * Whether we answer to this Host. A server that listens beyond loopback and requires credentials accepts any host.
 * Otherwise only loopback names, its own address and configured names count, so that a page elsewhere cannot reach us
 * by a name that it points here.
 */
export function hostAllowed(host: string | null, config: Config): boolean {
  if (host === null) return false;
  if (!isLoopback(config.host) && config.authRequired) return true;
  const name = hostName(host);
  if (isLoopback(name) || name === config.host) return true;
  if (config.publicUrl && new URL(config.publicUrl).hostname === name) return true;
  return config.allowedHosts.some((allowed) => hostName(allowed) === name);
}

/**
 * Origin of previews, with `*` for each preview's name; undefined when there are no previews. Without PREVIEW_URL, the
 * caller adds the port.
 */
export function previewAddress({ previewUrl, host, authRequired, publicUrl }: Config): string | undefined {
  if (previewUrl !== undefined) return previewUrl;
  const isOwn = isLoopback(host) && (publicUrl === undefined || isLoopback(new URL(publicUrl).hostname));
  // Browsers resolve names below `localhost` to this machine.
  return isOwn || (isLoopback(host) && !authRequired) ? "http://*.preview.localhost" : undefined;
}

/** Whether an origin belongs to a preview, whose pages agents wrote. */
export function isPreviewOrigin(origin: string, config: Config): boolean {
  const address = previewAddress(config);
  const name = URL.parse(origin)?.hostname;
  return address !== undefined && name?.endsWith(new URL(address).hostname.slice(1)) === true;
}

/** Whether a request with this Origin may read answers or change something: our own pages, and the listed origins. */
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
