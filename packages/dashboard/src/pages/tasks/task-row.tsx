import type { ServerTask } from '@adjutant/server/client';
import { Link } from 'wouter';
import { Button } from '../../components/button.tsx';
import { age, fullTime, moment } from '../../components/format.ts';
import { Status } from '../../components/status.tsx';
import { firstLine } from '../../components/visible-text.ts';
import { Creature } from '../../creatures/creature.tsx';
import type { Drag } from './drag.ts';
import { type TaskFilters, taskStatus, tasksAddress, whyWords } from './task-queue.ts';
import styles from './tasks-page.module.css';
import { type TaskActs, useWhy } from './use-tasks.ts';

interface TaskRowProps {
  readonly task: ServerTask;
  readonly now: number;
  readonly filters: TaskFilters;
  readonly acts: TaskActs;
  readonly unless: string | undefined;
  readonly drag: Drag;
  readonly isCurrent: boolean;
}

/** A task in the queue: what it is, why it waits, and for how long. */
export function TaskRow({ task, now, filters, acts, unless, drag, isCurrent }: TaskRowProps) {
  const { id, name, agent, state, priority, submittedAt } = task;
  const tabIndex = isCurrent ? 0 : -1;
  const isHeld = state === 'suspended';
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a mouse drags; keys do the same
    <div
      className={styles['task']}
      data-dragged={drag.dragged?.id === id || undefined}
      draggable={unless === undefined}
      onDragStart={(event) => {
        event.dataTransfer.effectAllowed = 'move';
        event.dataTransfer.setData('text/plain', id);
        drag.begin(task);
      }}
      onDragEnd={drag.end}
      onDragEnter={() => drag.enter(priority)}
      onDragOver={(event) => {
        if (drag.dragged !== undefined && drag.dragged.priority !== priority)
          event.preventDefault();
      }}
      onDrop={() => drag.drop(priority)}
    >
      <span className={styles['grip']} aria-hidden="true">
        ⠿
      </span>
      <Creature name={agent} size={20} />
      <Link
        className={styles['name'] ?? ''}
        href={tasksAddress(filters, id)}
        data-row
        draggable={false}
        tabIndex={tabIndex}
      >
        <b className="cut">
          <bdi>{firstLine(name, 120)}</bdi>
        </b>
      </Link>
      <Why task={task} now={now} />
      <span className={styles['age']} title={`submitted ${fullTime(submittedAt)}`}>
        {age(now - submittedAt)}
      </span>
      <span className={styles['act']} data-reachable={isCurrent || undefined}>
        <Button
          look="bare"
          icon={isHeld ? 'play' : 'pause'}
          label={`${isHeld ? 'Resume' : 'Suspend'}: ${firstLine(name, 60)}`}
          unless={unless}
          onPress={() => (isHeld ? acts.resume(task) : acts.suspend(task))}
        />
      </span>
    </div>
  );
}

interface WhyProps {
  readonly task: ServerTask;
  readonly now: number;
}

/** State of a task, and the reason for it. */
export function Why({ task, now }: WhyProps) {
  const { state, roundsCompleted, maxRounds } = task;
  const [status, word] = taskStatus(state);
  const isRunning = state === 'running';
  const { data } = useWhy(task, !isRunning);
  const of = maxRounds === undefined ? '' : ` of ${maxRounds}`;
  const words = isRunning
    ? `round ${roundsCompleted + 1}${of}`
    : data === undefined
      ? ''
      : whyWords(data, (at) => moment(at, now));
  return (
    <span className={styles['why']} title={words}>
      <Status status={status}>{word}</Status>
      <span className="faint cut">
        <bdi>{firstLine(words, 200)}</bdi>
      </span>
    </span>
  );
}
