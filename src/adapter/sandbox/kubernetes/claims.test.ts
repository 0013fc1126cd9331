/** Pods in a warm pool of agent-sandbox are only used if they are exactly what would be created. */
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../core/clock.ts";
import { newId } from "../../../core/ids.ts";
import { listIn, membersOf } from "../../../core/is-object.ts";
import type { SandboxSpec } from "../../../engine/sandbox.ts";
import { dockerForTests, testImage } from "../../../testing/docker-image.ts";
import { KUBERNETES_DOCS, manifestsIn } from "../../../testing/kubernetes/chart.ts";
import { startFakeCluster } from "../../../testing/kubernetes/fake-cluster.ts";
import { lacks } from "../../../testing/parts.ts";
import { connectCluster } from "../../kubernetes/cluster.ts";
import { CLAIM_RIGHTS, createClaims } from "./claims.ts";
import { createKubernetesSandboxes } from "./driver.ts";
import { podManifest } from "./pod.ts";
import { podDifference } from "./pod-difference.ts";
import { createPods } from "./pods.ts";

const docker = await dockerForTests(process.env);
const image = docker ? await testImage(docker) : "none";
const home = mkdtempSync(join(tmpdir(), "skep-claims-"));
afterAll(() => rmSync(home, { recursive: true }));
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

const never = new AbortController().signal;
const specOf = (changes: Partial<SandboxSpec> = {}): SandboxSpec => ({
  executionId: newId("execution"),
  sessionId: newId("session"),
  agentId: "engineer",
  network: "none" as const,
  memoryMb: 1_024,
  cpus: 1,
  env: { TOKEN: "canary-5c1f" },
  home,
  ...changes,
});
const manifests = manifestsIn(readFileSync(join(KUBERNETES_DOCS, "warm-pool.yml"), "utf8"));
/** The template of the documentation, with the tests' image. */
function templateOf(change: (spec: Record<string, unknown>, container: Record<string, unknown>) => void = () => {}) {
  const template = structuredClone(manifests.get("SandboxTemplate skep-agents/skep"));
  const spec = membersOf(membersOf(membersOf(template?.["spec"])["podTemplate"])["spec"]);
  const container = membersOf(listIn(spec, "containers")[0]);
  container["image"] = image;
  change(spec, container);
  return membersOf(template);
}

interface Opening {
  replicas?: number;
  claimMs?: number;
  /** Whether Pods start; otherwise they stay pending. */
  runs?: boolean;
}

async function startCluster(
  template: Record<string, unknown> | undefined,
  { replicas = 0, claimMs, runs }: Opening = {},
) {
  const cluster = await startFakeCluster({ docker: runs ? docker : undefined });
  if (template) cluster.pools.open("skep", template, replicas);
  const deps = {
    client: connectCluster(cluster.access, 1),
    namespace: "work",
    instanceId: newId("instance"),
    pullSecrets: [],
    warmPools: ["skep"],
    defaultImage: image,
    ...(claimMs === undefined ? {} : { claimMs }),
  };
  const pods = createPods(deps);
  const claims = createClaims({ ...deps, clock: systemClock, pods });
  const open = () => createKubernetesSandboxes(deps);
  const driver = open();
  endings.push(cluster.close, driver.close, pods.close);
  const podsMade = () => cluster.asked.filter((one) => one === "POST /api/v1/namespaces/work/pods").length;
  /** The name of the Pod from the pool; undefined when the pool has none for this sandbox. */
  const take = async (spec: SandboxSpec) => {
    const { instanceId } = deps;
    const held = await claims.take(podManifest({ name: podName(), spec, instanceId, image, pullSecrets: [] }), never);
    return held?.pod;
  };
  return { cluster, driver, open, podsMade, take };
}

let named = 0;
const podName = (): string => `skep-${named++}`;

