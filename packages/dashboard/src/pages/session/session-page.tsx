import type { Moment } from '@adjutant/server/client';
import { memo, useCallback, useDeferredValue, useEffect, useMemo, useState } from 'react';
import { Link } from 'wouter';
import { useNamed } from '../../address/location.ts';
import { refusalOf } from '../../api/client.ts';
import { unlessAllowed } from '../../api/me.ts';
import { useReader } from '../../api/reader.ts';
import { Button } from '../../components/button.tsx';
import { count as counted } from '../../components/format.ts';
import { Failure, PlaceHolder, Reading } from '../../components/states.tsx';
import { visible } from '../../components/visible-text.ts';
import type { FollowedLedger } from '../../ledger/followed-ledger.ts';
import { type Command, useCommands } from '../../shell/commands.tsx';
import { ExportDialog } from './export/export-dialog.tsx';
import { ForkDialog } from './fork/fork-dialog.tsx';
import { SessionHeader } from './header/session-header.tsx';
import { EventList } from './panels/event-list.tsx';
import { StatePanel } from './panels/state-panel.tsx';
import { Transcript } from './panels/transcript.tsx';
import { type Position, usePosition } from './position.ts';
import { PromptDrawer } from './prompt/prompt-drawer.tsx';
import { ReplayDrawer } from './replay/replay-drawer.tsx';
import styles from './session-page.module.css';
import { Dock } from './strip/dock.tsx';
import { Timeline } from './timeline/timeline.tsx';
import { useLedger } from './use-ledger.ts';
import { useMoment } from './use-moment.ts';
import { usePlay } from './use-play.ts';
import { useSessionKeys } from './use-session-keys.ts';

const tabs = [
  ['transcript', 'Transcript'],
  ['centre', 'Timeline'],
  ['state', 'State'],
] as const;
type Tab = (typeof tabs)[number][0];

/** A session at one of its events: every panel shows that event, and nothing newer. */
export function SessionPage() {
  const session = useNamed('session') ?? '';
  return <OpenSession key={session} session={session} />;
}

function OpenSession({ session }: { readonly session: string }) {
  const ledger = useLedger(session);
  if (ledger.phase === 'failed' && ledger.columns.count === 0)
    return <Failure error={ledger.error} what="The session" />;
  if (ledger.phase === 'reading' && ledger.columns.count === 0)
    return (
      <Reading
        what="the session"
        {...(ledger.last === 0
          ? {}
          : { progress: `${counted(ledger.columns.count)} of ${counted(ledger.last)} events` })}
      />
    );
  return <SessionView ledger={ledger} />;
}

function SessionView({ ledger }: { readonly ledger: FollowedLedger }) {
  const { columns, session } = ledger;
  const { count } = columns;
  const position = usePosition(count);
  const { seq, wanted } = position;
  // While the reader drags, the strip is drawn at once and the panes skip what they cannot follow.
  const shown = useDeferredValue(position);
  const { moment, isOld, error } = useMoment(session, seq);
  const [panel, setPanel] = usePanel();
  const play = usePlay(columns, position);
  const modelCall = useMemo(
    () => columns.find(seq + 1, -1, (one) => columns.typeAt(one) === 'model_start'),
    [columns, seq],
  );
  const me = useReader();
  const unlessFork = unlessAllowed(me, 'operate');
  const openFork = useCallback(() => setPanel('fork'), [setPanel]);
  const replay = useCallback(() => setPanel('replay'), [setPanel]);
  const openExport = useCallback(() => setPanel('export'), [setPanel]);
  const togglePrompt = useCallback(
    () => setPanel(panel === 'prompt' ? undefined : 'prompt'),
    [panel, setPanel],
  );
  useSessionKeys({ columns, position, play: play.toggle, fork: openFork, prompt: togglePrompt });
  useSessionCommands({ seq, openFork, togglePrompt, replay, openExport, goLive: position.goLive });
  if (wanted !== undefined && !(wanted <= count) && ledger.phase === 'there')
    return <NoSuchEvent wanted={wanted} count={count} onNewest={position.goLive} />;
  const overlays = { ledger, position, moment, modelCall, setPanel, openFork };
  return (
    <div className={styles['session']}>
      <SessionHeader {...{ ledger, position, moment }} onReplay={replay} onExport={openExport} />
      {ledger.phase === 'failed' ? <Lost error={ledger.error} /> : null}
      <Panes
        {...{ ledger, moment, isOld, error, modelCall }}
        position={shown}
        version={ledger.version()}
        onPrompt={togglePrompt}
      />
      <Dock
        {...{ columns, count, position, unlessFork }}
        isFollowed={ledger.phase !== 'failed'}
        isPlaying={play.isPlaying}
        onPlay={play.toggle}
        onFork={openFork}
      />
      <Overlay
        panel={unlessFork !== undefined && panel === 'fork' ? undefined : panel}
        {...overlays}
      />
    </div>
  );
}

/** Says above what was read that nothing of it is read again, and why. */
function Lost({ error }: { readonly error: unknown }) {
  const isGone = refusalOf(error)?.status === 404;
  return (
    <p className={styles['lost']} role="alert">
      This session is not followed any more.{' '}
      {isGone
        ? 'It was deleted, or the server that answers now has another store.'
        : visible((error as Error).message)}{' '}
      What you see was read before. <Link href="/sessions">All sessions</Link>
    </p>
  );
}

