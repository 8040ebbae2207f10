import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { Link, useSearch } from 'wouter';
import { api } from '../../api/client.ts';
import { CopyMenu } from '../../components/copy/copy-menu.tsx';
import { duration, fullTime, money } from '../../components/format.ts';
import { PageHead, Space } from '../../components/page-head.tsx';
import { Segmented } from '../../components/segmented.tsx';
import { Failure, PlaceHolder, Reading } from '../../components/states.tsx';
import { Status } from '../../components/status.tsx';
import { useNarrow } from '../../components/use-narrow.ts';
import { VirtualRows } from '../../components/virtual-rows.tsx';
import { firstLine } from '../../components/visible-text.ts';
import { ChangeDrawer } from './change-drawer.tsx';
import {
  type CaseChange,
  changeWords,
  percent,
  reportPath,
  scoreText,
  signed,
  variantText,
} from './eval-words.ts';
import styles from './evals-page.module.css';
import { ReportPicker } from './report-picker.tsx';

/** Two reports, or two variants of one, case by case. */
export function EvalsComparePage() {
  const params = new URLSearchParams(useSearch());
  const [a, b] = [params.get('a') ?? '', params.get('b') ?? ''];
  if (a === '' || b === '') return <ReportPicker a={a} />;
  const [variant, withVariant] = [params.get('va') ?? '', params.get('vb') ?? ''];
  return (
    <Compared key={`${a} ${b} ${variant} ${withVariant}`} {...{ a, b, variant, withVariant }} />
  );
}

interface ComparedProps {
  readonly a: string;
  readonly b: string;
  readonly variant: string;
  readonly withVariant: string;
}

