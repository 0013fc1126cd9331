/** Addresses that an administrator may give a provider. */
import { invalidField } from "../../core/errors.ts";
import { inNetworks } from "../../http/address.ts";

/**
 * Refused networks: link-local ones, where clouds serve a machine's own credentials, and addresses that mean no
 * machine.
 */
const REFUSED = ["169.254.0.0/16", "fe80::/10", "fd00:ec2::254", "100.100.100.200", "0.0.0.0"];
/**
 * IPv6 networks whose addresses carry an IPv4 address to a translator or to this machine. No model server has such an
 * address of its own.
 */
const CARRIERS = ["::/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32"];
const REFUSED_NAMES = new Set(["metadata", "metadata.google.internal", "instance-data"]);

/**
 * Private networks are allowed, because model servers are there. Refused are other schemes, an address with a user name
 * or a query, and the metadata services of clouds, in any spelling that a URL parser understands.
 * @throws Problem 422.
 */
export function assertBaseUrl(text: string): void {
  const url = URL.parse(text.trim());
  const createProblem = (why: string) => invalidField("/base_url", why);
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw createProblem("Must be an http or https address");
  if (url.username || url.password) throw createProblem("Must not hold credentials; give the key as api_key");
  if (url.search || url.hash) throw createProblem("Must not hold a query or a fragment");
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const carried = host !== "::1" && inNetworks(host, CARRIERS);
  if (host === "" || carried || REFUSED_NAMES.has(host) || inNetworks(host, REFUSED))
    throw createProblem("This address cannot be used");
}
