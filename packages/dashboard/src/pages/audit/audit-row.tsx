import type { AuditEntry } from '@adjutant/server/client';
import { count, fullTime, moment } from '../../components/format.ts';
import { Status } from '../../components/status.tsx';
import { firstLine } from '../../components/visible-text.ts';
import styles from './audit-page.module.css';
import { outcomeStatus, targetOf } from './audit-words.ts';

interface AuditRowProps {
  readonly entry: AuditEntry;
  readonly now: number;
  readonly isCurrent: boolean;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

/** An entry in the list. */
export function AuditRow({ entry, now, isCurrent, isOpen, onOpen }: AuditRowProps) {
  const { at, principal, action, outcome, code, status } = entry;
  const [ring, words] = outcomeStatus(outcome);
  return (
    <button
      type="button"
      className={styles['row']}
      data-row
      data-open={isOpen || undefined}
      aria-expanded={isOpen}
      tabIndex={isCurrent ? 0 : -1}
      onClick={onOpen}
    >
      <span className={styles['at']} title={fullTime(at)}>
        {moment(at, now)}
      </span>
      <span className={styles['outcome']}>
        <Status status={ring}>{words}</Status>
        {entry.count === 1 ? null : <span className="faint">×{count(entry.count)}</span>}
      </span>
      <b className={`${styles['action']} cut`}>{firstLine(action, 80)}</b>
      <span className={`${styles['target']} cut`}>
        <bdi>{firstLine(targetOf(entry), 120)}</bdi>
      </span>
      <span className={`${styles['who']} mono cut`}>
        <bdi>{firstLine(principal, 80)}</bdi>
      </span>
      <span className={`${styles['code']} mono cut`}>
        {status} {code === undefined ? '' : firstLine(code, 60)}
      </span>
    </button>
  );
}
