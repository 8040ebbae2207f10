import type { ServerTrigger } from '@adjutant/server/client';
import { fullTime, plural } from '../../components/format.ts';
import { Panel } from '../../components/panel.tsx';
import { firstLine } from '../../components/visible-text.ts';
import styles from './day-chart.module.css';
import { placeIn } from './trigger-form.ts';
import { type Firings, useFirings } from './use-triggers.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
/** Firings of a day from which a trigger gets short marks without its name. */
const many = 24;

interface DayChartProps {
  readonly triggers: readonly ServerTrigger[];
  readonly now: number;
}

/** The firings of the next 24 hours, in the reader's zone. */
export function DayChart({ triggers, now }: DayChartProps) {
  const { data } = useFirings(triggers);
  const from = Math.floor(now / 60_000) * 60_000;
  const day = (data ?? [])
    .map(({ name, instants }) => ({
      name,
      instants: instants.filter((at) => placeIn(at, from, dayMs) !== undefined),
    }))
    .filter(({ instants }) => instants.length > 0);
  if (day.length === 0) return null;
  const hours = [6, 12, 18].map((step) => {
    const at = Math.ceil((from + step * hourMs) / hourMs) * hourMs;
    return { at, words: `${String(new Date(at).getHours()).padStart(2, '0')}:00` };
  });
  const said = day
    .map(({ name, instants }) => `${name}: ${plural(instants.length, 'firing')}`)
    .join('; ');
  return (
    <Panel title="Next 24 hours" note={`your time (${zoneName()})`}>
      <div className={styles['chart']} role="img" aria-label={said}>
        {hours.map(({ at, words }) => (
          <span key={at} className={styles['hour']} style={left(at, from)}>
            {words}
          </span>
        ))}
        {day.map((firings) => (
          <Marks key={firings.name} {...firings} from={from} />
        ))}
      </div>
    </Panel>
  );
}

interface MarksProps extends Firings {
  readonly from: number;
}

function Marks({ name, instants, from }: MarksProps) {
  const isOften = instants.length > many;
  return instants.map((at, i) => (
    <span
      key={at}
      className={styles['mark']}
      data-often={isOften || undefined}
      style={left(at, from)}
      title={`${name}, ${fullTime(at)}`}
    >
      {isOften || i > 0 ? null : (
        <span className={styles['label']} data-late={isLate(at, from) || undefined}>
          {firstLine(name, 16)}
        </span>
      )}
    </span>
  ));
}

/** In the second half of the chart words stand left of their mark. */
function isLate(at: number, from: number): boolean {
  return at - from > dayMs / 2;
}

function left(at: number, from: number): { readonly left: string } {
  return { left: `${placeIn(at, from, dayMs) ?? 0}%` };
}

function zoneName(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
