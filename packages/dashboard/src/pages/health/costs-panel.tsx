import type { SessionUsage } from '@adjutant/server/client';
import { count, fullTime, minuteOf, money, plural } from '../../components/format.ts';
import { Panel } from '../../components/panel.tsx';
import { PlaceHolder } from '../../components/states.tsx';
import { firstLine } from '../../components/visible-text.ts';
import { byModel, type PartFigures } from './figures.ts';
import styles from './health-page.module.css';
import { Table } from './work-panels.tsx';

interface CostsPanelProps {
  readonly sessions: readonly SessionUsage[];
  readonly parts: readonly PartFigures[];
}

/** Usage and costs of models: over time, and by model. */
export function CostsPanel({ sessions, parts }: CostsPanelProps) {
  const models = byModel(sessions);
  const cost = models.reduce((sum, model) => sum + model.cost, 0);
  const unpriced = models.reduce((sum, model) => sum + model.unpriced, 0);
  const calls = models.reduce((sum, model) => sum + model.calls, 0);
  return (
    <Panel title="Models" note={`${plural(calls, 'call')}, ${money(cost)}`}>
      {models.length === 0 ? (
        <PlaceHolder title="No model was called in this time." />
      ) : (
        <>
          <Bars parts={parts} isPriced={cost > 0} />
          <Table
            label="Models"
            heads={['Model', 'Calls', 'Tokens in', 'Tokens out', 'Cost']}
            rows={models.map((model) => [
              firstLine(model.model, 80),
              count(model.calls),
              count(model.input),
              count(model.output),
              model.unpriced >= model.calls ? 'not known' : money(model.cost),
            ])}
          />
          {unpriced === 0 ? null : (
            <p className={styles['note']}>
              Calls of models whose price is not known are not in the costs.
            </p>
          )}
        </>
      )}
    </Panel>
  );
}

interface BarsProps {
  readonly parts: readonly PartFigures[];
  /** Without prices tokens are shown. */
  readonly isPriced: boolean;
}

function Bars({ parts, isPriced }: BarsProps) {
  const figureOf = ({ cost, tokens }: PartFigures): number => (isPriced ? cost : tokens);
  const wordsOf = (part: PartFigures): string =>
    isPriced ? money(part.cost) : `${count(part.tokens)} tokens`;
  const highest = parts.reduce((a, b) => (figureOf(b) > figureOf(a) ? b : a));
  const most = Math.max(figureOf(highest), Number.MIN_VALUE);
  const now = parts.at(-1)?.to ?? 0;
  return (
    <figure className={styles['chart']}>
      <figcaption>
        {isPriced ? 'Costs' : 'Tokens'} over time, at most {wordsOf(highest)} at once
      </figcaption>
      <ol className={styles['bars']}>
        {parts.map((part) => (
          <li key={part.from} title={`${fullTime(part.from)}: ${plural(part.calls, 'call')}`}>
            <span className={styles['value']}>
              {figureOf(part) === 0 ? <span className="only-read">none</span> : wordsOf(part)}
            </span>
            <span className={styles['track']}>
              <span style={{ height: `${(figureOf(part) / most) * 100}%` }} />
            </span>
            <span className={styles['tick']}>
              <span className="only-read">from </span>
              {minuteOf(part.from, now)}
            </span>
          </li>
        ))}
      </ol>
    </figure>
  );
}
