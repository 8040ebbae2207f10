import { useMemo, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { CopyMenu } from '../../../components/copy/copy-menu.tsx';
import { KindGlyph } from '../../../components/kind-glyph.tsx';
import { inline } from '../../../components/visible-text.ts';
import type { FollowedLedger } from '../../../ledger/followed-ledger.ts';
import type { Position } from '../position.ts';
import { copiedDecision } from './copied.ts';
import styles from './decision-list.module.css';

const fewest = 5;
const more = 20;

interface DecisionListProps {
  readonly ledger: FollowedLedger;
  readonly position: Position;
}

/** Decisions up to the chosen event, the newest first: each with what was not chosen. */
export function DecisionList({ ledger, position }: DecisionListProps) {
  const { columns } = ledger;
  const [shown, setShown] = useState(fewest);
  const { seqs, hasMore } = useMemo(() => {
    const found: number[] = [];
    let seq: number | undefined = position.seq + 1;
    while (found.length <= shown) {
      seq = columns.find(seq, -1, (one) => columns.kindAt(one) === 'decision');
      if (seq === undefined) break;
      found.push(seq);
    }
    return { seqs: found.slice(0, shown), hasMore: found.length > shown };
  }, [columns, position.seq, shown]);
  return (
    <section className={styles['decisions']} aria-label="Decisions">
      <h3>Decisions</h3>
      {seqs.length === 0 ? (
        <p className={styles['none']}>Nothing was decided before this event.</p>
      ) : (
        <ul>
          {seqs.map((seq, i) => (
            <Decision key={seq} ledger={ledger} seq={seq} isOpen={i < 2} position={position} />
          ))}
        </ul>
      )}
      {hasMore ? (
        <div className={styles['more']}>
          <Button look="bare" onPress={() => setShown(shown + more)}>
            Earlier decisions
          </Button>
        </div>
      ) : null}
    </section>
  );
}

interface DecisionProps {
  readonly ledger: FollowedLedger;
  readonly seq: number;
  readonly isOpen: boolean;
  readonly position: Position;
}

function Decision({ ledger, seq, isOpen, position }: DecisionProps) {
  const event = ledger.event(seq);
  const alternatives = event?.['alternatives'];
  return (
    <li className={styles['decision']} data-here={seq === position.seq || undefined}>
      <button type="button" onClick={() => position.go(seq, true)}>
        <KindGlyph kind="decision" />
        <b>{inline(event?.['component'] ?? ledger.columns.eventAt(seq)?.name, 60)}</b>
        <span className="faint">#{seq}</span>
      </button>
      {event === undefined || !isOpen ? null : (
        <div className={styles['words']}>
          <p>
            <bdi>{inline(event['reasoning'], 600)}</bdi>
          </p>
          <ul>
            <li data-chosen>
              <span aria-hidden="true">✓</span>
              <bdi>{inline(event['decision'], 200)}</bdi>
            </li>
            {Array.isArray(alternatives)
              ? alternatives.map((alternative) => (
                  <li key={inline(alternative)}>
                    <span role="img" aria-label="not chosen">
                      ○
                    </span>
                    <bdi>{inline(alternative, 200)}</bdi>
                  </li>
                ))
              : null}
          </ul>
          <CopyMenu
            what={`the decision #${seq}`}
            isSmall
            copied={() => copiedDecision(ledger.session, event)}
          />
        </div>
      )}
    </li>
  );
}
