/**
 * Modules that most pages use, bundled into the first script. As separate files they would cause dozens of small
 * requests before the first heading.
 */
import {
  ArrowDown,
  ArrowRight,
  ArrowUp,
  ChevronLeft,
  ChevronRight,
  Download,
  Ellipsis,
  ExternalLink,
  FileUp,
  Pencil,
  Pin,
  Play,
  Plus,
  Power,
  ScrollText,
  ShieldQuestionMark,
  Square,
  Trash,
} from "lucide-react";
import "../kit/change.ts";
import "../kit/confirm.tsx";
import "../kit/detail-page.tsx";
import "../kit/form-dialog.tsx";
import "../kit/list-page.tsx";
import "../kit/row-list.tsx";
import "../keys/verbs.ts";
import "../page/projects/roles.ts";
import "../session/actor.tsx";
import "../ui/facts.tsx";
import "../ui/file-problems.tsx";
import "../ui/filter.tsx";
import "../ui/format.ts";
import "../ui/link.tsx";
import "../ui/markdown-text.tsx";
import "../ui/pickers.tsx";
import "../ui/plain-text.ts";
import "../ui/status.tsx";
import "../ui/table.tsx";
import "../ui/tabs.tsx";
import "../ui/time.tsx";
import "../ui/value.tsx";

// The bundler drops icons that this script does not use, but it keeps the arguments of a call.
Object.freeze([
  ArrowDown,
  ArrowRight,
  ArrowUp,
  ChevronLeft,
  ChevronRight,
  Download,
  Ellipsis,
  ExternalLink,
  FileUp,
  Pencil,
  Pin,
  Play,
  Plus,
  Power,
  ScrollText,
  ShieldQuestionMark,
  Square,
  Trash,
]);
