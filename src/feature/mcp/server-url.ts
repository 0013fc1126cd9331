/** Which addresses an administrator may give a tool server, and where connections to the server may go. */
import type { AddressGuard, ResolvedAddress } from "../../adapter/address-guard.ts";
import { invalidField, Problem } from "../../core/errors.ts";
import { inNetworks } from "../../http/address.ts";

/**
 * Refused networks: link-local ones, where clouds serve a machine's own credentials, and addresses that mean no
 * machine.
 */
const REFUSED = ["169.254.0.0/16", "fe80::/10", "fd00:ec2::254/128", "100.100.100.200/32", "0.0.0.0/8"];
const REFUSED_NAMES = new Set(["metadata", "metadata.google.internal", "instance-data"]);

/** Private networks are allowed: an administrator's tool servers are there. @throws Problem 422. */
export function assertServerUrl(text: string, guard: Pick<AddressGuard, "isListed">): void {
  const url = URL.parse(text.trim());
  const createProblem = (why: string) => invalidField("/url", why);
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw createProblem("Must be an http or https address");
  if (url.username || url.password) throw createProblem("Must not hold credentials; give them as headers");
  if (url.hash) throw createProblem("Must not hold a fragment");
  const host = hostOf(url);
  if (guard.isListed(host)) return;
  if (host === "" || REFUSED_NAMES.has(host) || inNetworks(host, REFUSED))
    throw createProblem("This address cannot be used");
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");

/**
 * Decides where a request of a tool server's connection may go. The server's own origin is the administrator's choice,
 * except for metadata services of clouds. Addresses that the server or its authorization server points to are not
 * trusted.
 */
export function resolverFor(own: string, guard: AddressGuard) {
  const { origin } = new URL(own);
  return async (url: URL): Promise<ResolvedAddress> => {
    if (url.origin !== origin) return (await guard.resolve(hostOf(url)))[0]!;
    const host = hostOf(url);
    const { lookup } = await import("node:dns/promises");
    const found = await lookup(host, { all: true, verbatim: true }).catch(() => []);
    const [first] = found;
    if (!first) throw new Problem(422, "host_unknown", `The name ${host} has no address.`);
    if (!guard.isListed(host) && found.some(({ address }) => inNetworks(address, REFUSED)))
      throw new Problem(422, "address_refused", "The server's name leads to an address that cannot be used.");
    return { address: first.address, family: first.family === 6 ? 6 : 4 };
  };
}
