/**
 * The containers that this instance started: their live state and their output. Other containers of the same engine are
 * not shown.
 */
import type { ContainerRow, ContainerStats } from "../../adapter/docker/containers.ts";
import type { DockerClient } from "../../adapter/docker.ts";
import { type Clock, toTimestamp } from "../../core/clock.ts";
import { conflict, notFound, unavailable } from "../../core/errors.ts";
import type { MaskedStream, Masking } from "../../core/masking.ts";
import type { SandboxDriver, SandboxShown } from "../../engine/sandbox.ts";
import type { LogLine } from "../../http/log-frames.ts";
import type { Container } from "./model.ts";

interface ContainersDeps {
  /** Undefined when agents work without Docker. */
  docker: Pick<DockerClient, "containers" | "images"> | undefined;
  /** Lists sandboxes that run elsewhere. Undefined where sandboxes are containers of this engine. */
  show?: SandboxDriver["show"];
  clock: Clock;
  instanceId: string;
  /** Names of the labels that sandboxes carry. */
  labels: { instance: string; session: string; execution: string; agent: string; run: string };
  masking: Pick<Masking, "stream">;
}

interface LogRequest {
  /** Number of last lines to begin with. */
  tail: number;
  follow: boolean;
}

export type Containers = ReturnType<typeof createContainers>;

/** Time between the two samples from which the share of the processor is computed, ms. */
const SAMPLE_MS = 250;
const MAX_LINE_CHARACTERS = 16_384;

export function createContainers({ docker, show, clock, instanceId, labels, masking }: ContainersDeps) {
  const requireEngine = () => {
    if (!docker)
      throw unavailable("sandbox_unavailable", "Agents work without a container engine here; there are no containers.");
    return docker.containers;
  };
  /** Image names by image id, for containers that were created from an id instead of a name. */
  const imageNames = async (rows: readonly ContainerRow[]): Promise<Map<string, string>> => {
    if (!docker || !rows.some(({ image }) => image.startsWith("sha256:"))) return new Map();
    const images = await docker.images.list();
    return new Map(images.flatMap(({ id, tags: [name] }) => (name === undefined ? [] : [[id, name]])));
  };
  const own = () => requireEngine().list([`${labels.instance}=${instanceId}`]);

  /** Takes one sample of the container's use. Undefined when the container has ended meanwhile. */
  const sample = async (id: string): Promise<{ at: number; stats: ContainerStats } | undefined> => {
    try {
      const stats = await requireEngine().stats(id);
      return { at: clock.monotonic(), stats };
    } catch {
      return undefined;
    }
  };
  async function liveState(
    row: ContainerRow,
  ): Promise<Pick<Container, "cpu_percent" | "memory_bytes" | "memory_limit_bytes">> {
    const first = row.state === "running" ? await sample(row.id) : undefined;
    if (first) await new Promise((wake) => setTimeout(wake, SAMPLE_MS));
    const second = first && (await sample(row.id));
    if (!first || !second) return { cpu_percent: null, memory_bytes: null, memory_limit_bytes: null };
    const share = (100 * (second.stats.cpuMs - first.stats.cpuMs)) / Math.max(1, second.at - first.at);
    return {
      cpu_percent: Math.max(0, Math.round(share * 10) / 10),
      memory_bytes: second.stats.memoryBytes,
      memory_limit_bytes: second.stats.memoryLimitBytes,
    };
  }

  return {
    /** Newest first. @throws Problem 503 `sandbox_unavailable`. */
    async list(): Promise<Container[]> {
      if (show) return newestFirst(await show()).map(toContainer);
      const rows = newestFirst(await own());
      const names = await imageNames(rows);
      return Promise.all(
        rows.map(async (row) => ({
          id: row.id,
          name: row.name,
          image: names.get(row.image) ?? row.image,
          state: row.state,
          status: row.status,
          agent_id: row.labels[labels.agent] ?? null,
          session_id: row.labels[labels.session] ?? null,
          run_id: row.labels[labels.run] ?? null,
          created_at: toTimestamp(row.createdAt),
          ...(await liveState(row)),
        })),
      );
    },
    /**
     * The container's output, line by line as it arrives. @throws Problem 404 also for a container of another instance.
     */
    async logs(
      idOrName: string,
      { tail, follow }: LogRequest,
    ): Promise<{ lines: AsyncIterable<LogLine>; stop(): void }> {
      if (show) {
        if (!(await show()).some(({ id }) => id === idOrName)) throw notFound("container");
        throw conflict(
          "A sandbox elsewhere prints nothing of its own. What its commands print is shown at its run or chat.",
          "no_output_of_its_own",
        );
      }
      const row = (await own()).find(({ id, name }) => id === idOrName || name === idOrName);
      if (!row) throw notFound("container");
      const abort = new AbortController();
      const chunks = requireEngine().logs(row.id, { follow, tail, signal: abort.signal });
      return { lines: toLines(maskChunks(chunks, masking)), stop: () => abort.abort() };
    },
  };
}

const newestFirst = <Row extends { id: string; createdAt: number }>(rows: readonly Row[]): Row[] =>
  rows.toSorted((a, b) => b.createdAt - a.createdAt || a.id.localeCompare(b.id));

/** A sandbox that runs elsewhere, as a container. Its use of processor and memory is not known here. */
const toContainer = ({ id, name, image, state, status, ...row }: SandboxShown): Container => ({
  id,
  name,
  image,
  state,
  status,
  agent_id: row.agentId ?? null,
  session_id: row.sessionId ?? null,
  run_id: row.runId ?? null,
  created_at: toTimestamp(row.createdAt),
  cpu_percent: null,
  memory_bytes: null,
  memory_limit_bytes: row.memoryLimitBytes ?? null,
});

type Chunks = AsyncIterable<{ stream: string; text: string }>;

/** Masks secret values before the text is cut into lines, also a value that is split over two chunks. */
async function* maskChunks(chunks: Chunks, masking: Pick<Masking, "stream">): Chunks {
  const streams = new Map<string, MaskedStream>();
  for await (const { stream, text } of chunks) {
    const known = streams.get(stream) ?? masking.stream();
    streams.set(stream, known);
    yield { stream, text: known.push(text) };
  }
  for (const [stream, rest] of streams) yield { stream, text: rest.end() };
}

/** Cuts each stream into whole lines, in order. A line that grows too long is cut. */
async function* toLines(chunks: Chunks): AsyncGenerator<LogLine> {
  const rest = new Map<string, string>();
  for await (const { stream, text } of chunks) {
    const lines = ((rest.get(stream) ?? "") + text).split("\n");
    let last = lines.pop() ?? "";
    if (last.length > MAX_LINE_CHARACTERS) {
      lines.push(last);
      last = "";
    }
    rest.set(stream, last);
    for (const line of lines) yield { stream, text: cut(line.replace(/\r$/, "")) };
  }
  for (const [stream, text] of rest) if (text !== "") yield { stream, text: cut(text) };
}

const cut = (line: string): string =>
  line.length > MAX_LINE_CHARACTERS ? `${line.slice(0, MAX_LINE_CHARACTERS)}…` : line;
