import { expect } from '../expectation.ts';
import type { Ran } from './shell.ts';

/** The exit code and the output of a line, for an expectation that does not hold. */
export function printed({ code, output }: Ran): string {
  return `exit code ${code}\n${output}`;
}

export function expectCode(ran: Ran, code = 0): void {
  expect(`${ran.line}  (exit code ${code})`, ran.code === code, printed(ran));
}
