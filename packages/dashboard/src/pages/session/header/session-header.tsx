import type { Moment } from '@adjutant/server/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useMadeOnly } from '../../../api/begun.ts';
import { api } from '../../../api/client.ts';
import { unlessAllowed } from '../../../api/me.ts';
import { useReader } from '../../../api/reader.ts';
import { Button } from '../../../components/button.tsx';
import { Confirm } from '../../../components/confirm.tsx';
import { clock, count, duration, fullTime, money } from '../../../components/format.ts';
import { Status, type StatusName, sessionStatus } from '../../../components/status.tsx';
import { useAct } from '../../../components/use-act.ts';
import { firstLine } from '../../../components/visible-text.ts';
import type { FollowedLedger } from '../../../ledger/followed-ledger.ts';
import type { Position } from '../position.ts';
import styles from './session-header.module.css';

interface SessionHeaderProps {
  readonly ledger: FollowedLedger;
  readonly position: Position;
  readonly moment: Moment | undefined;
  readonly onReplay: () => void;
  readonly onExport: () => void;
}

/** Name of the session, its status and figures at the chosen event, and what can be done with it. */
export function SessionHeader(props: SessionHeaderProps) {
  const { ledger, position, moment, onReplay, onExport } = props;
  const { session, columns } = ledger;
  const { data: details } = useQuery({
    queryKey: ['sessions', 'one', session],
    queryFn: ({ signal }) => api.sessions.get(session, { signal }),
  });
  const title = firstLine(details?.title ?? session, 120);
  useTitle(title);
  const isMadeOnly = useMadeOnly(details);
  const isPaused = isPausedAt(ledger);
  const [status, words] =
    isMadeOnly && position.isLive
      ? (['queued', 'Not begun'] as const)
      : isPaused && position.isLive
        ? (['held', 'Paused'] as const)
        : statusAt(details?.status ?? 'active', position, moment);
  const first = columns.eventAt(1);
  return (
    <header className={styles['header']}>
      <div className={styles['who']}>
        <div className={styles['title']}>
          <Link className={styles['crumb'] ?? ''} href="/sessions">
            Sessions
          </Link>
          <span aria-hidden="true">/</span>
          <h1 className="cut">
            <bdi>{title}</bdi>
          </h1>
          <Status status={status} isPill>
            {words}
          </Status>
        </div>
        <div className={styles['details']}>
          <bdi className="mono cut">{firstLine(session, 120)}</bdi>
          {details?.agent === undefined ? null : <bdi>· {firstLine(details.agent, 60)}</bdi>}
          {first === undefined ? null : (
            <span title={fullTime(first.at)}>· begun {clock(first.at)}</span>
          )}
        </div>
      </div>
      <Figures ledger={ledger} position={position} moment={moment} />
      <SessionActs
        session={session}
        seq={position.seq}
        isOpen={details?.status !== 'completed'}
        isPaused={isPaused}
        onReplay={onReplay}
        onExport={onExport}
      />
    </header>
  );
}

/** True when the newest event is the yield of a run that was paused. */
function isPausedAt(ledger: FollowedLedger): boolean {
  const newest = ledger.event(ledger.columns.count);
  return newest?.type === 'invocation_yield' && newest['reason'] === 'pause';
}

type FiguresProps = Pick<SessionHeaderProps, 'ledger' | 'position' | 'moment'>;

function Figures({ ledger: { columns }, position, moment }: FiguresProps) {
  const first = columns.eventAt(1);
  const here = columns.eventAt(position.seq);
  return (
    <dl className={styles['figures']} aria-label="Figures at the chosen event">
      <Figure name="Cost" value={moment === undefined ? '–' : money(moment.usage.cost)} />
      <Figure
        name="Tokens in, out"
        value={
          moment === undefined
            ? '–'
            : `${count(moment.usage.usage.inputTokens)} · ${count(moment.usage.usage.outputTokens)}`
        }
      />
      <Figure
        name="Since the begin"
        value={first === undefined || here === undefined ? '–' : duration(here.at - first.at)}
      />
    </dl>
  );
}

