import type { Ran } from './shell.ts';

export const counts = { passed: 0, failed: 0 };

/** Counts and reports an expectation, with what was printed when it does not hold. */
export function expect(what: string, holds: boolean, ran?: Ran): void {
  counts[holds ? 'passed' : 'failed']++;
  console.log(`${holds ? 'ok  ' : 'FAIL'} ${what}`);
  if (!holds && ran !== undefined)
    console.log(`     exit code ${ran.code}\n${ran.output.replace(/^/gm, '     ')}`);
}

export function expectCode(ran: Ran, code = 0): void {
  expect(`${ran.line}  (exit code ${code})`, ran.code === code, ran);
}
