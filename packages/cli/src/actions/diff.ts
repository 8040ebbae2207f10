import type { LedgerDifference } from 'adjutant/replay';
import { exitCodes } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { type SourceOptions, withLedgers } from '../modules/ledger-source.ts';
import { diffLines } from '../output/diff-lines.ts';
import { jsonLine } from '../output/json-output.ts';
import { plainLine } from '../output/plain-text.ts';
import { styleFor } from '../output/style.ts';

export interface DiffCommandOptions extends SourceOptions {
  readonly json?: boolean;
}

/** `adjutant diff <a> [b]`: shows where two runs differ. Exit code 1 means that they do. */
export function diffSessions(
  host: Host,
  a: string,
  b: string,
  options: DiffCommandOptions,
): Promise<number> {
  return withLedgers(host, options, async ({ ledger, replaying }) => {
    const divergence = replaying.diffLedgers(await ledger(a), await ledger(b));
    if (options.json === true)
      host.stdout.write(jsonLine({ type: 'diff', a, b, divergence: divergence ?? null }));
    else
      host.stdout.write(
        divergence === undefined
          ? sameText(host, a, b)
          : partingText(host, a, b, divergence, replaying.divergenceText(divergence)),
      );
    return divergence === undefined ? exitCodes.ok : exitCodes.failed;
  });
}

function sameText(host: Host, a: string, b: string): string {
  return `${styleFor(host.stdout).green('✓')} ${plainLine(`${a} and ${b} do the same.`)}\n`;
}

function partingText(
  host: Host,
  a: string,
  b: string,
  { seq, otherSeq }: LedgerDifference,
  text: string,
): string {
  const style = styleFor(host.stdout);
  const where =
    otherSeq === undefined
      ? `at event ${seq} of the first`
      : `at event ${seq} of the first, event ${otherSeq} of the second`;
  const verdict = `${style.red('✗')} ${plainLine(`${a} (-) and ${b} (+) part`)} ${where}.`;
  return `${[verdict, '', ...diffLines(style, text)].join('\n')}\n`;
}
