import type { EvalQuery } from '@adjutant/server/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useNamed } from '../../address/location.ts';
import { api } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { CopyMenu } from '../../components/copy/copy-menu.tsx';
import { count, duration, fullTime } from '../../components/format.ts';
import { PageHead, Space } from '../../components/page-head.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { Segmented } from '../../components/segmented.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { Failure, PlaceHolder, Reading } from '../../components/states.tsx';
import { Status } from '../../components/status.tsx';
import { useLate } from '../../components/use-late.ts';
import { useNarrow } from '../../components/use-narrow.ts';
import { VirtualRows } from '../../components/virtual-rows.tsx';
import { firstLine } from '../../components/visible-text.ts';
import { Bar } from './bar.tsx';
import { CaseDrawer } from './case-drawer.tsx';
import {
  type EvalCase,
  type EvalHead,
  passedCase,
  percent,
  price,
  reportPath,
  scoreText,
  variantText,
  verdictOf,
} from './eval-words.ts';
import styles from './evals-page.module.css';

const names = ['outcome', 'variant', 'text', 'case', 'of'] as const;
type Fields = Readonly<Record<(typeof names)[number], string>>;

/** One report: its figures, and its cases. */
export function EvalPage() {
  const id = useNamed('report') ?? '';
  const { fields, change } = useFields(id);
  const list = useCases(id, fields);
  const { head, cases, matches, error, refetch, readMore } = list;
  const close = useCallback(() => change({ case: '', of: '' }), [change]);
  if (head === undefined)
    return (
      <>
        <PageHead title="Eval" />
        {error === null ? (
          <Reading what="the report" rows={8} />
        ) : (
          <Failure error={error} what="The report" onRetry={() => void refetch()} />
        )}
      </>
    );
  return (
    <>
      <Head id={id} head={head} />
      <Summary head={head} />
      <FilterBar {...{ fields, change, head, matches }} />
      {cases.length === 0 ? (
        <PlaceHolder title="No case matches." />
      ) : (
        <Rows cases={cases} fields={fields} change={change} onEnd={readMore} />
      )}
      {fields.case === '' ? null : (
        <CaseDrawer report={id} id={fields.case} variant={fields.of} onClose={close} />
      )}
    </>
  );
}

/** Filter and open case, as the address has them. */
function useFields(id: string) {
  const search = useSearch();
  const [, go] = useLocation();
  const fields = useMemo(() => {
    const params = new URLSearchParams(search);
    return Object.fromEntries(names.map((name) => [name, params.get(name) ?? ''])) as Fields;
  }, [search]);
  const change = useCallback(
    (changed: Partial<Fields>) => {
      const all = Object.entries({ ...fields, ...changed }).filter(([, value]) => value !== '');
      const params = new URLSearchParams(all);
      const path = reportPath(id);
      go(params.size === 0 ? path : `${path}?${params}`, { replace: true });
    },
    [fields, go, id],
  );
  return { fields, change };
}