function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Adjutant`;
    return () => {
      document.title = 'Adjutant';
    };
  }, [title]);
}

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="number">{value}</dd>
    </div>
  );
}

/** Of an earlier event: what held then, as far as the ledger says. */
function statusAt(
  status: string,
  { isLive }: Position,
  moment: Moment | undefined,
): readonly [StatusName, string] {
  if (isLive || moment === undefined) return sessionStatus(status);
  const [name, words] = sessionStatus(String(moment.state.status));
  return [name, words === 'Running' ? 'Was running' : words.replace('Waits', 'Was waiting')];
}

interface PauseButtonProps {
  readonly session: string;
  readonly isPaused: boolean;
  readonly unless: string | undefined;
}

/** Pauses the session, or lets it go on: each takes the other back. */
function PauseButton({ session, isPaused, unless }: PauseButtonProps) {
  const { act, isBusy } = useAct();
  const pause = () => api.sessions.pause(session);
  const goOn = () => api.sessions.continue(session);
  const changes = [['sessions']];
  if (isPaused)
    return (
      <Button
        icon="play"
        {...{ unless, isBusy }}
        onPress={() => void act({ run: goOn, done: 'It goes on.', undo: pause, changes })}
      >
        Continue
      </Button>
    );
  return (
    <Button
      icon="pause"
      label="Pause"
      {...{ unless, isBusy }}
      onPress={() =>
        void act({ run: pause, done: 'Paused at the next step.', undo: goOn, changes })
      }
    />
  );
}

interface SessionActsProps {
  readonly session: string;
  readonly seq: number;
  readonly isOpen: boolean;
  readonly isPaused: boolean;
  readonly onReplay: () => void;
  readonly onExport: () => void;
}

type Question = 'cancel' | 'delete';

function SessionActs(props: SessionActsProps) {
  const { session, seq, isOpen, isPaused, onReplay, onExport } = props;
  const [, go] = useLocation();
  const me = useReader();
  const [question, setQuestion] = useState<Question | undefined>();
  const unless = unlessAllowed(me, 'operate');
  return (
    <div className={styles['acts']}>
      <Button
        icon="compare"
        label="Compare with another session"
        onPress={() => go(`/compare?a=${encodeURIComponent(session)}&at=${seq}`)}
      >
        Compare
      </Button>
      <Button icon="retry" label="Replay against today’s code" onPress={onReplay} />
      <Button icon="export" label="Export the session" onPress={onExport} />
      {isOpen ? (
        <>
          <PauseButton session={session} isPaused={isPaused} unless={unless} />
          <Button
            icon="close"
            label="Cancel the run"
            unless={unless}
            onPress={() => setQuestion('cancel')}
          />
        </>
      ) : null}
      <Button
        look="bare"
        icon="more"
        label="Delete the session"
        unless={unless}
        onPress={() => setQuestion('delete')}
      />
      {question === undefined ? null : (
        <Ask session={session} question={question} onClose={() => setQuestion(undefined)} />
      )}
    </div>
  );
}

interface AskProps {
  readonly session: string;
  readonly question: Question;
  readonly onClose: () => void;
}

/** Words for the acts that take something away. */
const asked = {
  cancel: {
    title: 'Cancel the run of',
    act: 'Cancel the run',
    help: 'What has happened stays in the ledger. The run can be opened again.',
  },
  delete: {
    title: 'Delete the session',
    act: 'Delete',
    help: 'Its ledger, requests and large values go for good. Forks keep what they share.',
  },
  erase: {
    title: 'Erase with all forks: the session',
    act: 'Erase with forks',
    help: 'Its ledger goes for good, with all forks of it and everything that they share.',
  },
} as const;

function Ask({ session, question, onClose }: AskProps) {
  const [, go] = useLocation();
  const { act, isBusy } = useAct();
  const [erase, setErase] = useState(false);
  const words = asked[question === 'delete' && erase ? 'erase' : question];
  const confirm = async (): Promise<void> => {
    const isDone = await act({
      run: () =>
        question === 'cancel'
          ? api.sessions.cancel(session)
          : api.sessions.delete(session, { erase }),
      done: question === 'cancel' ? 'The run is being cancelled.' : `${session} is deleted.`,
      changes: [['sessions']],
    });
    onClose();
    if (isDone && question === 'delete') go('/sessions');
  };
  return (
    <Confirm
      title={`${words.title} ${firstLine(session, 80)}?`}
      act={words.act}
      isBusy={isBusy}
      onClose={onClose}
      onConfirm={() => void confirm()}
    >
      <p>{words.help}</p>
      {question === 'delete' ? (
        <label>
          <input
            type="checkbox"
            checked={erase}
            onChange={(event) => setErase(event.target.checked)}
          />{' '}
          Erase its forks too
        </label>
      ) : null}
    </Confirm>
  );
}
