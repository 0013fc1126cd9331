/** The text that tells an agent about its sandbox. */
import type { SandboxAbout, SandboxSpec } from "../../../engine/sandbox.ts";
import { MOUNT_POINT, type Owner } from "../workspace-path.ts";
import { HOME } from "./container-spec.ts";
import { COOKIE_FILE } from "./cookie-file.ts";

export function aboutOf({ network, services, cookies }: SandboxSpec, { uid }: Owner): SandboxAbout {
  const who = uid === 0 ? "root of the container alone" : `the user ${uid}, without rights beyond that`;
  return {
    files: `Your files are in ${MOUNT_POINT}, the only place that is kept.`,
    commands: `Commands run in a container as ${who}; ${HOME} and /tmp can be written and are gone with it, the rest is read-only.`,
    network: networkWords(network) + serviceWords(services),
    ...(cookies === undefined ? {} : { cookies: COOKIE_FILE }),
  };
}

const serviceWords = (services: SandboxSpec["services"]): string =>
  services === undefined
    ? ""
    : ` Besides, these services run for this work and are reached by their names: ${services.names.join(", ")}.`;

function networkWords(network: SandboxSpec["network"]): string {
  if (network === "none") return "There is no network.";
  if (network === "bridge") return "There is a network; private addresses may be closed.";
  return hostWords(network, ", and project for what the project allows");
}

/** The most hosts of an allow-list that its agent reads; a longer list is cut after them. */
const SHOWN_HOSTS = 40;

/** @param more end of the sentence about names that stand for others. */
export function hostWords({ allow }: Extract<SandboxSpec["network"], object>, more = ""): string {
  const lists = allow.map((list) => list.slice(0, SHOWN_HOSTS).join(", ") || "nothing");
  return `Only these hosts can be reached, through the proxy that HTTP_PROXY and HTTPS_PROXY name: ${lists.join("; and of these, only: ")}. The names npm, pypi, crates, go and debian stand for that tool's registry${more}. There is no other network and no name server.`;
}
