/**
 * Compares a tool call to a server in a container through our connection, which quotes and masks the result, with one
 * through the protocol library's own client over `docker run -i` of the same image. They alternate, one call at a time.
 *   scripts/bench mcp [CALLS]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { connectServer } from "../src/adapter/mcp/client.ts";
import { createDockerToolServers } from "../src/adapter/sandbox/docker/tool-servers.ts";
import { newId } from "../src/core/ids.ts";
import { LIMITS } from "../src/core/limits.ts";
import { createMasking } from "../src/core/masking.ts";
import { textOf } from "../src/feature/mcp/tool-source.ts";
import { dockerForTests } from "../src/testing/docker-image.ts";
import { inImage, mcpImage } from "../src/testing/mcp/image.ts";
import { quantile } from "./bench-figures.ts";

const CALLS = Number(process.argv[2] ?? 1_000);
const BOUND = 1.3;
const WARM_UP = 100;

const docker = await dockerForTests({ ...process.env, CI: "true" });
if (!docker) process.exit(2);
const image = await mcpImage(docker);
const { command, args } = inImage("everything");
const folder = mkdtempSync(join(tmpdir(), "skep-bench-mcp-"));
const signal = new AbortController().signal;
const servers = createDockerToolServers({
  docker,
  instanceId: newId("instance"),
  owner: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
  images: { find: async () => (await docker.images.inspect(image))! },
});
const spec = { server: "bench", image, command, args, env: {}, network: "none" as const, memoryMb: 512, folder };
const ours = await connectServer(
  { transport: "stdio", open: (events, opened) => servers.open(spec, events, opened) },
  {
    signal,
    timeoutMs: 10_000,
    onLog() {},
    onToolsChanged() {},
    maxMessageBytes: LIMITS.mcpMessageBytes,
    maxNoiseBytes: LIMITS.mcpNoiseBytes,
  },
);
const raw = new Client({ name: "raw", version: "1" });
const run = ["run", "-i", "--rm", "--init", "--network", "none", image, command, ...args];
await raw.connect(new StdioClientTransport({ command: "docker", args: run, stderr: "ignore" }));
try {
  const masking = createMasking();
  masking.add("TOKEN", "a-value-that-is-looked-for");
  const echo = { name: "echo", inputSchema: { type: "object" } };
  const message = "hello";
  const callThroughSkep = async () =>
    textOf("bench", await ours.callTool(echo, { message }, { signal, timeoutMs: 10_000 }), masking);
  const callDirectly = () => raw.callTool({ name: "echo", arguments: { message } });
  const time = async (act: () => Promise<unknown>, into: number[]) => {
    const begun = performance.now();
    await act();
    into.push(performance.now() - begun);
  };
  const figures: [number[], number[]] = [[], []];
  for (let call = -WARM_UP; call < CALLS; call++) {
    const [a, b] = call < 0 ? [[], []] : figures;
    await time(callThroughSkep, a);
    await time(callDirectly, b);
  }
  const [a, b] = figures.map((ms) => ({ p50: quantile(ms, 0.5), p95: quantile(ms, 0.95) })) as [Figure, Figure];
  const ratio = a.p50 / b.p50;
  console.log(`through Skep        p50 ${a.p50.toFixed(2)} ms, p95 ${a.p95.toFixed(2)} ms`);
  console.log(`the library's own   p50 ${b.p50.toFixed(2)} ms, p95 ${b.p95.toFixed(2)} ms`);
  console.log(`ratio of p50        ${ratio.toFixed(2)} (at most ${BOUND})`);
  process.exitCode = ratio <= BOUND ? 0 : 1;
} finally {
  await Promise.all([ours.close(), raw.close()]);
  rmSync(folder, { recursive: true, force: true });
}

interface Figure {
  p50: number;
  p95: number;
}
