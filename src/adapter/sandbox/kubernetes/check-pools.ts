/** What `skep doctor` reports about the configured warm pools. */
import { listIn, membersOf, textIn } from "../../../core/is-object.ts";
import type { SandboxSpec } from "../../../engine/sandbox.ts";
import { CLAIM_RIGHTS, type Claims, type ClaimsDeps } from "./claims.ts";
import { POD_LABELS, podManifest } from "./pod.ts";
import { podDifference } from "./pod-difference.ts";
import { shorten } from "./pod-state.ts";
import { missingRights } from "./rights.ts";

export interface PoolChecked {
  /** What the pool is for, or why it is not used. */
  detail: string;
  isUsed: boolean;
}

interface Parts {
  deps: Pick<ClaimsDeps, "client" | "namespace" | "instanceId" | "warmPools">;
  claims: Pick<Claims, "pools">;
}

export async function checkPools({ deps, claims }: Parts, signal: AbortSignal): Promise<PoolChecked[]> {
  if (deps.warmPools.length === 0) return [];
  const missing = await missingRights(deps, CLAIM_RIGHTS, signal);
  if (missing.length > 0)
    return [{ detail: `${deps.warmPools.join(", ")}: the server may not ${missing.join(", ")}`, isUsed: false }];
  return (await claims.pools(signal)).map(({ name, template, ready = 0, fault }) => {
    const wrong = fault ?? differenceIn(template, deps.instanceId);
    if (wrong !== undefined) return { detail: shorten(`${name} is not used: ${wrong}`), isUsed: false };
    return { detail: shorten(`${name}: ${ready} ready ${wordsOf(template)}`), isUsed: true };
  });
}

/**
 * Compares a pool with an agent that asks for exactly the pool's image, size, network and runtime. @returns the first
 * difference; undefined when such an agent can work in its Pods.
 */
function differenceIn(template: unknown, instanceId: string): string | undefined {
  const { spec: pod, metadata } = membersOf(template);
  const container = listIn(pod, "containers")[0];
  const runtime = textIn(pod, "runtimeClassName");
  const spec: SandboxSpec = {
    executionId: "",
    sessionId: "",
    agentId: "",
    home: "",
    env: {},
    memoryMb: 1,
    cpus: 1,
    network: textIn(membersOf(metadata)["labels"], POD_LABELS.network) === "open" ? "bridge" : "none",
    ...(runtime === undefined ? {} : { runtime }),
  };
  const ours = podManifest({ name: "", spec, instanceId, image: textIn(container, "image") ?? "", pullSecrets: [] });
  const { memory, cpu } = membersOf(membersOf(membersOf(container)["resources"])["limits"]);
  const [own] = ours.spec.containers;
  if (own && memory !== undefined && cpu !== undefined) own.resources.limits = { memory: `${memory}`, cpu: `${cpu}` };
  return podDifference(ours, template);
}

function wordsOf(template: unknown): string {
  const { spec, metadata } = membersOf(template);
  const container = listIn(spec, "containers")[0];
  const { memory, cpu } = membersOf(membersOf(membersOf(container)["resources"])["limits"]);
  const network = textIn(membersOf(metadata)["labels"], POD_LABELS.network);
  return `for agents with the image ${textIn(container, "image")}, ${memory} of memory, ${cpu} processors, network ${network}`;
}
