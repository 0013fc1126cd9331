/**
 * What a cluster may do to a sandbox: it has no room or no image, loses its node, or does not enforce network policies.
 */
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "../../../core/ids.ts";
import { readJson } from "../../../core/json-reader.ts";
import type { ExecOptions, SandboxSpec } from "../../../engine/sandbox.ts";
import { dockerForTests, testImage } from "../../../testing/docker-image.ts";
import { type FakeClusterOptions, startFakeCluster } from "../../../testing/kubernetes/fake-cluster.ts";
import { bodyOf } from "../../../testing/kubernetes/fake-pools.ts";
import { lacks } from "../../../testing/parts.ts";
import { connectCluster } from "../../kubernetes/cluster.ts";
import { createKubernetesSandboxes } from "./driver.ts";
import { podManifest } from "./pod.ts";

const docker = await dockerForTests(process.env);
const home = mkdtempSync(join(tmpdir(), "skep-pods-"));
afterAll(() => rmSync(home, { recursive: true }));
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

const EXEC: ExecOptions = { timeoutMs: 240_000, maxOutputBytes: 100_000 };
const never = new AbortController().signal;
const specOf = (changes: Partial<SandboxSpec> = {}): SandboxSpec => ({
  executionId: newId("execution"),
  sessionId: newId("session"),
  agentId: "engineer",
  network: "none" as const,
  memoryMb: 64,
  cpus: 1,
  env: {},
  home,
  ...changes,
});

async function startCluster(options: FakeClusterOptions = {}, placeMs?: number) {
  const cluster = await startFakeCluster(options);
  const driver = createKubernetesSandboxes({
    client: connectCluster(cluster.access, 1),
    namespace: "work",
    instanceId: newId("instance"),
    pullSecrets: ["registry"],
    warmPools: [],
    defaultImage: docker ? await testImage(docker) : "none",
    ...(placeMs === undefined ? {} : { placeMs }),
  });
  endings.push(cluster.close, driver.close);
  return { cluster, driver };
}

const waiting = (reason: string, message: string) => ({
  phase: "Pending",
  containerStatuses: [{ name: "agent", state: { waiting: { reason, message } } }],
});

