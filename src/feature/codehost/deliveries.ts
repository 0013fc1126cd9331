/**
 * Webhook deliveries. Each becomes a row and a job in one transaction, before the host gets its response. A replay is
 * detected by the delivery's id, and by the hash of its signed body, whatever id it comes with.
 */

import { Type as t } from "@sinclair/typebox";
import type { CodeHostKind } from "../../adapter/codehost/code-host.ts";
import type { Notice } from "../../adapter/codehost/webhook.ts";
import { toTimestamp } from "../../core/clock.ts";
import { badRequest, conflict, expectFound, invalid, unauthorized, unavailable } from "../../core/errors.ts";
import { ADMINISTRATORS } from "../../core/events.ts";
import { newId } from "../../core/ids.ts";
import type { JobDefinition } from "../../core/jobs.ts";
import { JsonTooMuch, readJson } from "../../core/json-reader.ts";
import { type ListAnswer, listById, type Page } from "../../http/list.ts";
import { removeOld } from "../../store/remove-old.ts";
import { codehostDeliveries as table } from "../../store/tables/codehost.ts";
import type { Core } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import type { CodeHostConnection } from "./connection.ts";
import { codehostDelivery } from "./events.ts";
import type { AppStatus, Delivery, WebhookAnswer } from "./model.ts";

type DeliveryRow = typeof table.$inferSelect;

/** Checks signatures and reads payloads; the adapter implements it. */
interface WebhookReader {
  isSigned(kind: CodeHostKind, headers: Headers, body: Uint8Array, secret: string): boolean;
  bodyHash(body: Uint8Array): string;
  deliveryOf(kind: CodeHostKind, headers: Headers): { id: string | null; event: string | null };
  readNotice(event: string, payload: unknown): Notice | "mismatch" | undefined;
}

export const DeliveryPayload = t.Object({ delivery_id: t.String() });

interface DeliveriesDeps extends Pick<Core, "store" | "clock" | "masking"> {
  jobs: Pick<Jobs, "enqueue">;
  connection: Pick<CodeHostConnection, "kind" | "webhookSecret">;
  reader: WebhookReader;
  /** Why nothing is to be done about the notice, so that it needs no job; undefined when something may be. */
  obstacleTo(notice: Notice): string | undefined;
  /** The job that acts on a delivery. */
  definition(): JobDefinition<typeof DeliveryPayload>;
}

export type Deliveries = ReturnType<typeof createDeliveries>;

const present = ({ body_hash: _, notice: _n, ...row }: DeliveryRow): Delivery => row;

