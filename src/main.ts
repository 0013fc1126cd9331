/** argv → command. A graph worker starts without loading the rest: it is started often, and asked at once. */
const [first, ...rest] = process.argv.slice(2);

if (first === "graph-worker") {
  const { runGraphWorker } = await import("./graph/worker.ts");
  runGraphWorker(rest[0]);
} else {
  const { runCli } = await import("./cli/cli.ts");
  process.exitCode = await runCli(process.argv.slice(2));
}

export {};
