/** The root of the dashboard: context providers, the session, and the choice of the page by the address. */
import { QueryClientProvider, useQuery } from "@tanstack/react-query";
import { Suspense, useEffect, useRef, useState } from "react";
import { Route, Router, Switch } from "wouter";
import { api, BASE, client, must, onSessionEnd, problemOf } from "../api/client.ts";
import { fetchAgain } from "../api/fetch-again.ts";
import { queries } from "../api/queries.ts";
import { startEffects } from "../live/effects.ts";
import { notePosition, startLive } from "../live/stream.ts";
import { LoginPage } from "../page/login/login-page.tsx";
import { PAGES } from "../routes.ts";
import { Session, useAdmin } from "../session/session.tsx";
import { ButtonLink } from "../ui/button.tsx";
import { openDrafts } from "../ui/draft.ts";
import { Guard } from "../ui/guard.tsx";
import { Empty, Loading, LoadingPage } from "../ui/note.tsx";
import { Notices } from "../ui/notice.tsx";
import { PageHeader } from "../ui/page.tsx";
import { isAt } from "../ui/part-files.ts";
import { ProblemNote } from "../ui/problem-note.tsx";
import { leaveFreely, leaveTo } from "../ui/unsaved.ts";
import { BrokenPage } from "./broken-page.tsx";
import { Frame } from "./frame.tsx";
import { LeaveQuestion } from "./leave-question.tsx";
import { followLogOut } from "./log-out.ts";

const SITE = BASE.replace(/\/$/, "");
/**
 * An address such as `?tab=x` means another view of the open page. The router prepends the site's path, which would
 * mean the home page, so it is removed.
 */
const onThisPage = (address: string) => (address.startsWith(`${SITE}?`) ? address.slice(SITE.length) : address);

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <Router
        base={SITE}
        hrefs={onThisPage}
        aroundNav={(go, to, options) => leaveTo(to, () => go(onThisPage(to), options))}
      >
        <Gate />
        <Notices />
        <LeaveQuestion />
      </Router>
    </QueryClientProvider>
  );
}

const ME = "/v1/auth/me";
const who = api.queryOptions("get", ME);
const whoAsks = {
  ...who,
  async queryFn(context: Parameters<typeof who.queryFn>[0]) {
    const user = await who.queryFn(context);
    await notePosition();
    return user;
  },
};

/** How long the first rendering waits for the session and the page's script. After that, a placeholder is shown. */
const FIRST_MS = 500;

/** Asks who is logged in and loads the page of the address, so that frame and page appear together. */
export async function prepareFirst(): Promise<void> {
  const page = PAGES.find(({ path }) => isAt(path, location.pathname.slice(SITE.length)));
  const late = new Promise((resolve) => setTimeout(resolve, FIRST_MS));
  await Promise.race([Promise.all([queries.prefetchQuery(whoAsks), page?.view.load()]), late]);
}

/**
 * Shows the pages to people who are logged in, and the log-in to everybody else. The address stays, so that a log-in
 * leads back to it.
 */
function Gate() {
  const me = useQuery({ ...whoAsks, staleTime: 60_000, retryOnMount: false });
  const [ended, setEnded] = useState(false);
  useEffect(() => onSessionEnd(() => setEnded(true)), []);
  const user = me.data;
  // Keep this state: a refetch, for example when the window gets the focus, clears the query's error. The log-in form
  // would unmount and lose what was typed.
  const [isOut, setOut] = useState(false);
  const out = !user && (isOut || (me.error !== null && problemOf(me.error).status === 401));
  if (out !== isOut) setOut(out);
  const inside = user !== undefined && !ended;
  useEffect(() => {
    if (!inside) return;
    const stops = [startLive(), startEffects(), followLogOut()];
    return () => {
      for (const stop of stops) stop();
    };
  }, [inside]);
  if (out)
    return (
      <LoginPage
        onDone={async () => {
          queries.clear();
          setEnded(false);
          const asked = me.refetch();
          setOut(false);
          await asked;
        }}
      />
    );
  if (!user)
    return (
      <div className="mx-auto max-w-xl p-8">
        {me.error ? <ProblemNote error={me.error} retry={me.refetch} /> : <Loading part />}
      </div>
    );
  openDrafts(user.id);
  return (
    <>
      <Session value={user}>
        <Frame key={user.id}>
          <Guard fallback={(error, retry) => <BrokenPage error={error} retry={retry} />}>
            <Suspense fallback={<LoadingPage />}>
              <Pages />
            </Suspense>
          </Guard>
        </Frame>
      </Session>
      {ended && (
        <LogInAgain
          onDone={async () => {
            const now = await must(client.GET(ME));
            // What is shown and cached belongs to the previous user.
            if (now.id !== user.id) {
              leaveFreely();
              return location.reload();
            }
            setEnded(false);
            await fetchAgain(queries);
          }}
        />
      )}
    </>
  );
}

/** The log-in as a dialog over the open page, so that what was typed there is kept. */
function LogInAgain({ onDone }: { onDone(): Promise<void> }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      aria-label="Log in again"
      onCancel={(event) => event.preventDefault()}
      onKeyDown={(event) => event.stopPropagation()}
      className="m-0 size-full max-h-none max-w-none overflow-y-auto bg-bg p-0"
    >
      <LoginPage again onDone={onDone} />
    </dialog>
  );
}

function Pages() {
  const admin = useAdmin();
  return (
    <Switch>
      {PAGES.filter((page) => admin || !page.admin).map(({ path, view: View }) => (
        <Route key={path} path={path}>
          <View />
        </Route>
      ))}
      <Route>
        <PageHeader title="Not found" />
        <Empty action={<ButtonLink href="/">Go to the home page</ButtonLink>}>
          There is no such page, or it is not for you. The navigation shows what there is.
        </Empty>
      </Route>
    </Switch>
  );
}
