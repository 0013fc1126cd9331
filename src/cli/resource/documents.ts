/** `skep documents`: files in which agents look things up. */

import type { RowOf } from "../../api/types.ts";
import { assertFile, readFile, readText } from "../read-input.ts";
import { paint, stripControls } from "../terminal/style.ts";
import { formatCount, timeText } from "../terminal/table.ts";
import { findOne, queryOf } from "./find.ts";
import { projects } from "./projects.ts";
import { type Answer, type Call, type OptionSpec, type Resource, verbMakers } from "./resource.ts";
import { deleteVerb, statusStyle } from "./words.ts";

type List = "/v1/documents";
type Item = RowOf<List>;
const { actOnList, actOnOne } = verbMakers<List>();

const LOOK_MS = 300;
const PROJECT: OptionSpec = { flags: "--project <project>", about: "id or name of the project" };
const TITLE: OptionSpec = { flags: "--title <text>", about: "title of the document (default: the one in the file)" };

export const documents: Resource<List> = {
  name: "documents",
  one: "document",
  about: "list the documents and meeting transcripts that agents can read, or show one",
  path: "/v1/documents",
  idOf: ({ id }) => id,
  namesOf: ({ title }) => [title],
  columns: [
    { head: "DOCUMENT", of: ({ id }) => id },
    { head: "STATUS", of: ({ status }) => status, style: ({ status }) => statusStyle(status) },
    { head: "PAGES", of: ({ pages }) => pages, right: true, optional: true },
    { head: "SECTIONS", of: ({ sections }) => sections, right: true },
    { head: "TOKENS", of: ({ tokens }) => tokens, right: true },
    { head: "ADDED", of: ({ created_at }) => timeText(created_at) },
    { head: "TITLE", of: ({ title }) => title, shrinks: true },
    { head: "PROBLEM", of: ({ error }) => error, shrinks: true, optional: true },
  ],
  empty: "No documents yet. Add one: skep documents add FILE",
  verbs: [
    actOnList("add", "upload documents and wait until the server has read them", {
      args: [{ name: "<file...>", about: "file to upload: PDF, DOCX, HTML, Markdown or text" }],
      options: [
        TITLE,
        PROJECT,
        { flags: "--no-wait", about: "return at once; do not wait until the server has read the documents" },
      ],
      async run(call) {
        const { client, args, flags } = call;
        args.forEach(assertFile);
        const fields = { title: flags["title"], project_id: await projectOf(call) };
        const made: Item[] = [];
        for (const path of args)
          made.push(await client.upload<Item>("/v1/ingest/document", await readFile(path), fields));
        const read = flags["wait"] === false ? made : await Promise.all(made.map((one) => untilRead(call, one)));
        const text = read.map(({ id, title, status, sections, error }) =>
          [
            id,
            status,
            stripControls(title),
            status === "ready" ? `(${formatCount(sections, "section")})` : (error ?? ""),
          ]
            .join(" ")
            .trimEnd(),
        );
        return { json: { items: read }, text, code: read.some(({ status }) => status === "failed") ? 1 : 0 };
      },
    }),
    actOnList("transcript", "upload the transcript of a meeting: an agent notes decisions and action items", {
      args: [{ name: "<file>", about: "file with the text of the transcript; - for standard input" }],
      options: [TITLE, PROJECT],
      run: uploadTranscript,
    }),
    actOnOne("toc", "print the table of contents of a document", async ({ client, path }) => {
      const toc = await client.call("GET", `${path}/toc`);
      return { json: toc, text: [stripControls(toc["title"]), ...tocLines(toc["items"], 1)] };
    }),
    actOnOne("read", "print a section of a document", {
      args: [
        {
          name: "[section]",
          about: "id of the section, as the table of contents shows it (default: the first section)",
        },
      ],
      options: [{ flags: "--page <n>", about: "print the section at the top of this page instead" }],
      async run({ client, path, args: [section], flags }) {
        const query = queryOf({ section_id: section, page: flags["page"] });
        const found = await client.call("GET", `${path}/section?${query}`);
        const head = [...found["path"], found["title"]].map(stripControls).join(" › ");
        const next = found["next_id"] === null ? [] : ["", paint("dim", `Next: ${found["next_id"]}`)];
        return {
          json: found,
          text: [`${paint("bold", head)}${onPage(found)}`, "", stripControls(found["text"]), ...next],
        };
      },
    }),
    actOnList("search", "search the text of documents; the best match comes first", {
      args: [{ name: "<word...>", about: "words to search for" }],
      options: [PROJECT, { flags: "--document <document>", about: "search only in this document" }],
      run: search,
    }),
    deleteVerb("delete a document", (item: Item) => `document ${item["title"]}`),
  ],
};

async function projectOf({ client, flags }: Call): Promise<string | undefined> {
  return flags["project"] === undefined ? undefined : (await findOne(client, projects, flags["project"]))["id"];
}

async function untilRead({ client }: Call, made: Item): Promise<Item> {
  for (let now = made; ; now = await client.call("GET", `/v1/documents/${made["id"]}`)) {
    if (now["status"] !== "processing") return now;
    await Bun.sleep(LOOK_MS);
  }
}

async function uploadTranscript(call: Call): Promise<Answer> {
  const { client, args, flags } = call;
  const project_id = await projectOf(call);
  const title = flags["title"] === undefined ? {} : { title: flags["title"] };
  const body = { transcript: await readText(args[0]!), ...title, ...(project_id ? { project_id } : {}) };
  const made = await client.call("POST", "/v1/ingest/transcript", body);
  return {
    json: made,
    text: [
      `${made["document_id"]} is being processed in session ${made["session_id"]}`,
      `Follow it: skep executions transcript ${made["session_id"]}`,
    ],
  };
}

const onPage = ({ page }: { page: number | null }): string => (page === null ? "" : paint("dim", `  page ${page}`));

/** The API's schema limits the depth of a table of contents. Here each entry has the same type at every depth. */
interface TocEntry {
  title: string;
  section_id: string;
  page: number | null;
  children?: readonly TocEntry[];
}

const tocLines = (entries: readonly TocEntry[], depth: number): string[] =>
  entries.flatMap((entry) => [
    `${"  ".repeat(depth)}${stripControls(entry["title"])}  ${paint("dim", entry["section_id"])}${onPage(entry)}`,
    ...tocLines(entry["children"] ?? [], depth + 1),
  ]);

async function search(call: Call): Promise<Answer> {
  const { client, args, flags } = call;
  const project_id = await projectOf(call);
  const { document } = flags;
  const document_id = document === undefined ? undefined : (await findOne(client, documents, document)).id;
  const query = queryOf({ query: args.join(" "), project_id, document_id });
  const found = await client.call("GET", `/v1/documents/search?${query}`);
  if (found.items.length === 0) return { json: found, text: "No document says anything about that." };
  const text = found.items.flatMap((hit) => [
    `${paint("bold", `${stripControls(hit["title"])} › ${stripControls(hit["heading"])}`)}${onPage(hit)}`,
    paint("dim", `${hit["document_id"]} ${hit["section_id"]}`),
    `${stripControls(hit["snippet"]).replace(/^/gm, "  ")}`,
    "",
  ]);
  return { json: found, text };
}
