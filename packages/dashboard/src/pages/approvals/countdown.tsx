import { fullTime, stopwatch } from '../../components/format.ts';
import styles from './countdown.module.css';

/** From then on it is urgent. */
const soonMs = 120_000;
const hourMs = 3_600_000;
const round = 34.6;

interface CountdownProps {
  readonly createdAt: number;
  readonly expiresAt: number | undefined;
  readonly now: number;
}

/** Time that is left to answer: a ring that empties, and minutes. */
export function Countdown({ createdAt, expiresAt, now }: CountdownProps) {
  if (expiresAt === undefined) return <span className="faint">no limit</span>;
  const left = Math.max(0, expiresAt - now);
  const share = Math.min(1, left / Math.max(1, expiresAt - createdAt));
  return (
    <span
      className={styles['left']}
      data-soon={left < soonMs || undefined}
      title={`until ${fullTime(expiresAt)}`}
    >
      <svg viewBox="0 0 14 14" aria-hidden="true">
        <circle cx="7" cy="7" r="5.5" fill="none" stroke="var(--line-2)" strokeWidth="2" />
        <circle
          cx="7"
          cy="7"
          r="5.5"
          fill="none"
          stroke="currentColor"
          strokeWidth="2"
          strokeDasharray={`${share * round} 40`}
          transform="rotate(-90 7 7)"
          strokeLinecap="round"
        />
      </svg>
      {left === 0 ? 'over' : wordsOf(left)}
    </span>
  );
}

function wordsOf(left: number): string {
  if (left < hourMs) return stopwatch(left);
  const hours = Math.floor(left / hourMs);
  if (hours >= 48) return `${Math.floor(hours / 24)} d`;
  return `${hours} h ${Math.floor((left % hourMs) / 60_000)} min`;
}
