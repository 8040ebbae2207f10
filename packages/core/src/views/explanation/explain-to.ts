import { InvalidOptionError } from '../../base/invalid-option.ts';
import type { Event } from '../../ledger/event.ts';
import type { AnySession } from '../../session/session.ts';
import { type AuditedEvent, auditTrace } from './audit-trace.ts';
import type { ExplainedRunOptions } from './explained-run.ts';
import { type Explanation, explanationOf } from './explanation.ts';
import { paragraphOf } from './paragraph.ts';

/** Explanations by their readers. */
export interface ExplanationFor {
  /** One paragraph of plain text. */
  readonly user: string;
  /** The conclusion with its evidence. */
  readonly developer: Explanation;
  /** Every event with its time and its causes. */
  readonly auditor: readonly AuditedEvent[];
}

/**
 * Explains a run to a reader, from its ledger and without a model: the same ledger gives the same
 * explanation.
 * @throws InvalidOptionError also when there is no such run
 */
export function explainTo<Reader extends keyof ExplanationFor>(
  reader: Reader,
  source: AnySession | readonly Event[],
  options: ExplainedRunOptions = {},
): ExplanationFor[Reader] {
  if (!Object.hasOwn(forms, reader)) {
    const readers = Object.keys(forms).join(', ');
    const reason = `its reader must be one of ${readers}, not ${String(reader)}`;
    throw new InvalidOptionError({ function: 'explainTo', reason });
  }
  return forms[reader](source, options);
}

const forms: {
  readonly [Reader in keyof ExplanationFor]: (
    source: AnySession | readonly Event[],
    options: ExplainedRunOptions,
  ) => ExplanationFor[Reader];
} = {
  user: (source, options) => paragraphOf(explanationOf(source, options)),
  developer: explanationOf,
  auditor: auditTrace,
};
