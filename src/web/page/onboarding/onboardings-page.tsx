/** The user's onboardings: start one, or continue one. */

import { Compass } from "lucide-react";
import { useLocation } from "wouter";
import { client, must, type Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { ListPage } from "../../kit/list-page.tsx";
import { Button } from "../../ui/button.tsx";
import { Field, TextArea } from "../../ui/field.tsx";
import { FilterSelect } from "../../ui/filter.tsx";
import { costText } from "../../ui/format.ts";
import { ModelField } from "../../ui/pickers.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, TwoLines } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { statusOf } from "./onboarding.ts";

type Item = Schemas["OnboardingSessionItem"];

const COLUMNS: Column<Item>[] = [
  {
    title: "Onboarding",
    className: "w-1/2 min-w-40",
    cell: ({ title, context, phase }) => {
      const name = context.intake?.name ?? title ?? "Untitled";
      const about = context.intake?.summary ?? (phase === "done" ? "" : `at ${phase}`);
      return <TwoLines first={name} second={about === name ? "" : about} />;
    },
  },
  { title: "State", cell: (item) => <Status status={statusOf(item)} /> },
  { title: "Part", wide: true, cell: ({ phase }) => phase },
  { title: "Cost", wide: true, align: "right", cell: costText },
  { title: "Last", align: "right", cell: ({ last_activity_at }) => <Ago at={last_activity_at} /> },
];

const STATES = [
  { value: "", label: "Any state" },
  { value: "active", label: "Not finished" },
  { value: "completed", label: "Made a project" },
  { value: "abandoned", label: "Given up" },
];

export default function OnboardingsPage() {
  const [status, setStatus] = useParam<Item["status"]>("status");
  const [fresh, setFresh] = useParam("new");
  const query = usePages("/v1/onboarding/sessions", {
    query: { limit: 50, ...(status ? { status } : {}) },
  });
  const begin = <Button label="Start" kind="primary" icon={Compass} iconSize={15} onClick={() => setFresh("1")} />;
  return (
    <ListPage
      title="Onboarding"
      label="Onboardings"
      about="Say what you want to build. Four interviewers ask questions and make a project of your answers, with a vision and its first tasks."
      cli="skep onboard"
      actions={begin}
      filterBar={<FilterSelect label="State" value={status} onChange={setStatus} options={STATES} />}
      query={query}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/onboarding/${id}`}
      lines={4}
      filters={["status"]}
      noMatch="No onboarding is in that state."
      empty={{
        text: "You have not started an onboarding yet. It turns an idea into a project with its first tasks.",
        action: begin,
        cli: 'skep onboard --say "A bird feeder that photographs its guests"',
      }}
    >
      {fresh && <Begin onClose={() => setFresh("")} />}
    </ListPage>
  );
}

function Begin({ onClose }: { onClose(): void }) {
  const [, navigate] = useLocation();
  return (
    <FormDialog
      title="Onboard a project"
      word="Start"
      changes={["/v1/onboarding"]}
      submit={async ({ text, raw }) => {
        const body = {
          ...(text("message") ? { message: raw("message") } : {}),
          ...(text("model") ? { model: text("model") } : {}),
        };
        const { id } = await must(client.POST("/v1/onboarding/sessions", { body }));
        return () => navigate(`/onboarding/${id}`);
      }}
      onClose={onClose}
    >
      <Field label="What do you want to build?" hint="Left empty, the interviewer asks first." name="message">
        <TextArea rows={4} placeholder="A bird feeder that photographs its guests" />
      </Field>
      <ModelField none="The interviewers' own" />
    </FormDialog>
  );
}
