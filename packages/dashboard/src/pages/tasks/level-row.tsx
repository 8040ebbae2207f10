import type { Drag } from './drag.ts';
import { levels, type QueueRow } from './task-queue.ts';
import styles from './tasks-page.module.css';

type LevelRowProps = Extract<QueueRow, { kind: 'level' }> & { readonly drag: Drag };

/** Head of a level. A task that is let go here gets its priority. */
export function LevelRow({ level, count, drag }: LevelRowProps) {
  const isPlace = drag.dragged !== undefined && drag.dragged.priority !== level.priority;
  const isOver = isPlace && drag.over === level.priority;
  const rank = levels.length - levels.indexOf(level);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a mouse drags; keys do the same
    <div
      className={styles['level']}
      data-over={isOver || undefined}
      onDragEnter={() => drag.enter(level.priority)}
      onDragOver={(event) => {
        if (isPlace) event.preventDefault();
      }}
      onDrop={() => drag.drop(level.priority)}
    >
      <svg viewBox="0 0 20 10" aria-hidden="true">
        {[1, 2, 3, 4, 5].map((bar) => (
          <rect
            key={bar}
            x={(bar - 1) * 4}
            y={10 - bar * 2}
            width="3"
            height={bar * 2}
            data-on={bar <= rank || undefined}
          />
        ))}
      </svg>
      <h3>{level.name}</h3>
      <span className="faint number">{count}</span>
      <span className={styles['space']} />
      <span className="faint cut">{isOver ? 'It comes here, by its age' : level.note}</span>
    </div>
  );
}