describe.skipIf(lacks("container engine", docker !== undefined))("a warm pool", () => {
  test("gives its Pod to an agent that asks for the same, whose claim ends with the work or with the next server", async () => {
    const small = templateOf((_, container) => {
      container["resources"] = { limits: { memory: "64Mi", cpu: "1" } };
    });
    const { cluster, driver, open, podsMade } = await startCluster(small, { replicas: 1, runs: true });
    const { pools } = await driver.check();
    const words = `skep: 1 ready for agents with the image ${image}, 64Mi of memory, 1 processors, network closed`;
    expect(pools).toEqual([{ detail: words, isUsed: true }]);
    const spec = specOf({ memoryMb: 64 });
    const sandbox = await driver.start(spec, never);
    const limits = { timeoutMs: 240_000, maxOutputBytes: 1_000 };
    const { output } = await sandbox.exec(["sh", "-c", "echo $TOKEN > made; cat made"], limits);
    expect([sandbox.pod, output, podsMade()]).toEqual(["warm-0", "canary-5c1f\n", 0]);
    await sandbox.workspace.bringBack();
    expect(readFileSync(join(home, "made"), "utf8")).toBe("canary-5c1f\n");
    const shown = {
      sessionId: spec.sessionId,
      name: "box-warm-0",
      state: "running",
      status: "from the warm pool skep",
    };
    expect(await driver.show?.()).toMatchObject([shown]);
    expect(JSON.stringify(cluster.pools.said)).not.toMatch(new RegExp(`canary|${home}`));
    expect(cluster.pools.said).toMatchObject([
      { spec: { warmPoolRef: { name: "skep" }, lifecycle: { shutdownPolicy: "Delete" } } },
    ]);
    // When the claimed Pod is lost, its work fails as in any Pod.
    const up = Promise.withResolvers<void>();
    const running = sandbox.exec(["sh", "-c", "echo up; sleep 600"], { ...limits, onOutput: () => up.resolve() });
    await up.promise;
    cluster.setStatus("warm-0", { phase: "Failed", reason: "Evicted", message: "low on memory" });
    await expect(running).rejects.toMatchObject({ code: "sandbox_lost" });
    await sandbox.stop();
    expect([cluster.pools.claims(), cluster.pods.size]).toEqual([[], 0]);
    // The pool is empty, so the controller creates a Pod from the template. Then the server dies.
    const left = await driver.start(specOf({ memoryMb: 64 }), never);
    expect([left.pod, podsMade(), cluster.pools.claims().length]).toEqual(["warm-1", 0, 1]);
    expect(await open().sweep(() => false)).toEqual({ removed: 1, left: [] });
    expect([cluster.pools.claims(), cluster.pods.size]).toEqual([[], 0]);
  });
});

describe("a warm pool that cannot be used", () => {
  test("is left alone by an agent that asks for something else", async () => {
    const { cluster, take } = await startCluster(templateOf(), { replicas: 1 });
    const others = [
      { memoryMb: 64 },
      { network: "bridge" as const },
      { cpus: 2 },
      { runtime: "gvisor" },
      { harness: { state: home } },
    ];
    for (const changes of others) expect(await take(specOf(changes))).toBeUndefined();
    expect(cluster.pools.said).toEqual([]);
  });

  type Pools = Awaited<ReturnType<typeof startCluster>>["cluster"]["pools"];
  const faults: [what: string, says: RegExp, how: (pools: Pools) => void][] = [
    ["is not installed", /skep is not used: 404 page not found/, () => {}],
    [
      "opens the network",
      /does not say networkPolicyManagement: Unmanaged/,
      (pools) => {
        const { spec, ...template } = templateOf();
        pools.open("skep", { ...template, spec: { ...membersOf(spec), networkPolicyManagement: "Managed" } }, 0);
      },
    ],
    [
      "has Pods with a wall less",
      /it adds hostNetwork/,
      (pools) =>
        pools.open(
          "skep",
          templateOf((spec) => Object.assign(spec, { hostNetwork: true })),
          0,
        ),
    ],
    [
      "says more than a line",
      /^skep is not used: it adds x x+$/,
      (pools) =>
        pools.open(
          "skep",
          templateOf((spec) => Object.assign(spec, { [`x\n${"x".repeat(5_000)}`]: 1 })),
          0,
        ),
    ],
  ];
  for (const [what, says, how] of faults)
    test(`because it ${what} is named by doctor`, async () => {
      const { cluster, driver, take } = await startCluster(undefined);
      how(cluster.pools);
      const { pools } = await driver.check();
      expect(pools).toEqual([{ detail: expect.stringMatching(says), isUsed: false }]);
      expect(pools[0]!.detail.length).toBeLessThan(600);
      expect([await take(specOf()), cluster.pools.said]).toEqual([undefined, []]);
    });

  for (const how of ["silent", { reason: "TemplateNotFound", message: "no template" }] as const)
    test(`because its controller is ${how === "silent" ? "silent" : "at a loss"} leaves no claim, and is not asked again at once`, async () => {
      const { cluster, take } = await startCluster(templateOf(), how === "silent" ? { claimMs: 1 } : {});
      cluster.pools.refuse(how);
      for (let n = 0; n < 2; n++) expect(await take(specOf())).toBeUndefined();
      expect([cluster.pools.said.length, cluster.pools.claims()]).toEqual([1, []]);
    });

  test("gives a Pod that has another wall than its template: it is given back", async () => {
    const { cluster, take } = await startCluster(templateOf());
    cluster.pools.hand(
      "skep",
      templateOf((_, container) => Object.assign(membersOf(container["securityContext"]), { privileged: true })),
    );
    cluster.setStatus("warm-0", { phase: "Running", containerStatuses: [{ name: "agent", state: { running: {} } }] });
    expect([await take(specOf()), cluster.pools.said.length]).toEqual([undefined, 1]);
    expect([cluster.pools.claims(), cluster.pods.size]).toEqual([[], 0]);
  });

  test("has no room in the cluster either: the work waits, and no claim is left", async () => {
    const { cluster, take } = await startCluster(templateOf(), { replicas: 1 });
    cluster.setStatus("warm-0", { phase: "Failed", reason: "Evicted", message: "low on memory" });
    await expect(take(specOf())).rejects.toMatchObject({ code: "sandbox_unavailable" });
    expect([cluster.pools.claims(), cluster.pods.size]).toEqual([[], 0]);
  });
});

