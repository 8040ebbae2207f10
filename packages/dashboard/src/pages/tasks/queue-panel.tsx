import type { ServerTask } from '@adjutant/server/client';
import { useCallback, useMemo, useState } from 'react';
import { Panel } from '../../components/panel.tsx';
import { Failure, PlaceHolder, Reading } from '../../components/states.tsx';
import { useNarrow } from '../../components/use-narrow.ts';
import { useNow } from '../../components/use-now.ts';
import { VirtualRows } from '../../components/virtual-rows.tsx';
import type { Drag } from './drag.ts';
import { LevelRow } from './level-row.tsx';
import { levelBeside, type QueueRow, queueRows, type TaskFilters } from './task-queue.ts';
import { TaskRow } from './task-row.tsx';
import styles from './tasks-page.module.css';
import { type TaskActs, useOpenTasks } from './use-tasks.ts';

interface QueuePanelProps {
  readonly filters: TaskFilters;
  readonly acts: TaskActs;
  readonly unless: string | undefined;
}

const levelHeight = 34;
const rowHeight = 40;
const narrowHeight = 64;

/** Tasks that have not ended, by level. They are put elsewhere by dragging, or by keys. */
export function QueuePanel({ filters, acts, unless }: QueuePanelProps) {
  const { data: tasks, error, refetch } = useOpenTasks();
  const rows = useMemo(() => queueRows(tasks ?? [], filters), [tasks, filters]);
  const drag = useDrag(acts);
  return (
    <Panel title="Queue" acts={<FrontPlace drag={drag} isShown={unless === undefined} />}>
      {error !== null && tasks === undefined ? (
        <Failure error={error} what="The tasks" onRetry={() => void refetch()} />
      ) : tasks === undefined ? (
        <Reading what="tasks" />
      ) : tasks.length === 0 ? (
        <PlaceHolder title="The queue is empty.">
          <p>
            Submit a task here, or by <code className="mono">app.submit</code>.
          </p>
        </PlaceHolder>
      ) : rows.every(({ kind }) => kind === 'level') ? (
        <PlaceHolder title="No task matches the filter." />
      ) : (
        <Rows {...{ rows, filters, acts, unless, drag }} />
      )}
    </Panel>
  );
}

/** Keeps which task is dragged, and does what its place says. */
function useDrag(acts: TaskActs): Drag {
  const [dragged, setDragged] = useState<ServerTask | undefined>();
  const [over, setOver] = useState<Drag['over']>();
  const end = (): void => {
    setDragged(undefined);
    setOver(undefined);
  };
  return {
    dragged,
    over: dragged === undefined ? undefined : over,
    enter: setOver,
    begin: setDragged,
    end,
    drop: (place) => {
      end();
      if (dragged === undefined) return;
      if (place === 'front') acts.toFront(dragged);
      else if (place !== dragged.priority) acts.reprioritize(dragged, place);
    },
  };
}

interface FrontPlaceProps {
  readonly drag: Drag;
  readonly isShown: boolean;
}

/** The place before all others, while a task is dragged; otherwise how to do it. */
function FrontPlace({ drag, isShown }: FrontPlaceProps) {
  if (!isShown) return null;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a mouse drags; keys do the same
    <span
      className={styles['front']}
      data-dragging={drag.dragged === undefined ? undefined : true}
      data-over={drag.over === 'front' || undefined}
      onDragEnter={() => drag.enter('front')}
      onDragOver={(event) => event.preventDefault()}
      onDrop={() => drag.drop('front')}
    >
      {drag.dragged === undefined ? (
        <>
          drag, or <kbd>⌥</kbd> <kbd>↑</kbd> <kbd>↓</kbd>, <kbd>⌥</kbd> <kbd>Home</kbd>
        </>
      ) : (
        'Here: before all others'
      )}
    </span>
  );
}

interface RowsProps extends QueuePanelProps {
  readonly rows: readonly QueueRow[];
  readonly drag: Drag;
}

function Rows({ rows, filters, acts, unless, drag }: RowsProps) {
  const now = useNow();
  const isNarrow = useNarrow();
  const heightOf = useCallback(
    ({ kind }: QueueRow) => (kind === 'level' ? levelHeight : isNarrow ? narrowHeight : rowHeight),
    [isNarrow],
  );
  const onKey = (event: React.KeyboardEvent, row: QueueRow): void => {
    if (row.kind !== 'task' || !event.altKey || unless !== undefined) return;
    const { task } = row;
    const by = ({ ArrowUp: -1, ArrowDown: 1 } as const)[event.key];
    const next = by === undefined ? undefined : levelBeside(task.priority, by);
    if (next !== undefined) acts.reprioritize(task, next);
    else if (event.key === 'Home') acts.toFront(task);
    if (by !== undefined || event.key === 'Home') event.preventDefault();
  };
  return (
    <VirtualRows
      label="Tasks by level"
      items={rows}
      keyOf={keyOf}
      heightOf={heightOf}
      isStop={isTask}
      onKey={onKey}
    >
      {(row, { isCurrent }) =>
        row.kind === 'level' ? (
          <LevelRow {...row} drag={drag} />
        ) : (
          <TaskRow {...{ now, filters, acts, unless, drag, isCurrent }} task={row.task} />
        )
      }
    </VirtualRows>
  );
}

function keyOf(row: QueueRow): string {
  return row.kind === 'level' ? `level ${row.level.priority}` : row.task.id;
}

function isTask({ kind }: QueueRow): boolean {
  return kind === 'task';
}
