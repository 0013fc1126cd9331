/**
 * All fields of the API's request bodies that take free text, from the server's own description. Also those whose text
 * no page shows, with the reason.
 */
interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  pattern?: string;
  maxLength?: number;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: boolean | Schema;
  [choice: string]: unknown;
}
export interface ApiDocument {
  paths: Record<string, Record<string, { requestBody?: { content?: Record<string, { schema?: Schema }> } }>>;
  components: { schemas: Record<string, Schema> };
}

const DEPTH = 8;
/** Markup, with and without spaces. A field whose pattern accepts neither keeps markup out by itself. */
const MARKUP = ["x <b>y</b>", "<b>y</b>"];

function* stringsOf(schema: Schema | undefined, at: string, document: ApiDocument, depth = 0): Generator<string> {
  if (!schema || depth > DEPTH) return;
  if (schema.$ref) {
    yield* stringsOf(document.components.schemas[schema.$ref.split("/").at(-1)!], at, document, depth + 1);
    return;
  }
  for (const choice of ["anyOf", "oneOf", "allOf"])
    for (const one of (schema[choice] as Schema[] | undefined) ?? []) yield* stringsOf(one, at, document, depth + 1);
  if ([schema.type].flat().includes("string")) {
    const fixed = schema.enum || schema.const !== undefined || (schema.format && schema.format !== "binary");
    const pattern = schema.pattern === undefined ? undefined : new RegExp(schema.pattern, "u");
    if (!fixed && (!pattern || MARKUP.some((text) => pattern.test(text)))) yield at;
  }
  for (const [name, one] of Object.entries(schema.properties ?? {}))
    yield* stringsOf(one, `${at}/${name}`, document, depth + 1);
  if (schema.items) yield* stringsOf(schema.items, `${at}/[]`, document, depth + 1);
  const more = schema.additionalProperties;
  if (more === true) yield `${at}/*`;
  else if (more) yield* stringsOf(more, `${at}/*`, document, depth + 1);
}

/** The kind of object that a path fills: `POST /v1/agents` and `PUT /v1/agents/{id}/config` fill the same one. */
export const thingOf = (path: string): string =>
  path
    .replace(/^\/v1\//, "")
    .replace(/(\/\{[^}]+\}|\/config|\/import)$/g, "")
    .replace(/\/\{[^}]+\}$/, "");

/** The fields as `agents /description`: the kind of object, and the member of the body. */
export function textFields(document: ApiDocument): string[] {
  const fields = new Set<string>();
  for (const [path, item] of Object.entries(document.paths))
    for (const { requestBody } of Object.values(item))
      for (const { schema } of Object.values(requestBody?.content ?? {}))
        for (const at of stringsOf(schema, "", document)) fields.add(`${thingOf(path)} ${at}`);
  return [...fields].sort();
}

/** Patterns of fields whose text no page shows, with the reason. Each pattern must match a field. */
export const NOT_SHOWN: [reason: string, fields: RegExp][] = [
  [
    "names a thing that must be there: any other name is refused",
    /\/(\w+_ids?|ids|run_ids|attachment_ids|agents|tools|scopes|depends_on|assigned_agent|discovered_from|superse\w+|starts_in_full|before|after|keep|from_step|project_name|default|into|base|branch|path|image|default_branch|id|links|key|tool|names|secrets|commit|user)(\/\[\])?$|^agents \/permissions\/\[\]\/(allow|ask|deny)(\/\[\])?$|^projects\/\{id\}\/environment \/definition\/build\//,
  ],
  ["a model's name: `provider/model`, refused where there is no such provider", /\/model$|\/models\/\[\]$/],
  [
    "a secret: sealed, and never shown again",
    /\/(\w*password|\w*secret|\w*token|api_key|private_key|login|value|passphrase)$|^auth\/(login|logout|refresh|setup|2fa|oidc\/\{slug\}\/callback)|^mcp \/(env|headers)\//,
  ],
  [
    "of an agent as it was read: it may be sent back, and changes nothing",
    /^agents \/(problems|rules|skills|source_file)(\/|$)/,
  ],
  ["an address: refused where it is none", /\/(issuer|url|base_url|to|repository|endpoint|server)$/],
  [
    "for programs: no page shows it",
    /^auth\/oidc \/(role_claim|admin_values|button|group_claim|group_roles\/)|^projects\/\{id\}\/tasks .*\/(metadata\/\*|key)$/,
  ],
  ["a part of a header, in a field of a form alone, and no markup", /^secrets \/edge\/prefix$/],
  ["names of cookies hold no markup, their values are sealed", /^browser\/cookies \/file$/],
  ["goes to git or to the code host", /^(runs|changes)\/\{id\}\/(merge|pull-request) /],
  [
    "stands where another field stands that is filled: of the same thing, or of what is said to an agent",
    /^(approvals \/|runs \/inputs\/|pipelines \/source|onboarding\/sessions \/message|ingest\/(document \/file|transcript \/(transcript|participants))|chat\/.*\/queue|.*tags\/\[\]$|.*\/tasks\/\[\]\/description$|(runs|changes)\/\{id\}\/(restart|send-back|comments)|agents \/(permissions|harness)\/|permissions\/requests\/\{id\}\/answer \/comment$|evals \/(tasks|replay)\/|project-imports \/(name|file)$)/,
  ],
  ["a time: refused where it is none", /\/schedule$/],
  [
    "asked once, answered at once, not kept",
    /^projects\/\{id\}\/knowledge-graph\/|\/(try|validate|synthesize|preview) /,
  ],
  [
    "a program's own: agents' engine and the code host send it, see the texts of other servers",
    /^(internal|mcp\/\{id\}\/(status|tools|approve)|codehost\/webhooks)/,
  ],
];