test("a right that the server lacks for pools is named, and docs/kubernetes/warm-pool.yml grants exactly these", async () => {
  const { cluster, driver } = await startCluster(templateOf());
  cluster.denied.push("create sandboxclaims");
  const { pools } = await driver.check();
  const says = /skep: the server may not create sandboxclaims\.extensions\.agents\.x-k8s\.io/;
  expect(pools).toEqual([{ detail: expect.stringMatching(says), isUsed: false }]);
  const granted = listIn(manifests.get("Role skep-agents/skep-warm-pools"), "rules").flatMap((rule) => {
    const { apiGroups, resources, verbs } = membersOf(rule) as Record<string, string[]>;
    return (resources ?? []).flatMap((resource) =>
      (verbs ?? []).map((verb) => `${verb} ${resource} ${apiGroups?.[0]}`),
    );
  });
  expect(granted.toSorted()).toEqual(
    CLAIM_RIGHTS.map(({ verb, resource, group }) => `${verb} ${resource} ${group}`).toSorted(),
  );
});

describe("a Pod that somebody else described", () => {
  const ours = podManifest({ name: "p", spec: specOf(), instanceId: newId("instance"), image, pullSecrets: [] });
  const podOf = (change: Parameters<typeof templateOf>[0]) => membersOf(templateOf(change)["spec"])["podTemplate"];
  test("may run where it likes, and what an API server fills in is no difference", () => {
    const filledIn = {
      nodeSelector: { a: "b" },
      tolerations: [{}],
      schedulerName: "x",
      dnsPolicy: "None",
      nodeName: "a",
    };
    const found = podDifference(
      ours,
      podOf((spec, container) => {
        Object.assign(spec, filledIn);
        Object.assign(container, { terminationMessagePath: "/dev/termination-log", resizePolicy: [] });
        Object.assign(membersOf(container["securityContext"]), { procMount: "Default" });
      }),
    );
    expect(found).toBeUndefined();
  });
  const changes: [says: string, change: Parameters<typeof templateOf>[0]][] = [
    ["it adds hostPID", (spec) => Object.assign(spec, { hostPID: true })],
    ["it adds initContainers", (spec) => Object.assign(spec, { initContainers: [] })],
    ["it adds runtimeClassName", (spec) => Object.assign(spec, { runtimeClassName: "gvisor" })],
    [
      "automountServiceAccountToken is true, false is asked for",
      (spec) => Object.assign(spec, { automountServiceAccountToken: true }),
    ],
    [
      "volumes has 5 entries, 4 are asked for",
      (spec) => (spec["volumes"] as unknown[]).push({ name: "x", hostPath: { path: "/" } }),
    ],
    ["containers has 2 entries, 1 are asked for", (spec) => (spec["containers"] as unknown[]).push({})],
    ["it adds containers.0.envFrom", (_, container) => Object.assign(container, { envFrom: [] })],
    [
      "it adds containers.0.securityContext.procMount",
      (_, container) => Object.assign(membersOf(container["securityContext"]), { procMount: "Unmasked" }),
    ],
    [
      "containers.0.securityContext.capabilities.drop has 0 entries, 1 are asked for",
      (_, container) => Object.assign(membersOf(container["securityContext"]), { capabilities: { drop: [] } }),
    ],
    [
      'containers.0.resources.limits.memory is "2Gi", "1024Mi" is asked for',
      (_, container) => Object.assign(membersOf(container["resources"]), { limits: { memory: "2Gi", cpu: "1" } }),
    ],
    [
      "securityContext.runAsUser is 0, 10001 is asked for",
      (spec) => Object.assign(membersOf(spec["securityContext"]), { runAsUser: 0 }),
    ],
  ];
  test.each(changes)("differs where %s", (says, change) => {
    expect(podDifference(ours, podOf(change))).toBe(says);
  });
});
