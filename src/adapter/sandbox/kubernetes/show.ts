/** Shows a Pod to administrators among the server's sandboxes. */
import { listIn, membersOf, textIn } from "../../../core/is-object.ts";
import type { SandboxShown } from "../../../engine/sandbox.ts";
import { POD_LABELS } from "./pod.ts";
import { quantityOf } from "./pod-difference.ts";
import { shorten, stateOf } from "./pod-state.ts";

export function showPod(pod: unknown): SandboxShown {
  const { metadata, spec, status } = membersOf(pod);
  const [labels, annotations] = [membersOf(metadata)["labels"], membersOf(metadata)["annotations"]];
  const container = listIn(spec, "containers")[0];
  const name = textIn(metadata, "name") ?? "";
  return {
    id: name,
    name,
    image: textIn(container, "image") ?? "",
    state: (textIn(status, "phase") ?? "Unknown").toLowerCase(),
    status: wordsOf(pod),
    agentId: textIn(annotations, "skep.agent"),
    sessionId: textIn(labels, POD_LABELS.session),
    runId: textIn(labels, POD_LABELS.run),
    createdAt: Date.parse(textIn(metadata, "creationTimestamp") ?? "") || 0,
    memoryLimitBytes: quantityOf(textIn(membersOf(membersOf(container)["resources"])["limits"], "memory")),
  };
}

/** Shows a Pod from a warm pool, by its claim. */
export function showClaim(claim: unknown): SandboxShown {
  const { metadata, spec, status } = membersOf(claim);
  const labels = membersOf(metadata)["labels"];
  const name = textIn(metadata, "name") ?? "";
  const pool = textIn(membersOf(spec)["warmPoolRef"], "name") ?? "";
  const ready = listIn(status, "conditions").find((one) => textIn(one, "type") === "Ready");
  const isReady = textIn(ready, "status") === "True";
  const why = textIn(ready, "message") ?? "";
  return {
    id: name,
    name: textIn(membersOf(status)["sandbox"], "name") ?? name,
    image: "",
    state: isReady ? "running" : "pending",
    status: [`from the warm pool ${pool}`, ...(isReady || why === "" ? [] : [shorten(why)])].join(": "),
    agentId: undefined,
    sessionId: textIn(labels, POD_LABELS.session),
    runId: textIn(labels, POD_LABELS.run),
    createdAt: Date.parse(textIn(metadata, "creationTimestamp") ?? "") || 0,
    memoryLimitBytes: undefined,
  };
}

/** The Pod's current state in words. */
function wordsOf(pod: unknown): string {
  const { isRunning, lost, unschedulable, blocked } = stateOf(pod);
  const node = textIn(membersOf(pod)["spec"], "nodeName");
  if (lost !== undefined) return lost;
  if (blocked) return `${blocked.reason}: ${blocked.message}`;
  if (unschedulable !== undefined) return `no node: ${unschedulable}`;
  const where = node === undefined ? "" : ` on the node ${node}`;
  return isRunning ? `runs${where}` : `starts${where}`;
}
