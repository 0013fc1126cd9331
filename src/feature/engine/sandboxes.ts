/** Opens the sandboxes in which agents run commands: containers, or processes of this machine. */

import { dockerEndpoint } from "../../adapter/docker/endpoint.ts";
import { connectDocker } from "../../adapter/docker.ts";
import { clusterAccess } from "../../adapter/kubernetes/access.ts";
import { connectCluster } from "../../adapter/kubernetes/cluster.ts";
import { chooseSandbox } from "../../adapter/sandbox/choice.ts";
import { createAgentImages } from "../../adapter/sandbox/docker/agent-image.ts";
import { createDockerSandboxes } from "../../adapter/sandbox/docker/driver.ts";
import { createHostedSandboxes, type Host, type HostedSandboxes } from "../../adapter/sandbox/hosts/driver.ts";
import { type ClusterChecked, createKubernetesSandboxes } from "../../adapter/sandbox/kubernetes/driver.ts";
import { createProcessSandboxes } from "../../adapter/sandbox/process/driver.ts";
import { readDockerHosts } from "../../core/docker-options.ts";
import { messageOf, unavailable } from "../../core/errors.ts";
import { lackOfHost } from "../../core/host-labels.ts";
import type { SandboxDriver } from "../../engine/sandbox.ts";
import type { Store } from "../../store/store.ts";
import { CONTAINERS_USED, facts } from "../../store/tables/foundation.ts";
import type { Core } from "../feature.ts";
import type { SettingsService } from "../settings/service.ts";

export interface Sandboxes {
  driver: SandboxDriver;
  /** Why this driver was chosen, for the log. */
  reason: string;
  /** Whether work has to wait until an engine answers. */
  waits: boolean;
  /** Builds the agents' image if it is one that Skep builds. @returns whether the image exists now. */
  makeImage(image: string): Promise<boolean>;
  /** Whether `makeImage` has what it needs. Builds nothing. */
  canMakeImage(image: string): Promise<boolean>;
  /**
   * Only of a driver that works elsewhere: checks whether it could start a sandbox now. @throws Problem with the
   * remedy.
   */
  check?(): Promise<ClusterChecked>;
  /** Only with several engines: their state, and whether they get work. */
  hosts?: Pick<HostedSandboxes, "look" | "setDrained" | "onChange">;
  /** Removes everything that this server has in the container engine. */
  close(): Promise<void>;
}

type Needs = Pick<Core, "config" | "clock" | "log" | "store" | "docker" | "instanceId" | "replaced"> & {
  folder: Pick<Core["folder"], "cache">;
  settings: Pick<SettingsService, "get">;
};

/** @throws Problem when the driver that the configuration asks for does not work. */
export async function openSandboxes(deps: Needs): Promise<Sandboxes> {
  const opened = await openDriver(deps);
  return opened.hosts ? opened : { ...opened, driver: withoutHosts(opened.driver) };
}

/** Without several hosts, work that requires labels of a host waits: it may not run anywhere else. */
function withoutHosts(driver: SandboxDriver): SandboxDriver {
  return {
    ...driver,
    async start(spec, signal) {
      const lack = lackOfHost([], spec.hostLabels ?? []);
      if (lack !== undefined) throw unavailable("sandbox_unavailable", `${lack}. The work waits.`);
      return await driver.start(spec, signal);
    },
  };
}

async function openDriver(deps: Needs): Promise<Sandboxes> {
  const { config, clock, log, docker, instanceId, settings, replaced } = deps;
  if (replaced.sandboxes)
    return {
      driver: replaced.sandboxes,
      reason: "replaced",
      waits: false,
      close: async () => {},
      makeImage: async () => false,
      canMakeImage: async () => false,
    };
  if (config.sandbox === "kubernetes") return await openCluster(deps);
  if (config.dockerHosts.length > 0 && config.sandbox !== "process") return await openHosts(deps);
  const inProcess = createProcessSandboxes({ allowHostShell: config.allowHostShell, instanceId, clock });
  const server = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const images =
    docker && createAgentImages({ docker, pull: config.imagePull, onNotice: (message) => log.info(message) });
  const used = rememberedUse(deps.store);
  const containers =
    docker &&
    images &&
    createDockerSandboxes({
      docker,
      instanceId,
      defaultImage: settings.get().sandbox.image ?? config.agentImage,
      images,
      server,
      relayFolder: deps.folder.cache,
      carries: config.sandboxWorkspace === "detached",
      clock,
    });
  const driver = containers && used.noteStarts(containers);
  const engine = docker && driver && { driver, ping: docker.ping, wasUsed: used.was };
  const choice = await chooseSandbox(config.sandbox, engine, inProcess);
  const close = async () => (choice.driver === driver ? driver?.close() : undefined);
  return { ...choice, close, makeImage: images?.make ?? declineImage, canMakeImage: images?.canMake ?? declineImage };
}

