import { AdjutantError } from '../../base/error.ts';

/** No report is kept under this id in the folder of reports. */
export class EvalReportNotFoundError extends AdjutantError {
  constructor(data: { id: string }) {
    super('eval_report_not_found', `No report is kept under the id "${data.id}".`, data);
  }
}

/** Reason for which a kept file is not used as a report. */
export type UnreadableReason = 'too_large' | 'not_json' | 'unknown_version' | 'damaged';

/** A kept file is no report that this version reads. Others of the folder are not concerned. */
export class EvalReportUnreadableError extends AdjutantError {
  constructor(data: { id: string; reason: UnreadableReason; detail: string }) {
    super(
      'eval_report_unreadable',
      `The report "${data.id}" cannot be read: ${data.detail}.`,
      data,
    );
  }
}

/** The two sides of a comparison, or a filter, name a variant that the report does not have. */
export class EvalVariantNotFoundError extends AdjutantError {
  constructor(data: { id: string; variant: string; variants: readonly string[] }) {
    const known = data.variants.map((name) => `"${name}"`).join(', ') || 'none';
    super(
      'eval_variant_not_found',
      `The report "${data.id}" has no variant "${data.variant}". There is ${known}.`,
      data,
    );
  }
}
