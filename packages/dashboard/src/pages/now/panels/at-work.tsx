import type { ServerSession } from '@adjutant/server/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { pathOf } from '../../../address/paths.ts';
import { api } from '../../../api/client.ts';
import { Button } from '../../../components/button.tsx';
import { age, money, stopwatch } from '../../../components/format.ts';
import { Panel } from '../../../components/panel.tsx';
import { Status, sessionStatus } from '../../../components/status.tsx';
import { firstLine } from '../../../components/visible-text.ts';
import { Creature } from '../../../creatures/creature.tsx';
import type { Reading } from '../live/reading.ts';
import { failureMs } from '../live/signs.ts';
import { type Activity, activityOf } from '../live/tail.ts';
import styles from './at-work.module.css';

const mostRows = 8;

interface AtWorkProps {
  readonly reading: Reading;
  readonly now: number;
  readonly onDemo: () => void;
}

/** Sessions that run or wait, and those that failed a moment ago. */
export function AtWork({ reading, now, onDemo }: AtWorkProps) {
  const { running, waiting, failed, latest, tails } = reading;
  const sessions = [
    ...running,
    ...failed.filter(({ updatedAt }) => now - updatedAt < failureMs),
    ...waiting,
  ];
  const activities = new Map(tails.map((tail) => [tail.session, activityOf(tail)]));
  return (
    <Panel
      title="At work"
      note="sessions that run or wait"
      acts={
        <Link className={styles['all'] ?? ''} href="/sessions">
          All sessions
        </Link>
      }
    >
      {sessions.length === 0 ? (
        <NothingRuns latest={latest} now={now} onDemo={onDemo} />
      ) : (
        <ul className={styles['rows']}>
          {sessions.slice(0, mostRows).map((session) => (
            <Row
              key={session.id}
              session={session}
              activity={activities.get(session.id)}
              now={now}
            />
          ))}
        </ul>
      )}
      {sessions.length <= mostRows ? null : (
        <p className={styles['more']}>and {sessions.length - mostRows} more</p>
      )}
    </Panel>
  );
}

interface RowProps {
  readonly session: ServerSession;
  readonly activity: Activity | undefined;
  readonly now: number;
}

function Row({ session, activity, now }: RowProps) {
  const { id, agent, title = id, status, updatedAt } = session;
  const [ring, words] = sessionStatus(status);
  const cost = useCost(session);
  const began = activity?.startedAt;
  const doing = (status === 'error' ? activity?.failure : undefined) ?? activity?.words ?? '';
  return (
    <li>
      <Link className={styles['row'] ?? ''} href={pathOf('sessions', id)}>
        <Creature name={agent ?? id} size={22} />
        <b className="cut">
          <bdi>{firstLine(title, 200)}</bdi>
        </b>
        <span className={styles['doing']}>
          <bdi>{firstLine(doing, 200)}</bdi>
        </span>
        <span className={styles['status']}>
          <Status status={ring}>{words}</Status>
        </span>
        <span className={styles['cost']}>{typeof cost === 'number' ? money(cost) : ''}</span>
        <span
          className={styles['time']}
          title={began === undefined ? 'since its last event' : 'since its run began'}
        >
          {began === undefined ? age(now - updatedAt) : stopwatch(now - began)}
        </span>
      </Link>
    </li>
  );
}

/** Costs of a session, `null` when there are none: read again when it has gone on. */
function useCost({ id, seq }: ServerSession): number | null | undefined {
  const { data } = useQuery({
    queryKey: ['cost', id, seq],
    queryFn: async ({ signal }) => {
      const { cost } = (await api.sessions.moment(id, { signal })).usage;
      return cost === 0 ? null : cost;
    },
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before) => before,
    retry: false,
  });
  return data;
}

interface NothingRunsProps {
  readonly latest: ServerSession | undefined;
  readonly now: number;
  readonly onDemo: () => void;
}

function NothingRuns({ latest, now, onDemo }: NothingRunsProps) {
  return (
    <div className={styles['nothing']}>
      <p>
        {latest === undefined ? (
          <>
            No sessions yet. Run one: <code>adjutant run "…"</code>, or try an agent.
          </>
        ) : (
          `Nothing runs. The last session ended ${age(now - latest.updatedAt)} ago.`
        )}
      </p>
      <div className={styles['acts']}>
        {latest === undefined ? (
          <Link className={styles['all'] ?? ''} href="/agents">
            Agents
          </Link>
        ) : (
          <Link className={styles['all'] ?? ''} href={pathOf('sessions', latest.id)}>
            Open it
          </Link>
        )}
        <Button icon="play" onPress={onDemo}>
          Demo run
        </Button>
      </div>
    </div>
  );
}
