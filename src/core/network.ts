/**
 * What an agent's programs reach on the network: nothing (`none`), the internet through the container engine's network
 * (`bridge`), or only the hosts of a list, through the server's proxy. Pure.
 */
import { type Static, Type as t } from "@sinclair/typebox";
import { attempt } from "./attempt.ts";
import { plainHost } from "./plain-host.ts";

/**
 * Words in an allow-list that stand for the addresses a tool of the image is configured with. So mirrors work, and
 * nothing else is opened.
 */
const NETWORK_PRESETS = ["npm", "pypi", "crates", "go", "debian"] as const;
export type NetworkPreset = (typeof NETWORK_PRESETS)[number];

const MAX_ENTRIES = 200;
/** A preset, a host, a host after `*.`, or an address; each with or without a port. */
const ENTRY =
  "^(\\*\\.)?[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(:[0-9]{1,5})?$|^\\[[0-9A-Fa-f:.]{2,45}\\](:[0-9]{1,5})?$";

/** Word in an agent's list that stands for the hosts its project allows. */
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
        description: `Hosts (example.org, *.example.org, example.org:8080, [2001:db8::1]:443; ports 80 and 443 unless one is named) and presets: ${NETWORK_PRESETS.join(", ")}. An agent's list can also contain ${PROJECT_HOSTS}, which stands for the hosts that the project allows.`,
      },
    ),
  },
  { additionalProperties: false },
);

export const Network = t.Union([t.Literal("none"), t.Literal("bridge"), AllowList], {
  description:
    "Network access: `none`; `bridge` for the internet; `allow` for only the listed hosts, through the server's proxy.",
});
export type Network = Static<typeof Network>;

/** The network of one execution. When there are several lists, each must allow a host. */
export type NetworkBounds = "none" | "bridge" | { allow: readonly (readonly string[])[] };

/** The narrowest of several networks: none if any is `none`, and only hosts that every list allows. */
export function narrow(networks: readonly (Network | undefined)[]): NetworkBounds {
  const given = networks.filter((network) => network !== undefined);
  if (given.length === 0 || given.includes("none")) return "none";
  const lists = given.flatMap((network) => (typeof network === "object" ? [network.allow] : []));
  return lists.length === 0 ? "bridge" : { allow: lists };
}

/** Presets that at least one of the lists names. */
export function presetsIn(lists: readonly (readonly string[])[]): NetworkPreset[] {
  return NETWORK_PRESETS.filter((preset) => lists.some((list) => list.includes(preset)));
}

/**
 * Whether all lists allow `host:port`. `found` holds the entries that each preset stands for.
 * @param project entries that the word `project` stands for.
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
/** Whether a normalized host is an IP address. */
const isAddress = (host: string): boolean => host.includes(":") || /^[\d.]+$/.test(host);
const WEB_PORTS = [80, 443];

/** Pattern of an entry that is no preset: a host, a host after `*.`, or an address, with or without a port. */
export const HOST_ENTRY = ENTRY;

/** The entry that allows one port of a host, in its canonical spelling. @throws Problem 422 `bad_host`. */
export function hostEntry(given: string, port: number | string): string {
  const host = plainHost(given);
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** @param host normalized by `plainHost`. @param ports the ports that an entry without a port stands for. */
export function entryAllows(entry: string, host: string, port: number, ports: readonly number[] = WEB_PORTS): boolean {
  const at = entry.lastIndexOf(":");
  const hasPort = at > 0 && !entry.endsWith("]") && (entry.startsWith("[") || entry.indexOf(":") === at);
  const name = (hasPort ? entry.slice(0, at) : entry).replace(/^\[|\]$/g, "").toLowerCase();
  if (hasPort ? Number(entry.slice(at + 1)) !== port : !ports.includes(port)) return false;
  if (!name.startsWith("*.")) return name === host || attempt(() => plainHost(name)) === host;
  return !isAddress(host) && host.endsWith(name.slice(1)) && host.length > name.length - 1;
}
