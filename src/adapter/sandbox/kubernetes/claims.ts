/**
 * Pods that wait ready in warm pools of kubernetes-sigs/agent-sandbox: one is claimed instead of made, where a pool's Pods are exactly
 * what would be made. Where anything about a pool is not so, a Pod is made as without it.
 */
import type { Clock } from "../../../core/clock.ts";
import { isProblem, messageOf } from "../../../core/errors.ts";
import { listIn, membersOf, numberIn, textIn } from "../../../core/is-object.ts";
import { raceSignal } from "../../../core/race-signal.ts";
import type { Cluster } from "../../kubernetes/cluster.ts";
import { readPod } from "./container.ts";
import { LONGEST_SECONDS, POD_LABELS, type podManifest } from "./pod.ts";
import { podDifference } from "./pod-difference.ts";
import type { Pods } from "./pods.ts";
import type { Right } from "./rights.ts";

const EXTENSIONS = "extensions.agents.x-k8s.io";
const SANDBOXES = "agents.x-k8s.io";
const VERSION = "v1beta1";
const POD_NAME = "agents.x-k8s.io/pod-name";
/** What was found out about a pool holds so long, ms. */
const KEEP_MS = 60_000;
/** How long the cluster's controller may take to give a Pod, ms. Then it is not at work. */
const CLAIM_MS = 20_000;
/** Reasons for which no Pod comes by waiting. */
const HOPELESS: ReadonlySet<string> = new Set([
  "WarmPoolNotFound",
  "TemplateNotFound",
  "InvalidMetadata",
  "EnvVarsInjectionRejected",
  "ClaimExpired",
]);

/** Beside those for Pods; docs/kubernetes/warm-pool.yml grants them. */
export const CLAIM_RIGHTS: readonly Right[] = [
  ...["create", "list", "watch", "delete"].map((verb) => ({ verb, resource: "sandboxclaims", group: EXTENSIONS })),
  { verb: "get", resource: "sandboxwarmpools", group: EXTENSIONS },
  { verb: "get", resource: "sandboxtemplates", group: EXTENSIONS },
  { verb: "get", resource: "sandboxes", group: SANDBOXES },
];

type Manifest = ReturnType<typeof podManifest>;

export interface ClaimsDeps {
  client: Cluster;
  namespace: string;
  instanceId: string;
  clock: Clock;
  pods: Pods;
  /** Names of SandboxWarmPools. */
  warmPools: readonly string[];
  claimMs?: number | undefined;
}

/** A Pod to work in, and how it is given back. */
export interface Held {
  pod: string;
  end(signal?: AbortSignal): Promise<void>;
}

/** A pool as it is found. */
interface Pool {
  name: string;
  /** The `podTemplate` of its template. */
  template?: unknown;
  ready?: number;
  /** Why it is not used. */
  fault?: string;
}

export type Claims = ReturnType<typeof createClaims>;

