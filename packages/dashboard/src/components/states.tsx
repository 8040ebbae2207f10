import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { refusalOf } from '../api/client.ts';
import { Button } from './button.tsx';
import styles from './states.module.css';
import { visible } from './visible-text.ts';

interface NoticeProps {
  /** The state, in one sentence. */
  readonly title: string;
  /** Advice: what to do now. */
  readonly children?: React.ReactNode;
  readonly role?: 'status' | 'alert';
}

/** A place in which something else would stand: it says what is, then what to do. */
export function PlaceHolder({ title, children, role = 'status' }: NoticeProps) {
  return (
    <div className={styles['place']} role={role}>
      <p className={styles['title']}>{title}</p>
      {children === undefined ? null : <div className={styles['help']}>{children}</div>}
    </div>
  );
}

/** Milliseconds before bars are shown, and before words say that it takes long. */
const barsAfterMs = 200;
const wordsAfterMs = 5_000;

interface ReadingProps {
  /** Name of the thing that is read, such as "sessions". */
  readonly what: string;
  readonly rows?: number;
  /** Progress, as far as it is known: "62,000 of 100,000 events". */
  readonly progress?: string;
  /** Shows the bars from the beginning, where a page would be empty without them. */
  readonly isAtOnce?: boolean;
}

/** Bars in the place of rows that are still read. */
export function Reading({ what, rows = 6, progress, isAtOnce = false }: ReadingProps) {
  const [phase, setPhase] = useState<'none' | 'bars' | 'words'>(isAtOnce ? 'bars' : 'none');
  useEffect(() => {
    const bars = setTimeout(() => setPhase('bars'), barsAfterMs);
    const words = setTimeout(() => setPhase('words'), wordsAfterMs);
    return () => {
      clearTimeout(bars);
      clearTimeout(words);
    };
  }, []);
  return (
    <div className={styles['reading']} role="status" aria-label={`Reading ${what}`}>
      {phase === 'none'
        ? null
        : Array.from({ length: rows }, (_, i) => 90 - ((i * 37) % 50)).map((width, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: bars have a place, and no name
            <span key={i} className={styles['bar']} style={{ width: `${width}%` }} />
          ))}
      {phase === 'words' ? (
        <p className="faint">
          Still reading {what}
          {progress === undefined ? '' : `, ${progress}`}.
        </p>
      ) : null}
    </div>
  );
}

/** A page or a thing that is not there. */
export function NotThere({ what }: { readonly what: string }) {
  return (
    <PlaceHolder title={what} role="alert">
      <Link className={styles['link'] ?? ''} href="/sessions">
        All sessions
      </Link>
    </PlaceHolder>
  );
}

/** The server does not answer: the client goes on trying. */
export function ServerAway({ error }: { readonly error: unknown }) {
  return (
    <PlaceHolder title="The server does not answer." role="alert">
      <p>
        {visible(error instanceof Error ? error.message : String(error))} Check that `adjutant
        serve` runs, then try again.
      </p>
      <Button icon="retry" onPress={() => location.reload()}>
        Try again
      </Button>
    </PlaceHolder>
  );
}

interface FailureProps {
  readonly error: unknown;
  /** Name of the thing that could not be read, such as "The sessions". */
  readonly what: string;
  readonly onRetry?: () => void;
}

/** A failed read: refused, gone, or a server that is away, each in its own words. */
export function Failure({ error, what, onRetry }: FailureProps) {
  const refusal = refusalOf(error);
  const title =
    refusal?.status === 403
      ? `${what}: your role may not read this.`
      : refusal?.status === 404
        ? `${what}: not there, or not any more.`
        : refusal === undefined
          ? `${what}: the server does not answer.`
          : `${what} could not be read.`;
  return (
    <PlaceHolder title={title} role="alert">
      <p>{visible(error instanceof Error ? error.message : String(error))}</p>
      {onRetry === undefined || refusal?.status === 403 ? null : (
        <Button icon="retry" onPress={onRetry}>
          Try again
        </Button>
      )}
    </PlaceHolder>
  );
}
