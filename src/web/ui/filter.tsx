/** Filters above a list. Their values are in the address. */
import { Search } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { useSearchParams } from "wouter";
import { api } from "../api/client.ts";
import { ButtonLink } from "./button.tsx";
import { Empty } from "./note.tsx";

export function FilterBar({ children }: { children: ReactNode }) {
  return (
    <search className="mb-3 flex flex-wrap items-center gap-2 max-sm:grid max-sm:grid-cols-2" aria-label="Filters">
      {children}
    </search>
  );
}

/**
 * Shown instead of a list if no row matches the filters. @param clear the filters' names in the address; other
 * parameters stay.
 */
export function NoMatch({
  children,
  clear,
  word = "Clear the filters",
}: {
  children: ReactNode;
  clear: string[];
  word?: string;
}) {
  const [params] = useSearchParams();
  const rest = new URLSearchParams([...params].filter(([name]) => !clear.includes(name)));
  return <Empty action={<ButtonLink href={`?${rest}`}>{word}</ButtonLink>}>{children}</Empty>;
}

const TYPING_MS = 250;

/** A search field. It searches shortly after the last key; the key `/` focuses it. */
export function SearchInput({
  value,
  onChange,
  label,
}: {
  value: string;
  onChange(value: string): void;
  label: string;
}) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, value, onChange]);
  return (
    <div className="relative min-w-44 flex-1 max-sm:col-span-full sm:max-w-72">
      <Search
        aria-hidden
        size={14}
        className="pointer-events-none absolute top-1/2 left-2.5 -translate-y-1/2 text-faint"
      />
      <input
        data-filter
        type="search"
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="h-8 max-sm:h-11 w-full rounded-md border border-line-strong bg-panel pr-2 pl-8 placeholder:text-faint"
      />
    </div>
  );
}

export function FilterSelect({
  label,
  value,
  onChange,
  options,
}: {
  label: string;
  value: string;
  onChange(value: string): void;
  options: { value: string; label: string }[];
}) {
  const known = options.some((option) => option.value === value);
  return (
    <select
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      className={`h-8 max-w-48 rounded-md max-sm:h-11 max-sm:max-w-none max-sm:min-w-0 border bg-panel px-2 text-sm ${value ? "border-accent text-ink" : "border-line-strong text-dim"}`}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
      {!known && <option value={value}>{value}</option>}
    </select>
  );
}

export function AgentFilter(props: { value: string; onChange(value: string): void }) {
  const { data } = api.useQuery("get", "/v1/agents", { params: { query: { limit: 200 } } });
  const options = (data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }));
  return <FilterSelect label="Agent" {...props} options={[{ value: "", label: "Any agent" }, ...options]} />;
}
