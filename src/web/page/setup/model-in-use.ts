/** Whether agents without a model of their own use a real one. Only administrators may know the providers. */
import { api, type Schemas } from "../../api/client.ts";
import { useAdmin } from "../../session/session.tsx";

type Provider = Schemas["Provider"];

/** Whether this is the provider of the server's default model. The scripted provider does not count. */
export const inUse = ({ configured, enabled, kind, default: model }: Provider): boolean =>
  configured && enabled && kind !== "scripted" && model !== null;

export function useModelInUse(): boolean {
  const params = { query: { limit: 200 } };
  const { data } = api.useQuery("get", "/v1/settings/providers", { params }, { enabled: useAdmin() });
  return data?.items.some(inUse) ?? false;
}
