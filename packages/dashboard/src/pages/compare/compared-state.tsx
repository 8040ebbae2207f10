import { Reading } from '../../components/states.tsx';
import { inline } from '../../components/visible-text.ts';
import { fieldsOf } from '../../ledger/event-words.ts';
import type { FollowedLedger } from '../../ledger/followed-ledger.ts';
import { useMoment } from '../session/use-moment.ts';
import styles from './compared-state.module.css';

interface Sides {
  readonly left: FollowedLedger;
  readonly right: FollowedLedger;
}

/** The state at the end of both, key by key: those that differ first. */
export function ComparedState({ left, right }: Sides) {
  const a = useMoment(left.session, left.columns.count).moment;
  const b = useMoment(right.session, right.columns.count).moment;
  if (a === undefined || b === undefined) return <Reading what="the state of both" />;
  const [one, other] = [fieldsOf(a.state['sessionState']), fieldsOf(b.state['sessionState'])];
  const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])].sort();
  const differs = (key: string): boolean => inline(one[key], 1e6) !== inline(other[key], 1e6);
  const sorted = [...keys.filter(differs), ...keys.filter((key) => !differs(key))];
  if (sorted.length === 0) return <p className={styles['none']}>Neither has written any state.</p>;
  return (
    <div className={styles['scroll']} role="group" aria-label="State of both" tabIndex={0}>
      <table className={styles['table']}>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">A</th>
            <th scope="col">B</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((key) => (
            <tr key={key} data-differs={differs(key) || undefined}>
              <th scope="row">
                <bdi>{inline(key, 120)}</bdi>
              </th>
              <td>
                <bdi>{Object.hasOwn(one, key) ? inline(one[key], 600) : '∅'}</bdi>
              </td>
              <td>
                <bdi>{Object.hasOwn(other, key) ? inline(other[key], 600) : '∅'}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
