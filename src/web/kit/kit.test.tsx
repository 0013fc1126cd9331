/** The building blocks of pages, tested without a browser. */
/// <reference types="bun-types/test" />
import { describe, expect, test } from "bun:test";
import { loadParts, textOfPart } from "../../testing/dashboard/parts-as-text.ts";

const [{ createChange }, { editOf }, { List }, { ListPage }, { DetailPage }, { Form }, { Field, Input }] =
  await loadParts(() =>
    Promise.all([
      import("./change.ts"),
      import("./edit.ts"),
      import("./list.tsx"),
      import("./list-page.tsx"),
      import("./detail-page.tsx"),
      import("../ui/form.tsx"),
      import("../ui/field.tsx"),
    ]),
  );

const problem = (status: number, errors: { pointer: string; message: string }[] = []) => ({
  type: "about:blank",
  title: "Refused",
  status,
  code: "refused",
  detail: "It was refused.",
  instance: "",
  request_id: "req_1",
  errors,
});

/** A change that records what it does besides its requests. */
function watchedChange(refreshing: () => Promise<void> = async () => {}) {
  const did: string[] = [];
  const change = createChange(["/v1/secrets", "/v1/agents"], {
    async refresh(...paths) {
      did.push(`refresh ${paths.join(" ")}`);
      await refreshing();
    },
    notify: (text) => void did.push(`say ${text}`),
  });
  const states: string[] = [];
  change.subscribe(() => {
    const { busy, error } = change.state();
    states.push(`${busy ? "busy" : "idle"}${error ? " error" : ""}`);
  });
  return { change, did, states };
}
const answer = (part: object) => Promise.resolve({ response: new Response(), ...part });

describe("a change", () => {
  test("is busy until what it changed was asked for again, then says so", async () => {
    const { change, did, states } = watchedChange();
    expect(await change.run(() => answer({ data: {} }), "Saved.")).toBe(true);
    expect(did).toEqual(["refresh /v1/secrets /v1/agents", "say Saved."]);
    expect(states).toEqual(["busy", "idle"]);
  });

  test("with a problem in the answer is not done: the problem is there to be shown, nothing is said", async () => {
    const { change, did, states } = watchedChange();
    const refused = problem(422);
    expect(await change.run(() => answer({ error: refused }), "Saved.")).toBe(false);
    expect(change.state().error).toBe(refused);
    expect(did).toEqual([]);
    expect(states).toEqual(["busy", "idle error"]);
    expect(await change.run(() => answer({ data: {} }))).toBe(true);
    expect(change.state().error).toBeUndefined();
  });

  test("that came too late asks for what is stored now, and stays refused", async () => {
    const { change, did } = watchedChange();
    expect(await change.run(() => answer({ error: problem(412) }), "Saved.")).toBe(false);
    expect(did).toEqual(["refresh /v1/secrets /v1/agents"]);
    expect(change.state().error).toMatchObject({ status: 412 });
  });

  test("stays done if what it changed cannot be asked for", async () => {
    const { change, did } = watchedChange(() => Promise.reject(problem(503)));
    expect(await change.run(() => answer({ data: {} }), "Saved.")).toBe(true);
    expect(did.at(-1)).toBe("say Saved.");
  });
});

test("an edit follows what is stored until it begins, then stays and shows what is newer beside it", () => {
  const first = { value: "a", etag: "1" };
  const second = { value: "b", etag: "2" };
  expect(editOf(undefined, first)).toEqual({ ...first, newer: undefined });
  expect(editOf(undefined, second)).toEqual({ ...second, newer: undefined });
  expect(editOf(first, first)).toEqual({ ...first, newer: undefined });
  expect(editOf(first, second)).toEqual({ ...first, newer: second });
});

test("a field finds its own error, and no other field shows it", async () => {
  const errors = [{ pointer: "/name", message: "Too long." }];
  const action = { busy: false, error: problem(422, errors), run: async () => false, clear() {} };
  const markup = textOfPart(
    <Form action={action} word="Save" submit={async () => {}}>
      <Field label="Name" name="name">
        <Input />
      </Field>
      <Field label="Reason" name="reason" hint="Why.">
        <Input />
      </Field>
    </Form>,
  );
  expect(markup.match(/Too long\./g)).toHaveLength(1);
  expect(markup).toMatch(
    /<input[^>]*aria-invalid="true"[^>]*name="name"|<input[^>]*name="name"[^>]*aria-invalid="true"/,
  );
  expect(markup).toMatch(/Why\./);
  expect(markup).not.toMatch(/<input[^>]*name="reason"[^>]*aria-invalid/);
});

