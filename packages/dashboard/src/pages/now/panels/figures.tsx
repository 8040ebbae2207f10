import { mostListed } from '../live/read-now.ts';
import { type Reading, startOfDay } from '../live/reading.ts';
import styles from './figures.module.css';

interface FiguresProps {
  readonly reading: Reading;
  readonly now: number;
}

/** How many sessions run, wait, and failed today, and how many tasks are queued. */
export function Figures({ reading, now }: FiguresProps) {
  const today = startOfDay(now);
  const failed = reading.failed.filter(({ updatedAt }) => updatedAt >= today).length;
  const queued = reading.tasks.filter(({ state }) => state === 'queued').length;
  return (
    <ul className={styles['figures']} aria-label="Sessions">
      <Figure value={reading.running.length} words="running" />
      <Figure value={reading.waiting.length} words="waiting" />
      <Figure value={queued} words="queued" />
      <Figure value={failed} words="failed today" isBad={failed > 0} />
    </ul>
  );
}

interface FigureProps {
  readonly value: number;
  readonly words: string;
  readonly isBad?: boolean;
}

function Figure({ value, words, isBad = false }: FigureProps) {
  return (
    <li data-bad={isBad || undefined}>
      <b>{value >= mostListed ? `${mostListed}+` : value}</b> {words}
    </li>
  );
}
