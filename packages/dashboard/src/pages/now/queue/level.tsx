import type { ServerTaskPriority } from '@adjutant/server/client';
import styles from './level.module.css';

const bars: Readonly<Record<ServerTaskPriority, number>> = {
  realtime: 4,
  high: 3,
  normal: 2,
  low: 1,
  background: 0,
};

/** Level of a task: as many bars as it is urgent, and its word where it is not the usual one. */
export function Level({ level }: { readonly level: ServerTaskPriority }) {
  return (
    <span className={styles['level']} title={level}>
      <svg viewBox="0 0 14 10" width={14} height={10} aria-hidden="true">
        {[0, 1, 2, 3].map((i) => (
          <rect
            key={i}
            className={styles[i < bars[level] ? 'full' : 'empty'] ?? ''}
            x={i * 3.6}
            y={7 - i * 2.2}
            width={2.6}
            height={3 + i * 2.2}
            rx={0.8}
          />
        ))}
      </svg>
      <span className={level === 'normal' ? 'only-read' : ''}>{level}</span>
    </span>
  );
}
