import type { ServerSession } from '@adjutant/server/client';
import { Link } from 'wouter';
import { pathOf } from '../../address/paths.ts';
import { useMadeOnly } from '../../api/begun.ts';
import { age, count, fullTime } from '../../components/format.ts';
import { Status, type StatusName, sessionStatus } from '../../components/status.tsx';
import { firstLine } from '../../components/visible-text.ts';
import { Creature } from '../../creatures/creature.tsx';
import styles from './sessions-page.module.css';

interface SessionRowProps {
  readonly session: ServerSession;
  readonly now: number;
  readonly isCurrent: boolean;
  readonly isPicked: boolean;
  readonly onPick: () => void;
}

/** A session in the list. */
export function SessionRow({ session, now, isCurrent, isPicked, onPick }: SessionRowProps) {
  const { id, title, agent, user, seq, updatedAt } = session;
  const [status, words] = statusOf(session, useMadeOnly(session));
  const tabIndex = isCurrent ? 0 : -1;
  return (
    <div className={styles['row']} data-picked={isPicked || undefined}>
      <label className={styles['pick']} title="Pick it to compare (X)">
        <input
          type="checkbox"
          aria-label={`Pick ${id}`}
          checked={isPicked}
          tabIndex={tabIndex}
          onChange={onPick}
        />
      </label>
      <Link
        className={styles['name'] ?? ''}
        href={pathOf('sessions', id)}
        data-row
        tabIndex={tabIndex}
      >
        <b className="cut">
          <bdi>{firstLine(title ?? id, 120)}</bdi>
        </b>
        <span className="mono cut faint">
          <bdi>{firstLine(id, 80)}</bdi>
        </span>
      </Link>
      <span className={styles['status']}>
        <Status status={status}>{words}</Status>
      </span>
      <span className={styles['agent']}>
        {agent === undefined ? null : (
          <>
            <Creature name={agent} size={20} />
            <span className="cut">{firstLine(agent, 60)}</span>
          </>
        )}
      </span>
      <span className={`${styles['owner']} cut`}>
        <bdi>{user === undefined ? '' : firstLine(user, 60)}</bdi>
      </span>
      <span className={styles['seq']} title={`${count(seq)} events`}>
        #{count(seq)}
      </span>
      <span className={styles['age']} title={fullTime(updatedAt)}>
        {age(now - updatedAt)}
      </span>
    </div>
  );
}

/** A session is active before its first run too, and a fork before it goes on. */
function statusOf(
  { status, agent }: ServerSession,
  isMadeOnly: boolean,
): readonly [StatusName, string] {
  return isMadeOnly || (status === 'active' && agent === undefined)
    ? ['queued', 'Not begun']
    : sessionStatus(status);
}
