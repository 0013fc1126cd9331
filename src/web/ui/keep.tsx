/** Keeps a run or chat regardless of the retention settings. */
import { Pin } from "lucide-react";
import { api, client, must } from "../api/client.ts";
import { refresh } from "../api/queries.ts";
import { useAdmin, useOwnId } from "../session/session.tsx";
import { useAction } from "./action.ts";
import { notify } from "./notice.tsx";

interface Keeping {
  /** Undefined while that is unknown. */
  kept: boolean | undefined;
  /** Whether the user may change it. */
  allowed: boolean;
  error: unknown;
  toggle(): void;
}

/** @param owner the owner's id; null on a server without log-in. */
export function useKeeping(id: string, owner: string | null): Keeping {
  const action = useAction();
  const ownId = useOwnId();
  const admin = useAdmin();
  const { data } = api.useQuery("get", "/v1/kept-history", { params: { query: { id } } });
  const kept = data && data.items.length > 0;
  const params = { path: { id } };
  const change = (keep: boolean) =>
    void action.run(async () => {
      await must(
        keep ? client.PUT("/v1/kept-history/{id}", { params }) : client.DELETE("/v1/kept-history/{id}", { params }),
      );
      await refresh("/v1/kept-history");
      notify(
        keep ? "It stays, whatever the settings for retention say." : "It goes by the settings for retention again.",
        () => change(!keep),
      );
    });
  return { kept, allowed: admin || owner === ownId, error: action.error, toggle: () => change(!kept) };
}

/** The action's name in the palette and in menus. */
export const keepWord = ({ kept }: Keeping, what: string): string => (kept ? `Stop keeping ${what}` : `Keep ${what}`);

/** A small button, or only a word for users who may not change it. */
export function KeepButton({ keeping, what }: { keeping: Keeping; what: string }) {
  const { kept, allowed, toggle } = keeping;
  if (kept === undefined || (!allowed && !kept)) return null;
  const label = (
    <>
      <Pin aria-hidden size={13} className={kept ? "fill-current" : ""} />
      {kept ? "Kept" : "Keep"}
    </>
  );
  const shape = "inline-flex h-6 items-center gap-1 rounded text-sm max-sm:h-11";
  if (!allowed) return <span className={shape}>{label}</span>;
  return (
    <button
      type="button"
      title={
        kept
          ? `Press to let the settings for retention remove ${what} again.`
          : `Keep ${what}, whatever the settings for retention say.`
      }
      onClick={toggle}
      className={`${shape} hover:text-ink hover:underline ${kept ? "text-ink" : "text-dim"}`}
    >
      {label}
    </button>
  );
}
