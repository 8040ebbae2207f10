import { isAdjutantError } from '../../base/error.ts';
import { checkOptions } from '../../base/invalid-option.ts';
import { isCount, isNonEmptyText } from '../../base/options.ts';
import { InvalidCursorError } from '../../ledger/errors.ts';
import type { Comparison, EvalReport, VariantReport } from '../report.ts';
import { type CaseChange, type ComparedCases, compareCases } from './case-changes.ts';
import { EvalVariantNotFoundError, type UnreadableReason } from './errors.ts';
import { type KeptFile, ReportFolder } from './report-folder.ts';
import {
  type CaseFilter,
  type CaseOfVariant,
  filteredCases,
  type PageOptions,
  pageOf,
} from './report-pages.ts';

export interface EvalReportsOptions {
  /** Folder of the reports. It is made with the first one. */
  readonly folder: string;
  /** Bytes of the largest file that is read. @default 16_777_216 (16 MiB) */
  readonly maxBytes?: number;
}

/** A report without its cases. */
export interface EvalHead
  extends Omit<EvalReport, 'format' | 'v' | 'variants' | 'comparisons' | 'methods'> {
  readonly variants: readonly Omit<VariantReport, 'cases'>[];
}

/** A kept file in the list: its report, or the reason why it is none. */
export interface KeptEval {
  readonly id: string;
  readonly bytes: number;
  readonly report?: EvalHead;
  readonly problem?: { readonly reason: UnreadableReason; readonly detail: string };
}

export interface KeptEvalPage {
  /** Those of the newest runs first. */
  readonly reports: readonly KeptEval[];
  readonly cursor?: string;
}

/** A report with a page of its cases. */
export interface EvalDetails {
  readonly id: string;
  readonly report: EvalHead & Pick<EvalReport, 'methods' | 'comparisons'>;
  /** Cases that the filter leaves, on all pages: a case counts once with each variant. */
  readonly matches: number;
  readonly cases: readonly CaseOfVariant[];
  readonly cursor?: string;
}

/** One side of a comparison. */
export interface ComparedEval {
  readonly id: string;
  readonly name: string;
  readonly runId: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly variant: Omit<VariantReport, 'cases'>;
}

export interface CompareOptions extends PageOptions {
  /** The variant of the baseline. @default its first one */
  readonly variant?: string;
  /**
   * The variant of the candidate. @default of another report the one of the same name, else its
   * first one; of the same report the second one
   */
  readonly withVariant?: string;
}

/** Two variants, of one report or of two, case by case. */
export interface EvalComparison extends Pick<ComparedCases, 'counts'> {
  readonly baseline: ComparedEval;
  readonly candidate: ComparedEval;
  /** Differences over the cases that both have, with their intervals. */
  readonly comparison: Comparison;
  readonly cases: readonly CaseChange[];
  readonly cursor?: string;
}

/** Reports that are kept in a folder. */
export interface EvalReports {
  /**
   * Keeps a report. The same run of an eval again takes the place of the former.
   * @throws what the file system throws
   */
  keep(report: EvalReport): Promise<{ readonly id: string; readonly file: string }>;
  /**
   * A page of the kept reports. One that cannot be read is listed with the reason.
   * @throws InvalidCursorError
   */
  list(options?: PageOptions): Promise<KeptEvalPage>;
  /** @throws EvalReportNotFoundError, EvalReportUnreadableError */
  read(id: string): Promise<EvalReport>;
  /**
   * A report, with a page of its cases.
   * @throws EvalReportNotFoundError, EvalReportUnreadableError, EvalVariantNotFoundError,
   * InvalidCursorError
   */
  show(id: string, options?: CaseFilter & PageOptions): Promise<EvalDetails>;
  /**
   * Compares a report, the baseline, with another one, or two variants of the same.
   * @throws EvalReportNotFoundError, EvalReportUnreadableError, EvalVariantNotFoundError,
   * InvalidCursorError
   */
  compare(id: string, other: string, options?: CompareOptions): Promise<EvalComparison>;
}

/**
 * Opens a folder of reports. Nothing is read or made yet.
 * @throws InvalidOptionError
 * @example
 * ```ts
 * import { evalReports } from 'adjutant/eval';
 * const reports = evalReports({ folder: '.adjutant/evals' });
 * console.log((await reports.list()).reports.length);
 * ```
 */
export function evalReports(options: EvalReportsOptions): EvalReports {
  checkOptions<EvalReportsOptions>('evalReports', options, {
    folder: isNonEmptyText,
    maxBytes: isCount,
  });
  return new KeptReports(options);
}

const defaultMaxBytes = 16_777_216;
const usualLimit = 50;
/** Entries of the list that are remembered, so that it does not read each file every time. */
const mostKnown = 1_000;

class KeptReports implements EvalReports {
  readonly #folder: ReportFolder;
  readonly #known = new Map<string, { readonly stamp: string; readonly entry: KeptEval }>();

