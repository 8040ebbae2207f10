import type { ServerKey } from '@adjutant/server/client';
import { Link } from 'wouter';
import { Button } from '../../components/button.tsx';
import { fullTime, moment } from '../../components/format.ts';
import { Status } from '../../components/status.tsx';
import { firstLine } from '../../components/visible-text.ts';
import { boundTo, isAccepted, keyStatus } from './key-words.ts';
import styles from './keys-page.module.css';

interface KeyRowProps {
  readonly item: ServerKey;
  readonly now: number;
  readonly isOwn: boolean;
  /** Why keys cannot be changed. */
  readonly unless: string | undefined;
  readonly onRotate: () => void;
  readonly onRevoke: () => void;
}

/** A key in the list. */
export function KeyRow({ item, now, isOwn, unless, onRotate, onRevoke }: KeyRowProps) {
  const { id, name, roles, createdAt, createdBy, expiresAt, previousUntil } = item;
  const [status, words] = keyStatus(item, now);
  const over = isAccepted(item, now) ? undefined : 'The key is over.';
  const isGrace = over === undefined && previousUntil !== undefined && previousUntil > now;
  return (
    <li className={styles['row']} data-over={over === undefined ? undefined : true}>
      <div className={styles['name']}>
        <b className="cut">
          <bdi>{firstLine(name, 120)}</bdi>
          {isOwn ? <span className={styles['tag']}>yours</span> : null}
        </b>
        <Link
          className={`mono cut ${styles['id']}`}
          href={`/audit?principal=${encodeURIComponent(`key:${id}`)}`}
          title="What it did, in the audit log"
        >
          {id}
        </Link>
      </div>
      <span className={styles['roles']}>{roles.join(', ')}</span>
      <span className={`${styles['bound']} soft`}>
        <bdi>{firstLine(boundTo(item), 200)}</bdi>
      </span>
      <span className={`${styles['made']} faint`} title={fullTime(createdAt)}>
        {moment(createdAt, now)} by <bdi>{firstLine(createdBy, 80)}</bdi>
      </span>
      <span className={styles['state']} title={`Accepted until ${fullTime(expiresAt)}`}>
        <Status status={status}>{words}</Status>
        {isGrace ? (
          <span className="faint" title={fullTime(previousUntil)}>
            old secret until {moment(previousUntil, now)}
          </span>
        ) : null}
      </span>
      <span className={styles['acts']}>
        <Button unless={unless ?? over} label={`Rotate ${name}`} onPress={onRotate}>
          Rotate
        </Button>
        <Button
          look="bad"
          unless={unless ?? (item.revokedAt === undefined ? undefined : 'It is revoked.')}
          label={`Revoke ${name}`}
          onPress={onRevoke}
        >
          Revoke
        </Button>
      </span>
    </li>
  );
}