interface PanesProps {
  readonly ledger: FollowedLedger;
  /** Draws the panes again when the ledger, which is the same object, has more. */
  readonly version: number;
  readonly position: Position;
  readonly moment: Moment | undefined;
  readonly isOld: boolean;
  readonly error: unknown;
  readonly modelCall: number | undefined;
  readonly onPrompt: () => void;
}

/** Transcript, timeline with the ledger, and state: beside each other, or as tabs. */
const Panes = memo(function Panes(props: PanesProps) {
  const { ledger, position, moment, isOld, error, modelCall, onPrompt } = props;
  const [tab, setTab] = useState<Tab>('transcript');
  return (
    <>
      <div className={styles['tabs']} role="group" aria-label="Panels">
        {tabs.map(([name, words]) => (
          <button key={name} type="button" aria-pressed={tab === name} onClick={() => setTab(name)}>
            {words}
          </button>
        ))}
      </div>
      <div className={styles['columns']} data-tab={tab}>
        <div className={styles['transcript']}>
          <Transcript ledger={ledger} position={position} />
        </div>
        <div className={styles['centre']}>
          <Timeline ledger={ledger} position={position} />
          <EventList ledger={ledger} position={position} />
        </div>
        <div className={styles['state']}>
          <StatePanel
            {...{ ledger, position, moment, isOld, error, modelCall }}
            onPrompt={onPrompt}
          />
        </div>
      </div>
    </>
  );
});

interface OverlayProps {
  readonly panel: string | undefined;
  readonly ledger: FollowedLedger;
  readonly position: Position;
  readonly moment: Moment | undefined;
  readonly modelCall: number | undefined;
  readonly setPanel: (panel: undefined) => void;
  readonly openFork: () => void;
}

/** Panel over the page: a prompt, a replay, or the dialog of a fork. */
function Overlay(props: OverlayProps) {
  const { panel, ledger, position, moment, modelCall, setPanel, openFork } = props;
  const { session, columns } = ledger;
  const close = (): void => setPanel(undefined);
  if (panel === 'replay')
    return <ReplayDrawer session={session} position={position} onClose={close} />;
  if (panel === 'export') return <ExportDialog session={session} onClose={close} />;
  if (panel === 'prompt' && modelCall !== undefined)
    return (
      <PromptDrawer
        {...{ session, columns, position }}
        seq={modelCall}
        onClose={close}
        onFork={openFork}
      />
    );
  // The state that is edited is that of the event, not of the one before.
  if (panel === 'fork' && moment?.at === position.seq)
    return (
      <ForkDialog
        {...{ session, moment }}
        seq={position.seq}
        hasActed={modelCall !== undefined}
        onClose={close}
      />
    );
  return null;
}

interface NoSuchEventProps {
  readonly wanted: number;
  readonly count: number;
  readonly onNewest: () => void;
}

function NoSuchEvent({ wanted, count, onNewest }: NoSuchEventProps) {
  const title = Number.isNaN(wanted)
    ? 'The address names no event: `at` is the number of one.'
    : `There is no event #${counted(wanted)} in this session.`;
  return (
    <PlaceHolder title={title} role="alert">
      <p>The newest one is #{counted(count)}.</p>
      <Button onPress={onNewest}>Go to the newest</Button>
    </PlaceHolder>
  );
}

/** Reads the panel over the page from the address, and keeps it there: `&panel=prompt`. */
function usePanel() {
  const [panel, set] = useState(
    () => new URLSearchParams(location.search).get('panel') ?? undefined,
  );
  useEffect(() => {
    const onPop = (): void => set(new URLSearchParams(location.search).get('panel') ?? undefined);
    addEventListener('popstate', onPop);
    return () => removeEventListener('popstate', onPop);
  }, []);
  const setPanel = useCallback((next: 'prompt' | 'fork' | 'replay' | 'export' | undefined) => {
    set(next);
    const address = new URL(location.href);
    if (next === undefined) address.searchParams.delete('panel');
    else address.searchParams.set('panel', next);
    history.replaceState(history.state, '', address);
  }, []);
  return [panel, setPanel] as const;
}

interface SessionActs {
  readonly seq: number;
  readonly openFork: () => void;
  readonly togglePrompt: () => void;
  readonly replay: () => void;
  readonly openExport: () => void;
  readonly goLive: () => void;
}

function useSessionCommands(acts: SessionActs): void {
  const { seq, openFork, togglePrompt, replay, openExport, goLive } = acts;
  const commands = useMemo(
    (): readonly Command[] => [
      { name: 'Fork from here', detail: `#${seq}`, icon: 'fork', keys: ['F'], run: openFork },
      {
        name: 'Show the prompt',
        detail: `the model call at or before #${seq}`,
        icon: 'prompt',
        keys: ['P'],
        run: togglePrompt,
      },
      {
        name: 'Replay against today’s code',
        detail: 'to the first divergence',
        icon: 'retry',
        run: replay,
      },
      {
        name: 'Export the session',
        detail: 'a file without secrets',
        icon: 'export',
        run: openExport,
      },
      { name: 'Follow live', icon: 'now', keys: ['L'], run: goLive },
    ],
    [seq, openFork, togglePrompt, replay, openExport, goLive],
  );
  useCommands(commands);
}