export function createDeliveries(deps: DeliveriesDeps) {
  const { store, clock, masking, connection, reader } = deps;
  const rows = store.rows(table);
  const readNow = () => toTimestamp(clock.now());
  const find = (id: string) => rows.find({ id });
  const publish = (row: DeliveryRow): void =>
    store.write(({ emit }) => {
      const { id: delivery_id, event, repository, state, detail } = row;
      emit(codehostDelivery, { user_id: ADMINISTRATORS, data: { delivery_id, event, repository, state, detail } });
    });
  const change = (id: string, fields: Partial<DeliveryRow>): DeliveryRow =>
    store.write(() => {
      rows.update(fields, { id });
      const row = find(id)!;
      publish(row);
      return row;
    });
  const enqueue = (row: DeliveryRow): void => {
    const options = { key: row.id, subject: `${row.event} of ${row.repository ?? "the code host"}` };
    deps.jobs.enqueue(deps.definition(), { delivery_id: row.id }, options);
  };
  const requeue = (id: string): DeliveryRow =>
    store.write(() => {
      const row = change(id, { state: "queued", error: null, detail: null, finished_at: null });
      enqueue(row);
      return row;
    });

  /** Reads a delivery. Only the signed body is trusted; the event that the headers name must fit it. */
  function read(headers: Headers, body: Uint8Array) {
    const secret = connection.webhookSecret();
    if (secret === undefined)
      throw unavailable("codehost_not_configured", "No webhook secret is set, so no delivery can be trusted. Set one.");
    const kind = connection.kind();
    if (!reader.isSigned(kind, headers, body, secret))
      throw unauthorized("The signature is missing, or is not of this body and our secret.", "bad_signature");
    const { id, event } = reader.deliveryOf(kind, headers);
    if (!id || !event || !/^[\w.-]{1,100}$/.test(id) || !/^\w{1,60}$/.test(event))
      throw badRequest("A delivery must name its id and its event in headers.", "bad_delivery");
    let payload: unknown;
    try {
      payload = readJson(new TextDecoder("utf-8", { fatal: true }).decode(body));
    } catch (error) {
      if (error instanceof JsonTooMuch) throw badRequest(`The body is ${error.fault}.`, "too_much_json");
      throw badRequest("The body is not JSON. Set the webhook's content type to application/json.", "malformed");
    }
    const notice = reader.readNotice(event, payload);
    if (notice === "mismatch") throw invalid("The body is not one of the event that the header names.");
    return { id, event, notice };
  }

  return {
    /**
     * @throws Problem 503 no webhook secret, 401 wrong signature, 400 not JSON or no id, 422 an event that does not fit
     * the body.
     */
    take(headers: Headers, body: Uint8Array): WebhookAnswer {
      const { id: delivery_id, event, notice } = read(headers, body);
      const body_hash = reader.bodyHash(body);
      return store.write((): WebhookAnswer => {
        const known = rows.find(["(delivery_id = ? OR body_hash = ?)", delivery_id, body_hash]);
        // Somebody sent the delivery again by hand after it had failed here: it is acted on again.
        if (known?.state === "failed" && known.body_hash === body_hash) {
          requeue(known.id);
          return { status: "retried", id: known.id };
        }
        if (known) return { status: "duplicate", id: known.id };
        const at = readNow();
        const detail = notice ? (deps.obstacleTo(notice) ?? null) : "Nothing is done for this event.";
        const row = rows.add({
          id: newId("delivery"),
          delivery_id,
          body_hash,
          event,
          repository: notice?.repository ?? null,
          notice: notice ? masking.json(notice) : null,
          state: detail === null ? "queued" : "ignored",
          detail,
          received_at: at,
          finished_at: detail === null ? null : at,
        });
        publish(row);
        if (detail === null) enqueue(row);
        return { status: detail === null ? "accepted" : "ignored", id: row.id };
      });
    },
    find,
    end: (id: string, { state, ...fields }: Pick<DeliveryRow, "state"> & Partial<DeliveryRow>): void =>
      store.write(() => {
        if (find(id)) change(id, { state, ...fields, finished_at: readNow() });
      }),
    list: ({ state }: { state?: Delivery["state"] | undefined }, page: Page): ListAnswer<Delivery> =>
      listById(rows.page([{ state }], page), page, present),
    /** Acts again on a delivery that failed. @throws Problem 404, 409. */
    retry: (id: string): Delivery =>
      store.write(() => {
        const row = expectFound(find(id), "delivery");
        if (row.state !== "failed") throw conflict(`The delivery is ${row.state}; only a failed one is tried again.`);
        return present(requeue(id));
      }),
    counts(): Omit<AppStatus["webhook"], "configured" | "path"> {
      const counts = store
        .statement<{ state: string; rows: number }>(
          "SELECT state, count(*) AS rows FROM codehost_deliveries GROUP BY state",
        )
        .all();
      const countState = (state: DeliveryRow["state"]) => counts.find((row) => row.state === state)?.rows ?? 0;
      const [last] = rows.list([], { order: "id DESC", limit: 1 });
      return {
        last_delivery_at: last?.received_at ?? null,
        deliveries: {
          queued: countState("queued"),
          done: countState("done"),
          ignored: countState("ignored"),
          failed: countState("failed"),
        },
      };
    },
    /** Removes deliveries received before that time, ms since the epoch. */
    prune: (before: number): boolean => removeOld(store, "codehost_deliveries", "received_at < ?", toTimestamp(before)),
  };
}
