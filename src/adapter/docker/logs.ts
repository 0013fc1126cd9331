/** Reads a container's own output: first what the engine has kept, then new output as it arrives. */
import type { Readable } from "node:stream";
import type Docker from "dockerode";
import { createDemuxer } from "./demux.ts";
import { asProblem, type Engine } from "./failures.ts";
import { requireReadable, unlessGivenUp } from "./streams.ts";

export interface LogOptions {
  /** Keep reading until the container ends or the signal aborts. */
  follow: boolean;
  /** Number of last lines to begin with; all lines when absent. */
  tail?: number;
  signal?: AbortSignal;
}

export interface LogChunk {
  stream: "stdout" | "stderr";
  text: string;
}

/** Yields chunks in order. Ends without an error when the signal aborts; throws a Problem for an unknown container. */
export async function* followLogs(
  container: Docker.Container,
  { address, call }: Engine,
  { follow, tail, signal }: LogOptions,
): AsyncGenerator<LogChunk> {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const ready: LogChunk[] = [];
  const feed = createDemuxer((stream, chunk) => {
    ready.push({ stream, text: decoders[stream].decode(chunk, { stream: true }) });
  });
  const options = { stdout: true, stderr: true, ...(tail === undefined ? {} : { tail }) };
  let source: Readable | undefined;
  const stop = () => source?.destroy();
  try {
    if (!follow) {
      feed(await call(() => container.logs({ ...options, follow: false })));
      yield* ready;
      return;
    }
    source = await call(async (givenUp) =>
      unlessGivenUp(requireReadable(await container.logs({ ...options, follow: true })), givenUp),
    );
    if (signal?.aborted) return;
    signal?.addEventListener("abort", stop, { once: true });
    for await (const chunk of source) {
      feed(chunk);
      yield* ready.splice(0);
    }
  } catch (error) {
    if (!signal?.aborted) throw asProblem(error, address);
  } finally {
    signal?.removeEventListener("abort", stop);
    source?.destroy();
  }
}
