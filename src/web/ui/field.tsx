/** Form fields with a label, a hint and an error message below. */
import {
  type ChangeEvent,
  createContext,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useContext,
  useId,
} from "react";
import { useFieldError } from "./form.tsx";

interface Named {
  id: string;
  name?: string;
  describedBy: string | undefined;
  invalid: boolean;
}
const Naming = createContext<Named | null>(null);

const BOX =
  "w-full rounded-md border border-line-strong bg-panel px-2.5 text-base max-sm:text-lg placeholder:text-faint disabled:opacity-60 aria-invalid:border-bad";

interface FieldProps {
  label: string;
  hint?: ReactNode;
  /**
   * Name of the field in its form, and of the member of the request that it fills. The server's error for that member
   * is shown here.
   */
  name?: string;
  error?: string | undefined;
  /** For short input, such as a number: on a phone the field is beside its label. */
  short?: boolean;
  children: ReactNode;
}

const BESIDE = "max-sm:grid max-sm:grid-cols-[minmax(0,1fr)_8rem] max-sm:items-center max-sm:gap-x-3";

export function Field({ label, hint, name, error: given, short = false, children }: FieldProps) {
  const id = useId();
  const found = useFieldError(name);
  const error = given ?? found;
  const describedBy = hint || error ? `${id}-about` : undefined;
  return (
    <div className={`mb-3 ${short ? BESIDE : ""}`}>
      <label htmlFor={id} className={`mb-1 block text-sm font-medium ${short ? "max-sm:mb-0" : ""}`}>
        {label}
      </label>
      <Naming.Provider value={{ id, describedBy, invalid: error !== undefined, ...(name ? { name } : {}) }}>
        {children}
      </Naming.Provider>
      {describedBy && (
        <div id={describedBy} className={`col-span-full mt-1 text-sm ${error ? "text-bad" : "text-dim"}`}>
          {error ?? hint}
        </div>
      )}
    </div>
  );
}

/** The server's error about something that no single field holds, such as a group of checkboxes. */
export function FieldError({ name }: { name: string }) {
  const error = useFieldError(name);
  return error ? <p className="text-sm text-bad">{error}</p> : null;
}

function useNaming() {
  const named = useContext(Naming);
  return named
    ? {
        id: named.id,
        name: named.name,
        "aria-describedby": named.describedBy,
        "aria-invalid": named.invalid || undefined,
      }
    : {};
}

export const Input = ({ className = "", ...rest }: InputHTMLAttributes<HTMLInputElement>) => (
  <input {...useNaming()} {...rest} className={`${BOX} h-9 max-sm:h-11 ${className}`} />
);

export const TextArea = ({ className = "", ...rest }: TextareaHTMLAttributes<HTMLTextAreaElement>) => (
  <textarea rows={4} {...useNaming()} {...rest} className={`${BOX} py-1.5 max-sm:min-h-11 ${className}`} />
);

/** A word used as value and label, a value with its label, or an object as the API lists it. */
type Choice = string | readonly [value: string, label: string, ...unknown[]] | { id: string; name: string };

/** The options of a select. */
const Options = ({ of }: { of: readonly Choice[] | undefined }) =>
  of?.map((choice) => {
    if (typeof choice === "string") return <option key={choice}>{choice}</option>;
    const [value, label] = "id" in choice ? [choice.id, choice.name] : choice;
    return (
      <option key={value} value={value}>
        {label}
      </option>
    );
  });

/** The suggestions of a field with `list`. */
export const DataList = ({ id, options }: { id: string; options: readonly Choice[] | undefined }) => (
  <datalist id={id}>
    <Options of={options} />
  </datalist>
);

interface SelectProps<Word extends string> extends Omit<SelectHTMLAttributes<HTMLSelectElement>, "value"> {
  value?: Word | undefined;
  options?: readonly Choice[] | undefined;
  /** Called with the chosen value; `Word` is the type of the options' values. */
  onPick?: (word: Word) => void;
  /** Renders the select without the box of a form field. */
  bare?: boolean;
}

export function Select<Word extends string>(props: SelectProps<Word>) {
  const { className = "", onPick, bare, options, children, ...rest } = props;
  const pick = onPick && { onChange: (event: ChangeEvent<HTMLSelectElement>) => onPick(event.target.value as Word) };
  const look = bare ? className : `${BOX} h-9 max-sm:h-11 pr-7 ${className}`;
  return (
    <select {...useNaming()} {...rest} {...pick} className={look}>
      {children}
      <Options of={options} />
    </select>
  );
}

type LabelOf<Props> = Omit<Props, "children"> & Omit<FieldProps, "children">;

/** @returns the props of the field, and those that remain for the element inside. */
const partsOf = <Props,>({ label, hint, name, error, short = false, ...rest }: LabelOf<Props>) => ({
  field: { label, hint, error, short, ...(name === undefined ? {} : { name }) },
  rest,
});

/** A labeled single-line input. */
export function InputField(props: LabelOf<InputHTMLAttributes<HTMLInputElement>>) {
  const { field, rest } = partsOf(props);
  return (
    <Field {...field}>
      <Input {...rest} />
    </Field>
  );
}

/** A labeled text area. */
export function TextAreaField(props: LabelOf<TextareaHTMLAttributes<HTMLTextAreaElement>>) {
  const { field, rest } = partsOf(props);
  return (
    <Field {...field}>
      <TextArea {...rest} />
    </Field>
  );
}

/** A labeled select. */
export function SelectField<Word extends string>(props: LabelOf<SelectProps<Word>>) {
  const { field, rest } = partsOf(props);
  return (
    <Field {...field}>
      <Select {...rest} />
    </Field>
  );
}

export function Check({
  label,
  hint,
  ...rest
}: InputHTMLAttributes<HTMLInputElement> & { label: ReactNode; hint?: ReactNode }) {
  return (
    <label className="mb-2 flex items-start gap-2 max-sm:min-h-11">
      <input type="checkbox" {...rest} className="mt-0.5 size-4 shrink-0 accent-accent" />
      <span>
        {label}
        {hint && <span className="block text-sm text-dim">{hint}</span>}
      </span>
    </label>
  );
}
