import type { ServerTriggerHistoryEntry } from '@adjutant/server/client';
import { Link } from 'wouter';
import { pathOf } from '../../address/paths.ts';
import { factLink } from '../../components/facts.tsx';
import { fullTime, moment } from '../../components/format.ts';
import { KindGlyph } from '../../components/kind-glyph.tsx';
import { Failure, Reading } from '../../components/states.tsx';
import { firstLine, visible } from '../../components/visible-text.ts';
import styles from './trigger-drawer.module.css';
import { useHistory } from './use-triggers.ts';

interface TriggerHistoryProps {
  readonly name: string;
  readonly now: number;
}

/** Firings of a trigger and what became of them, the last first. */
export function TriggerHistory({ name, now }: TriggerHistoryProps) {
  const { data, error } = useHistory(name);
  return (
    <section>
      <h3 className={styles['part']}>History</h3>
      {error !== null && data === undefined ? (
        <Failure error={error} what="The history" />
      ) : data === undefined ? (
        <Reading what="the history" rows={3} />
      ) : (
        <ol className={styles['history']}>
          {data.map((entry) => (
            <Entry key={`${entry.seq} ${entry.at}`} entry={entry} now={now} />
          ))}
        </ol>
      )}
    </section>
  );
}

interface EntryProps {
  readonly entry: ServerTriggerHistoryEntry;
  readonly now: number;
}

function Entry({ entry, now }: EntryProps) {
  const { at, by, decision, reasoning } = entry;
  const session = sessionOf(entry);
  return (
    <li>
      <KindGlyph kind="decision" />
      <div>
        <p>
          <b>{visible(decision)}</b>{' '}
          <span className="faint" title={fullTime(at)}>
            {moment(at, now)} · {firstLine(by, 60)}
          </span>
        </p>
        <p className="soft">
          <bdi>{visible(reasoning)}</bdi>
        </p>
        {session === undefined ? null : (
          <Link className={factLink} href={pathOf('sessions', session)}>
            Its session
          </Link>
        )}
      </div>
    </li>
  );
}

function sessionOf({ data }: ServerTriggerHistoryEntry): string | undefined {
  if (typeof data !== 'object' || data === null || !('session' in data)) return undefined;
  return typeof data.session === 'string' ? data.session : undefined;
}