const declineImage = async () => false;

/** Several engines. An engine that does not answer gets no work until it does. */
async function openHosts(deps: Needs): Promise<Sandboxes> {
  const { config, clock, log, instanceId, settings } = deps;
  if (config.sandboxWorkspace !== "detached")
    throw unavailable(
      "sandbox_unavailable",
      "DOCKER_HOSTS names several engines, and files have to be carried to them. Set SANDBOX_WORKSPACE=detached.",
    );
  const server = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const used = rememberedUse(deps.store);
  const parts = (readDockerHosts(config.dockerHosts) ?? []).map(({ name, address, slots, labels, tls }) => {
    const docker = connectDocker(dockerEndpoint({ host: address, certPath: tls, env: config.hostEnv }));
    const onNotice = (message: string) => log.info({ host: name }, message);
    const images = createAgentImages({ docker, pull: config.imagePull, onNotice });
    const driver = createDockerSandboxes({
      docker,
      instanceId,
      images,
      server,
      clock,
      relayFolder: deps.folder.cache,
      carries: true,
      defaultImage: settings.get().sandbox.image ?? config.agentImage,
    });
    return { images, host: { name, slots, labels, driver, ping: docker.ping } satisfies Host };
  });
  const [first, ...others] = parts.map(({ host }) => host);
  const hosted = createHostedSandboxes([first!, ...others], clock);
  const driver = used.noteStarts(hosted);
  const found = await hosted.look();
  const there = found.filter(({ away }) => away === undefined);
  const askAll = async (ask: "make" | "canMake", image: string) =>
    (await Promise.all(parts.map(({ images }) => images[ask](image).catch(() => false)))).some(Boolean);
  return {
    driver,
    hosts: hosted,
    close: hosted.close,
    waits: there.length === 0,
    reason: `${there.length} of ${found.length} hosts of DOCKER_HOSTS answer`,
    makeImage: (image) => askAll("make", image),
    canMakeImage: (image) => askAll("canMake", image),
  };
}

/**
 * Pods of a Kubernetes cluster. If the cluster does not answer, work waits for it, because it is not part of this
 * machine.
 */
async function openCluster({ config, clock, log, instanceId, settings }: Needs): Promise<Sandboxes> {
  const { kubernetesConfig, kubernetesContext, kubernetesNamespace, kubernetesPullSecrets, kubernetesWarmPools } =
    config;
  const access = clusterAccess({ kubeconfig: kubernetesConfig, context: kubernetesContext, env: config.clusterEnv });
  const namespace = kubernetesNamespace ?? access.namespace;
  const driver = createKubernetesSandboxes({
    client: connectCluster(access),
    namespace,
    instanceId,
    clock,
    pullSecrets: kubernetesPullSecrets,
    warmPools: kubernetesWarmPools,
    defaultImage: settings.get().sandbox.image ?? config.agentImage,
  });
  const parts = {
    driver,
    check: driver.check,
    makeImage: declineImage,
    canMakeImage: declineImage,
    close: async () => driver.close(),
  };
  const place = `the cluster at ${access.address}, namespace ${namespace}`;
  try {
    await driver.check();
    return { ...parts, reason: `${place}, answers`, waits: false };
  } catch (err) {
    log.debug({ err }, "the cluster does not answer");
    return { ...parts, reason: `${messageOf(err)} Work that needs ${place}, waits.`, waits: true };
  }
}

/** Remembers whether this data folder's agents ever worked, or were about to work, in containers. */
function rememberedUse(store: Store) {
  const rows = store.rows(facts);
  let known = rows.find({ name: CONTAINERS_USED }) !== undefined;
  return {
    was: () => known,
    noteStarts: <Driver extends SandboxDriver>(driver: Driver): Driver => ({
      ...driver,
      async start(...how) {
        // Stored before the start, because a start that is reported as failed may still leave a container.
        if (!known) store.write(() => rows.insertIfNew({ name: CONTAINERS_USED, value: "true" }));
        known = true;
        return await driver.start(...how);
      },
    }),
  };
}
