/**
 * Keeps the addresses that users and agents name from reaching private networks. Every address that is not public
 * unicast is refused, in any spelling, unless the operator lists it.
 * A host is resolved once, and the caller connects to exactly the addresses it gets back. So a different second answer
 * of the name server (DNS rebinding) has no effect.
 */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { Problem } from "../core/errors.ts";
import { plainHost } from "../core/plain-host.ts";

export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}

export type AddressGuard = ReturnType<typeof createAddressGuard>;

/** Answers as `dns.lookup(host, { all: true })` does. */
export type LookUp = (host: string) => Promise<{ address: string; family: number }[]>;

const systemLookUp: LookUp = async (host) =>
  (await import("node:dns/promises")).lookup(host, { all: true, verbatim: true });
/** Names that mean this machine or the local network, whatever a name server says. */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|localdomain|home\.arpa|lan|intranet)$/;

/**
 * @param allow host names, addresses and CIDR networks that may be reached although they are private.
 * @param setting the option that `allow` comes from, for the refusal.
 */
export function createAddressGuard(allow: readonly string[], lookUp: LookUp = systemLookUp, setting = "FETCH_ALLOW") {
  const createAddressProblem = () =>
    new Problem(422, "address_refused", `This address is private. An operator can allow it with ${setting}.`);
  const names = new Set<string>();
  const networks: [ipaddr.IPv4 | ipaddr.IPv6, number][] = [];
  for (const entry of allow) {
    const network = networkOf(entry);
    if (network) networks.push(network);
    else names.add(plainHost(entry));
  }
  const isAllowed = (text: string): boolean => {
    const address = ipaddr.process(text);
    if (isPublic(address)) return true;
    return networks.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
  };
  const assertSpelling = (given: string): string => {
    const host = plainHost(given);
    if (names.has(host)) return host;
    const literal = isIP(host) !== 0;
    if (literal ? !isAllowed(host) : LOCAL_NAME.test(host) || !host.includes(".")) throw createAddressProblem();
    return host;
  };
  return {
    /** True if the operator listed this host by name, or listed the private address that it spells. */
    isListed(given: string): boolean {
      const host = plainHost(given);
      if (names.has(host)) return true;
      return isIP(host) !== 0 && !isPublic(ipaddr.process(host)) && isAllowed(host);
    },
    /**
     * Refuses hosts that are known to be private without asking a name server. @returns the host in its canonical
     * spelling. @throws Problem 422 `address_refused`.
     */
    assertSpelling,
    /**
     * Resolves `host` to its addresses, of which there is at least one; all are allowed.
     * @throws Problem 422 `address_refused` when any address is private, 422 `host_unknown` when there is none.
     */
    async resolve(given: string): Promise<ResolvedAddress[]> {
      const host = assertSpelling(given);
      const found = isIP(host) ? [{ address: host, family: isIP(host) }] : await lookUp(host).catch(() => []);
      if (found.length === 0) throw new Problem(422, "host_unknown", "The host's name has no address.");
      if (!names.has(host) && !found.every(({ address }) => isAllowed(address))) throw createAddressProblem();
      return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
    },
  };
}

/** Guards connections to notification servers. NOTIFY_ALLOW permits private addresses for these connections only. */
export const createNotifyGuard = (allow: readonly string[]): AddressGuard =>
  createAddressGuard(allow, systemLookUp, "NOTIFY_ALLOW");

/** A guard that permits the host of an address that the operator set, even a private one, but no other private host. */
export const guardFor = (address: string): AddressGuard =>
  createAddressGuard(URL.canParse(address) ? [new URL(address).hostname] : []);

/**
 * An IPv6 address is public only inside 2000::/3. Outside it are forms that embed an IPv4 address and have no range of
 * their own.
 */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("2000::"), 3];
const isPublic = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  address.range() === "unicast" && (address instanceof ipaddr.IPv4 || address.match(...GLOBAL_UNICAST));

function networkOf(entry: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined {
  const text = entry.replace(/^\[|\]$/g, "");
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  if (isIP(text) === 0) return undefined;
  const address = ipaddr.process(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}
