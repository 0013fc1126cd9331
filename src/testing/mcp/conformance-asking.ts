/** Tools for the conformance suite that ask the client while they run, as in revision 2025-11-25. */
import { fromJsonSchema, inputRequired, type McpServer } from "@modelcontextprotocol/server";

type Form = Parameters<typeof inputRequired.elicit>[0];

const text = (value: string) => ({ type: "text" as const, text: value });
const STATUSES = ["active", "inactive", "pending"];
const OPTIONS = ["option1", "option2", "option3"];
const TITLED = ["First", "Second", "Third"].map((title, i) => ({ const: `value${i + 1}`, title }));

const DEFAULTS: Form["requestedSchema"] = {
  type: "object",
  properties: {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: STATUSES, default: "active" },
    verified: { type: "boolean", default: true },
  },
};
const ENUMS: Form["requestedSchema"] = {
  type: "object",
  properties: {
    untitledSingle: { type: "string", enum: OPTIONS },
    titledSingle: { type: "string", oneOf: TITLED },
    legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
    untitledMulti: { type: "array", items: { type: "string", enum: OPTIONS } },
    titledMulti: { type: "array", items: { anyOf: TITLED } },
  },
};
const USER: Form["requestedSchema"] = {
  type: "object",
  properties: { username: { type: "string" }, email: { type: "string" } },
  required: ["username", "email"],
};

/** Each tool asks once and answers with the response. For an older client, the library asks during the call. */
export function pushingTools(server: McpServer): void {
  const tool = (name: string, argument: string | undefined, request: (given: string) => object) => {
    const properties = argument === undefined ? {} : { [argument]: { type: "string" as const } };
    const inputSchema = fromJsonSchema<Record<string, string>>({ type: "object", properties });
    server.registerTool(name, { description: name, inputSchema }, (args, ctx) => {
      const answers = ctx.mcpReq.inputResponses as Record<string, unknown> | undefined;
      if (answers) return { content: [text(`answered: ${JSON.stringify(answers["asked"])}`)] };
      return inputRequired({ inputRequests: { asked: request(args[argument ?? ""] ?? "") as never } });
    });
  };
  tool("test_elicitation", "message", (message) => inputRequired.elicit({ message, requestedSchema: USER }));
  tool("test_elicitation_sep1034_defaults", undefined, () =>
    inputRequired.elicit({ message: "Defaults", requestedSchema: DEFAULTS }),
  );
  tool("test_elicitation_sep1330_enums", undefined, () =>
    inputRequired.elicit({ message: "Enums", requestedSchema: ENUMS }),
  );
  tool("test_sampling", "prompt", (prompt) =>
    inputRequired.createMessage({ messages: [{ role: "user", content: text(prompt) }], maxTokens: 100 }),
  );
}
