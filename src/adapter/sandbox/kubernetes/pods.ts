/** Creates, awaits, watches and removes the Pods of one server in its namespace. */
import { unavailable } from "../../../core/errors.ts";
import { listIn, membersOf, textIn } from "../../../core/is-object.ts";
import { raceSignal } from "../../../core/race-signal.ts";
import type { Query } from "../../kubernetes/client.ts";
import type { Cluster } from "../../kubernetes/cluster.ts";
import type { Watch } from "../../kubernetes/watch.ts";
import { POD_LABELS, type podManifest } from "./pod.ts";
import { blockProblem, type PodState, shorten, stateOf } from "./pod-state.ts";

interface PodsDeps {
  client: Cluster;
  namespace: string;
  instanceId: string;
  /** How long a Pod may wait for a node, ms; then its work is put back. */
  placeMs?: number;
  /** Time limit for the whole start of a Pod, ms. */
  startMs?: number;
}

const PLACE_MS = 60_000;
const START_MS = 600_000;
const MAX_EVENTS = 50;

type Listener = (state: PodState) => void;

export type Pods = ReturnType<typeof createPods>;

export function createPods({ client, namespace, instanceId, placeMs = PLACE_MS, startMs = START_MS }: PodsDeps) {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const labelSelector = `${POD_LABELS.instance}=${instanceId}`;
  const states = new Map<string, PodState>();
  const listeners = new Map<string, Set<Listener>>();
  let watch: Watch | undefined;

  const tell = (name: string, state: PodState) => {
    for (const listen of listeners.get(name) ?? []) listen(state);
  };
  const startWatch = (query: Query): Watch =>
    client.watch({
      path,
      query,
      onObject(object) {
        const name = textIn(membersOf(object)["metadata"], "name") ?? "";
        const state = stateOf(object);
        states.set(name, state);
        tell(name, state);
      },
      onGone(name) {
        states.delete(name);
        tell(name, stateOf(undefined));
      },
    });
  /**
   * Starts the watch of this instance's Pods and waits for its first list. @throws Problem when the cluster does not
   * answer, or does not allow it.
   */
  async function ensureWatch(): Promise<void> {
    watch ??= startWatch({ labelSelector });
    const own = watch;
    try {
      await own.ready;
    } catch (error) {
      own.close();
      if (watch === own) watch = undefined;
      throw error;
    }
  }
  /** Calls the listener with the Pod's known state, and whenever it changes. @returns a function that ends this. */
  function follow(name: string, listen: Listener): () => void {
    const all = listeners.get(name) ?? new Set();
    listeners.set(name, all.add(listen));
    const known = states.get(name);
    if (known) listen(known);
    return () => {
      all.delete(listen);
      if (all.size === 0) listeners.delete(name);
    };
  }
  /** The cluster's last warning about a Pod, for people; empty when there is none. */
  async function complaintOf(name: string): Promise<string> {
    try {
      const answer = await client.call("GET", `/api/v1/namespaces/${namespace}/events`, {
        query: { fieldSelector: `involvedObject.name=${name}`, limit: MAX_EVENTS },
      });
      const warnings = listIn(answer, "items").filter((event) => textIn(event, "type") === "Warning");
      const last = warnings.at(-1);
      return shorten(textIn(last, "message") ?? "");
    } catch {
      return "";
    }
  }
  const remove = (name: string, signal?: AbortSignal): Promise<void> =>
    client.remove(`${path}/${name}`, { gracePeriodSeconds: 0 }, signal);
  return {
    follow,
    remove,
    /**
     * Watches a Pod that does not carry this instance's labels. @returns a function that ends this. @throws Problem as
     * `create`.
     */
    async track(name: string): Promise<() => void> {
      const own = startWatch({ fieldSelector: `metadata.name=${name}` });
      const end = () => {
        own.close();
        states.delete(name);
      };
      try {
        await own.ready;
        return end;
      } catch (error) {
        end();
        throw error;
      }
    },
    /** Creates a Pod. @throws Problem when a quota or right is missing, or the cluster does not answer. */
    async create(manifest: ReturnType<typeof podManifest>, signal: AbortSignal): Promise<void> {
      await ensureWatch();
      signal.throwIfAborted();
      await client.call("POST", path, { body: manifest, signal });
    },
    /**
     * Resolves when the Pod's container runs.
     * @throws Problem 503 with the remedy: `image_missing`, `image_unusable`, or `sandbox_unavailable` when there is no
     * room.
     */
    async waitForStart(name: string, image: string, signal: AbortSignal): Promise<void> {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      let placing: ReturnType<typeof setTimeout> | undefined;
      const rejectLate = async (what: string, said: string) => {
        const complaint = said || (await complaintOf(name));
        reject(
          unavailable(
            "sandbox_unavailable",
            `${what}${complaint === "" ? "" : `: ${complaint}`}. Work waits and is tried again.`,
          ),
        );
      };
      const starting = setTimeout(() => void rejectLate("The cluster did not start the Pod in time", ""), startMs);
      const end = follow(name, (state) => {
        if (state.isRunning) return resolve();
        if (state.blocked) return reject(blockProblem(state.blocked, image));
        if (state.lost !== undefined)
          return reject(unavailable("sandbox_unavailable", `The Pod ended before it was used: ${state.lost}.`));
        const { unschedulable } = state;
        if (unschedulable === undefined) {
          clearTimeout(placing);
          placing = undefined;
        } else
          placing ??= setTimeout(() => void rejectLate("The cluster has no room for the Pod", unschedulable), placeMs);
      });
      try {
        await raceSignal(promise, signal);
      } finally {
        end();
        clearTimeout(starting);
        clearTimeout(placing);
      }
    },
    /** This instance's Pods, as the cluster describes them. */
    async list(signal?: AbortSignal): Promise<unknown[]> {
      return listIn(await client.call("GET", path, { query: { labelSelector }, signal }), "items");
    },
    close: () => watch?.close(),
  };
}
