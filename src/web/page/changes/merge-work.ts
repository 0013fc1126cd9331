/** Merges work into a branch and reports the result. */
import { client, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { notify } from "../../ui/notice.tsx";
import type { Work } from "./review.ts";

/** @throws Problem, for example with the code `merge_conflict`. */
export async function mergeWork({ work_id: id }: Work, body: Schemas["MergeChangesBody"]): Promise<void> {
  const done = await must(client.POST("/v1/changes/{id}/merge", { params: { path: { id } }, body }));
  notify(
    "state" in done
      ? "The merge takes a while. It continues in the background."
      : `Merged into ${done.into}${done.pushed ? " and pushed" : ""}.`,
  );
  await refresh("/v1/runs", "/v1/changes", "/v1/projects");
}