describe("a Pod that cannot be had", () => {
  const blocked: [what: string, status: Record<string, unknown>, code: string, says: RegExp][] = [
    [
      "no image",
      waiting("ImagePullBackOff", "pull access denied"),
      "image_missing",
      /cannot get the image .*pull access denied.*KUBERNETES_PULL_SECRETS/,
    ],
    ["an image without sh", waiting("RunContainerError", '"sh": not found'), "image_unusable", /"sh": not found/],
    [
      "no node with room",
      {
        phase: "Pending",
        conditions: [
          { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes: Insufficient memory" },
        ],
      },
      "sandbox_unavailable",
      /no room for the Pod: 0\/3 nodes: Insufficient memory\. Work waits/,
    ],
    [
      "an end before its beginning",
      { phase: "Failed", reason: "Evicted", message: "The node was low on resource" },
      "sandbox_unavailable",
      /ended before it was used: the cluster evicted it: The node was low/,
    ],
  ];
  for (const [what, status, code, says] of blocked)
    test(`because of ${what} is removed, and the reason is said`, async () => {
      const { cluster, driver } = await startCluster({}, 1);
      const starting = driver.start(specOf(), never).catch((error) => error);
      cluster.setStatus(await cluster.made, status);
      const error = await starting;
      expect(error).toMatchObject({ status: 503, code });
      expect(error.detail).toMatch(says);
      expect(cluster.pods.size).toBe(0);
    });

  test("because the quota is used up leaves the work waiting", async () => {
    const { cluster, driver } = await startCluster();
    cluster.fail(({ method }, answer) => {
      if (method !== "POST") return false;
      cluster.refuse(answer, 403, "pods is forbidden: exceeded quota: agents");
      return true;
    });
    const error = await driver.start(specOf(), never).catch((failure) => failure);
    expect(error).toMatchObject({ code: "sandbox_unavailable", detail: expect.stringMatching(/quota is used up/) });
  });

  test("because of what was said while its watch was cut is removed, and that is said", async () => {
    const { cluster, driver } = await startCluster();
    const starting = driver.start(specOf(), never).catch((error) => error);
    const name = await cluster.made;
    cluster.cutWatches();
    cluster.setStatus(name, waiting("ImagePullBackOff", "pull access denied"));
    expect(await starting).toMatchObject({ code: "image_missing" });
    expect(cluster.pods.size).toBe(0);
  });

  test("at once, because the cluster is busy or was overtaken by another change, is asked for again", async () => {
    const { cluster, driver } = await startCluster();
    for (const status of [409, 429])
      cluster.fail(({ method, url }, answer) => {
        if (method !== "POST" || !url?.endsWith("/pods")) return false;
        cluster.refuse(answer, status, "later", { "retry-after": "0" });
        return true;
      });
    const off = new AbortController();
    const starting = driver.start(specOf(), off.signal).catch((error) => error);
    await cluster.made;
    off.abort(new Error("called off"));
    expect(await starting).toMatchObject({ message: "called off" });
    expect(cluster.asked.filter((one) => one.startsWith("POST "))).toHaveLength(3);
  });

  test("that comes after its start was called off, from a cluster that lags, is found by the next sweep", async () => {
    const { cluster, driver } = await startCluster();
    const asked = Promise.withResolvers<unknown>();
    cluster.fail((request) => {
      if (request.method !== "POST") return false;
      bodyOf(request).then((text) => asked.resolve(readJson(text)), asked.reject);
      return true;
    });
    const off = new AbortController();
    const starting = driver.start(specOf(), off.signal).catch((error) => error);
    const late = await asked.promise;
    off.abort(new Error("called off"));
    expect(await starting).toMatchObject({ message: "called off" });
    cluster.add(late);
    expect(cluster.pods.size).toBe(1);
    expect(await driver.sweep(() => false)).toEqual({ removed: 1, left: [] });
    expect(cluster.pods.size).toBe(0);
  });

  test("because its start is called off is removed", async () => {
    const { cluster, driver } = await startCluster();
    const off = new AbortController();
    const starting = driver.start(specOf(), off.signal).catch((error) => error);
    await cluster.made;
    off.abort(new Error("called off"));
    expect(await starting).toMatchObject({ message: "called off" });
    expect(cluster.pods.size).toBe(0);
  });

  test("from a cluster that did not answer at first is had once it does", async () => {
    const { cluster, driver } = await startCluster();
    cluster.failWith(500, "etcd has no leader");
    await expect(driver.start(specOf(), never)).rejects.toMatchObject({ code: "sandbox_unavailable" });
    await driver.check();
  });
});

test("a Pod has no right, no secret and no name of this host", () => {
  const env = { TOKEN: "canary-71c0" };
  const plan = { name: "p", instanceId: newId("instance"), image: "i", pullSecrets: ["registry"] };
  const pod = podManifest({ ...plan, spec: specOf({ env, runtime: "gvisor", cookies: "canary-71c0" }) });
  expect(JSON.stringify(pod)).not.toMatch(new RegExp(`canary|${home}`));
  expect(pod.spec).toMatchObject({
    restartPolicy: "Never",
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    runtimeClassName: "gvisor",
    imagePullSecrets: [{ name: "registry" }],
    securityContext: { runAsNonRoot: true, runAsUser: 10_001, seccompProfile: { type: "RuntimeDefault" } },
  });
  const [container] = pod.spec.containers;
  expect(container?.securityContext).toEqual({
    privileged: false,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  expect(container?.resources.limits).toEqual({ memory: "64Mi", cpu: "1000m" });
  expect(pod.spec.volumes.every((volume) => volume.emptyDir.sizeLimit.endsWith("Mi"))).toBe(true);
});

describe.skipIf(lacks("container engine", docker !== undefined))("a Pod at work", () => {
  test("that is evicted takes its command along, which is told why, and nothing is carried any more", async () => {
    const { cluster, driver } = await startCluster({ docker });
    const sandbox = await driver.start(specOf(), never);
    const up = Promise.withResolvers<void>();
    const running = sandbox.exec(["sh", "-c", "echo up; sleep 600"], { ...EXEC, onOutput: () => up.resolve() });
    await up.promise;
    cluster.setStatus(sandbox.pod, { phase: "Failed", reason: "Evicted", message: "low on memory" });
    await expect(running).rejects.toMatchObject({ code: "sandbox_lost" });
    expect(await sandbox.isAlive()).toBe(false);
    const again = await sandbox.exec(["true"], EXEC).catch((error) => error);
    expect(again).toMatchObject({ code: "sandbox_lost", detail: expect.stringMatching(/evicted it: low on memory/) });
    await sandbox.workspace.bringBack();
    await sandbox.stop();
    expect(cluster.pods.size).toBe(0);
  });

  test("whose connections are cut loses the command, and gets its files back by the next", async () => {
    const { cluster, driver } = await startCluster({ docker, protocol: "v4.channel.k8s.io" });
    const sandbox = await driver.start(specOf(), never);
    const up = Promise.withResolvers<void>();
    const script = "echo kept > made; echo up; sleep 600";
    const running = sandbox.exec(["sh", "-c", script], { ...EXEC, onOutput: () => up.resolve() });
    await up.promise;
    cluster.cutExecs();
    await expect(running).rejects.toMatchObject({ code: "sandbox_lost" });
    await sandbox.workspace.bringBack();
    expect(readFileSync(join(home, "made"), "utf8")).toBe("kept\n");
    // What the server writes meanwhile is there for the next command.
    writeFileSync(join(home, "given"), "given\n");
    expect((await sandbox.exec(["cat", "given", "made"], EXEC)).output).toBe("given\nkept\n");
    await sandbox.stop();
  });

  test("in which an agent ended everything goes on", async () => {
    const { driver } = await startCluster({ docker });
    const sandbox = await driver.start(specOf(), never);
    await sandbox.exec(["sh", "-c", "echo one > last; kill -9 -1"], EXEC).catch(() => {});
    expect((await sandbox.exec(["cat", "last"], EXEC)).output).toBe("one\n");
    expect(Buffer.from(await sandbox.workspace.read("last")).toString()).toBe("one\n");
    await sandbox.stop();
  });

  test("is not used where the cluster's network is open to it", async () => {
    const { cluster, driver } = await startCluster({ docker, open: true });
    const refused = { code: "network_unguarded", detail: expect.stringMatching(/does not enforce network policies/) };
    await expect(driver.start(specOf(), never)).rejects.toMatchObject(refused);
    await expect(driver.start(specOf({ network: { allow: [["npm"]] } }), never)).rejects.toMatchObject(refused);
    expect(cluster.pods.size).toBe(0);
    await (await driver.start(specOf({ network: "bridge" }), never)).stop();
  });
});
