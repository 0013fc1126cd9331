/**
 * Dispatches the command line to a command. Workers load nothing else, because they are started often and must answer
 * immediately.
 */
import { compileFromNowOn } from "./process/jit.ts";
import { endWithParent } from "./process/parent.ts";

const [first, ...rest] = process.argv.slice(2);

if (first === "graph-worker") {
  endWithParent();
  compileFromNowOn();
  const { runGraphWorker } = await import("./graph/serve/worker.ts");
  runGraphWorker(rest[0]);
} else if (first === "parse-worker") {
  endWithParent();
  compileFromNowOn();
  const { runParseWorker } = await import("./graph/index/parse-worker.ts");
  runParseWorker(rest[0] ?? "");
} else if (first === "text-worker") {
  endWithParent();
  compileFromNowOn();
  const { runTextWorker } = await import("./text/worker.ts");
  runTextWorker();
} else if (first === "backup-worker") {
  const { runBackupWorker } = await import("./store/backup-worker.ts");
  runBackupWorker();
} else if (first === "measure-worker") {
  const { runMeasureWorker } = await import("./store/measure-worker.ts");
  runMeasureWorker();
} else if (first === "disk-worker") {
  const { runDiskWorker } = await import("./store/disk-worker.ts");
  runDiskWorker();
} else if (first === "extract") {
  compileFromNowOn();
  const { runExtract } = await import("./text/extract/run.ts");
  await runExtract(rest[0] ?? "", rest[1] ?? "");
} else {
  const { runCli } = await import("./cli/cli.ts");
  process.exitCode = await runCli(process.argv.slice(2));
}
