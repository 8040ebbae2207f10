import type { ServerTask } from '@adjutant/server/client';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { pathOf } from '../../../address/paths.ts';
import { count, stopwatch } from '../../../components/format.ts';
import { Panel } from '../../../components/panel.tsx';
import { useNow } from '../../../components/use-now.ts';
import { firstLine } from '../../../components/visible-text.ts';
import { Creature } from '../../../creatures/creature.tsx';
import { Level } from './level.tsx';
import { depthOverTime, preempted, sparkline } from './queue.ts';
import styles from './queue-panel.module.css';

/** Queued tasks that are shown; the rest is counted. */
const mostRows = 6;
/** Queue of tasks that name none. */
const usualQueue = 'default';
/** Milliseconds between two looks at the age of what waits. */
const ageMs = 10_000;
/** Milliseconds for which a preempted task is marked. */
const markMs = 10_000;
const box = { width: 64, height: 18 };

interface QueuePanelProps {
  readonly tasks: readonly ServerTask[];
  /** Kind of the store that holds the queue. */
  readonly store: string | undefined;
}

/** The queue: what runs, what waits for its turn, and for how long. */
export function QueuePanel({ tasks, store }: QueuePanelProps) {
  const now = useNow(ageMs);
  const marked = usePreempted(tasks);
  const running = tasks.filter(({ state }) => state === 'running');
  const queued = tasks.filter(({ state }) => state === 'queued');
  return (
    <Panel title="Job queue" acts={<span className={styles['store']}>{store}</span>}>
      {running.length === 0 ? null : (
        <ul className={styles['active']} aria-label="Active tasks">
          {running.slice(0, mostRows).map((task) => (
            <ActiveTask key={task.id} task={task} now={now} />
          ))}
        </ul>
      )}
      <Figures depth={queued.length} active={running.length} tasks={tasks} now={now} />
      {queued.length === 0 ? (
        <p className={styles['none']}>
          {running.length === 0 ? 'The queue is empty.' : 'Nothing waits for its turn.'}
        </p>
      ) : (
        <ul className={styles['queued']} aria-label="Queued tasks">
          {queued.slice(0, mostRows).map((task) => (
            <QueuedTask key={task.id} task={task} now={now} isMarked={marked.has(task.id)} />
          ))}
          {queued.length <= mostRows ? null : (
            <li className={styles['more']}>
              <Link href="/tasks">and {count(queued.length - mostRows)} more</Link>
            </li>
          )}
        </ul>
      )}
    </Panel>
  );
}

interface FiguresProps {
  readonly depth: number;
  readonly active: number;
  readonly tasks: readonly ServerTask[];
  readonly now: number;
}

function Figures({ depth, active, tasks, now }: FiguresProps) {
  const depths = depthOverTime(tasks, Math.max(now, ...tasks.map((task) => task.submittedAt)));
  const words = `Depth between ${Math.min(...depths)} and ${Math.max(...depths)}`;
  return (
    <dl className={styles['figures']}>
      <div>
        <dt>Depth</dt>
        <dd>{count(depth)}</dd>
      </div>
      <div>
        <dt>Active</dt>
        <dd>{count(active)}</dd>
      </div>
      <div>
        <dt>Last 10 min</dt>
        <dd>
          <svg viewBox={`-1 -1 ${box.width + 2} ${box.height + 2}`} role="img" aria-label={words}>
            <title>{words}</title>
            <path
              d={sparkline(depths, box.width, box.height)}
              fill="none"
              stroke="currentColor"
              strokeWidth={1.5}
              strokeLinejoin="round"
              strokeLinecap="round"
            />
          </svg>
        </dd>
      </div>
    </dl>
  );
}

interface TaskProps {
  readonly task: ServerTask;
  readonly now: number;
}

/** An active task: the API names its queue and its session, and not the process at work. */
function ActiveTask({ task, now }: TaskProps) {
  const { agent, name, priority, queue, session, startedAt } = task;
  return (
    <li>
      <Link className={styles['job'] ?? ''} href={pathOf('sessions', session)}>
        <Creature name={agent} size={28} />
        <span className={styles['words']}>
          <b className="cut">
            <bdi>{firstLine(name, 200)}</bdi>
          </b>
          <span className={styles['line']}>
            <Level level={priority} />
            <span>{agent}</span>
            {queue === usualQueue ? null : <span>queue {queue}</span>}
            {startedAt === undefined ? null : <span>{stopwatch(now - startedAt)}</span>}
          </span>
        </span>
      </Link>
    </li>
  );
}

interface QueuedTaskProps extends TaskProps {
  readonly isMarked: boolean;
}

function QueuedTask({ task, now, isMarked }: QueuedTaskProps) {
  return (
    <li data-preempted={isMarked || undefined}>
      <Link className={styles['row'] ?? ''} href={pathOf('tasks', task.id)}>
        <span className="cut">
          <bdi>{firstLine(task.name, 200)}</bdi>
        </span>
        <span className={styles['mark']}>{isMarked ? 'preempted' : ''}</span>
        <Level level={task.priority} />
        <span className={styles['age']}>{stopwatch(now - task.submittedAt)}</span>
      </Link>
    </li>
  );
}

/** Tasks that others have gone before, a moment ago. */
function usePreempted(tasks: readonly ServerTask[]): ReadonlySet<string> {
  const before = useRef(tasks);
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const found = preempted(before.current, tasks);
    before.current = tasks;
    if (found.length > 0) setMarked((marks) => new Set([...marks, ...found]));
  }, [tasks]);
  useEffect(() => {
    if (marked.size === 0) return undefined;
    const timer = setTimeout(() => setMarked(new Set()), markMs);
    return () => clearTimeout(timer);
  }, [marked]);
  return marked;
}
