/** Turns of the scripted model. */
export const say = (text: string, tool: string, input: Record<string, unknown>) => ({
  text,
  tool_calls: [{ tool, input, optional: true }],
});
export const complete = (outputs: Record<string, unknown>, summary: string) => ({
  tool_calls: [{ tool: "complete", input: { outputs, summary } }],
});