  constructor({ folder, maxBytes = defaultMaxBytes }: EvalReportsOptions) {
    this.#folder = new ReportFolder(folder, maxBytes);
  }

  keep(report: EvalReport): Promise<{ readonly id: string; readonly file: string }> {
    return this.#folder.keep(report);
  }

  read(id: string): Promise<EvalReport> {
    return this.#folder.read(id);
  }

  async list({ limit = usualLimit, cursor }: PageOptions = {}): Promise<KeptEvalPage> {
    if (cursor !== undefined && !/^[\w.-]+$/.test(cursor))
      throw new InvalidCursorError({ cursor, reason: 'it is not one that the list gave' });
    const ids = await this.#folder.ids();
    const rest = cursor === undefined ? ids : ids.filter((id) => id < cursor);
    const page = rest.slice(0, limit);
    const reports: KeptEval[] = [];
    // One after the other: a file may be large.
    for (const id of page) reports.push(...(await this.#entryOf(id)));
    const last = page.at(-1);
    return {
      reports,
      ...(rest.length > page.length && last !== undefined ? { cursor: last } : {}),
    };
  }

  async show(
    id: string,
    { limit, cursor, ...filter }: CaseFilter & PageOptions = {},
  ): Promise<EvalDetails> {
    const report = await this.#folder.read(id);
    if (filter.variant !== undefined) variantOf(id, report, filter.variant);
    const { methods, comparisons } = report;
    const matching = filteredCases(report, filter);
    const { items, ...rest } = pageOf(matching, pageOptions(limit, cursor));
    return {
      id,
      report: { ...headOf(report), methods, comparisons },
      matches: matching.length,
      cases: items,
      ...rest,
    };
  }

  async compare(id: string, other: string, options: CompareOptions = {}): Promise<EvalComparison> {
    const { limit, cursor, variant, withVariant } = options;
    const before = await this.#folder.read(id);
    const after = other === id ? before : await this.#folder.read(other);
    const baseline = variantOf(id, before, variant ?? before.variants[0]?.name);
    const candidate = variantOf(
      other,
      after,
      withVariant ?? usualCandidate(after, before, baseline),
    );
    const { cases, ...compared } = compareCases(baseline, candidate, before.confidence);
    const { items, ...rest } = pageOf(cases, pageOptions(limit, cursor));
    return {
      baseline: sideOf(id, before, baseline),
      candidate: sideOf(other, after, candidate),
      ...compared,
      cases: items,
      ...rest,
    };
  }

  /** Empty for a file that has gone meanwhile. */
  async #entryOf(id: string): Promise<readonly KeptEval[]> {
    try {
      const file = await this.#folder.find(id);
      const known = this.#known.get(id);
      if (known?.stamp === file.stamp) return [known.entry];
      const entry = await this.#read(file);
      this.#remember(file, entry);
      return [entry];
    } catch (error) {
      if (isAdjutantError(error, 'eval_report_not_found')) return [];
      throw error;
    }
  }

  async #read({ id, bytes }: KeptFile): Promise<KeptEval> {
    try {
      return { id, bytes, report: headOf(await this.#folder.read(id)) };
    } catch (error) {
      if (!isAdjutantError(error, 'eval_report_unreadable')) throw error;
      const { reason, detail } = error.data as NonNullable<KeptEval['problem']>;
      return { id, bytes, problem: { reason, detail } };
    }
  }

  #remember({ id, stamp }: KeptFile, entry: KeptEval): void {
    this.#known.delete(id);
    this.#known.set(id, { stamp, entry });
    const [oldest] = this.#known.keys();
    if (this.#known.size > mostKnown && oldest !== undefined) this.#known.delete(oldest);
  }
}

function pageOptions(limit: number | undefined, cursor: string | undefined): PageOptions {
  return { ...(limit === undefined ? {} : { limit }), ...(cursor === undefined ? {} : { cursor }) };
}

function headOf(report: EvalReport): EvalHead {
  const { format: _, v: __, comparisons: ___, methods: ____, variants, ...head } = report;
  return { ...head, variants: variants.map(withoutCases) };
}

function withoutCases({ cases: _, ...variant }: VariantReport): Omit<VariantReport, 'cases'> {
  return variant;
}

/** @throws EvalVariantNotFoundError */
function variantOf(id: string, { variants }: EvalReport, name = ''): VariantReport {
  const found = variants.find((one) => one.name === name);
  if (found !== undefined) return found;
  const known = variants.map((one) => one.name);
  throw new EvalVariantNotFoundError({ id, variant: name, variants: known });
}

function usualCandidate(
  after: EvalReport,
  before: EvalReport,
  baseline: VariantReport,
): string | undefined {
  const others = after.variants.filter((one) => after !== before || one !== baseline);
  const named = others.find(({ name }) => name === baseline.name);
  return (named ?? others[0] ?? baseline).name;
}

function sideOf(
  id: string,
  { name, runId, startedAt }: EvalReport,
  variant: VariantReport,
): ComparedEval {
  return { id, name, runId, startedAt, variant: withoutCases(variant) };
}
