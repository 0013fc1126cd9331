/** The Pod an execution gets: everything that is locked down, in one place. */
import type { SandboxSpec } from "../../../engine/sandbox.ts";
import { HARNESS_STATE, HOME } from "../docker/container-spec.ts";
import { CONTAINER_LIMITS } from "../docker/lock-down.ts";
import { MOUNT_POINT } from "../workspace-path.ts";

/** Labels and annotations; values of labels are ids of this server. */
export const POD_LABELS = {
  instance: "skep.instance",
  session: "skep.session",
  execution: "skep.execution",
  run: "skep.run",
  work: "skep.work",
  /** `closed` or `open`: what the namespace's network policies select by. */
  network: "skep.network",
} as const;

/** Folder in memory for the relay's program. */
export const RELAY_FOLDER = "/run/skep";
export const CONTAINER = "agent";
/** The user of agents' images. Every process of the Pod has it, and no rights beyond. */
export const POD_USER = 10_001;

/**
 * Waits forever, and collects the dead that its descendants leave. Signals that an agent's `pkill` would send are not
 * handled.
 */
const IDLE = 'trap "" HUP INT TERM; while :; do sleep 86400 & wait; done';
/** A Pod whose server never comes back ends by itself. */
export const LONGEST_SECONDS = 48 * 60 * 60;
const FILES_MIB = 10 * 1024;
const mib = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)}Mi`;

interface PodPlan {
  name: string;
  spec: SandboxSpec;
  instanceId: string;
  image: string;
  pullSecrets: readonly string[];
}

export function podManifest({ name, spec, instanceId, image, pullSecrets }: PodPlan) {
  const folders: [name: string, path: string, limit: string, medium?: "Memory"][] = [
    ["files", MOUNT_POINT, `${FILES_MIB}Mi`],
    ["home", HOME, mib(CONTAINER_LIMITS.homeBytes)],
    ["tmp", "/tmp", mib(CONTAINER_LIMITS.tmpBytes)],
    ["relay", RELAY_FOLDER, "1Mi", "Memory"],
  ];
  if (spec.harness) folders.push(["state", HARNESS_STATE, `${FILES_MIB}Mi`]);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      labels: labelsOf(spec, instanceId),
      annotations: {
        "skep.agent": spec.agentId,
        // An autoscaler that moved it would end the work in it.
        "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
      },
    },
    spec: {
      restartPolicy: "Never",
      activeDeadlineSeconds: LONGEST_SECONDS,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 0,
      hostname: "sandbox",
      ...(spec.runtime === undefined ? {} : { runtimeClassName: spec.runtime }),
      ...(pullSecrets.length === 0 ? {} : { imagePullSecrets: pullSecrets.map((secret) => ({ name: secret })) }),
      securityContext: {
        runAsNonRoot: true,
        runAsUser: POD_USER,
        runAsGroup: POD_USER,
        fsGroup: POD_USER,
        seccompProfile: { type: "RuntimeDefault" },
      },
      volumes: folders.map(([volume, , sizeLimit, medium]) => ({
        name: volume,
        emptyDir: { sizeLimit, ...(medium === undefined ? {} : { medium }) },
      })),
      containers: [
        {
          name: CONTAINER,
          image,
          imagePullPolicy: "IfNotPresent",
          command: ["sh", "-c", IDLE],
          workingDir: MOUNT_POINT,
          // Not the execution's own variables: the cluster keeps this. Each command is given them.
          env: Object.entries({ HOME, USER: "agent", LOGNAME: "agent", LANG: "C.UTF-8" }).map(([key, value]) => ({
            name: key,
            value,
          })),
          securityContext: {
            privileged: false,
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
          resources: {
            limits: { memory: `${spec.memoryMb}Mi`, cpu: `${Math.round(spec.cpus * 1_000)}m` },
            requests: { memory: `${spec.memoryMb}Mi`, cpu: `${Math.max(10, Math.round(spec.cpus * 100))}m` },
          },
          volumeMounts: folders.map(([volume, path]) => ({ name: volume, mountPath: path })),
        },
      ],
    },
  };
}

function labelsOf(spec: SandboxSpec, instanceId: string): Record<string, string> {
  return {
    [POD_LABELS.instance]: instanceId,
    [POD_LABELS.session]: spec.sessionId,
    [POD_LABELS.execution]: spec.executionId,
    [POD_LABELS.network]: spec.network === "bridge" ? "open" : "closed",
    ...(spec.runId === undefined ? {} : { [POD_LABELS.run]: spec.runId }),
    ...(spec.workId === undefined ? {} : { [POD_LABELS.work]: spec.workId }),
  };
}
