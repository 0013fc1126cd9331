/**
 * The Kubernetes sandbox: one restricted Pod per execution (see pod.ts). Nothing of this host is mounted: files are
 * carried there and back, and all communication goes through `exec`.
 */
import { randomBytes } from "node:crypto";
import { type Clock, systemClock } from "../../../core/clock.ts";
import { forbidden, isProblem, type Problem, unavailable } from "../../../core/errors.ts";
import { membersOf, textIn } from "../../../core/is-object.ts";
import { memoizeAsync } from "../../../core/once.ts";
import type { Capabilities, HarnessPlaces, Sandbox, SandboxDriver, SandboxSpec } from "../../../engine/sandbox.ts";
import { openFolder } from "../../../working-copy/folder.ts";
import type { Cluster } from "../../kubernetes/cluster.ts";
import { HARNESS_STATE } from "../docker/container-spec.ts";
import { createLostProblem, execInContainer, openInContainer } from "../docker/exec.ts";
import { createContainerRelay, routesThrough } from "../docker/relay.ts";
import { carrierBytes, relayBytes } from "../relay/program.ts";
import { MOUNT_POINT } from "../workspace-path.ts";
import { aboutPod } from "./about.ts";
import { createCarriedFiles } from "./carried-files.ts";
import { checkPools, type PoolChecked } from "./check-pools.ts";
import { type Claims, createClaims, type Held } from "./claims.ts";
import { createPodCommands, readPod } from "./container.ts";
import { createNetworkGuard } from "./network-guard.ts";
import { POD_LABELS, POD_USER, podManifest, RELAY_FOLDER } from "./pod.ts";
import { stateOf } from "./pod-state.ts";
import { createPods } from "./pods.ts";
import { assertRights, POD_RIGHTS } from "./rights.ts";
import { showClaim, showPod } from "./show.ts";

interface KubernetesSandboxDeps {
  client: Cluster;
  namespace: string;
  /** Id of the server instance that owns the Pods. */
  instanceId: string;
  defaultImage: string;
  /** Names of the namespace's secrets with which nodes pull images. */
  pullSecrets: readonly string[];
  /** Names of SandboxWarmPools. Their Pods are used if they are what an agent asks for. */
  warmPools: readonly string[];
  /** How long the pools' controller may take to provide a Pod, ms. */
  claimMs?: number;
  clock?: Clock;
  /** How long a Pod may wait for a node, ms; then its work is put back. */
  placeMs?: number;
}

export interface ClusterChecked {
  /** Where agents work, in words for people. */
  detail: string;
  /** The result for each configured warm pool. */
  pools: PoolChecked[];
}

interface KubernetesSandboxes extends SandboxDriver {
  start(spec: SandboxSpec, signal: AbortSignal): Promise<Sandbox & { readonly pod: string }>;
  /** Tests the cluster. @throws Problem with the remedy when something is missing or refused. */
  check(): Promise<ClusterChecked>;
  close(): void;
}

const CAPABILITIES: Capabilities = {
  shell: true,
  network: "policy",
  isolation: "container",
  files: "carried",
  filesAtOnce: 10_000,
  previews: "running",
};
const NOTICE_MS = 30_000;
const SWEEP_MS = 30_000;
/** Longer than in an engine's container, because a process that cannot be killed costs the whole Pod, ms. */
const KILL_MS = 60_000;
const CARRIER = `${RELAY_FOLDER}/carrier`;
const RELAY = `${RELAY_FOLDER}/relay`;
const ARCHITECTURES = new Set(["x86_64", "amd64", "aarch64", "arm64"]);
const PLACES: HarnessPlaces = { workspace: MOUNT_POINT, state: HARNESS_STATE };

interface Parts {
  deps: KubernetesSandboxDeps;
  clock: Clock;
  pods: ReturnType<typeof createPods>;
  guard: ReturnType<typeof createNetworkGuard>;
  claims: Claims;
}

type Manifest = ReturnType<typeof podManifest>;

