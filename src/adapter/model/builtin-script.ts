/**
 * The transcript that `demo/scripted` plays when none is given. It suffices for the `hello` pipeline and for a dry run
 * of any other.
 */
import type { ScriptFile, ScriptTurn } from "./script-file.ts";

const HELLO = `# Hello from Skep

This file was written by \`demo/scripted\`, a model that plays a fixed transcript: no AI was asked, nothing was paid,
and no key was needed. Everything else was real: the pipeline, the sandbox, the tools and the events you saw.

The step was asked:

> {{ user }}

To have a real model do the work, add a key for a provider, or run Ollama beside Skep, and choose its model.
`;

/** One phase of an onboarding: it asks, stores the answer, ends its phase, and reports the result. */
const interview = (question: string, answer: Record<string, unknown>): ScriptTurn[] => [
  {
    text: `I am demo/scripted, not an AI: whatever you say, I play my transcript. ${question}`,
    delay_ms: 200,
    chunk: 12,
  },
  { text: "I write that down.", tool_calls: [{ tool: "update_context", input: answer }] },
  { tool_calls: [{ tool: "finish_phase" }] },
  { text: 'The server answered: "{{ last_tool_output }}"', delay_ms: 200, chunk: 12 },
];

export const BUILTIN_SCRIPT: ScriptFile = {
  version: 1,
  name: "built-in",
  default: [
    {
      text: "I am demo/scripted: a model that plays a fixed transcript, not an AI. First I look around the workspace.",
      tool_calls: [
        { tool: "ls", input: { path: "." }, optional: true },
        { tool: "read", input: { path: "README.md" }, optional: true },
      ],
      delay_ms: 400,
      chunk: 12,
    },
    {
      thinking: "The transcript says that I write HELLO.md now.",
      text: "Now I write HELLO.md.",
      tool_calls: [{ tool: "write", input: { path: "HELLO.md", content: HELLO }, optional: true }],
      delay_ms: 300,
      chunk: 12,
    },
    {
      text: "That was my transcript. I give what the step asks for.",
      tool_calls: [
        {
          tool: "complete",
          input: { outputs: "{{ outputs }}", summary: "Played the built-in transcript of demo/scripted." },
        },
      ],
      delay_ms: 200,
      chunk: 12,
    },
  ],
  chats: {
    "interviewer-intake": interview("What shall the project be called? I take your next line as its name.", {
      intake: { name: "{{ last_user }}", summary: "{{ last_user }}" },
    }),
    "interviewer-strategy": interview("What is it to reach?", {
      strategy: { problem: "{{ last_user }}", goals: ["{{ last_user }}"] },
    }),
    "interviewer-product": interview("What can somebody do with it?", {
      product: { features: [{ title: "First feature", description: "{{ last_user }}" }] },
    }),
    "interviewer-architecture": interview("How is it built? After your answer I make the project with two tasks.", {
      architecture: {
        approach: "{{ last_user }}",
        pipeline_id: "feature",
        tasks: [
          { key: "skeleton", title: "Make the skeleton", description: "{{ last_user }}", work_type: "infrastructure" },
          { key: "first", title: "Build the first feature", description: "{{ last_user }}", depends_on: ["skeleton"] },
        ],
      },
    }),
  },
  chat: [
    {
      text: 'I am demo/scripted: a model that plays a fixed transcript, not an AI. You wrote: "{{ last_user }}". Add a provider key, or run Ollama, to chat with a real model.',
      delay_ms: 300,
      chunk: 12,
    },
  ],
};
