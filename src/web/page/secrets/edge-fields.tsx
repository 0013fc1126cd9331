/** Fields for the hosts to whose requests the server adds a secret, so that no sandbox contains it. */
import type { Schemas } from "../../api/client.ts";
import { InputField } from "../../ui/field.tsx";
import type { Fields } from "../../ui/form.tsx";

type Edge = NonNullable<Schemas["SecretEdge"]>;

export function EdgeFields({ edge }: { edge: Edge | null }) {
  return (
    <>
      <InputField
        label="Only into requests to"
        name="edge_hosts"
        hint="Hosts, separated by commas. No sandbox then has the value: the server adds it to requests of agents whose network is a list with these hosts. Empty: agents get a variable."
        defaultValue={edge?.hosts.join(", ")}
        spellCheck={false}
        placeholder="api.github.com"
      />
      <InputField
        label="Header"
        name="edge_header"
        hint="With what stands before the value. For requests to these hosts alone."
        defaultValue={edge ? `${edge.header}: ${edge.prefix}`.trim() : "Authorization: Bearer"}
        spellCheck={false}
      />
    </>
  );
}

/** @param before the previous value, whose methods and path are kept because the form does not show them. */
export function edgeIn({ text, entries }: Fields, before: Edge | null = null): Edge | null {
  const hosts = entries("edge_hosts");
  if (hosts.length === 0) return null;
  const [header = "", ...rest] = text("edge_header").split(":");
  const prefix = rest.join(":").trim();
  return { ...before, hosts, header: header.trim(), prefix: prefix === "" ? "" : `${prefix} ` };
}
