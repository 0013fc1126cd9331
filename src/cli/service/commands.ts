/** Runs programs of the machine for a service manager. */
import { Problem } from "../../core/errors.ts";

/** The error for what this machine or its state does not allow. */
export const refuse = (detail: string): Problem => new Problem(422, "service_refused", detail);

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

export function runProgram(...[program = "", ...args]: string[]): Ended {
  const found = Bun.which(program);
  if (!found) return { code: 127, stdout: "", stderr: `${program} is not on this machine` };
  const { exitCode, stdout, stderr } = Bun.spawnSync([found, ...args], { stdin: "ignore" });
  return { code: exitCode, stdout: stdout.toString(), stderr: stderr.toString().trim() };
}

/** @returns standard output. @throws Problem 422 `service_failed` with the program's output. */
export function mustRun(...command: string[]): string {
  const { code, stdout, stderr } = runProgram(...command);
  if (code === 0) return stdout;
  throw new Problem(422, "service_failed", `${command.join(" ")} ended with ${code}: ${stderr.slice(-600)}`);
}
