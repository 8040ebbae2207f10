import type { AuditEntry } from '@adjutant/server/client';

type Outcome = AuditEntry['outcome'];

/** Filter of the audit log, as its address says. */
export interface AuditFilters {
  readonly principal?: string;
  readonly action?: string;
  readonly outcome?: Outcome;
  /** Epoch milliseconds of the first entry. */
  readonly from?: number;
  /** Epoch milliseconds that no entry reaches. */
  readonly to?: number;
}

export const outcomeNames: readonly (readonly [Outcome, string])[] = [
  ['done', 'Done'],
  ['refused', 'Refused'],
  ['denied', 'Denied'],
  ['failed', 'Failed'],
];
const names = ['principal', 'action', 'outcome', 'from', 'to'] as const;

export type AuditFields = Readonly<Record<(typeof names)[number], string>>;

/** Reads the fields of an address, as they are typed. */
export function fieldsOf(search: string): AuditFields {
  const params = new URLSearchParams(search);
  const given = (name: string): string => params.get(name)?.trim() ?? '';
  return {
    principal: given('principal'),
    action: given('action'),
    outcome: outcomeNames.find(([name]) => name === given('outcome'))?.[0] ?? '',
    from: given('from'),
    to: given('to'),
  };
}

/** Returns the filter of the fields. What it does not know is left out. */
export function filtersOf({ principal, action, outcome, from, to }: AuditFields): AuditFilters {
  const found = {
    principal: principal || undefined,
    action: action || undefined,
    outcome: (outcome || undefined) as Outcome | undefined,
    from: timeOf(from),
    to: timeOf(to),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

/** Returns the address of the log with these fields. */
export function addressOf(fields: AuditFields): string {
  const params = new URLSearchParams();
  for (const name of names) if (fields[name].trim() !== '') params.set(name, fields[name].trim());
  return params.size === 0 ? '/audit' : `/audit?${params}`;
}

/** A time of the reader's zone, as `<input type="datetime-local">` writes it. */
function timeOf(text: string): number | undefined {
  const at = Date.parse(text);
  return Number.isNaN(at) || at < 0 ? undefined : at;
}