function useCases(id: string, { outcome, variant, text }: Fields) {
  const filter: EvalQuery = {
    ...(outcome === 'passed' || outcome === 'failed' ? { outcome } : {}),
    ...(variant === '' ? {} : { variant }),
    ...(text === '' ? {} : { text: text.slice(0, 500) }),
  };
  const pages = useInfiniteQuery({
    queryKey: ['evals', id, filter],
    queryFn: ({ pageParam, signal }) =>
      api.evals.get(id, { ...filter, ...(pageParam && { cursor: pageParam }) }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.cursor,
    placeholderData: (before) => before,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { data, hasNextPage, isFetching, fetchNextPage } = pages;
  const cases = useMemo(() => data?.pages.flatMap((page) => page.cases) ?? [], [data]);
  const readMore = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  const [first] = data?.pages ?? [];
  return { ...pages, head: first?.report, matches: first?.matches ?? 0, cases, readMore };
}

function Head({ id, head }: { readonly id: string; readonly head: EvalHead }) {
  const [, go] = useLocation();
  const [ring, words] = verdictOf(head);
  const other = `/evals/compare?a=${encodeURIComponent(id)}`;
  return (
    <PageHead title={firstLine(head.name, 80)}>
      <Status status={ring} isPill>
        {words}
      </Status>
      <Space />
      <Button
        icon="compare"
        onPress={() =>
          go(head.variants.length > 1 ? `${other}&b=${encodeURIComponent(id)}` : other)
        }
      >
        {head.variants.length > 1 ? 'Compare variants' : 'Compare'}
      </Button>
      <CopyMenu
        what="the report"
        copied={() => ({
          title: `Eval ${head.name}, run ${head.runId}`,
          facts: [
            ['Verdict', words],
            ['Begun', fullTime(head.startedAt)],
            ...head.variants.map(
              (one) =>
                [
                  variantText(one),
                  `${one.summary.passed} of ${one.summary.trials} trials passed, ` +
                    `${duration(one.summary.durationMs.mean)} each, ${price(one.summary.cost?.total)}`,
                ] as const,
            ),
          ],
          data: head,
          request: { path: ['evals', id] },
        })}
      />
    </PageHead>
  );
}

/** Figures of each variant. */
function Summary({ head }: { readonly head: EvalHead }) {
  return (
    <section className={styles['summary']} aria-label="Summary">
      <p className={styles['about']}>
        <span>{fullTime(head.startedAt)}</span>
        <span>
          {count(head.done)} of {count(head.total)} trials
        </span>
        <span>threshold {percent(head.threshold ?? 1)}</span>
        <span>
          run <bdi className="mono">{firstLine(head.runId, 60)}</bdi>
        </span>
      </p>
      <div className={styles['variants']}>
        {head.variants.map((one) => (
          <dl key={one.name} aria-label={firstLine(one.name, 80)}>
            <div className={styles['variant']}>
              <dt>Variant</dt>
              <dd>
                <bdi>{firstLine(variantText(one), 120)}</bdi>
              </dd>
            </div>
            <div>
              <dt>Passed</dt>
              <dd>
                <b>{percent(one.summary.passRate.value)}</b>
                <Bar share={one.summary.passRate.value} />
                <span className="faint">
                  {percent(one.summary.passRate.low)}–{percent(one.summary.passRate.high)}
                </span>
              </dd>
            </div>
            {Object.entries(one.summary.scores).map(([scorer, { mean }]) => (
              <div key={scorer}>
                <dt className="cut">{firstLine(scorer, 40)}</dt>
                <dd>{scoreText(mean)}</dd>
              </div>
            ))}
            <div>
              <dt>Time</dt>
              <dd>{duration(one.summary.durationMs.mean)}</dd>
            </div>
            <div>
              <dt>Cost</dt>
              <dd>{price(one.summary.cost?.total)}</dd>
            </div>
          </dl>
        ))}
      </div>
    </section>
  );
}

interface FilterProps {
  readonly fields: Fields;
  readonly change: (changed: Partial<Fields>) => void;
  readonly head: EvalHead;
  readonly matches: number;
}

function FilterBar({ fields, change, head, matches }: FilterProps) {
  const [typed, setTyped] = useState(fields.text);
  const late = useLate(typed);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what was typed is taken over
  useEffect(() => {
    if (late !== fields.text) change({ text: late });
  }, [late]);
  return (
    <div className={styles['filters']} role="search" aria-label="Filter the cases">
      <Segmented
        label="Outcome"
        value={fields.outcome}
        onChange={(outcome) => change({ outcome })}
        options={[
          ['', 'All'],
          ['failed', 'Failed'],
          ['passed', 'Passed'],
        ]}
      />
      <SearchField
        label="Text of cases"
        placeholder="Id, message, answer, finding"
        value={typed}
        onChange={setTyped}
      />
      {head.variants.length < 2 ? null : (
        <SelectField
          label="Variant"
          value={fields.variant}
          options={[
            ['', 'All variants'],
            ...head.variants.map(({ name }) => [name, firstLine(name, 60)] as const),
          ]}
          onChange={(variant) => change({ variant })}
        />
      )}
      <span className="faint number">{count(matches)}</span>
    </div>
  );
}

const rowHeight = 36;
const narrowHeight = 60;

interface RowsProps {
  readonly cases: readonly EvalCase[];
  readonly fields: Fields;
  readonly change: (changed: Partial<Fields>) => void;
  readonly onEnd: () => void;
}

function Rows({ cases, fields, change, onEnd }: RowsProps) {
  const height = useNarrow() ? narrowHeight : rowHeight;
  const heightOf = useCallback(() => height, [height]);
  return (
    <div className={styles['rows']}>
      <VirtualRows label="Cases" items={cases} {...{ keyOf, heightOf, onEnd }}>
        {(one, { isCurrent }) => (
          <CaseRow
            one={one}
            isCurrent={isCurrent}
            isOpen={one.id === fields.case && one.variant === fields.of}
            onOpen={() => change({ case: one.id, of: one.variant })}
          />
        )}
      </VirtualRows>
    </div>
  );
}

interface CaseRowProps {
  readonly one: EvalCase;
  readonly isCurrent: boolean;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

function CaseRow({ one, isCurrent, isOpen, onOpen }: CaseRowProps) {
  const { trials } = one;
  const isPassed = passedCase(one);
  const shown = trials.find(({ passed }) => !passed) ?? trials[0];
  const finding = shown?.scores.find(({ passed }) => !passed)?.explanation ?? shown?.error?.message;
  const passed = trials.filter((trial) => trial.passed).length;
  return (
    <button
      type="button"
      className={styles['case']}
      data-row
      data-open={isOpen || undefined}
      aria-expanded={isOpen}
      tabIndex={isCurrent ? 0 : -1}
      onClick={onOpen}
    >
      <Status status={isPassed ? 'completed' : trials.length === 0 ? 'queued' : 'failed'}>
        {trials.length === 0 ? 'Not run' : isPassed ? 'Passed' : 'Failed'}
      </Status>
      <b className={`${styles['caseId']} cut`}>
        <bdi>{firstLine(one.id, 120)}</bdi>
      </b>
      <span className={`${styles['ofVariant']} faint cut`}>
        <bdi>{firstLine(one.variant, 60)}</bdi>
      </span>
      <span className={`${styles['finding']} soft cut`}>
        <bdi>{firstLine(finding ?? shown?.turns.at(-1)?.assistant ?? '', 200)}</bdi>
      </span>
      <span className={`${styles['trials']} faint number`}>
        {trials.length === 1 ? duration(shown?.durationMs ?? 0) : `${passed} of ${trials.length}`}
      </span>
    </button>
  );
}

function keyOf({ id, variant }: EvalCase): string {
  return `${variant} ${id}`;
}
