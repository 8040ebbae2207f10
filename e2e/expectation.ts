export const counts = { passed: 0, failed: 0 };

/** Counts and reports an expectation, with more about it when it does not hold. */
export function expect(what: string, holds: boolean, more = ''): void {
  counts[holds ? 'passed' : 'failed']++;
  console.log(`${holds ? 'ok  ' : 'FAIL'} ${what}`);
  if (!holds && more !== '') console.log(more.replace(/^/gm, '     '));
}
