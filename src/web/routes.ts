/**
 * The pages: each has an address, a title, the file that renders it (loaded on first use), and a place in the
 * navigation. A page is one folder below page/ and its lines here.
 */
import {
  Activity,
  BarChart3,
  Bell,
  Bot,
  Boxes,
  Brain,
  CalendarClock,
  Cookie,
  FileText,
  FlaskConical,
  FolderGit2,
  GitPullRequest,
  History,
  House,
  Inbox,
  KeyRound,
  type LucideIcon,
  MessagesSquare,
  Network,
  Plug,
  PlugZap,
  Server,
  Settings,
  Sparkles,
  SquareKanban,
  Users,
  Volume2,
  Workflow,
} from "lucide-react";
import { type LazyPage, lazyPage } from "./ui/lazy.tsx";
import { LoadingPage } from "./ui/note.tsx";

export interface Page {
  path: string;
  title: string;
  view: LazyPage;
  /** Shown to administrators only; the API also refuses others. */
  admin?: boolean;
  /** Its place in the navigation. `label` is set if it says more than the title. */
  nav?: { group: "Main" | "Library" | "Settings"; icon: LucideIcon; key: string; label?: string };
}

type Loader = Parameters<typeof lazyPage>[0];
const definePage = (
  path: string,
  title: string,
  load: Loader,
  more: Omit<Page, "path" | "title" | "view"> = {},
): Page => ({
  path,
  title,
  view: lazyPage(load, LoadingPage),
  ...more,
});

