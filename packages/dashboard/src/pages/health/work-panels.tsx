import { count, duration } from '../../components/format.ts';
import { Panel } from '../../components/panel.tsx';
import { PlaceHolder } from '../../components/states.tsx';
import { Status } from '../../components/status.tsx';
import { firstLine } from '../../components/visible-text.ts';
import { type Alert, percent, type RoundFigures, type ToolFigures } from './figures.ts';
import styles from './health-page.module.css';

/** Alerts that somebody should look at. */
export function AlertsPanel({ alerts }: { readonly alerts: readonly Alert[] }) {
  return (
    <Panel title="Alerts" note="tools that fail in over 20 % of 3 calls or more; rounds over 30 s">
      {alerts.length === 0 ? (
        <p className={styles['calm']}>
          <Status status="completed">Nothing to look at.</Status>
        </p>
      ) : (
        <ul className={styles['alerts']}>
          {alerts.map(({ name, text, advice }) => (
            <li key={`${name} ${text}`}>
              <Status status="failed">
                <bdi>{firstLine(name, 80)}</bdi>
              </Status>
              <span>{text}</span>
              <p className="soft">{advice}</p>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

export function ToolsPanel({ tools }: { readonly tools: readonly ToolFigures[] }) {
  return (
    <Panel title="Tools" note="calls that were attempted">
      {tools.length === 0 ? (
        <PlaceHolder title="No tool was called in this time." />
      ) : (
        <Table
          label="Tools"
          heads={['Tool', 'Calls', 'Success', 'Mean', 'Longest']}
          rows={tools.map(({ tool, calls, failed, durationMs, longestMs }) => [
            firstLine(tool, 80),
            count(calls),
            percent((calls - failed) / calls),
            duration(durationMs / calls),
            duration(longestMs),
          ])}
        />
      )}
    </Panel>
  );
}

export function RoundsPanel({ rounds }: { readonly rounds: readonly RoundFigures[] }) {
  return (
    <Panel title="Rounds" note="from the call of the model to the end of its tools">
      {rounds.length === 0 ? (
        <PlaceHolder title="No agent worked in this time." />
      ) : (
        <Table
          label="Rounds"
          heads={['Agent', 'Rounds', 'Mean', 'Longest']}
          rows={rounds.map(({ agent, rounds: many, durationMs, longestMs }) => [
            firstLine(agent, 80),
            count(many),
            duration(durationMs / many),
            duration(longestMs),
          ])}
        />
      )}
    </Panel>
  );
}

interface TableProps {
  readonly label: string;
  /** Names of the columns: the first is a name, the others are figures. */
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Names with their figures. */
export function Table({ label, heads, rows }: TableProps) {
  return (
    <div className={styles['scroll']} tabIndex={0} role="group" aria-label={label}>
      <table className={styles['table']}>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name = '', ...figures]) => (
            <tr key={name}>
              <th scope="row">
                <bdi>{name}</bdi>
              </th>
              {figures.map((figure, i) => (
                <td key={heads[i + 1]}>{figure}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
