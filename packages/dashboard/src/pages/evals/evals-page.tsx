import type { KeptEval } from '@adjutant/server/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { Link, useLocation } from 'wouter';
import { api, refusalOf } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy/copy-button.tsx';
import { count, fullTime, moment, plural } from '../../components/format.ts';
import { PageHead, Space } from '../../components/page-head.tsx';
import { Failure, PlaceHolder, Reading } from '../../components/states.tsx';
import { Status } from '../../components/status.tsx';
import { useNarrow } from '../../components/use-narrow.ts';
import { useNow } from '../../components/use-now.ts';
import { VirtualRows } from '../../components/virtual-rows.tsx';
import { firstLine } from '../../components/visible-text.ts';
import { Bar } from './bar.tsx';
import {
  type EvalHead,
  percent,
  price,
  reportPath,
  totalCost,
  variantText,
  verdictOf,
} from './eval-words.ts';
import styles from './evals-page.module.css';

const pageSize = 50;
const command = 'adjutant eval support.eval.ts';

/** Reports of evals that the server has, those of the newest runs first. */
export function EvalsPage() {
  const [, go] = useLocation();
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetching } = useInfiniteQuery({
    queryKey: ['evals'],
    queryFn: ({ pageParam, signal }) =>
      api.evals.list({ limit: pageSize }, { signal }).page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.cursor,
  });
  const reports = useMemo(() => data?.pages.flatMap((page) => page.reports), [data]);
  const readMore = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  const isComparable = reports?.some(({ report }) => report !== undefined) === true;
  return (
    <>
      <PageHead title="Evals">
        {reports === undefined ? null : (
          <span className="faint number">
            {count(reports.length)}
            {hasNextPage ? '+' : ''}
          </span>
        )}
        <Space />
        <Button icon="retry" isBusy={isFetching} onPress={() => void refetch()}>
          Read again
        </Button>
        <Button
          icon="compare"
          unless={isComparable ? undefined : 'There is no report to compare.'}
          onPress={() => go('/evals/compare')}
        >
          Compare
        </Button>
        <CopyButton text={() => JSON.stringify(reports ?? [], null, 2)}>Copy as JSON</CopyButton>
      </PageHead>
      {reports === undefined ? (
        error === null ? (
          <Reading what="the reports" rows={8} />
        ) : (
          <NoReports error={error} onRetry={() => void refetch()} />
        )
      ) : reports.length === 0 ? (
        <PlaceHolder title="No reports yet.">
          <p>Run an eval in the folder of the project: its report is kept and shown here.</p>
          <code className={styles['command']}>{command}</code>
          <CopyButton text={command}>Copy the command</CopyButton>
        </PlaceHolder>
      ) : (
        <Rows reports={reports} onEnd={readMore} />
      )}
    </>
  );
}

interface NoReportsProps {
  readonly error: unknown;
  readonly onRetry: () => void;
}

function NoReports({ error, onRetry }: NoReportsProps) {
  if (refusalOf(error)?.code !== 'evals_unavailable')
    return <Failure error={error} what="The reports" onRetry={onRetry} />;
  return (
    <PlaceHolder title="This server has no folder of reports.">
      <p>Give it one, and keep reports there:</p>
      <code className={styles['command']}>
        {"server(app, { evals: { folder: '.adjutant/evals' } })"}
      </code>
      <code className={styles['command']}>{command}</code>
    </PlaceHolder>
  );
}

const rowHeight = 44;
const narrowHeight = 64;

interface RowsProps {
  readonly reports: readonly KeptEval[];
  readonly onEnd: () => void;
}

function Rows({ reports, onEnd }: RowsProps) {
  const now = useNow(30_000);
  const height = useNarrow() ? narrowHeight : rowHeight;
  const heightOf = useCallback(() => height, [height]);
  return (
    <div className={styles['rows']}>
      <VirtualRows label="Reports of evals" items={reports} {...{ keyOf, heightOf, onEnd }}>
        {({ id, report, problem }, { isCurrent }) => (
          <Link
            href={reportPath(id)}
            className={styles['row'] ?? ''}
            data-row
            tabIndex={isCurrent ? 0 : -1}
          >
            {report === undefined ? (
              <>
                <Status status="held">Unreadable</Status>
                <b className={`${styles['name']} cut`}>{firstLine(id, 120)}</b>
                <span className={`${styles['problem']} cut`}>
                  <bdi>{firstLine(problem?.detail ?? '', 200)}</bdi>
                </span>
              </>
            ) : (
              <ReportCells report={report} now={now} />
            )}
          </Link>
        )}
      </VirtualRows>
    </div>
  );
}

function ReportCells({ report, now }: { readonly report: EvalHead; readonly now: number }) {
  const [ring, words] = verdictOf(report);
  const trials = report.variants.reduce((sum, { summary }) => sum + summary.trials, 0);
  const passed = report.variants.reduce((sum, { summary }) => sum + summary.passed, 0);
  const cases = Math.max(0, ...report.variants.map(({ summary }) => summary.cases));
  return (
    <>
      <Status status={ring}>{words}</Status>
      <span className={styles['name']}>
        <b className="cut">
          <bdi>{firstLine(report.name, 120)}</bdi>
        </b>
        <span className="faint cut">
          <bdi>{report.variants.map((one) => firstLine(variantText(one), 80)).join(' | ')}</bdi>
        </span>
      </span>
      <span className={`${styles['cases']} number`}>{plural(cases, 'case')}</span>
      <span className={`${styles['rate']} number`} title={`${passed} of ${trials} trials passed`}>
        {percent(trials === 0 ? 0 : passed / trials)}
        <Bar share={trials === 0 ? 0 : passed / trials} />
      </span>
      <span className={`${styles['cost']} number`}>{price(totalCost(report))}</span>
      <span className={`${styles['at']} number`} title={fullTime(report.startedAt)}>
        {moment(report.startedAt, now)}
      </span>
    </>
  );
}

function keyOf({ id }: KeptEval): string {
  return id;
}