export const PAGES: Page[] = [
  definePage("/", "Home", () => import("./page/home/home-page.tsx"), { nav: { group: "Main", icon: House, key: "h" } }),
  definePage("/inbox", "Inbox", () => import("./page/inbox/inbox-page.tsx"), {
    nav: { group: "Main", icon: Inbox, key: "i" },
  }),
  definePage("/runs", "Runs", () => import("./page/runs/runs-page.tsx"), {
    nav: { group: "Main", icon: Activity, key: "r" },
  }),
  definePage("/runs/new", "Start a run", () => import("./page/runs/start-page.tsx")),
  definePage("/runs/:id", "Run", () => import("./page/run/run-page.tsx")),
  definePage("/board", "Board", () => import("./page/board/board-page.tsx"), {
    nav: { group: "Main", icon: SquareKanban, key: "b" },
  }),
  definePage("/chat", "Chat", () => import("./page/chat/chats-page.tsx"), {
    nav: { group: "Main", icon: MessagesSquare, key: "c" },
  }),
  definePage("/chat/:id", "Chat", () => import("./page/chat/chat-page.tsx")),
  definePage("/changes/:id", "Changes", () => import("./page/changes/work-changes.tsx")),
  definePage("/projects", "Projects", () => import("./page/projects/projects-page.tsx"), {
    nav: { group: "Library", icon: FolderGit2, key: "p" },
  }),
  definePage("/projects/:id/tasks/:tid", "Task", () => import("./page/task/task-page.tsx")),
  definePage("/projects/:id/members", "Members", () => import("./page/projects/members-page.tsx")),
  definePage("/projects/:id/policy", "Vision and policy", () => import("./page/policy/policy-page.tsx")),
  definePage("/projects/:id", "Project", () => import("./page/projects/project-page.tsx")),
  definePage("/projects/:id/graph", "Code graph", () => import("./page/graph/graph-page.tsx")),
  definePage("/join/:token", "Invitation", () => import("./page/join/join-page.tsx")),
  definePage("/onboarding", "Onboarding", () => import("./page/onboarding/onboardings-page.tsx")),
  definePage("/onboarding/:id", "Onboarding", () => import("./page/onboarding/onboarding-page.tsx")),
  definePage("/pipelines", "Pipelines", () => import("./page/pipelines/pipelines-page.tsx"), {
    nav: { group: "Library", icon: Workflow, key: "l" },
  }),
  definePage("/pipelines/:id", "Pipeline", () => import("./page/pipelines/pipeline-page.tsx")),
  definePage("/agents", "Agents", () => import("./page/agents/agents-page.tsx"), {
    nav: { group: "Library", icon: Bot, key: "a" },
  }),
  definePage("/agents/:id", "Agent", () => import("./page/agents/agent-page.tsx")),
  definePage("/skills", "Skills", () => import("./page/skills/skills-page.tsx"), {
    nav: { group: "Library", icon: Sparkles, key: "k" },
  }),
  definePage("/skills/:name", "Skill", () => import("./page/skills/skill-page.tsx")),
  definePage("/memory", "Memory", () => import("./page/memory/memory-page.tsx"), {
    nav: { group: "Library", icon: Brain, key: "o" },
  }),
  definePage("/memory/:agent", "Memory", () => import("./page/memory/vault-page.tsx")),
  definePage("/routines", "Routines", () => import("./page/routines/routines-page.tsx"), {
    nav: { group: "Library", icon: CalendarClock, key: "f" },
  }),
  definePage("/routines/:agent/:id", "Routine", () => import("./page/routine/routine-page.tsx")),
  definePage("/swarms", "Swarms", () => import("./page/swarms/swarms-page.tsx"), {
    nav: { group: "Library", icon: Network, key: "x" },
  }),
  definePage("/swarms/:id", "Swarm", () => import("./page/swarm/swarm-page.tsx")),
  definePage("/evals", "Evals", () => import("./page/evals/evals-page.tsx"), {
    nav: { group: "Library", icon: FlaskConical, key: "1" },
  }),
  definePage("/evals/:id", "Eval", () => import("./page/evals/eval-page.tsx")),
  definePage("/documents", "Documents", () => import("./page/documents/documents-page.tsx"), {
    nav: { group: "Library", icon: FileText, key: "d" },
  }),
  definePage("/documents/:id", "Document", () => import("./page/document/document-page.tsx")),
  definePage("/activity", "Activity", () => import("./page/activity/activity-page.tsx"), {
    nav: { group: "Settings", icon: History, key: "t" },
  }),
  definePage("/usage", "Usage", () => import("./page/usage/usage-page.tsx"), {
    nav: { group: "Settings", icon: BarChart3, key: "u" },
  }),
  definePage("/providers", "Model providers", () => import("./page/providers/providers-page.tsx"), {
    nav: { group: "Settings", icon: PlugZap, key: "m" },
  }),
  definePage("/secrets", "Secrets", () => import("./page/secrets/secrets-page.tsx"), {
    nav: { group: "Settings", icon: KeyRound, key: "s" },
  }),
  definePage("/cookies", "Cookies", () => import("./page/cookies/cookies-page.tsx"), {
    nav: { group: "Settings", icon: Cookie, key: "g" },
  }),
  definePage("/voice", "Voice", () => import("./page/voice/voice-page.tsx"), {
    admin: true,
    nav: { group: "Settings", icon: Volume2, key: "v" },
  }),
  definePage("/tool-servers", "Tool servers", () => import("./page/tool-servers/tool-servers-page.tsx"), {
    admin: true,
    nav: { group: "Settings", icon: Plug, key: "z" },
  }),
  definePage("/tool-servers/:id", "Tool server", () => import("./page/tool-server/tool-server-page.tsx"), {
    admin: true,
  }),
  definePage("/users", "Users", () => import("./page/users/users-page.tsx"), {
    admin: true,
    nav: { group: "Settings", icon: Users, key: "w" },
  }),
  definePage("/settings", "Settings", () => import("./page/settings/settings-page.tsx"), {
    admin: true,
    nav: { group: "Settings", icon: Settings, key: "e", label: "Server settings" },
  }),
  definePage("/system", "System", () => import("./page/system/system-page.tsx"), {
    admin: true,
    nav: { group: "Settings", icon: Server, key: "y" },
  }),
  definePage("/code-host", "Code host", () => import("./page/codehost/codehost-page.tsx"), {
    nav: { group: "Settings", icon: GitPullRequest, key: "q" },
  }),
  definePage("/notifications", "Notifications", () => import("./page/notifications/notifications-page.tsx"), {
    nav: { group: "Settings", icon: Bell, key: "n" },
  }),
  definePage("/jobs", "Background work", () => import("./page/jobs/jobs-page.tsx"), {
    nav: { group: "Settings", icon: Boxes, key: "j" },
  }),
  definePage("/account", "My account", () => import("./page/account/account-page.tsx")),
  definePage("/setup", "Set up", () => import("./page/setup/setup-page.tsx")),
];
