/** How a provider's button looks on the log-in page, with a preview. */
import { useState } from "react";
import type { Schemas } from "../../api/client.ts";
import { Field, Input, Select } from "../../ui/field.tsx";
import type { Fields } from "../../ui/form.tsx";
import { SIGN_ON_ICONS, SignOnButton } from "../login/sign-on-button.tsx";

type Look = Schemas["Oidc"]["button"];

/** The values of the fields. Empty fields are left out. */
export function lookOf({ text }: Pick<Fields, "text">): Look {
  const [label, icon, color] = [text("label"), text("icon"), text("color")];
  return { ...(label ? { label } : {}), ...(icon ? { icon } : {}), ...(color ? { color } : {}) };
}

export function LookFields({ name, look }: { name: string; look: Look }) {
  const [shown, show] = useState(look);
  const change = (part: Partial<Look>) => show({ ...shown, ...part });
  const { icon = "" } = look;
  return (
    <fieldset className="mb-3">
      <legend className="mb-1 text-sm font-medium">Button on the log-in page</legend>
      <div className="grid gap-x-3 sm:grid-cols-[minmax(0,1fr)_8rem_7rem]">
        <Field label="Text of the button" hint="Empty: Continue with the name." name="button/label">
          <Input
            name="label"
            maxLength={64}
            defaultValue={look.label ?? ""}
            onChange={(event) => change({ label: event.target.value.trim() })}
          />
        </Field>
        <Field label="Icon" name="button/icon">
          <Select name="icon" defaultValue={icon} onChange={(event) => change({ icon: event.target.value })}>
            <option value="">None</option>
            {Object.entries(SIGN_ON_ICONS).map(([word, { title }]) => (
              <option key={word} value={word}>
                {title}
              </option>
            ))}
            {icon && !SIGN_ON_ICONS[icon] && <option value={icon}>{icon} (not shown)</option>}
          </Select>
        </Field>
        <Field label="Color" hint="Such as #1a56db." name="button/color">
          <Input
            name="color"
            pattern="#[0-9a-fA-F]{6}"
            title="# and six digits from 0 to f, such as #1a56db"
            placeholder="Plain"
            spellCheck={false}
            defaultValue={look.color ?? ""}
            onChange={(event) => change({ color: event.target.value.trim() })}
          />
        </Field>
      </div>
      <SignOnButton name={name || "the name"} look={shown} />
    </fieldset>
  );
}
