import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './run-cli.ts';

export const invoicesPath = 'examples/workspace/invoices.csv';
export const goal = `Add up the unpaid invoices in ${invoicesPath} and tell me 15% of the total`;

export function readInvoices(): string {
  return readFileSync(join(repositoryRoot, invoicesPath), 'utf8');
}

/** The sum of the unpaid invoices, reckoned in cents and without any of the code under test. */
function unpaidCents(csv: string): number {
  const amounts = [...csv.matchAll(/,(\d+)\.(\d\d),EUR,unpaid,/g)];
  return amounts.reduce((sum, [, whole, cents]) => sum + Number(whole) * 100 + Number(cents), 0);
}

/** The total and 15 % of it, as they are to be printed: without zeros at the end. */
export function expectedNumbers(csv: string): { total: string; share: string } {
  const cents = unpaidCents(csv);
  return { total: String(cents / 100), share: String((cents * 15) / 10_000) };
}
