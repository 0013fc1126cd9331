/** Describes the Pod of an execution. All of its restrictions are set here. */
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
  /** `closed` or `open`; the namespace's network policies select Pods by it. */
  network: "skep.network",
} as const;

/** Folder in memory for the relay's program. */
export const RELAY_FOLDER = "/run/skep";
export const CONTAINER = "agent";
/** User and group of all processes of the Pod, as in agents' images. They have no further rights. */
export const POD_USER = 10_001;

/**
 * The Pod's main program: it waits forever and collects dead processes. It ignores the signals that an agent's `pkill`
 * would send.
 */
const IDLE = 'trap "" HUP INT TERM; while :; do sleep 86400 & wait; done';
/** If the server never comes back, the Pod ends by itself after this time. */
export const LONGEST_SECONDS = 48 * 60 * 60;
const FILES_MIB = 10 * 1024;
const formatMib = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)}Mi`;

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
    ["home", HOME, formatMib(CONTAINER_LIMITS.homeBytes)],
    ["tmp", "/tmp", formatMib(CONTAINER_LIMITS.tmpBytes)],
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
        // If an autoscaler moved the Pod, its work would end.
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
          // The execution's own variables are not set here, because the cluster stores these. Each command gets them
          // instead.
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
