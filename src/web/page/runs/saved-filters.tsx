/** Named filters of the list. They are stored in the user's preferences, so they are the same in every browser. */

import { Bookmark, X } from "lucide-react";
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { api, client, must } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { InputField } from "../../ui/field.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";

interface Saved {
  name: string;
  /** The query of the address. */
  query: string;
}

const NAME = "runs.filters";
const PATH = "/v1/preferences";

/** The stored filters. Another version may have written them, so invalid ones are left out. */
function savedOf(value: unknown): Saved[] {
  const list: Partial<Saved>[] = Array.isArray(value) ? value : [];
  return list.flatMap((one) =>
    typeof one?.name === "string" && typeof one.query === "string" ? [{ name: one.name, query: one.query }] : [],
  );
}

/** @param active whether there is a filter to save. */
export function SavedFilters({ active }: { active: boolean }) {
  const preferences = api.useQuery("get", PATH);
  const saved = savedOf(preferences.data?.[NAME]);
  const [params] = useSearchParams();
  const [naming, setNaming] = useState(false);
  const action = useChange(PATH);
  const current = params.toString();
  const keep = async (next: Saved[]) => {
    await must(client.PATCH(PATH, { body: { [NAME]: next.length > 0 ? next : null } }));
  };
  const known = saved.some(({ query }) => query === current);
  if (saved.length === 0 && !active) return null;
  return (
    <>
      {!naming && <ProblemNote error={action.error} />}
      <nav aria-label="Saved filters" className="mb-3 flex flex-wrap items-center gap-1.5">
        {saved.map(({ name, query }) => (
          <span
            key={name}
            className={`inline-flex items-center rounded-md border ${query === current ? "border-accent bg-accent-soft" : "border-line"}`}
          >
            <Link
              href={`?${query}`}
              aria-current={query === current ? "true" : undefined}
              className="max-w-60 truncate py-1 pl-2 text-sm max-sm:py-3"
            >
              {name}
            </Link>
            <IconButton
              label={`Remove the filter ${name}`}
              className="size-7!"
              onClick={() => action.run(() => keep(saved.filter((one) => one.name !== name)))}
              icon={X}
              iconSize={12}
            />
          </span>
        ))}
        {active && !known && (
          <Button label="Save this filter" kind="quiet" icon={Bookmark} iconSize={13} onClick={() => setNaming(true)} />
        )}
      </nav>
      {naming && (
        <FormDialog
          title="Save the filter"
          changes={[PATH]}
          word="Save"
          submit={async ({ text }) => {
            const name = text("name");
            await keep([...saved.filter((one) => one.name !== name), { name, query: current }]);
          }}
          onClose={() => setNaming(false)}
        >
          <InputField label="Name" hint="One of the same name is replaced." name="name" required maxLength={60} />
        </FormDialog>
      )}
    </>
  );
}
