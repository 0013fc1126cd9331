/** GET /v1/runs per second beside a bare Elysia route that answers the same bytes, in turns, one client. */
import { Elysia } from "elysia";
import { startServer } from "../src/testing/server.ts";
import { median } from "./bench-figures.ts";

const ROUNDS = 5;
const SECONDS = 2;
const CONNECTIONS = 16;

async function rate(url: string): Promise<number> {
  let answered = 0;
  const end = performance.now() + SECONDS * 1_000;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (performance.now() < end) {
        const answer = await fetch(url);
        await answer.arrayBuffer();
        if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
        answered++;
      }
    }),
  );
  return answered / SECONDS;
}

if (process.argv[2] === "bare") {
  const body = JSON.parse(process.argv[3]!);
  const bare = new Elysia().get("/v1/runs", () => body).listen({ port: 0, hostname: "127.0.0.1" });
  console.log(bare.server!.port);
} else {
  const server = await startServer();
  const { body } = await server.request("GET", "/v1/runs");
  const child = Bun.spawn([process.execPath, import.meta.path, "bare", JSON.stringify(body)], { stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  const bareUrl = `http://127.0.0.1:${new TextDecoder().decode(value).trim()}/v1/runs`;
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(await rate(`${server.url}/v1/runs`));
    bare.push(await rate(bareUrl));
  }
  child.kill();
  await server.remove();
  console.log(
    `## http (median of ${ROUNDS} rounds of ${SECONDS} s, ${CONNECTIONS} connections, client on the same machine)`,
  );
  console.log(`GET /v1/runs        ${median(ours).toFixed(0)} /s`);
  console.log(`bare Elysia route   ${median(bare).toFixed(0)} /s   ratio ${(median(ours) / median(bare)).toFixed(2)}`);
}
