/**
 * What of the network an agent's programs reach: `none`, `bridge` (the internet, by the container engine's network), or
 * only what a list allows, through the server's proxy. Pure.
 */
import { type Static, Type as t } from "@sinclair/typebox";

/** Words in an allow-list for the addresses that a tool of the image is configured with: mirrors work, and no more opens. */
const NETWORK_PRESETS = ["npm", "pypi", "crates", "go", "debian"] as const;
export type NetworkPreset = (typeof NETWORK_PRESETS)[number];

const MAX_ENTRIES = 200;
/** A preset, a host, `*.` before a host, an address; with or without a port. */
const ENTRY =
  "^(\\*\\.)?[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(:[0-9]{1,5})?$|^\\[[0-9A-Fa-f:.]{2,45}\\](:[0-9]{1,5})?$";

/** Stands in an agent's list for the hosts that the project allows in which it works. */
export const PROJECT_HOSTS = "project";

export const AllowList = t.Object(
  {
    allow: t.Array(
      t.String({
        pattern: ENTRY,
        maxLength: 262,
        description: "A preset, or a host with or without a port: `*.example.org:443`.",
      }),
      {
        maxItems: MAX_ENTRIES,
        uniqueItems: true,
        description: `Hosts (example.org, *.example.org, example.org:8080; ports 80 and 443 unless one is named) and presets: ${NETWORK_PRESETS.join(", ")}; in an agent's list also ${PROJECT_HOSTS}, what the project allows.`,
      },
    ),
  },
  { additionalProperties: false },
);

export const Network = t.Union([t.Literal("none"), t.Literal("bridge"), AllowList], {
  description: "none; bridge: the internet; allow: only these hosts, through the server's proxy.",
});
export type Network = Static<typeof Network>;

/** What holds for one execution; of several lists, each must allow a host. */
export type NetworkBounds = "none" | "bridge" | { allow: readonly (readonly string[])[] };

/** The narrowest of all: nothing if one of them says so, and only what every list allows. */
export function narrowest(networks: readonly (Network | undefined)[]): NetworkBounds {
  const given = networks.filter((network) => network !== undefined);
  if (given.length === 0 || given.includes("none")) return "none";
  const lists = given.flatMap((network) => (typeof network === "object" ? [network.allow] : []));
  return lists.length === 0 ? "bridge" : { allow: lists };
}

/** Presets that any of the lists names. */
export function presetsIn(lists: readonly (readonly string[])[]): NetworkPreset[] {
  return NETWORK_PRESETS.filter((preset) => lists.some((list) => list.includes(preset)));
}

/**
 * What `host:port` a list allows; presets stand for the entries that they were found to mean.
 * @param project entries that `project` stands for.
 */
export function allows(
  lists: readonly (readonly string[])[],
  found: ReadonlyMap<string, readonly string[]>,
  host: string,
  port: number,
  project: readonly string[] = [],
): boolean {
  const meantBy = (entry: string) => (isPreset(entry) ? (found.get(entry) ?? []) : [entry]);
  return lists.every((list) =>
    list.some((entry) => {
      const meant = entry === PROJECT_HOSTS ? project.flatMap(meantBy) : meantBy(entry);
      return meant.some((one) => entryAllows(one, host, port));
    }),
  );
}

const isPreset = (entry: string): entry is NetworkPreset => NETWORK_PRESETS.some((preset) => preset === entry);
/** Of a host in its one spelling. */
const isAddress = (host: string): boolean => host.includes(":") || /^[\d.]+$/.test(host);
const WEB_PORTS = [80, 443];

/** A host, `*.` before a host, or an address, with or without a port; no preset. */
export const HOST_ENTRY = ENTRY;

/** @param host in its one spelling (`plainHost`). @param ports that an entry without a port means. */
export function entryAllows(entry: string, host: string, port: number, ports: readonly number[] = WEB_PORTS): boolean {
  const at = entry.lastIndexOf(":");
  const hasPort = at > 0 && !entry.endsWith("]") && (entry.startsWith("[") || entry.indexOf(":") === at);
  const name = (hasPort ? entry.slice(0, at) : entry).replace(/^\[|\]$/g, "").toLowerCase();
  if (hasPort ? Number(entry.slice(at + 1)) !== port : !ports.includes(port)) return false;
  if (!name.startsWith("*.")) return name === host;
  return !isAddress(host) && host.endsWith(name.slice(1)) && host.length > name.length - 1;
}
