import { lazy, Suspense, useEffect } from 'react';
import { Redirect, Route, Switch, useLocation, useSearch } from 'wouter';
import { nameOf } from './address/paths.ts';
import { useSignedIn } from './api/me.ts';
import { Reader } from './api/reader.ts';
import { Announcer } from './components/announcer.tsx';
import { NotThere, Reading, ServerAway } from './components/states.tsx';
import { Toasts } from './components/toasts.tsx';
import { visible } from './components/visible-text.ts';
import { SignInPage } from './pages/sign-in/sign-in-page.tsx';
import { DegradedNote } from './shell/connection-note.tsx';
import { PageBoundary } from './shell/page-boundary.tsx';
import { Shell } from './shell/shell.tsx';

/** Loads a page when it is first opened. */
function page(load: () => Promise<React.ComponentType>) {
  return lazy(async () => ({ default: await load() }));
}

const pages = {
  now: page(async () => (await import('./pages/now/now-page.tsx')).NowPage),
  sessions: page(async () => (await import('./pages/sessions/sessions-page.tsx')).SessionsPage),
  session: page(async () => (await import('./pages/session/session-page.tsx')).SessionPage),
  compare: page(async () => (await import('./pages/compare/compare-page.tsx')).ComparePage),
  approvals: page(async () => (await import('./pages/approvals/approvals-page.tsx')).ApprovalsPage),
  tasks: page(async () => (await import('./pages/tasks/tasks-page.tsx')).TasksPage),
  triggers: page(async () => (await import('./pages/triggers/triggers-page.tsx')).TriggersPage),
  agents: page(async () => (await import('./pages/agents/agents-page.tsx')).AgentsPage),
  evals: page(async () => (await import('./pages/evals/evals-page.tsx')).EvalsPage),
  eval: page(async () => (await import('./pages/evals/eval-page.tsx')).EvalPage),
  evalsCompare: page(
    async () => (await import('./pages/evals/evals-compare-page.tsx')).EvalsComparePage,
  ),
  health: page(async () => (await import('./pages/health/health-page.tsx')).HealthPage),
  keys: page(async () => (await import('./pages/keys/keys-page.tsx')).KeysPage),
  audit: page(async () => (await import('./pages/audit/audit-page.tsx')).AuditPage),
};

/** The page: who reads it decides what is shown. */
export function App() {
  const signedIn = useSignedIn();
  if (signedIn.state === 'reading' || signedIn.state === 'away')
    return (
      <>
        <DegradedNote />
        {signedIn.state === 'reading' ? (
          <Reading what="the server" />
        ) : (
          <ServerAway error={signedIn.error} />
        )}
      </>
    );
  if (signedIn.state === 'out') return <SignInPage />;
  return (
    <Reader.Provider value={signedIn.me}>
      <Announcer>
        <Toasts>
          <Shell>
            <Boundary>
              <Suspense fallback={<Reading what="the page" />}>
                <Pages />
              </Suspense>
            </Boundary>
          </Shell>
        </Toasts>
      </Announcer>
    </Reader.Provider>
  );
}

/** Shows in the place of a page why it failed, until the reader goes elsewhere. */
function Boundary({ children }: { readonly children: React.ReactNode }) {
  const [path] = useLocation();
  const search = useSearch();
  return <PageBoundary address={`${path}?${search}`}>{children}</PageBoundary>;
}

function Pages() {
  const [path] = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page begins at its top
  useEffect(() => {
    document.getElementById('main')?.scrollTo({ top: 0 });
  }, [path]);
  return (
    <Switch>
      <Route path="/">
        <Redirect to="/now" replace />
      </Route>
      <Route path="/now" component={pages.now} />
      <Route path="/sessions" component={pages.sessions} />
      <Route path="/sessions/:session" component={pages.session} />
      <Route path="/compare" component={pages.compare} />
      <Route path="/approvals" component={pages.approvals} />
      <Route path="/approvals/:request" component={pages.approvals} />
      <Route path="/tasks" component={pages.tasks} />
      <Route path="/tasks/:task" component={pages.tasks} />
      <Route path="/triggers" component={pages.triggers} />
      <Route path="/triggers/:trigger" component={pages.triggers} />
      <Route path="/agents" component={pages.agents} />
      <Route path="/agents/:agent" component={pages.agents} />
      <Route path="/evals" component={pages.evals} />
      <Route path="/evals/compare" component={pages.evalsCompare} />
      <Route path="/evals/:report" component={pages.eval} />
      <Route path="/health" component={pages.health} />
      <Route path="/keys" component={pages.keys} />
      <Route path="/audit" component={pages.audit} />
      <Route>
        <NotThere what={`There is no page at ${visible(nameOf(path))}.`} />
      </Route>
    </Switch>
  );
}
