import type { Session } from 'adjutant';
import type { LedgerFile, RecordedLedger } from 'adjutant/testing';
import { exitCodes } from '../failure.ts';
import type { Host } from '../host.ts';
import { type SourceOptions, withLedgers } from '../ledger-source.ts';
import { diffLines } from '../output/diff-lines.ts';
import { jsonLine } from '../output/json-output.ts';
import { plainLine } from '../output/plain-text.ts';
import { styleFor } from '../output/style.ts';

export interface DiffCommandOptions extends SourceOptions {
  readonly json?: boolean;
}

/** `adjutant diff <a> <b>`: where two runs part. Exit code 1 says that they do. */
export function diffSessions(host: Host, a: string, b: string, options: DiffCommandOptions): Promise<number> {
  return withLedgers(host, options, async ({ ledger, testing }) => {
    const [first, second] = [await ledger(a), await ledger(b)];
    const asLedger = (one: Session | LedgerFile): RecordedLedger => ('format' in one ? one : testing.recordedLedgerOf(one));
    const divergence = testing.diffLedgers(asLedger(first), asLedger(second));
    const style = styleFor(host.stdout);
    if (options.json === true) host.stdout.write(jsonLine({ type: 'diff', a, b, divergence: divergence ?? null }));
    else if (divergence === undefined) host.stdout.write(`${style.green('✓')} ${plainLine(a)} and ${plainLine(b)} do the same.\n`);
    else
      host.stdout.write(
        `${[`${style.red('✗')} ${plainLine(`${a} (-) and ${b} (+) part.`)}`, '', ...diffLines(style, testing.divergenceText(divergence))].join('\n')}\n`,
      );
    return divergence === undefined ? exitCodes.ok : exitCodes.failed;
  });
}
