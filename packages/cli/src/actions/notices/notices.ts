import { openAccess } from '../../access/open-access.ts';
import type { ServerFlags } from '../../access/server-flags.ts';
import type { ProjectFlags } from '../../app/project.ts';
import { exitCodes } from '../../failure.ts';
import type { Host } from '../../host/host.ts';
import type { Interruption } from '../../host/interruption.ts';
import { jsonLine } from '../../output/json-output.ts';
import { notice as tell } from '../../output/notice.ts';
import { writeNotice, writeNoticeTable } from '../../output/notices/notice-text.ts';

export interface NoticePlaceFlags extends ProjectFlags, ServerFlags {
  readonly json?: boolean;
}

export interface NoticesOptions extends NoticePlaceFlags {
  readonly user?: string;
  readonly limit: number;
}

/** `adjutant notices list`: lists the notices of a user and what has become of each. */
export async function listNotices(host: Host, options: NoticesOptions): Promise<number> {
  const { limit, user } = options;
  const found = await (await openAccess(host, options)).notices.list({ limit, user });
  if (options.json) for (const notice of found) host.stdout.write(jsonLine(notice));
  else if (found.length === 0) host.stdout.write('There are no notices.\n');
  else writeNoticeTable(host, found);
  return exitCodes.ok;
}

/**
 * `adjutant notices follow`: shows the notices of the user of the key as they are sent, until a
 * signal ends it.
 */
export async function followNotices(
  { host, interruption }: { readonly host: Host; readonly interruption: Interruption },
  options: NoticePlaceFlags,
): Promise<number> {
  const leaving = new AbortController();
  return interruption.during(
    () => leaving.abort(),
    async () => {
      const notices = await (await openAccess(host, options)).notices.follow(leaving.signal);
      for await (const notice of notices) {
        if (options.json) host.stdout.write(jsonLine(notice));
        else writeNotice(host, notice);
        const { missed = 0 } = notice;
        if (missed > 0) tell(host, `${missed} before it are not shown: \`notices list\` has them.`);
      }
      return interruption.exitCode ?? exitCodes.ok;
    },
  );
}
