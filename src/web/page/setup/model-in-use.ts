/** Whether agents that choose no model ask a real one. Administrators alone may know the providers. */
import { api, type Schemas } from "../../api/client.ts";
import { useAdmin } from "../../session/session.tsx";

type Provider = Schemas["Provider"];

/** The provider of the server's default model; the scripted one does not count. */
export const inUse = ({ configured, enabled, kind, default: model }: Provider): boolean =>
  configured && enabled && kind !== "scripted" && model !== null;

export function useModelInUse(): boolean {
  const params = { query: { limit: 200 } };
  const { data } = api.useQuery("get", "/v1/settings/providers", { params }, { enabled: useAdmin() });
  return data?.items.some(inUse) ?? false;
}
