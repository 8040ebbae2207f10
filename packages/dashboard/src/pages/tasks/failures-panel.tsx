import type { ServerTask } from '@adjutant/server/client';
import { useState } from 'react';
import { Link } from 'wouter';
import { pathOf } from '../../address/paths.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { fullTime, moment, plural } from '../../components/format.ts';
import { KindGlyph } from '../../components/kind-glyph.tsx';
import { Panel } from '../../components/panel.tsx';
import { Failure, Reading } from '../../components/states.tsx';
import { useNow } from '../../components/use-now.ts';
import { firstLine, visible } from '../../components/visible-text.ts';
import { type TaskFilters, tasksAddress } from './task-queue.ts';
import styles from './tasks-page.module.css';
import { type TaskActs, useFailures } from './use-tasks.ts';

interface FailuresPanelProps {
  readonly filters: TaskFilters;
  readonly acts: TaskActs;
  readonly unless: string | undefined;
}

/** Tasks that have failed in the last day: tried again, or taken out of the list. */
export function FailuresPanel({ filters, acts, unless }: FailuresPanelProps) {
  const { data: failures, error } = useFailures();
  const [discarded, setDiscarded] = useState<ServerTask | undefined>();
  const now = useNow(10_000);
  const number = failures?.length ?? 0;
  return (
    <Panel
      title="Failures"
      note={<span className="number">{number === 0 ? '' : `${number} in 24 h`}</span>}
      acts={
        number < 2 ? undefined : (
          <Button unless={unless} isBusy={acts.isBusy} onPress={() => acts.retry(failures ?? [])}>
            Retry all
          </Button>
        )
      }
    >
      {error !== null && failures === undefined ? (
        <Failure error={error} what="The failures" />
      ) : failures === undefined ? (
        <Reading what="failures" rows={3} />
      ) : number === 0 ? (
        <p className={styles['none']}>No task has failed in 24 hours.</p>
      ) : (
        <ul className={styles['failures']}>
          {failures.map((task) => (
            <FailureRow
              key={task.id}
              {...{ task, now, filters, unless }}
              onRetry={() => acts.retry([task])}
              onDiscard={() => setDiscarded(task)}
            />
          ))}
        </ul>
      )}
      {discarded === undefined ? null : (
        <Confirm
          title={`Take “${firstLine(discarded.name, 80)}” out of the list?`}
          act="Discard"
          isBusy={acts.isBusy}
          onClose={() => setDiscarded(undefined)}
          onConfirm={() => void acts.discard(discarded).then(() => setDiscarded(undefined))}
        >
          <p>It cannot be tried again then. Its session stays.</p>
        </Confirm>
      )}
    </Panel>
  );
}

interface FailureRowProps {
  readonly task: ServerTask;
  readonly now: number;
  readonly filters: TaskFilters;
  readonly unless: string | undefined;
  readonly onRetry: () => void;
  readonly onDiscard: () => void;
}

function FailureRow({ task, now, filters, unless, onRetry, onDiscard }: FailureRowProps) {
  const { id, name, agent, session, state, error, attempts, completedAt } = task;
  const what = state === 'timeout' ? 'deadline' : (error?.code ?? 'failed');
  return (
    <li className={styles['failure']}>
      <KindGlyph kind="error" label={state} />
      <div className={styles['what']}>
        <Link className={styles['link'] ?? ''} href={tasksAddress(filters, id)}>
          <b className="cut">
            <bdi>{firstLine(name, 120)}</bdi>
          </b>
        </Link>
        <p>
          <span className="mono">{visible(what)}</span>{' '}
          <bdi>{firstLine(error?.message ?? 'Its time was over.', 200)}</bdi>
        </p>
        <p className="faint">
          {firstLine(agent, 40)} · {plural(attempts, 'attempt')}
          {completedAt === undefined ? null : (
            <span title={fullTime(completedAt)}> · {moment(completedAt, now)}</span>
          )}
        </p>
        <div className={styles['acts']}>
          <Button icon="retry" unless={unless} onPress={onRetry}>
            Retry
          </Button>
          <Link className={styles['open'] ?? ''} href={pathOf('sessions', session)}>
            Open the session
          </Link>
          <Button look="bare" unless={unless} onPress={onDiscard}>
            Discard
          </Button>
        </div>
      </div>
    </li>
  );
}
