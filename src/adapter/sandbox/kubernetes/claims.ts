/**
 * Warm pools of kubernetes-sigs/agent-sandbox, whose Pods wait ready. If a pool's Pods are exactly what would be
 * created, one is claimed instead. If anything about the pool differs, a Pod is created as usual.
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
/** How long findings about a pool are reused, ms. */
const KEEP_MS = 60_000;
/** How long the cluster's controller may take to provide a Pod, ms. After that, it counts as not running. */
const CLAIM_MS = 20_000;
/** Reasons for which waiting would not bring a Pod. */
const HOPELESS: ReadonlySet<string> = new Set([
  "WarmPoolNotFound",
  "TemplateNotFound",
  "InvalidMetadata",
  "EnvVarsInjectionRejected",
  "ClaimExpired",
]);

/** Rights in addition to those for Pods; docs/kubernetes/warm-pool.yml grants them. */
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

/** A Pod to work in, and the function that gives it back. */
export interface Held {
  pod: string;
  end(signal?: AbortSignal): Promise<void>;
}

/** Findings about a pool. */
interface Pool {
  name: string;
  /** The `podTemplate` of the pool's template. */
  template?: unknown;
  ready?: number;
  /** Why the pool is not used. */
  fault?: string;
}

export type Claims = ReturnType<typeof createClaims>;

export function createClaims(deps: ClaimsDeps) {
  const { client, namespace, instanceId, clock, pods, warmPools, claimMs = CLAIM_MS } = deps;
  const toPath = (group: string, resource: string, name?: string): string =>
    `/apis/${group}/${VERSION}/namespaces/${namespace}/${resource}${name === undefined ? "" : `/${name}`}`;
  const claims = toPath(EXTENSIONS, "sandboxclaims");
  const known = new Map<string, { until: number; pool: Pool }>();
  const remember = (pool: Pool): Pool => {
    known.set(pool.name, { until: clock.monotonic() + KEEP_MS, pool });
    return pool;
  };

  async function read(name: string, signal: AbortSignal): Promise<Pool> {
    try {
      const pool = await client.call("GET", toPath(EXTENSIONS, "sandboxwarmpools", name), { signal });
      const template = textIn(membersOf(membersOf(pool)["spec"])["sandboxTemplateRef"], "name") ?? "";
      const spec = membersOf(await client.call("GET", toPath(EXTENSIONS, "sandboxtemplates", template), { signal }))[
        "spec"
      ];
      // The policy that the controller would otherwise make opens the internet, even to Pods that must have no network.
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
  /** Waits for the controller. @returns the sandbox that it provides for a claim, or why it provides none. */
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
    const object = await client.call("GET", toPath(SANDBOXES, "sandboxes", sandbox), { signal });
    return textIn(membersOf(membersOf(object)["metadata"])["annotations"], POD_NAME) || sandbox;
  }
  /** Waits for the Pod of a claim and checks it. @returns what is wrong with it; undefined when it can be used. */
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
    await pods.waitForStart(held.pod, manifest.spec.containers[0]?.image ?? "", signal);
    // The template may have changed since the pool created this Pod, so the Pod itself is compared.
    return podDifference(manifest, await readPod({ client, namespace, pod: held.pod }));
  }
  return {
    /**
     * Claims a Pod from a pool whose Pods are as the manifest says; undefined when a Pod must be created. @throws
     * Problem as `pods.started`.
     */
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
    /** Each pool as it is now; remembered findings are not used. */
    pools: async (signal: AbortSignal): Promise<Pool[]> =>
      await Promise.all(warmPools.map(async (name) => remember(await read(name, signal)))),
  };
}

/** Codes that mean that the cluster does not know claims, or does not allow them. */
const REFUSALS: ReadonlySet<string> = new Set(["kubernetes_not_found", "kubernetes_forbidden", "kubernetes_error"]);

/**
 * The labels of a claim are Skep's; those of its Pod are the template's. If the server never comes back, the claim is
 * removed at its shutdown time.
 */
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
