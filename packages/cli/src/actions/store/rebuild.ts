import { isDeepStrictEqual } from 'node:util';
import type { Runtime } from 'adjutant';
import { defined } from 'adjutant/text';
import { openExisting, type ProjectFlags, withProject } from '../../app/project.ts';
import { exitCodes, UsageError } from '../../failure.ts';
import type { Host } from '../../host/host.ts';
import { formatCount } from '../../output/format.ts';
import { jsonLine } from '../../output/json-output.ts';
import { plainLine } from '../../output/plain-text.ts';

export interface RebuildCommandOptions extends ProjectFlags {
  readonly session?: string;
  readonly tenant?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly server?: string;
}

type Report = Awaited<ReturnType<Runtime['sessions']['rebuild']>>;
type Difference = Report['rebuilt'][number]['differences'][number];

/**
 * `adjutant rebuild`: makes rows anew that follow from ledgers. Exit code 1 means that a ledger
 * could not be read, or that a dry run has found differences.
 */
export async function rebuildStore(
  host: Host,
  { dryRun = false, json = false, server, session, tenant, ...options }: RebuildCommandOptions,
): Promise<number> {
  if (server !== undefined)
    throw new UsageError({
      reason:
        'adjutant rebuild works on a store that this machine can open. Leave --server out, and ' +
        'call it where the server runs, or with a configuration that names its database.',
    });
  const report = await withProject(openExisting(host, options), ({ app }) =>
    rebuildOf(app, tenant, defined({ dryRun, session })),
  );
  host.stdout.write(json ? jsonText(report, dryRun) : text(report, dryRun));
  const isWrong = report.failed.length > 0 || (dryRun && report.rebuilt.length > 0);
  return isWrong ? exitCodes.failed : exitCodes.ok;
}

async function rebuildOf(
  app: Runtime,
  tenant: string | undefined,
  options: { readonly dryRun: boolean; readonly session?: string },
): Promise<Report> {
  const its = tenant === undefined || tenant === app.tenant ? app : app.tenants.get(tenant);
  const report = await its.sessions.rebuild(options);
  if (tenant !== undefined && report.sessions === 0)
    throw new UsageError({
      reason: `The app "${app.app}" has no sessions of the tenant "${tenant}".`,
    });
  return report;
}

function jsonText({ failed, held, rebuilt, sessions }: Report, dryRun: boolean): string {
  const lines = [
    ...rebuilt.map((one) => ({ type: 'rebuilt', ...one })),
    ...held.map((session) => ({ type: 'held', session })),
    ...failed.map((one) => ({ type: 'failed', ...one })),
    {
      ...{ type: 'rebuild', dryRun, sessions, rebuilt: rebuilt.length },
      ...{ held: held.length, failed: failed.length },
    },
  ];
  return lines.map((line) => jsonLine(line)).join('');
}

function text({ failed, held, rebuilt, sessions }: Report, dryRun: boolean): string {
  const lines = [
    ...rebuilt.map(
      ({ differences, session }) => `${session}: ${differences.map(differenceText).join('; ')}`,
    ),
    ...held.map((session) => `${session}: left to the process that works on it`),
    ...failed.map(({ error, session }) => `${session}: ${error.code}: ${error.message}`),
  ];
  const all = formatCount(sessions, 'session');
  const end = dryRun
    ? `${rebuilt.length} of ${all} would be changed.`
    : `${rebuilt.length} of ${all} changed.`;
  const unread = failed.length === 0 ? '' : ` ${failed.length} could not be read.`;
  return [...lines.map(plainLine), `${end}${unread}`].map((line) => `${line}\n`).join('');
}

function differenceText({ id, rebuilt, row, stored }: Difference): string {
  const name = row === 'turn' || row === 'summary' ? `the ${row}` : `the ${row} "${id}"`;
  if (stored === undefined) return `${name} is missing`;
  if (rebuilt === undefined) return `${name} should not be there`;
  const members = [...new Set([...Object.keys(stored), ...Object.keys(rebuilt)])];
  const different = members.filter((member) => !isDeepStrictEqual(stored[member], rebuilt[member]));
  return `${name} differs in ${different.join(', ')}`;
}
