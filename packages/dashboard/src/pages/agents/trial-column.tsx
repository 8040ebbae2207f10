import { noText, type ServerRun, type StreamedTexts, streamedText } from '@adjutant/server/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { pathOf } from '../../address/paths.ts';
import { api } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { count, duration, money } from '../../components/format.ts';
import { Status, type StatusName } from '../../components/status.tsx';
import { useAct } from '../../components/use-act.ts';
import { firstLine, visible } from '../../components/visible-text.ts';
import styles from './agents-page.module.css';
import type { Trial } from './trial.ts';

const statuses: Readonly<Record<ServerRun['status'], readonly [StatusName, string]>> = {
  accepted: ['queued', 'Begins'],
  running: ['running', 'Running'],
  waiting: ['waiting', 'Waits'],
  completed: ['completed', 'Completed'],
  error: ['failed', 'Failed'],
  cancelled: ['held', 'Stopped'],
};
const openStatuses: ReadonlySet<string> = new Set(['accepted', 'running', 'waiting']);
/** A run is read again this often beside the stream that tells changes. */
const lookAgainMs = 2_000;

interface TrialColumnProps {
  readonly trial: Trial;
  /** Takes the prompt back into the form, to be edited. */
  readonly onEdit: () => void;
}

/** One run: its answer as it comes in, what it waits for, and what it cost. */
export function TrialColumn({ trial, onEdit }: TrialColumnProps) {
  const { label, message, session, run: id } = trial;
  const texts = useTexts(trial);
  const { act, isBusy } = useAct();
  const [isAsking, setAsking] = useState(false);
  const queryKey = ['sessions', 'trial', session];
  const { data: run } = useQuery({
    queryKey,
    queryFn: ({ signal }) => api.runs.get(session, id, { signal }),
    refetchInterval: ({ state }) =>
      state.data !== undefined && !openStatuses.has(state.data.status) ? false : lookAgainMs,
  });
  const [ring, words] = statuses[run?.status ?? 'accepted'];
  const stop = async (): Promise<void> => {
    await act({ run: () => api.runs.cancel(session, run?.id ?? id), changes: [queryKey] });
    setAsking(false);
  };
  return (
    <article className={styles['trial']} aria-label={`Run ${label}`}>
      <header>
        <b className="number">{label}</b>
        <Status status={ring}>{words}</Status>
        <span className={styles['space']} />
        {openStatuses.has(run?.status ?? 'accepted') ? (
          <Button isBusy={isBusy} onPress={() => setAsking(true)}>
            Cancel
          </Button>
        ) : null}
      </header>
      {isAsking ? (
        <Confirm
          title={`Cancel run ${label}, “${firstLine(message, 60)}”?`}
          act="Cancel the run"
          isBusy={isBusy}
          onClose={() => setAsking(false)}
          onConfirm={() => void stop()}
        >
          <p>What it has done stays in the ledger of its session.</p>
        </Confirm>
      ) : null}
      <p className={`${styles['message']} soft`}>
        <bdi>{firstLine(message, 200)}</bdi>
      </p>
      <Answer texts={texts} run={run} />
      <Requests requests={run?.requests ?? []} />
      <footer>
        <Link href={pathOf('sessions', session)}>Session</Link>
        <Button look="bare" icon="edit" onPress={onEdit}>
          Edit the prompt
        </Button>
        {run === undefined ? null : <Figures run={run} />}
      </footer>
    </article>
  );
}

function Figures({ run }: { readonly run: ServerRun }) {
  const { usage, cost, unpriced, startedAt, endedAt } = run;
  const took =
    startedAt === undefined || endedAt === undefined ? '' : `${duration(endedAt - startedAt)}, `;
  return (
    <span className="faint number">
      {took}
      {count(usage.inputTokens + usage.outputTokens)} tokens
      {unpriced > 0 ? '' : `, ${money(cost)}`}
    </span>
  );
}

interface AnswerProps {
  readonly texts: StreamedTexts;
  readonly run: ServerRun | undefined;
}

function Answer({ texts, run }: AnswerProps) {
  const said = [...texts.values()].filter(({ text }) => text !== '');
  const output = run?.output;
  return (
    <div className={styles['answer']}>
      {said.map(({ invocationId, text }) => (
        <p key={invocationId}>
          <bdi>{visible(text)}</bdi>
        </p>
      ))}
      {output === undefined || typeof output === 'string' ? null : (
        <pre className="mono">{visible(JSON.stringify(output, null, 2))}</pre>
      )}
      {said.length === 0 && typeof output === 'string' ? (
        <p>
          <bdi>{visible(output)}</bdi>
        </p>
      ) : null}
      {run?.error === undefined ? null : (
        <p className={styles['bad']}>
          <bdi>{visible(run.error.message)}</bdi>
        </p>
      )}
    </div>
  );
}

function Requests({ requests }: { readonly requests: ServerRun['requests'] }) {
  return requests
    .filter(({ status }) => status === 'pending')
    .map(({ requestId, summary }) => (
      <Link
        key={requestId}
        className={styles['request'] ?? ''}
        href={pathOf('approvals', requestId)}
      >
        Answer: <bdi>{firstLine(summary, 120)}</bdi>
      </Link>
    ));
}

/** The texts of a run, as they come in. */
function useTexts({ handle }: Trial): StreamedTexts {
  const [texts, setTexts] = useState<StreamedTexts>(noText);
  useEffect(() => {
    const leaving = new AbortController();
    const follow = async (): Promise<void> => {
      let told = noText;
      try {
        for await (const event of handle.follow({ signal: leaving.signal })) {
          told = streamedText(told, event);
          setTexts(told);
        }
      } catch {
        // The status of the run says what became of it; its output is read with it.
      }
    };
    void follow();
    return () => leaving.abort();
  }, [handle]);
  return texts;
}