/** The comparison, as far as it has been read. */
function useComparison({ a, b, variant, withVariant }: ComparedProps) {
  const query = {
    ...(variant === '' ? {} : { variant }),
    ...(withVariant === '' ? {} : { withVariant }),
  };
  const { data, error, refetch, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery({
    queryKey: ['evals', 'comparison', a, b, query],
    queryFn: ({ pageParam, signal }) =>
      api.evals.compare(a, b, { ...query, ...(pageParam && { cursor: pageParam }) }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.cursor,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const readMore = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  const cases = useMemo(() => data?.pages.flatMap((page) => page.cases) ?? [], [data]);
  const request = { path: ['evals', a, 'comparison'], query: { with: b, ...query } };
  return { first: data?.pages[0], cases, error, refetch, readMore, request };
}

function Compared(props: ComparedProps) {
  const { first, cases, error, refetch, readMore, request } = useComparison(props);
  const [view, setView] = useState<'changed' | 'all'>('changed');
  const [open, setOpen] = useState<CaseChange | undefined>();
  const close = useCallback(() => setOpen(undefined), []);
  const shown = useMemo(
    () =>
      view === 'all' ? cases : cases.filter((one) => one.change !== 'same' || one.outputDiffers),
    [cases, view],
  );
  if (first === undefined)
    return (
      <>
        <PageHead title="Compare evals" />
        {error === null ? (
          <Reading what="both reports" rows={8} />
        ) : (
          <Failure error={error} what="The comparison" onRetry={() => void refetch()} />
        )}
      </>
    );
  return (
    <>
      <PageHead title="Compare evals">
        <Space />
        <Segmented
          label="Cases"
          value={view}
          onChange={setView}
          options={[
            ['changed', 'Changed'],
            ['all', 'All'],
          ]}
        />
        <CopyMenu what="the comparison" copied={() => copiedOf(first, cases, request)} />
      </PageHead>
      <Sides first={first} />
      <Figures first={first} />
      {shown.length === 0 ? (
        <PlaceHolder title="No case changed.">
          <p>Outcomes, scores and outputs are the same in both.</p>
        </PlaceHolder>
      ) : (
        <Rows cases={shown} open={open} onOpen={setOpen} onEnd={readMore} />
      )}
      {open === undefined ? null : <ChangeDrawer one={open} onClose={close} />}
    </>
  );
}

/** The comparison for the copy menu. */
function copiedOf(
  first: First,
  cases: readonly CaseChange[],
  request: ReturnType<typeof useComparison>['request'],
) {
  return {
    title: `${first.baseline.id} against ${first.candidate.id}`,
    facts: Object.entries(first.counts).map(
      ([kind, number]) => [changeWords[kind as CaseChange['change']][1], `${number}`] as const,
    ),
    data: { ...first, cases },
    request,
  };
}

type First = Awaited<ReturnType<typeof api.evals.compare>>;

function Sides({ first }: { readonly first: First }) {
  return (
    <div className={styles['sides']}>
      {(
        [
          ['A', first.baseline],
          ['B', first.candidate],
        ] as const
      ).map(([name, { id, name: evalName, startedAt, variant }]) => (
        <Link key={name} href={reportPath(id)}>
          <b>{name}</b>
          <span className="cut">
            <bdi>
              {firstLine(evalName, 60)} · {firstLine(variantText(variant), 80)}
            </bdi>
          </span>
          <span className="faint">{fullTime(startedAt)}</span>
        </Link>
      ))}
    </div>
  );
}

/** Differences over the cases of both, and how many cases there are of each kind. */
function Figures({ first: { comparison, counts } }: { readonly first: First }) {
  const { passRate, scores, measures } = comparison;
  const points = (value: number): string => `${Math.round(value * 100)} points`;
  const figures: readonly (readonly [string, string, string])[] = [
    [
      'Pass rate',
      signed(passRate.value, points),
      `${percent(passRate.baseline)} → ${percent(passRate.candidate)}` +
        (passRate.significant ? '' : ', may be chance'),
    ],
    ...Object.entries(scores).map(
      ([name, { value, baseline, candidate }]) =>
        [
          firstLine(name, 40),
          signed(value, scoreText),
          `${scoreText(baseline)} → ${scoreText(candidate)}`,
        ] as const,
    ),
    [
      'Time',
      signed(measures.durationMs.value, duration),
      `${duration(measures.durationMs.baseline)} → ${duration(measures.durationMs.candidate)}`,
    ],
    measures.cost === undefined
      ? ['Cost', '–', 'no price is known']
      : [
          'Cost',
          signed(measures.cost.value, money),
          `${money(measures.cost.baseline)} → ${money(measures.cost.candidate)}`,
        ],
  ];
  return (
    <section className={styles['summary']} aria-label="Differences">
      <ul className={styles['counts']} aria-label="Cases">
        {Object.entries(counts).map(([kind, number]) => {
          const [ring, words] = changeWords[kind as CaseChange['change']];
          return (
            <li key={kind}>
              <Status status={ring}>{words}</Status> <b className="number">{number}</b>
            </li>
          );
        })}
      </ul>
      <div className={styles['variants']}>
        <dl>
          {figures.map(([name, value, help]) => (
            <div key={name}>
              <dt className="cut">{name}</dt>
              <dd>
                <b className="number">{value}</b> <span className="faint number">{help}</span>
              </dd>
            </div>
          ))}
        </dl>
      </div>
    </section>
  );
}

const rowHeight = 44;
const narrowHeight = 84;

interface RowsProps {
  readonly cases: readonly CaseChange[];
  readonly open: CaseChange | undefined;
  readonly onOpen: (one: CaseChange) => void;
  readonly onEnd: () => void;
}

function Rows({ cases, open, onOpen, onEnd }: RowsProps) {
  const height = useNarrow() ? narrowHeight : rowHeight;
  const heightOf = useCallback(() => height, [height]);
  return (
    <div className={styles['rows']}>
      <VirtualRows label="Cases of both" items={cases} {...{ keyOf, heightOf, onEnd }}>
        {(one, { isCurrent }) => (
          <ChangeRow
            one={one}
            isCurrent={isCurrent}
            isOpen={one.id === open?.id}
            onOpen={() => onOpen(one)}
          />
        )}
      </VirtualRows>
    </div>
  );
}

interface ChangeRowProps {
  readonly one: CaseChange;
  readonly isCurrent: boolean;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

function ChangeRow({ one, isCurrent, isOpen, onOpen }: ChangeRowProps) {
  const { baseline, candidate } = one;
  const [ring, words] = changeWords[one.change];
  const outputs = [
    ['outputA', baseline],
    ['outputB', candidate],
  ] as const;
  return (
    <button
      type="button"
      className={styles['change']}
      data-row
      data-open={isOpen || undefined}
      aria-expanded={isOpen}
      tabIndex={isCurrent ? 0 : -1}
      onClick={onOpen}
    >
      <Status status={ring}>{words}</Status>
      <b className={`${styles['caseId']} cut`}>
        <bdi>{firstLine(one.id, 120)}</bdi>
      </b>
      <span className={`${styles['rates']} number`}>
        {baseline === undefined ? '–' : percent(baseline.passRate)} →{' '}
        {candidate === undefined ? '–' : percent(candidate.passRate)}
      </span>
      {outputs.map(([place, side]) => (
        <span key={place} className={`${styles[place]} soft cut`}>
          <bdi>{firstLine(side?.output ?? side?.finding ?? '–', 200)}</bdi>
        </span>
      ))}
      <span className={`${styles['at']} number`}>
        {baseline === undefined || candidate === undefined
          ? ''
          : signed(candidate.durationMs - baseline.durationMs, duration)}
      </span>
    </button>
  );
}

function keyOf({ id }: CaseChange): string {
  return id;
}
