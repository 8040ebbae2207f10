import styles from './status.module.css';

/** State of a session, a run or a task, as people name it. */
export type StatusName = 'running' | 'waiting' | 'queued' | 'completed' | 'failed' | 'held';

const rings: Readonly<Record<StatusName, React.ReactNode>> = {
  running: (
    <circle
      cx="7"
      cy="7"
      r="5"
      fill="none"
      strokeWidth="1.6"
      strokeDasharray="20 12"
      strokeLinecap="round"
    />
  ),
  waiting: (
    <>
      <circle cx="7" cy="7" r="5.2" fill="none" strokeWidth="1.6" />
      <path d="M5.5 5v4M8.5 5v4" strokeWidth="1.6" strokeLinecap="round" />
    </>
  ),
  completed: (
    <>
      <circle cx="7" cy="7" r="6" fill="currentColor" stroke="none" />
      <path
        d="M4.4 7.2l1.8 1.8 3.4-3.8"
        fill="none"
        stroke="var(--surface)"
        strokeWidth="1.6"
        strokeLinecap="round"
      />
    </>
  ),
  failed: (
    <>
      <circle cx="7" cy="7" r="6" fill="currentColor" stroke="none" />
      <path d="M5 5l4 4M9 5L5 9" stroke="var(--surface)" strokeWidth="1.6" strokeLinecap="round" />
    </>
  ),
  queued: <circle cx="7" cy="7" r="5.2" fill="none" strokeWidth="1.5" strokeDasharray="2 2.08" />,
  held: (
    <>
      <circle cx="7" cy="7" r="5.2" fill="none" strokeWidth="1.6" />
      <path d="M3.5 10.5l7-7" strokeWidth="1.6" />
    </>
  ),
};

interface StatusProps {
  readonly status: StatusName;
  readonly children: React.ReactNode;
  /** Draws it on a ground of its own. @default false */
  readonly isPill?: boolean;
}

/** A status: its own ring, and a word. */
export function Status({ status, children, isPill = false }: StatusProps) {
  return (
    <span className={styles['status']} data-status={status} data-pill={isPill || undefined}>
      <svg viewBox="0 0 14 14" aria-hidden="true" stroke="currentColor">
        {rings[status]}
      </svg>
      {children}
    </span>
  );
}

/** Returns the ring and the words for the status of a session over HTTP. */
export function sessionStatus(status: string): readonly [StatusName, string] {
  switch (status) {
    case 'active':
      return ['running', 'Running'];
    case 'awaiting_input':
      return ['waiting', 'Waits for a person'];
    case 'sleeping':
      return ['held', 'Sleeps'];
    case 'completed':
      return ['completed', 'Completed'];
    case 'error':
      return ['failed', 'Failed'];
    default:
      return ['held', status];
  }
}
