/**
 * A model that holds back every answer until it is told to give it. It counts requests by the last `MARK-…` in them.
 */
import { type Behaviour, createModelServer } from "../model-server.ts";

export interface HeldModel {
  origin: string;
  /** Number of requests with that mark since the last `forget`. */
  count(mark: string): number;
  /** How many of these requests still have an open connection. */
  open(mark: string): number;
  marks(): string[];
  /** Answers the held requests, and from now on all others at once. */
  release(): void;
  /** Restarts the counts at 0. */
  forget(): void;
  stop(): Promise<void>;
}

const COMMAND = { name: "bash", input: { command: "sleep 600", timeout_seconds: 600 } };

export async function createHeldModel(): Promise<HeldModel> {
  const server = await createModelServer();
  const gate = Promise.withResolvers<void>();
  let asked: string[] = [];
  let hasCommand = false;
  server.answerBy((request): Behaviour => {
    const text = JSON.stringify(request.body);
    const mark =
      text
        .match(/MARK-[A-Z0-9-]+/g)
        ?.at(-1)
        ?.slice("MARK-".length) ?? "?";
    asked.push(mark);
    if (mark === "BASH" && !hasCommand) {
      hasCommand = true;
      return { kind: "reply", reply: { toolCalls: [COMMAND] } };
    }
    const complete = { name: "complete", input: { outputs: {}, summary: "done" } };
    const reply = text.includes('"name":"complete"') ? { toolCalls: [complete] } : { text: "Done." };
    return { kind: "reply", reply, until: () => gate.promise };
  });
  const count = (mark: string) => asked.filter((one) => one === mark).length;
  return {
    origin: server.origin,
    count,
    open: (mark) => (server.open() === 0 ? 0 : count(mark)),
    marks: () => [...new Set(asked)],
    release: () => gate.resolve(),
    forget() {
      asked = [];
    },
    async stop() {
      gate.resolve();
      await server.stop();
    },
  };
}
