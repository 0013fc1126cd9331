/**
 * What most pages are made of. It belongs to the first script: by themselves these would be a dozen small files, each a
 * request of its own before the first heading.
 */
import "../kit/change.ts";
import "../kit/form-dialog.tsx";
import "../kit/list-page.tsx";
import "../session/actor.tsx";
import "../ui/facts.tsx";
import "../ui/filter.tsx";
import "../ui/format.ts";
import "../ui/markdown-text.tsx";
import "../ui/status.tsx";
import "../ui/table.tsx";
import "../ui/tabs.tsx";
import "../ui/time.tsx";