export function createKubernetesSandboxes(deps: KubernetesSandboxDeps): KubernetesSandboxes {
  const { clock = systemClock } = deps;
  const pods = createPods(deps);
  const claims = createClaims({ ...deps, clock, pods });
  const parts: Parts = { deps, clock, pods, claims, guard: createNetworkGuard(clock) };
  return {
    name: "kubernetes",
    capabilities: CAPABILITIES,
    noticeMs: NOTICE_MS,
    about: async (spec) => aboutPod(spec),
    start: (spec, signal) => startSandbox(parts, spec, signal),
    async sweep(isLive) {
      const signal = AbortSignal.timeout(SWEEP_MS);
      const listDead = async (from: typeof pods.list) =>
        (await from(signal))
          .map((one) => membersOf(membersOf(one)["metadata"]))
          .filter(({ labels }) => !isLive(textIn(labels, POD_LABELS.execution) ?? ""))
          .map((one) => textIn(one, "name") ?? "");
      const [made, claimed] = await Promise.all([listDead(pods.list), listDead(claims.list)]);
      const ends = await Promise.allSettled([
        ...made.map((name) => pods.remove(name, signal)),
        ...claimed.map((name) => claims.remove(name, signal)),
      ]);
      // A Pod that is left cannot change the files: they are on this host, and nothing carries changes back any more.
      return { removed: ends.filter(({ status }) => status === "fulfilled").length, left: [] };
    },
    async show() {
      const signal = AbortSignal.timeout(NOTICE_MS);
      const [made, claimed] = await Promise.all([pods.list(signal), claims.list(signal)]);
      return [...made.map(showPod), ...claimed.map(showClaim)];
    },
    async check() {
      const signal = AbortSignal.timeout(NOTICE_MS);
      await pods.list(signal);
      await assertRights(deps, POD_RIGHTS, signal);
      const { address } = deps.client.access;
      return {
        detail: `agents work in Pods of the cluster at ${address}, namespace ${deps.namespace}, which answers and lets the server work there`,
        pools: await checkPools(parts, signal),
      };
    },
    close: pods.close,
  };
}

async function startSandbox(parts: Parts, spec: SandboxSpec, signal: AbortSignal): Promise<Sandbox & { pod: string }> {
  const { deps, guard } = parts;
  signal.throwIfAborted();
  assertFolder(spec.home);
  const image = spec.image ?? deps.defaultImage;
  const { instanceId, pullSecrets } = deps;
  const plan = { name: podName(spec.executionId), spec, instanceId, image, pullSecrets };
  const held = await obtain(parts, podManifest(plan), signal);
  const losing = new AbortController();
  const commands = createPodCommands({ ...deps, pod: held.pod, lost: losing.signal });
  try {
    const hasRoutes = spec.routes === true || typeof spec.network === "object";
    const arch = await archOf(commands, image);
    await lay(commands, CARRIER, carrierBytes(arch));
    if (hasRoutes) await lay(commands, RELAY, relayBytes(arch));
    if (spec.network !== "bridge") await guard.assertClosed(commands);
    signal.throwIfAborted();
    const folders = [
      createCarriedFiles({ home: spec.home, folder: MOUNT_POINT, program: CARRIER, commands }),
      ...(spec.harness
        ? [createCarriedFiles({ home: spec.harness.state, folder: HARNESS_STATE, program: CARRIER, commands })]
        : []),
    ] as const;
    for (const { reset } of folders) await reset();
    signal.throwIfAborted();
    return createSandbox(parts, { held, spec, hasRoutes, losing }, commands, folders);
  } catch (error) {
    losing.abort(error);
    await held.end().catch(() => {});
    throw error;
  }
}

/** A running Pod: one from a warm pool, or one that is created. */
async function obtain({ pods, claims }: Parts, manifest: Manifest, signal: AbortSignal): Promise<Held> {
  const ready = await claims.take(manifest, signal);
  if (ready) return ready;
  const { name } = manifest.metadata;
  try {
    await pods.create(manifest, signal);
    await pods.waitForStart(name, manifest.spec.containers[0]?.image ?? "", signal);
    return { pod: name, end: (why) => pods.remove(name, why) };
  } catch (error) {
    await pods.remove(name).catch(() => {});
    throw error;
  }
}

