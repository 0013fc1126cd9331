/**
 * A dashboard file whose request needs an administrator checks who is logged in, or only files and pages that check
 * lead to it. A file whose request needs a role in a project checks the role. Patterns cannot show whether the request
 * then depends on the result, so `entry.test.ts` opens the pages as a user.
 */
import { expect, test } from "bun:test";
import {
  dashboardFiles,
  forAdministrators,
  forRole,
  LEASTS,
  nameOf,
  pagesOfTheDashboard,
  type SourceFile,
} from "./rights.ts";

const files = new Map(dashboardFiles().map((file) => [file.path, file]));

/** The files to which the pages lead, and what these import, up to files that check. */
function openFrom(pages: { file: string }[], asksFirst: (file: SourceFile) => boolean): SourceFile[] {
  const open = new Set<SourceFile>();
  const come = (path: string): void => {
    const file = files.get(path);
    if (!file || open.has(file) || asksFirst(file)) return;
    open.add(file);
    for (const one of file.imports) come(one);
  };
  for (const page of pages) come(page.file);
  return [...open];
}

const requestsOf = (open: SourceFile[], among: Set<string>) =>
  open.flatMap((file) => file.asks.filter((ask) => among.has(ask)).map((ask) => `${nameOf(file.path)}: ${ask}`));

test("a file with a request for administrators alone is reached from their pages, or asks who is there", () => {
  const { all, admins: adminPages } = pagesOfTheDashboard();
  expect([...files.values()].flatMap(({ asks }) => asks).length).toBeGreaterThan(150);
  const open = openFrom(
    all.filter((one) => !adminPages.includes(one)),
    (file) => /useAdmin\(\)|role === "admin"/.test(file.text),
  );
  expect(requestsOf(open, forAdministrators())).toEqual([]);
});

/** Files where a person chooses the project, or has their own work; the server's answer says what the role lacks. */
const CHOSEN = [
  "page/activity/activity-page.tsx",
  "page/chat/chats-page.tsx",
  "page/documents/add-document.tsx",
  "page/home/first-steps.tsx",
  "page/notifications/channel-form.tsx",
  "page/notifications/push-button.tsx",
  // The form for a new project has its own page; the one for a change is on the project's page, which checks.
  "page/projects/project-form.tsx",
  "page/routine/routine-page.tsx",
  "page/routines/routine-dialog.tsx",
  "page/runs/start-page.tsx",
  "page/setup/example-run.tsx",
  "page/swarms/new-swarm.tsx",
];

test.each(LEASTS)("a file with a request for a %s of a project and above asks for that role first", (least) => {
  const { all } = pagesOfTheDashboard();
  const enough = LEASTS.slice(LEASTS.indexOf(least)).join("|");
  const asked = new RegExp(`\\b(?:mayDo|useMayDo|may)\\((?:[^()]|\\([^()]*\\))*"(?:${enough})"`);
  const isAsked = (file: SourceFile) =>
    asked.test(file.text) || (/useMayDo\([\w.?]+\)\("contributor"\)/.test(file.text) && least === "contributor");
  expect(forRole(least).size).toBeGreaterThan(3);
  expect(
    requestsOf(
      openFrom(all, isAsked).filter(({ path }) => !CHOSEN.includes(nameOf(path))),
      forRole(least),
    ),
  ).toEqual([]);
});