interface Note {
  id: string;
  text: string;
}
const NOTES: Note[] = [
  { id: "n1", text: "Water the plants" },
  { id: "n2", text: "Feed the cat" },
];
const createListQuery = (part: object = {}) => ({
  rows: [] as Note[],
  isPending: false,
  error: null,
  data: {},
  refetch() {},
  hasNextPage: false,
  isFetchingNextPage: false,
  fetchNextPage() {},
  ...part,
});
const list = {
  label: "Notes",
  columns: [{ title: "Note", cell: ({ text }: Note) => text }],
  keyOf: ({ id }: Note) => id,
  hrefOf: ({ id }: Note) => `/notes/${id}`,
  empty: {
    text: "There is no note yet.",
    action: <button type="button">Write the first</button>,
    cli: "skep secrets",
  },
  filters: ["q"],
  noMatch: "No note matches.",
};

describe("a list", () => {
  const render = (part: object, address?: string) =>
    textOfPart(<List {...list} query={createListQuery(part)} />, address);

  test("that loads shows that, not that it is empty", async () => {
    const markup = await render({ isPending: true, data: undefined });
    expect(markup).toMatch(/Loading/);
    expect(markup).not.toMatch(/no note|<table/);
  });

  test("that cannot be had shows the error, its code and a way to try again", async () => {
    const markup = await render({ data: undefined, error: problem(500) });
    expect(markup).toMatch(/It was refused\..*refused.*req_1.*Try again/);
    expect(markup).not.toMatch(/Loading|no note/);
  });

  test("without rows says it in a sentence, with one thing to do and the line for a terminal", async () => {
    const markup = await render({});
    expect(markup).toMatch(/There is no note yet\..*Write the first.*skep secrets/);
    expect(markup).not.toMatch(/<table|No note matches/);
  });

  test("in which nothing fits the filters offers to clear them, and keeps what else the address says", async () => {
    const markup = await render({}, "/notes?q=dog&tab=all");
    expect(markup).toMatch(/No note matches\./);
    expect(markup).toMatch(/href="[^"]*\?tab=all"/);
    expect(markup).not.toMatch(/no note yet/);
  });

  test("shows each row as a link, and more of them on demand", async () => {
    const whole = await render({ rows: NOTES });
    expect([...whole.matchAll(/href="(\/notes\/n\d)"[^>]*>([^<]+)</g)].map(([, href, text]) => [href, text])).toEqual([
      ["/notes/n1", "Water the plants"],
      ["/notes/n2", "Feed the cat"],
    ]);
    expect(whole).not.toMatch(/Show more/);
    expect(await render({ rows: NOTES, hasNextPage: true })).toMatch(/Show more/);
  });

  test("keeps its rows when a later question fails", async () => {
    const markup = await render({ rows: NOTES, error: problem(503) });
    expect(markup).toMatch(/It was refused.*Water the plants/);
  });
});

test("a list's page has its heading, its filters and its dialogs around the rows", async () => {
  const { label, ...rest } = list;
  const markup = textOfPart(
    <ListPage
      title={label}
      cli="skep secrets"
      filterBar={<i>search</i>}
      query={createListQuery({ rows: NOTES })}
      {...rest}
    >
      <b>dialog</b>
    </ListPage>,
  );
  expect(markup).toMatch(/<h1[^>]*>Notes<.*skep secrets.*<search.*search.*aria-label="Notes".*Feed the cat.*dialog/s);
});

describe("a page about one thing", () => {
  const page = (query: object) =>
    textOfPart(
      <DetailPage
        query={{ ...createListQuery(), data: undefined as Note | undefined, ...query }}
        kind="Note"
        list={["/notes", "Notes"]}
        head={({ text }) => ({ title: text, cli: "skep secrets" })}
      >
        {({ id }) => <p>{id}</p>}
      </DetailPage>,
    );

  test("is headed by what it is called", async () => {
    expect(await page({ data: NOTES[0] })).toMatch(/<h1[^>]*>Water the plants<.*skep secrets.*<p>n1<\/p>/);
  });

  test("that cannot be had is headed by what it would be, above the error", async () => {
    const markup = await page({ error: problem(503) });
    expect(markup).toMatch(/<h1[^>]*>Note<.*It was refused\..*Try again/);
    expect(await page({ isPending: true })).toMatch(/Loading/);
  });

  test("that does not exist leads to the list of such things, and keeps what was shown before", async () => {
    const markup = await page({ error: problem(404) });
    expect(markup).toMatch(/It was deleted, or you may not see it\..*href="\/notes"[^>]*>Notes</);
    expect(markup).not.toMatch(/Try again/);
    expect(await page({ error: problem(404), data: NOTES[0] })).toMatch(/It was deleted.*<p>n1<\/p>/);
  });
});
