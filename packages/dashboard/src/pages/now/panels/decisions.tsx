import { Link } from 'wouter';
import { pathOf } from '../../../address/paths.ts';
import { clock, fullTime } from '../../../components/format.ts';
import { KindGlyph } from '../../../components/kind-glyph.tsx';
import { Panel } from '../../../components/panel.tsx';
import { firstLine } from '../../../components/visible-text.ts';
import type { RecentDecision } from '../live/tail.ts';
import styles from './decisions.module.css';

interface DecisionsProps {
  readonly decisions: readonly RecentDecision[];
}

/** The last decisions of all sessions, each with its reason: a press goes to its event. */
export function Decisions({ decisions }: DecisionsProps) {
  return (
    <Panel title="Decisions" acts={<span className={styles['where']}>all sessions</span>}>
      {decisions.length === 0 ? (
        <p className={styles['none']}>Nothing was decided lately.</p>
      ) : (
        <ol>
          {decisions.map((decision) => (
            <li key={`${decision.session} ${decision.seq}`}>
              <Row decision={decision} />
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

function Row({ decision }: { readonly decision: RecentDecision }) {
  const { session, title, seq, at, component, reasoning } = decision;
  return (
    <Link
      className={styles['row'] ?? ''}
      href={`${pathOf('sessions', session)}?at=${seq}`}
      title={`${firstLine(title, 80)} #${seq}`}
    >
      <KindGlyph kind="decision" />
      <span className="cut">
        <b>{firstLine(component, 60)}</b>{' '}
        <span className="soft">{firstLine(decision.decision, 80)}</span>
      </span>
      <time className={styles['time']} dateTime={new Date(at).toISOString()} title={fullTime(at)}>
        {clock(at)}
      </time>
      {reasoning === '' ? null : (
        <span className={styles['why']}>
          <bdi>{firstLine(reasoning, 240)}</bdi>
        </span>
      )}
    </Link>
  );
}
