/** `bash`: a command in the sandbox's shell (bash when the image has it, else sh). */
import { Type } from "@sinclair/typebox";
import { forbidden } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { type ExecResult, SHELL } from "../sandbox.ts";
import { defineTool, type ToolResult } from "../tool.ts";
import description from "./bash.md" with { type: "text" };
import { pathParameter } from "./tool-input.ts";

const DEFAULT_TIMEOUT_SECONDS = 120;
const MAX_TIMEOUT_SECONDS = LIMITS.bashTimeoutMs / 1000;

export const bashTool = defineTool({
  name: "bash",
  group: "shell",
  description,
  parameters: Type.Object({
    command: Type.String({ minLength: 1, maxLength: 100_000, description: "The command line." }),
    cwd: Type.Optional(pathParameter("The folder to run it in")),
    timeout_seconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_TIMEOUT_SECONDS, description: "When to kill it." }),
    ),
  }),
  // The command's own time-out comes first; this one is for a sandbox that does not answer.
  timeoutMs: LIMITS.bashTimeoutMs + 10_000,
  run: async ({ command, cwd, timeout_seconds: timeoutSeconds = DEFAULT_TIMEOUT_SECONDS }, context) => {
    const { sandbox, signal, onOutput } = context;
    if (!sandbox.capabilities.shell) throw forbidden("There is no shell in this sandbox.", "shell_disabled");
    const result = await sandbox.exec(["sh", "-c", SHELL, "sh", command], {
      cwd,
      timeoutMs: timeoutSeconds * 1000,
      // The whole output is stored; the loop cuts what the model reads.
      maxOutputBytes: LIMITS.toolWholeOutputBytes,
      signal,
      onOutput,
    });
    return resultOf(result, timeoutSeconds);
  },
});

function resultOf(result: ExecResult, timeoutSeconds: number): ToolResult {
  const { exitCode, timedOut, aborted } = result;
  const output = result.output === "" || result.output.endsWith("\n") ? result.output : `${result.output}\n`;
  if (timedOut) return { ok: false, output: `${output}[timed out after ${timeoutSeconds} s and killed]` };
  if (aborted) return { ok: false, output: `${output}[cancelled]` };
  const hint = exitCode === 137 ? ", killed: perhaps out of memory" : "";
  return { ok: exitCode === 0, output: `${output}[exit code ${exitCode}${hint}]` };
}
