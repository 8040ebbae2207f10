import type { CheckReport, SessionCheck, SessionVerdict } from 'adjutant/replay';
import { exitCodes, UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import type { ConfigOptions } from '../modules/find-config.ts';
import { loadApp, replayingFor } from '../modules/load-module.ts';
import { formatCount } from '../output/format.ts';
import { jsonLine } from '../output/json-output.ts';
import { plainLine } from '../output/plain-text.ts';
import { type Style, styleFor } from '../output/style.ts';

export interface CheckCommandOptions extends ConfigOptions {
  readonly tenant?: readonly string[];
  readonly runSteps?: boolean;
  readonly json?: boolean;
}

/**
 * `adjutant check`: tells which open runs today's code can continue. Exit code 1 means that it
 * cannot continue one.
 */
export async function checkApp(
  host: Host,
  sessions: readonly string[],
  options: CheckCommandOptions,
): Promise<number> {
  const configured = await loadApp(host, options);
  if (configured === undefined)
    throw new UsageError({
      reason:
        'adjutant check holds the code of your app against its store: write ' +
        'adjutant.config.ts, or name it with --config.',
    });
  const { app } = configured;
  try {
    const { checkSessions } = await replayingFor(host, configured);
    const tenants = options.tenant ?? [app.tenant];
    const reports: CheckReport[] = [];
    for (const tenant of new Set(tenants)) {
      const its = tenant === app.tenant ? app : app.tenants.get(tenant);
      reports.push(
        await checkSessions(its, {
          runSteps: options.runSteps === true,
          ...(sessions.length === 0 ? {} : { sessions }),
        }),
      );
    }
    const [first] = reports as [CheckReport, ...CheckReport[]];
    const report = { ...first, sessions: reports.flatMap((one) => one.sessions) };
    host.stdout.write(options.json === true ? jsonText(report) : text(host, report));
    return counted(report.sessions, 'refused') > 0 ? exitCodes.failed : exitCodes.ok;
  } finally {
    await app.close().catch(() => undefined);
  }
}

function counted(sessions: readonly SessionCheck[], verdict: SessionVerdict): number {
  return sessions.filter((session) => session.verdict === verdict).length;
}

function jsonText({ sessions, undeclaredTools, undeclaredSteps }: CheckReport): string {
  const lines = sessions.map((session) => jsonLine({ type: 'session', ...session }));
  return [...lines, jsonLine({ type: 'check', undeclaredTools, undeclaredSteps })].join('');
}

function text(host: Host, { sessions, undeclaredTools, undeclaredSteps }: CheckReport): string {
  const style = styleFor(host.stdout);
  const lines = sessions.map((session) => line(style, session));
  const counts = [
    `${counted(sessions, 'goes_on')} can go on`,
    `${counted(sessions, 'refused')} cannot`,
    `${counted(sessions, 'unknown')} not known`,
  ];
  lines.push(`${formatCount(sessions.length, 'open run')}: ${counts.join(', ')}.`);
  if (undeclaredTools.length > 0)
    lines.push(
      `Tools that say nothing of recovery: ${undeclaredTools.map(plainLine).join(', ')}. After a ` +
        'crash in the middle of a call the model is told that its outcome is not known. Give ' +
        'them `readOnly`, `idempotent`, `destructive` or `recovery`.',
    );
  if (undeclaredSteps.length > 0)
    lines.push(
      `Steps that do not say \`effects: false\`: ${undeclaredSteps.map(plainLine).join(', ')}. ` +
        'Say it of those that do nothing outside but by `ctx`, as `ctx.effect`, `ctx.call` and ' +
        '`ctx.ask` do.',
    );
  return `${lines.join('\n')}\n`;
}

const marks: Readonly<Record<SessionVerdict, string>> = {
  goes_on: '✓',
  refused: '✗',
  unknown: '?',
};

function line(style: Style, { session, runnable, verdict, code, reason }: SessionCheck): string {
  const mark = marks[verdict];
  const shown =
    verdict === 'refused' ? style.red(mark) : verdict === 'goes_on' ? style.green(mark) : mark;
  const why = [code, reason].filter((part) => part !== undefined).map(plainLine);
  const said = why.length === 0 ? '' : `: ${why.join(': ')}`;
  const of = runnable === undefined ? '' : ` (${plainLine(runnable)})`;
  return `${shown} ${plainLine(session)}${of}${said}`;
}