export function createClaims(deps: ClaimsDeps) {
  const { client, namespace, instanceId, clock, pods, warmPools, claimMs = CLAIM_MS } = deps;
  const at = (group: string, resource: string, name?: string): string =>
    `/apis/${group}/${VERSION}/namespaces/${namespace}/${resource}${name === undefined ? "" : `/${name}`}`;
  const claims = at(EXTENSIONS, "sandboxclaims");
  const known = new Map<string, { until: number; pool: Pool }>();
  const remember = (pool: Pool): Pool => {
    known.set(pool.name, { until: clock.monotonic() + KEEP_MS, pool });
    return pool;
  };

  async function read(name: string, signal: AbortSignal): Promise<Pool> {
    try {
      const pool = await client.call("GET", at(EXTENSIONS, "sandboxwarmpools", name), { signal });
      const template = textIn(membersOf(membersOf(pool)["spec"])["sandboxTemplateRef"], "name") ?? "";
      const spec = membersOf(await client.call("GET", at(EXTENSIONS, "sandboxtemplates", template), { signal }))[
        "spec"
      ];
      // The policy that the controller would make opens the internet, also to Pods that are to have no network.
      if (textIn(spec, "networkPolicyManagement") !== "Unmanaged")
        return { name, fault: `its template ${template} does not say networkPolicyManagement: Unmanaged` };
      const ready = numberIn(membersOf(pool)["status"], "readyReplicas") ?? 0;
      return { name, template: membersOf(spec)["podTemplate"], ready };
    } catch (error) {
      signal.throwIfAborted();
      return { name, fault: messageOf(error).replace(/\.$/, "") };
    }
  }
  async function pool(name: string, signal: AbortSignal): Promise<Pool> {
    const found = known.get(name);
    return found && clock.monotonic() < found.until ? found.pool : remember(await read(name, signal));
  }
  const remove = (name: string, signal?: AbortSignal): Promise<void> =>
    client.remove(`${claims}/${name}`, { propagationPolicy: "Background" }, signal);
  /** The sandbox that the controller gives for a claim, or why it gives none. */
  async function answerTo(name: string, signal: AbortSignal): Promise<{ sandbox: string } | { fault: string }> {
    const { promise, resolve } = Promise.withResolvers<{ sandbox: string } | { fault: string }>();
    const late = setTimeout(() => resolve({ fault: "the controller of agent-sandbox gives no Pod" }), claimMs);
    const watch = client.watch({
      path: claims,
      query: { fieldSelector: `metadata.name=${name}` },
      onGone: () => resolve({ fault: "the claim was removed" }),
      onObject(claim) {
        const status = membersOf(claim)["status"];
        const sandbox = textIn(membersOf(status)["sandbox"], "name");
        const ready = listIn(status, "conditions").find((one) => textIn(one, "type") === "Ready");
        const reason = textIn(ready, "reason") ?? "";
        if (sandbox) resolve({ sandbox });
        else if (HOPELESS.has(reason)) resolve({ fault: `${reason}: ${textIn(ready, "message") ?? ""}` });
      },
    });
    try {
      await raceSignal(watch.ready, signal);
      return await raceSignal(promise, signal);
    } finally {
      watch.close();
      clearTimeout(late);
    }
  }
  async function podOf(sandbox: string, signal: AbortSignal): Promise<string> {
    const object = await client.call("GET", at(SANDBOXES, "sandboxes", sandbox), { signal });
    return textIn(membersOf(membersOf(object)["metadata"])["annotations"], POD_NAME) || sandbox;
  }
  /** @returns what is wrong with the Pod that was given; undefined once it can be worked in. */
  async function checkPod(
    manifest: Manifest,
    claim: string,
    held: Held,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const answer = await answerTo(claim, signal);
    if ("fault" in answer) return answer.fault;
    held.pod = await podOf(answer.sandbox, signal);
    const untrack = await pods.track(held.pod);
    held.end = async (why) => {
      untrack();
      await remove(claim, why);
    };
    await pods.started(held.pod, manifest.spec.containers[0]?.image ?? "", signal);
    // The template may have changed since the pool made it, so it is looked at itself.
    return podDifference(manifest, await readPod({ client, namespace, pod: held.pod }));
  }
  return {
    /** A Pod of a pool whose Pods are what the manifest says; undefined where one has to be made. @throws Problem as `pods.started`. */
    async take(manifest: Manifest, signal: AbortSignal): Promise<Held | undefined> {
      for (const name of warmPools) {
        const { template, fault } = await pool(name, signal);
        if (fault !== undefined || podDifference(manifest, template) !== undefined) continue;
        const claim = manifest.metadata.name;
        const held: Held = { pod: "", end: (why) => remove(claim, why) };
        try {
          await client.call("POST", claims, { body: claimOf(manifest, name, clock), signal });
          const wrong = await checkPod(manifest, claim, held, signal);
          if (wrong === undefined) return held;
          remember({ name, fault: wrong });
          await held.end();
        } catch (error) {
          await held.end().catch(() => {});
          if (!isProblem(error) || !REFUSALS.has(error.code)) throw error;
          remember({ name, fault: messageOf(error).replace(/\.$/, "") });
        }
      }
      return undefined;
    },
    remove,
    /** Claims of this instance. */
    async list(signal: AbortSignal): Promise<unknown[]> {
      if (warmPools.length === 0) return [];
      const labelSelector = `${POD_LABELS.instance}=${instanceId}`;
      try {
        return listIn(await client.call("GET", claims, { query: { labelSelector }, signal }), "items");
      } catch (error) {
        if (isProblem(error) && REFUSALS.has(error.code)) return [];
        throw error;
      }
    },
    /** Each pool as it is now, whatever is remembered. */
    pools: async (signal: AbortSignal): Promise<Pool[]> =>
      await Promise.all(warmPools.map(async (name) => remember(await read(name, signal)))),
  };
}

/** The cluster does not know claims, or does not allow them. */
const REFUSALS: ReadonlySet<string> = new Set(["kubernetes_not_found", "kubernetes_forbidden", "kubernetes_error"]);

/** Labels of a claim are ours; those of its Pod are the template's. A server that never comes back leaves it until then. */
const claimOf = ({ metadata: { name, labels } }: Manifest, pool: string, clock: Clock) => ({
  apiVersion: `${EXTENSIONS}/${VERSION}`,
  kind: "SandboxClaim",
  metadata: { name, labels },
  spec: {
    warmPoolRef: { name: pool },
    lifecycle: {
      shutdownTime: new Date(clock.now() + LONGEST_SECONDS * 1_000).toISOString(),
      shutdownPolicy: "Delete",
    },
  },
});
