import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { PageHead, Space } from '../../components/page-head.tsx';
import { Segmented } from '../../components/segmented.tsx';
import { Failure, Reading } from '../../components/states.tsx';
import { CostsPanel } from './costs-panel.tsx';
import { alertsOf, type SpanName } from './figures.ts';
import styles from './health-page.module.css';
import { ServerPanel } from './server-panel.tsx';
import { useCosts, useWork } from './use-figures.ts';
import { AlertsPanel, RoundsPanel, ToolsPanel } from './work-panels.tsx';

/** How the server, its tools, agents and models do. */
export function HealthPage() {
  const [span, setSpan] = useState<SpanName>('day');
  const work = useWork(span);
  const costs = useCosts(span);
  const again = (): void => void Promise.all([work.refetch(), costs.refetch()]);
  return (
    <>
      <PageHead title="Health">
        <Space />
        <Segmented
          label="Time that figures are of"
          value={span}
          options={[
            ['hour', '1 h'],
            ['day', '24 h'],
            ['week', '7 d'],
            ['month', '30 d'],
          ]}
          onChange={setSpan}
        />
        <Button
          icon="retry"
          label="Read again"
          isBusy={work.isFetching || costs.isFetching}
          onPress={again}
        />
      </PageHead>
      <div className={styles['panels']}>
        <ServerPanel />
        {work.data === undefined ? (
          <State error={work.error} what="The figures of tools" onRetry={again} />
        ) : (
          <>
            <AlertsPanel alerts={alertsOf(work.data.figures)} />
            <ToolsPanel tools={work.data.figures.tools} />
            <RoundsPanel rounds={work.data.figures.rounds} />
          </>
        )}
        {costs.data === undefined ? (
          <State error={costs.error} what="The costs" onRetry={again} />
        ) : (
          <div className={styles['wide']}>
            <CostsPanel {...costs.data} />
          </div>
        )}
        {work.data?.isAll === false || costs.data?.isAll === false ? (
          <p className={styles['note']}>
            These are the figures of the 2,000 newest sessions: older ones are not in them.
          </p>
        ) : null}
      </div>
    </>
  );
}

interface StateProps {
  readonly error: Error | null;
  readonly what: string;
  readonly onRetry: () => void;
}

function State({ error, what, onRetry }: StateProps) {
  return error === null ? (
    <Reading what={what.toLowerCase()} rows={4} />
  ) : (
    <Failure {...{ error, what, onRetry }} />
  );
}
