import { defined } from 'adjutant/text';
import { openAccess } from '../../access/open-access.ts';
import type { ServerFlags } from '../../access/server-flags.ts';
import type { ProjectFlags } from '../../app/project.ts';
import { exitCodes } from '../../failure.ts';
import { givenOrRead } from '../../host/given-text.ts';
import type { Host } from '../../host/host.ts';
import { jsonLine } from '../../output/json-output.ts';
import { plainLine } from '../../output/plain-text.ts';
import { givenJson } from '../given-value.ts';

export interface PublishOptions extends ProjectFlags, ServerFlags {
  readonly source?: string;
  /** The same id again is the same event. */
  readonly id?: string;
  readonly json?: boolean;
}

/** `adjutant publish <type> [json]`: publishes an event. */
export async function publishEvent(
  host: Host,
  { json, type }: { readonly type: string; readonly json: string | undefined },
  options: PublishOptions,
): Promise<number> {
  const { id: given, source } = options;
  const data = json === undefined ? undefined : givenJson(await givenOrRead(host, json));
  const access = await openAccess(host, options);
  const { id } = await access.publish({ type, ...defined({ id: given, source, data }) });
  if (options.json)
    host.stdout.write(jsonLine({ type: 'publish', status: 'posted', event: type, id }));
  else
    host.stdout.write(
      `"${plainLine(type)}" is published as ${plainLine(id)}. Triggers on it fire as soon as a ` +
        'worker hands it on.\n',
    );
  return exitCodes.ok;
}
