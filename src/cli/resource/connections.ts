/** `skep connections RUN`: the network connections of a run's agents, allowed and refused. */
import type { RowOf } from "../../api/types.ts";
import { tableLines } from "../terminal/table.ts";
import { listItems, queryOf } from "./find.ts";
import { verbMakers } from "./resource.ts";

const { actOnOne } = verbMakers<"/v1/runs">();
type Connection = RowOf<`/v1/runs/${string}/connections`>;

/** How many of the newest connections are read. */
const MOST = 2_000;

export const connectionsVerb = actOnOne("connections", "list a run's network connections: allowed, denied, failed", {
  options: [
    {
      flags: "--verdict <verdict>",
      about: "only connections with this verdict",
      choices: ["allowed", "denied", "failed"],
    },
  ],
  async run({ client, path, flags }) {
    const query = queryOf({ verdict: flags["verdict"] });
    const { items } = await listItems(client, `${path}/connections`, MOST, query);
    if (items.length === 0) return { json: { items }, text: "Its programs reached nothing through the proxy." };
    const hosts = [...Map.groupBy(items, (one) => `${one.verdict} ${one.host}:${one.port} ${one.reason}`).values()];
    const table = tableLines(
      [
        { head: "VERDICT", of: ([first]) => first!.verdict },
        { head: "HOST", of: ([first]) => `${first!.host}:${first!.port}`, shrinks: true },
        { head: "COUNT", of: (all) => `${all.length} ${all.length === 1 ? "time" : "times"}` },
        { head: "SENT", of: (all) => sumOf(all, "sent_bytes"), right: true },
        { head: "RECEIVED", of: (all) => sumOf(all, "received_bytes"), right: true },
        { head: "REASON", of: ([first]) => first!.reason ?? "" },
        { head: "AGENT", of: ([first]) => first!.agent_id },
      ],
      hosts,
    );
    const wasRefused = items.some(({ reason }) => reason === "not_allowed");
    const hint = wasRefused ? ["", "To allow a host from now on: skep agents allow AGENT HOST:PORT"] : [];
    return { json: { items }, text: [...table, ...hint] };
  },
});

const sumOf = (items: readonly Connection[], field: "sent_bytes" | "received_bytes"): number =>
  items.reduce((sum, item) => sum + item[field], 0);
