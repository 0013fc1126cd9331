/** What an agent reads about its sandbox in a Pod. */
import type { SandboxAbout, SandboxSpec } from "../../../engine/sandbox.ts";
import { HOME } from "../docker/container-spec.ts";
import { MOUNT_POINT } from "../workspace-path.ts";
import { POD_USER } from "./pod.ts";

/** Of a list, what an agent reads of it at most. */
const SHOWN_HOSTS = 40;

export function aboutPod({ network }: SandboxSpec): SandboxAbout {
  return {
    files: `Your files are in ${MOUNT_POINT}, the only place that is kept.`,
    commands: `Commands run in a container of a Kubernetes cluster as the user ${POD_USER}, without rights beyond that; ${HOME} and /tmp can be written and are gone with it, the rest is read-only. A command that uses more memory than there is may end the container.`,
    network: networkWords(network),
  };
}

function networkWords(network: SandboxSpec["network"]): string {
  if (network === "none") return "There is no network: the cluster lets nothing in or out.";
  if (network === "bridge") return "There is a network; private addresses are closed.";
  const lists = network.allow.map((list) => list.slice(0, SHOWN_HOSTS).join(", ") || "nothing");
  return `Only these hosts can be reached, through the proxy that HTTP_PROXY and HTTPS_PROXY name: ${lists.join("; and of these, only: ")}. The names npm, pypi, crates, go and debian stand for that tool's registry. There is no other network and no name server.`;
}
