/** How the server opens the sandboxes in which agents run commands. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dockerEndpoint } from "../../adapter/docker/endpoint.ts";
import { connectDocker } from "../../adapter/docker.ts";
import { systemClock } from "../../core/clock.ts";
import { readConfig } from "../../core/config.ts";
import { newId } from "../../core/ids.ts";
import { createLog } from "../../process/log.ts";
import { openStore, type Store } from "../../store/store.ts";
import { startFakeCluster } from "../../testing/kubernetes/fake-cluster.ts";
import { checkSandboxes } from "./checks.ts";
import { openSandboxes } from "./sandboxes.ts";

test("while the disk is full no container is started that nobody would know of", async () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-engine-"));
  const unix = join(folder, "docker.sock");
  const asked: string[] = [];
  const engine = Bun.serve({
    unix,
    fetch({ url, method }) {
      asked.push(`${method} ${new URL(url).pathname}`);
      return new Response("OK");
    },
  });
  const store = openStore({ path: ":memory:", clock: systemClock });
  const full = Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
  const write: Store["write"] = () => {
    throw full;
  };
  const { driver } = await openSandboxes({
    config: readConfig({ DATA_DIR: folder }),
    clock: systemClock,
    log: createLog({ logLevel: "silent" }),
    store: { ...store, write },
    docker: connectDocker(dockerEndpoint({ host: unix })),
    instanceId: newId("instance"),
    replaced: {},
    folder: { cache: folder },
    settings: { get: () => ({ sandbox: {} }) as never },
  });
  const spec = { executionId: newId("execution"), sessionId: "s", agentId: "worker", home: folder };
  const limits = { network: "none", memoryMb: 64, cpus: 1, env: {} } as const;
  await expect(driver.start({ ...spec, ...limits }, new AbortController().signal)).rejects.toBe(full);
  // The work may only run on a host with that label, and there are no hosts.
  await expect(
    driver.start({ ...spec, ...limits, hostLabels: ["gpu"] }, new AbortController().signal),
  ).rejects.toMatchObject({
    code: "sandbox_unavailable",
    detail: "No host has the labels gpu, since DOCKER_HOSTS names no hosts. The work waits.",
  });
  expect(asked).toEqual(["GET /_ping"]);
  store.close();
  await engine.stop(true);
  rmSync(folder, { recursive: true });
});

test("Pods of a cluster are used where the operator says so, waited for while it does not answer, and seen by doctor", async () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-engine-"));
  const path = join(folder, "kubeconfig");
  const cluster = await startFakeCluster();
  const kubeconfig = (user: string) =>
    writeFileSync(
      path,
      `current-context: x
contexts: [{name: x, context: {cluster: c, user: u, namespace: work}}]
clusters: [{name: c, cluster: {server: "${cluster.access.address}"}}]
users: [{name: u, user: {${user}}}]
`,
    );
  kubeconfig(`token: ${cluster.access.authorization()?.replace("Bearer ", "")}`);
  const store = openStore({ path: ":memory:", clock: systemClock });
  const settings = { get: () => ({ sandbox: {} }) as never };
  const config = readConfig({ DATA_DIR: folder, SANDBOX: "kubernetes", KUBERNETES_CONFIG: path });
  const open = () =>
    openSandboxes({
      config,
      clock: systemClock,
      log: createLog({ logLevel: "silent" }),
      store,
      docker: undefined,
      instanceId: newId("instance"),
      replaced: {},
      folder: { cache: folder },
      settings,
    });
  const found = await open();
  expect(found).toMatchObject({ driver: { name: "kubernetes" }, waits: false });
  expect(found.reason).toBe(`the cluster at ${cluster.access.address}, namespace work, answers`);
  const verdict = async () => await checkSandboxes({ config, docker: undefined, settings }, found);
  const words = `kubernetes: agents work in Pods of the cluster at ${cluster.access.address}, namespace work, which answers and lets the server work there`;
  expect(await verdict()).toMatchObject([{ check: "sandbox", verdict: "ok", detail: words }]);
  cluster.failWith(403, 'User "skep" cannot list resource "pods"');
  const [refused] = await verdict();
  expect(refused?.verdict).toBe("fail");
  expect(refused?.detail).toMatch(/cannot list resource "pods"\. Apply the roles of docs\/kubernetes\.md/);
  cluster.denied.push("create pods/exec", "list events");
  const [lacking] = await verdict();
  expect(lacking?.detail).toMatch(
    /namespace work: create pods\/exec, list events\. Apply docs\/kubernetes\/agents\.yml/,
  );
  cluster.denied.length = 0;
  cluster.failWith(500, "etcd has no leader");
  const waiting = await open();
  expect([waiting.waits, waiting.reason]).toEqual([
    true,
    expect.stringMatching(/etcd has no leader\. Work that needs/),
  ]);
  kubeconfig("exec: {command: aws}");
  await expect(open()).rejects.toMatchObject({ code: "kubernetes_access_invalid" });
  for (const one of [found, waiting]) await one.close();
  await cluster.close();
  store.close();
  rmSync(folder, { recursive: true });
});

test("several engines need files that are carried: without, the server says so and does not start", async () => {
  const config = readConfig({ DOCKER_HOSTS: "unix:///nonexistent/engine.sock slots=2" });
  const store = openStore({ path: ":memory:", clock: systemClock });
  const parts = {
    clock: systemClock,
    log: createLog({ logLevel: "silent" }),
    store,
    docker: undefined,
    replaced: {},
    instanceId: newId("instance"),
    folder: { cache: tmpdir() },
    settings: { get: () => ({ sandbox: {} }) as never },
  };
  await expect(openSandboxes({ ...parts, config })).rejects.toThrow("Set SANDBOX_WORKSPACE=detached.");
  const detached = readConfig({ DOCKER_HOSTS: config.dockerHosts.join(","), SANDBOX_WORKSPACE: "detached" });
  const { waits, reason, hosts } = await openSandboxes({ ...parts, config: detached });
  expect([waits, reason]).toEqual([true, "0 of 1 hosts of DOCKER_HOSTS answer"]);
  expect(await hosts!.look()).toMatchObject([
    { name: "local", slots: 2, used: 0, away: expect.stringContaining("answer") },
  ]);
  expect(() => readConfig({ DOCKER_HOSTS: "ssh://a slots=0" })).toThrow("DOCKER_HOSTS accepts [name=]address");
  store.close();
});
