/** The text that tells an agent about its sandbox in a Pod. */
import type { SandboxAbout, SandboxSpec } from "../../../engine/sandbox.ts";
import { hostWords } from "../docker/about.ts";
import { HOME } from "../docker/container-spec.ts";
import { MOUNT_POINT } from "../workspace-path.ts";
import { POD_USER } from "./pod.ts";

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
  return hostWords(network);
}
