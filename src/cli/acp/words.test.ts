/** Words for an editor that cannot take back what it shows: none twice, none left out. */
import { describe, expect, test } from "bun:test";
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { SkepEvent } from "../../core/events.ts";
import { createTeller } from "./teller.ts";
import { createWords } from "./words.ts";

async function sentFor(act: (words: ReturnType<typeof createWords>) => Promise<void>): Promise<string> {
  let sent = "";
  await act(
    createWords(async (text) => {
      sent += text;
    }),
  );
  return sent;
}

describe("a reply that is said again", () => {
  test("is told once, however its pieces are cut, and however often it breaks off", async () => {
    const said = await sentFor(async (words) => {
      await words.push("The bell ");
      await words.push("rings.");
      words.withdraw();
      for (const piece of ["The", " bell"]) await words.push(piece);
      words.withdraw();
      for (const piece of ["T", "he bell rin", "gs. Twice", "."]) await words.push(piece);
    });
    expect(said).toBe("The bell rings. Twice.");
  });

  test("in other words is told whole, after a word about it", async () => {
    const said = await sentFor(async (words) => {
      await words.push("The bell rings.");
      words.withdraw();
      await words.push("The be");
      await words.push("ast sings.");
      await words.push(" Loudly.");
    });
    expect(said).toBe("The bell rings.\n\n(The reply was interrupted and starts again.)\n\nThe beast sings. Loudly.");
  });

  test("after a tool call is new", async () => {
    const said = await sentFor(async (words) => {
      await words.push("One.");
      words.keep();
      words.withdraw();
      await words.push("One.");
    });
    expect(said).toBe("One.One.");
  });
});

test("a plan is told as a plan; a call too large for the log is left out; one without an end is ended with its turn", async () => {
  const told: SessionUpdate[] = [];
  const teller = createTeller(async (update) => void told.push(update), "/home/a");
  const event = (kind: string, data: object) => teller.take({ id: 1, kind, at: "", data: { ...data } } as SkepEvent);
  await event("agent_plan", {
    entries: [
      { content: "Ring", status: "completed" },
      { content: "Rest", status: "?" },
    ],
  });
  await event("tool_call_start", { cut: true, text: "{" });
  await event("tool_call_start", { call_id: "c1", tool: "edit", input: { path: "../../etc/passwd", content: "x" } });
  await teller.end();
  const plan = (content: string, status: string) => ({ content, priority: "medium", status });
  expect(told).toEqual([
    { sessionUpdate: "plan", entries: [plan("Ring", "completed"), plan("Rest", "pending")] } as SessionUpdate,
    expect.objectContaining({ sessionUpdate: "tool_call", toolCallId: "c1", content: [], locations: [] }),
    { sessionUpdate: "tool_call_update", toolCallId: "c1", status: "in_progress" },
    { sessionUpdate: "tool_call_update", toolCallId: "c1", status: "failed", content: [] },
  ]);
});
