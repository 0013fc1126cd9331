/** How an agent's text is read aloud. Each setting is the agent's own or follows the instance's. */

import { api, client, must, type Schemas } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { useAdmin } from "../../session/session.tsx";
import { FactList } from "../../ui/facts.tsx";
import { Field, Input, Select, SelectField } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Await } from "../../ui/note.tsx";
import { notify } from "../../ui/notice.tsx";
import { Section } from "../../ui/page.tsx";
import { PROVIDERS } from "../voice/providers.ts";

type Own = Schemas["AgentTtsSettings"];
type Body = Schemas["UpdateAgentTtsSettingsBody"];

const FORMATS = ["mp3", "wav", "opus"] as const;
const FOLLOWS = "as everywhere";
const SWITCH: Record<string, boolean | null> = { "": null, on: true, off: false };

export function AgentVoice({ agent }: { agent: Schemas["Agent"] }) {
  const admin = useAdmin();
  const query = api.useQuery("get", "/v1/agents/{id}/tts-settings", { params: { path: { id: agent.id } } });
  return (
    <Await query={query}>
      {(own) => (
        <div className="grid items-start gap-6 lg:grid-cols-2">
          {admin && <VoiceForm key={JSON.stringify(own)} own={own} />}
          <Effective own={own} />
        </div>
      )}
    </Await>
  );
}

function Effective({ own: { effective } }: { own: Own }) {
  const provider = PROVIDERS.find(([id]) => id === effective.provider)?.[1] ?? "none is chosen";
  return (
    <Section title="In effect now" panel>
      <FactList
        facts={[
          ["Read aloud", effective.enabled ? "yes" : "no"],
          ["Service", provider],
          ["Voice", effective.voice_id ?? "the service's own"],
          ["Model", effective.model ?? "the service's own"],
          ["Format", effective.format],
          ["Speed", effective.speed],
        ]}
      />
    </Section>
  );
}

function VoiceForm({ own }: { own: Own }) {
  const action = useChange("/v1/agents");
  return (
    <Section title="Its own settings" panel>
      <Form
        action={action}
        word="Save"
        submit={async ({ choice, text, number }) => {
          const body: Body = {
            enabled: SWITCH[text("enabled")] ?? null,
            voice_id: text("voice_id") || null,
            model: text("model") || null,
            speed: number("speed") ?? null,
            provider: choice<NonNullable<Own["provider"]>>("provider") || null,
            format: choice<NonNullable<Own["format"]>>("format") || null,
          };
          await must(client.PUT("/v1/agents/{id}/tts-settings", { params: { path: { id: own.agent_id } }, body }));
          notify("The voice is saved.");
        }}
      >
        <div className="grid gap-x-4 sm:grid-cols-2">
          <Field label="Read aloud" name="enabled">
            <Select defaultValue={own.enabled === null ? "" : own.enabled ? "on" : "off"}>
              <option value="">{FOLLOWS}</option>
              <option value="on">yes</option>
              <option value="off">no</option>
            </Select>
          </Field>
          <SelectField
            label="Service"
            name="provider"
            defaultValue={own.provider ?? ""}
            options={[["", FOLLOWS], ...PROVIDERS]}
          />
          <Field label="Voice" hint={`Left empty: ${FOLLOWS}.`} name="voice_id">
            <Input defaultValue={own.voice_id ?? ""} spellCheck={false} />
          </Field>
          <Field label="Model" hint={`Left empty: ${FOLLOWS}.`} name="model">
            <Input defaultValue={own.model ?? ""} spellCheck={false} />
          </Field>
          <SelectField
            label="Format"
            name="format"
            defaultValue={own.format ?? ""}
            options={[["", FOLLOWS], ...FORMATS]}
          />
          <Field label="Speed" hint="0.25 to 4; 1 is the normal speed." name="speed">
            <Input type="number" step="0.05" min="0.25" max="4" defaultValue={own.speed ?? ""} />
          </Field>
        </div>
      </Form>
    </Section>
  );
}
