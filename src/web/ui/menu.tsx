/** A menu behind a button. */
import * as Radix from "@radix-ui/react-dropdown-menu";
import type { ReactNode } from "react";

export interface MenuItem {
  label: string;
  icon?: ReactNode;
  danger?: boolean;
  disabled?: boolean;
  act(): void;
}

/** @param items null draws a line between groups. */
export function Menu({ trigger, items }: { trigger: ReactNode; items: (MenuItem | null)[] }) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align="end"
          sideOffset={4}
          className="z-50 min-w-48 rounded-lg border border-line bg-panel p-1 shadow-xl"
        >
          {items.map((item, at) =>
            item === null ? (
              <Radix.Separator key={`line-${at.toString()}`} className="my-1 h-px bg-line" />
            ) : (
              <Radix.Item
                key={item.label}
                disabled={item.disabled ?? false}
                onSelect={item.act}
                className={`flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 max-sm:min-h-11 text-sm outline-none data-[disabled]:opacity-50 data-[highlighted]:bg-hover ${item.danger ? "text-bad" : ""}`}
              >
                {item.icon}
                {item.label}
              </Radix.Item>
            ),
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
