/** Reads from a cluster's description of a Pod what matters to a sandbox. */
import { type Problem, unavailable } from "../../../core/errors.ts";
import { listIn, membersOf, numberIn, textIn } from "../../../core/is-object.ts";

export interface PodState {
  /** Whether its container runs and the Pod is not lost. */
  isRunning: boolean;
  oomKilled: boolean;
  exitCode: number;
  /** Why the Pod can no longer be used, in words: it has ended, is being removed, or its node no longer answers. */
  lost?: string | undefined;
  /** The scheduler's message when it finds no node for the Pod. */
  unschedulable?: string | undefined;
  /** Why the Pod's container cannot start. */
  blocked?: { reason: string; message: string } | undefined;
}

/** Reasons for which waiting does not help, and the code of the Problem for each. */
const BLOCKS: Readonly<Record<string, string>> = {
  ImagePullBackOff: "image_missing",
  ErrImagePull: "image_missing",
  InvalidImageName: "image_missing",
  ErrImageNeverPull: "image_missing",
  CreateContainerConfigError: "image_unusable",
  CreateContainerError: "image_unusable",
  RunContainerError: "image_unusable",
};

/** @param pod undefined when it is gone. */
export function stateOf(pod: unknown): PodState {
  if (pod === undefined) return { isRunning: false, oomKilled: false, exitCode: 0, lost: "its Pod was removed" };
  const status = membersOf(membersOf(pod)["status"]);
  const phase = textIn(status, "phase") ?? "";
  const container = membersOf(membersOf(listIn(status, "containerStatuses")[0])["state"]);
  const ended = membersOf(container["terminated"]);
  const waiting = membersOf(container["waiting"]);
  const reason = textIn(waiting, "reason") ?? "";
  const lost = lossOf(pod, status, ended);
  return {
    isRunning: phase === "Running" && "running" in container && lost === undefined,
    oomKilled: textIn(ended, "reason") === "OOMKilled",
    exitCode: numberIn(ended, "exitCode") ?? 0,
    lost,
    unschedulable: conditionOf(status, "PodScheduled", "Unschedulable"),
    blocked: reason in BLOCKS ? { reason, message: shorten(textIn(waiting, "message") ?? reason) } : undefined,
  };
}

function lossOf(pod: unknown, status: unknown, ended: Record<string, unknown>): string | undefined {
  if (textIn(membersOf(pod)["metadata"], "deletionTimestamp") !== undefined) return "its Pod is being removed";
  if (textIn(ended, "reason") === "OOMKilled") return "it used more memory than it may";
  const phase = textIn(status, "phase");
  const why = shorten(textIn(status, "message") ?? textIn(ended, "message") ?? textIn(ended, "reason") ?? "");
  if (phase === "Failed" || phase === "Succeeded")
    return [textIn(status, "reason") === "Evicted" ? "the cluster evicted it" : "its Pod ended", why]
      .filter(Boolean)
      .join(": ");
  if (
    textIn(status, "reason") === "NodeLost" ||
    conditionOf(status, "Ready", "NodeLost") !== undefined ||
    phase === "Unknown"
  )
    return "its node no longer answers";
  return undefined;
}

/** The message of a condition that is not met for the given reason. */
function conditionOf(status: unknown, type: string, reason: string): string | undefined {
  const found = listIn(status, "conditions").find((one) => textIn(one, "type") === type);
  if (textIn(found, "status") === "True" || textIn(found, "reason") !== reason) return undefined;
  return shorten(textIn(found, "message") ?? reason);
}

/** Shortens the cluster's text to one line that can be shown. */
export const shorten = (text: string): string =>
  text
    .replace(/[\x00-\x20\x7f]+/g, " ")
    .trim()
    .slice(0, 500);

/** The Problem for a Pod whose container cannot start. */
export function blockProblem({ reason, message }: NonNullable<PodState["blocked"]>, image: string): Problem {
  const code = BLOCKS[reason] ?? "image_unusable";
  if (code === "image_missing")
    return unavailable(
      "image_missing",
      `The cluster cannot get the image ${image} (${reason}: ${message}). Push it to a registry that the nodes reach, and name the secret for it in KUBERNETES_PULL_SECRETS.`,
    );
  return unavailable("image_unusable", `The cluster cannot start the image ${image} (${reason}: ${message}).`);
}
