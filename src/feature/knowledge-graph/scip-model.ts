/** Exact references from SCIP indexes, as the API shows them. */
import { Type as t } from "@sinclair/typebox";
import { formFile } from "../../http/schema.ts";

export const Exact = t.Object(
  {
    files: t.Integer(),
    calls: t.Integer(),
    error: t.Optional(t.String({ description: "Why the SCIP index of the project's set-up is not in use." })),
  },
  { description: "Files whose calls a compiler knows, by a SCIP index, and how many relationships come from it." },
);

export const Scip = t.Object(
  {
    files: t.Integer({ description: "Files that it knows the calls of." }),
    calls: t.Integer({ description: "Calls of these files that reach symbols of the project." }),
    stale: t.Array(t.String(), { description: "The first 100 documents that do not fit their file as it is now." }),
    stale_count: t.Integer(),
  },
  { description: "What a SCIP index brought that this job took in." },
);

export const ScipUpload = t.Object({
  file: formFile({ description: "A SCIP index, such as index.scip; 50 MiB at most." }),
});
