import { defined } from 'adjutant/text';
import type { FoundOutcome } from '../access/app-access.ts';
import { openAccess } from '../access/open-access.ts';
import type { ServerFlags } from '../access/server-flags.ts';
import type { ProjectFlags } from '../app/project.ts';
import { exitCodes, UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { jsonLine } from '../output/json-output.ts';
import { plainLine } from '../output/plain-text.ts';
import { givenJson } from './given-value.ts';

export interface ResolveOptions extends ProjectFlags, ServerFlags {
  readonly happened?: boolean;
  /** Result of what took place, as JSON. */
  readonly result?: string;
  readonly notHappened?: boolean;
  readonly failed?: string;
  readonly json?: boolean;
}

/** `adjutant resolve <session> <call>`: records the outcome of a call or an effect. */
export async function resolveOutcome(
  host: Host,
  session: string,
  callId: string,
  { happened, result, notHappened, failed, json, ...options }: ResolveOptions,
): Promise<number> {
  const found = foundOutcome({ happened, result, notHappened, failed });
  const access = await openAccess(host, options);
  await access.resolveUnknown(session, callId, found);
  const text = plainLine(`The outcome of "${callId}" is recorded.`);
  host.stdout.write(
    json ? jsonLine({ type: 'resolve', session, callId, status: 'recorded' }) : `${text}\n`,
  );
  return exitCodes.ok;
}

/** Returns the outcome that the flags tell. @throws UsageError when they tell none */
function foundOutcome({
  happened,
  result,
  notHappened,
  failed,
}: {
  readonly [Flag in 'happened' | 'result' | 'notHappened' | 'failed']: ResolveOptions[Flag];
}): FoundOutcome {
  if (happened === true || result !== undefined)
    return { happened: true, ...(result === undefined ? {} : { result: givenJson(result) }) };
  if (notHappened === true || failed !== undefined)
    return { happened: false, ...defined({ failed }) };
  throw new UsageError({
    reason: 'Tell what became of it: --happened, --result, --not-happened or --failed.',
  });
}
