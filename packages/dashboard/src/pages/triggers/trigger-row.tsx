import type { ServerTrigger } from '@adjutant/server/client';
import { Link } from 'wouter';
import { pathOf } from '../../address/paths.ts';
import { Button } from '../../components/button.tsx';
import { age, count, fullTime, moment } from '../../components/format.ts';
import { Icon, type IconName } from '../../components/icon.tsx';
import { Status, type StatusName } from '../../components/status.tsx';
import { firstLine } from '../../components/visible-text.ts';
import { causeWords } from './schedule-words.ts';
import styles from './triggers-page.module.css';
import type { TriggerActs } from './use-triggers.ts';

interface TriggerRowProps {
  readonly trigger: ServerTrigger;
  readonly now: number;
  readonly acts: TriggerActs;
  readonly unless: string | undefined;
  readonly suffix: string;
  readonly isCurrent: boolean;
}

const icons: Readonly<Record<string, IconName>> = {
  event: 'now',
  condition: 'help',
  webhook: 'leave',
};

/** A trigger in the list: what it fires on, when next, and how often it has. */
export function TriggerRow({ trigger, now, acts, unless, suffix, isCurrent }: TriggerRowProps) {
  const { name, on, start, status, fired, failed } = trigger;
  const isActive = status === 'active';
  const canChange = isActive || status === 'paused' || status === 'disabled';
  return (
    <div className={styles['row']} data-off={!isActive || undefined}>
      <Icon name={icons[on.kind] ?? 'clock'} />
      <Link
        className={styles['name'] ?? ''}
        href={`${pathOf('triggers', name)}${suffix}`}
        data-row
        tabIndex={isCurrent ? 0 : -1}
      >
        <b className="cut">
          <bdi>{firstLine(name, 80)}</bdi>
        </b>
        <span className="cut faint">
          <bdi>{firstLine(`${causeWords(on, (at) => moment(at, now))} → ${start}`, 160)}</bdi>
        </span>
      </Link>
      <span className={styles['counts']}>
        {count(fired)} fired
        {failed === 0 ? null : <span className={styles['bad']}>, {count(failed)} failed</span>}
      </span>
      <span className={styles['next']}>
        <Next trigger={trigger} now={now} />
      </span>
      {canChange ? (
        <Button
          look="bare"
          icon={isActive ? 'pause' : 'play'}
          label={`${isActive ? 'Pause' : 'Resume'}: ${firstLine(name, 60)}`}
          unless={unless}
          onPress={() => (isActive ? acts.pause(name) : acts.resume(name))}
        />
      ) : (
        <span />
      )}
    </div>
  );
}

const stopped: Readonly<Record<string, readonly [StatusName, string]>> = {
  paused: ['held', 'Paused'],
  disabled: ['held', 'Disabled'],
  completed: ['completed', 'Completed'],
  deleted: ['held', 'Deleted'],
};

interface NextProps {
  readonly trigger: Pick<ServerTrigger, 'status' | 'nextAt' | 'on' | 'open'>;
  readonly now: number;
}

/** Next firing of a trigger; or the reason why there is none. */
export function Next({ trigger, now }: NextProps) {
  const { status, nextAt, on, open } = trigger;
  const stop = stopped[status];
  if (stop !== undefined) return <Status status={stop[0]}>{stop[1]}</Status>;
  if (open !== undefined) return <Status status="running">Works now</Status>;
  if (nextAt === undefined)
    return <span>{on.kind === 'event' ? 'on event' : 'when it is called'}</span>;
  const left = nextAt - now;
  return (
    <span title={fullTime(nextAt)}>
      {moment(nextAt, now)} <span className="faint">{left > 0 ? `in ${age(left)}` : 'due'}</span>
    </span>
  );
}
