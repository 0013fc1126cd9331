/** A user's API keys, for an administrator, who can revoke one that was lost. */

import { useState } from "react";
import { api, client, type Schemas } from "../../api/client.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { Button } from "../../ui/button.tsx";
import { Await } from "../../ui/note.tsx";
import { Ago } from "../../ui/time.tsx";

export function UserKeys({ id }: { id: string }) {
  const [revoked, setRevoked] = useState<Schemas["ApiKey"]>();
  const query = api.useQuery("get", "/v1/users/{id}/api-keys", { params: { path: { id } } });
  return (
    <section aria-label="API keys" className="mt-4 border-t border-line pt-3">
      <h3 className="text-sm font-medium">API keys</h3>
      <Await query={query} rows={1}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="text-sm text-dim">None.</p>
          ) : (
            <ul>
              {items.map((key) => (
                <li
                  key={key.id}
                  className="flex flex-wrap items-center gap-x-3 border-b border-line py-1.5 last:border-0"
                >
                  <span className="font-medium">{key.name}</span>
                  <code className="font-mono text-sm text-dim">{key.preview}</code>
                  <span className="mr-auto text-sm text-dim">
                    {key.expired ? "expired" : key.last_used_at ? <Ago at={key.last_used_at} sentence /> : "never used"}
                  </span>
                  <Button label="Revoke" kind="quiet" onClick={() => setRevoked(key)} />
                </li>
              ))}
            </ul>
          )
        }
      </Await>
      {revoked && (
        <Confirm
          title={`Revoke ${revoked.name}?`}
          word="Revoke the key"
          onClose={() => setRevoked(undefined)}
          changes={["/v1/users"]}
          act={() => {
            const params = { path: { id, key_id: revoked.id } };
            return client.DELETE("/v1/users/{id}/api-keys/{key_id}", { params });
          }}
        >
          Programs that log in with it are refused from now on. It cannot be brought back.
        </Confirm>
      )}
    </section>
  );
}