function assertFolder(path: string): void {
  try {
    openFolder(path).close();
  } catch {
    throw unavailable("workspace_missing", "The workspace's folder does not exist or is not open to the server.");
  }
}

/** A name that the cluster accepts, unique to this start. */
const podName = (executionId: string): string =>
  `skep-${executionId.toLowerCase().replaceAll("_", "-")}-${randomBytes(3).toString("hex")}`;

type Commands = ReturnType<typeof createPodCommands>;

async function archOf({ run }: Commands, image: string): Promise<string> {
  const { output, exitCode } = await run(["uname", "-m"], new Uint8Array());
  if (exitCode !== 0)
    throw unavailable(
      "image_unusable",
      `The image ${image} has no \`uname\`, or no \`head\`; an agent's image needs both.`,
    );
  const arch = output.trim();
  if (ARCHITECTURES.has(arch)) return arch;
  const shown = JSON.stringify(arch.slice(0, 40));
  throw unavailable("sandbox_unavailable", `The cluster's node is ${shown}; agents work on x86_64 and arm64 alone.`);
}

/** Writes a program into the Pod's memory. */
async function lay({ run }: Commands, path: string, program: Uint8Array): Promise<void> {
  const { output, exitCode } = await run(["sh", "-c", 'cat > "$0" && chmod 500 "$0"', path], program);
  if (exitCode !== 0)
    throw unavailable("image_unusable", `A program of the server could not be laid into the Pod: ${output.trim()}.`);
}

interface Started {
  held: Held;
  spec: SandboxSpec;
  hasRoutes: boolean;
  losing: AbortController;
}

function createSandbox(
  { deps, clock, pods }: Parts,
  { held, spec, hasRoutes, losing }: Started,
  commands: Commands,
  folders: readonly [ReturnType<typeof createCarriedFiles>, ...ReturnType<typeof createCarriedFiles>[]],
): Sandbox & { pod: string } {
  const { containers } = commands;
  const name = held.pod;
  const lose = (why: string): Problem => {
    const problem = createLostProblem(why);
    losing.abort(problem);
    for (const { close } of folders) close(problem);
    return problem;
  };
  const unfollow = pods.follow(name, (state) => {
    if (state.lost !== undefined) lose(state.lost);
  });
  /** Gives up the Pod, because a cluster has no other way to end a command that cannot be ended. */
  const restart = async () => {
    const why = lose("a command in it could not be ended");
    await held.end();
    throw why;
  };
  const place = { docker: { containers }, containerId: name, restart, killMs: KILL_MS };
  const relay = hasRoutes
    ? createContainerRelay({ docker: { containers }, containerId: name, user: `${POD_USER}`, program: RELAY })
    : undefined;
  const end = memoizeAsync(() => held.end(AbortSignal.timeout(SWEEP_MS)));
  const prepareFolders = async (): Promise<void> => {
    losing.signal.throwIfAborted();
    for (const { prepare } of folders) await prepare();
  };
  const own = folders[0].workspace;
  return {
    pod: name,
    capabilities: CAPABILITIES,
    workspace: {
      ...own,
      async bringBack() {
        for (const { workspace } of folders) await workspace.bringBack();
      },
    },
    async exec(argv, options) {
      await prepareFolders();
      return await execInContainer({ ...place, clock }, argv, { ...options, env: { ...spec.env, ...options.env } });
    },
    async open(program, events, signal) {
      await prepareFolders();
      const { argv, env } = program(PLACES);
      return await openInContainer(place, { argv, env: { ...spec.env, ...env } }, events, signal);
    },
    ...routesThrough(relay, async () => losing.signal.throwIfAborted()),
    async isAlive() {
      if (losing.signal.aborted) return false;
      try {
        return stateOf(await readPod({ ...deps, pod: name })).isRunning;
      } catch (error) {
        if (isProblem(error)) return false;
        throw error;
      }
    },
    // Once nothing is carried any more, programs in the Pod cannot change files here.
    async freeze() {
      lose("it was ended");
    },
    async thaw() {
      throw forbidden("A Pod's programs are not reached once its work has ended.", "previews_unavailable");
    },
    stop() {
      relay?.end();
      unfollow();
      lose("it was ended");
      return end();
    },
  };
}
