import { count, duration, money } from '../../components/format.ts';
import { sessionStatus } from '../../components/status.tsx';
import type { FollowedLedger } from '../../ledger/followed-ledger.ts';
import { useMoment } from '../session/use-moment.ts';
import styles from './compared-figures.module.css';

interface Sides {
  readonly left: FollowedLedger;
  readonly right: FollowedLedger;
}

/** Figures of both: B in bold, A beside it. */
export function ComparedFigures({ left, right }: Sides) {
  const a = figuresOf(left, useMoment(left.session, left.columns.count).moment);
  const b = figuresOf(right, useMoment(right.session, right.columns.count).moment);
  return (
    <dl className={styles['figures']}>
      {b.map(([name, value], i) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <b className="number">{value}</b> <span className="number">A {a[i]?.[1]}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

type Moment = ReturnType<typeof useMoment>['moment'];

function figuresOf(
  { columns }: FollowedLedger,
  moment: Moment,
): readonly (readonly [string, string])[] {
  const first = columns.eventAt(1)?.at ?? 0;
  const last = columns.eventAt(columns.count)?.at ?? first;
  const { usage: calls } = moment ?? {};
  const tokens = calls === undefined ? 0 : calls.usage.inputTokens + calls.usage.outputTokens;
  let asked = 0;
  for (let seq = 1; seq <= columns.count; seq++) if (columns.typeAt(seq) === 'tool_yield') asked++;
  return [
    ['Cost', money(calls?.cost ?? 0)],
    ['Tokens', count(tokens)],
    ['Time', duration(last - first)],
    ['Asked of people', count(asked)],
    ['Outcome', moment === undefined ? '–' : sessionStatus(String(moment.state.status))[1]],
  ];
}
