import type { Runtime } from 'adjutant';
import { assertDurable } from '../../app/durable-store.ts';
import { openWorkingApp, type ServedOptions } from '../../app/served-app.ts';
import { exitCodes, UsageError } from '../../failure.ts';
import type { Host } from '../../host/host.ts';
import type { Interruption } from '../../host/interruption.ts';
import { jsonLine } from '../../output/json-output.ts';
import { notice } from '../../output/notice.ts';
import { plainLine } from '../../output/plain-text.ts';
import { type TaskReport, taskLog, taskReportLine } from '../../output/task-log.ts';
import { untilStopped } from '../serve.ts';

export interface WorkerOptions extends ServedOptions {
  /** Number of sessions that it works on at the same time. @default that of the app */
  readonly slots?: number;
  /** Queues that it serves. @default those of the app */
  readonly queues?: readonly string[];
  readonly json?: boolean;
}

export interface WorkerContext {
  readonly host: Host;
  readonly interruption: Interruption;
  readonly options: WorkerOptions;
}

/**
 * `adjutant worker`: works on the tasks of the user's app, or else of the command line's agent,
 * until a signal ends it. Its open runs are released then, and go on in another process.
 */
export async function work({ host, interruption, options }: WorkerContext): Promise<number> {
  setWork(options);
  const { announce, app } = await openWorkingApp(host, options);
  announce();
  try {
    assertDurable(app, 'no other process can give this one work');
    if (!app.recovery.isAutomatic)
      throw new UsageError({
        reason:
          `The app "${app.app}" takes no work by itself (recover: 'manual'). Leave that option ` +
          "out, or set it to 'auto'.",
      });
    const end = app.streams.observe(taskLog((report) => tell(host, options, report)));
    say(host, app, options);
    const letEnd = keepAlive(host);
    await interruption.during(...untilStopped());
    letEnd();
    if (options.json !== true) notice(host, 'Ending. A second signal ends it at once.');
    end();
  } finally {
    await app.close();
  }
  if (options.json !== true) notice(host, 'Ended. Open tasks go on with another worker.');
  return exitCodes.ok;
}

const hourMs = 3_600_000;

/** Keeps the process alive while it waits for work: the timers of the app do not. */
function keepAlive({ clock }: Host): () => void {
  let cancel = (): void => undefined;
  const again = (): void => {
    cancel = clock.setTimer(hourMs, again);
  };
  again();
  return () => cancel();
}

/** Sets the variables that say what runtimes of this process work on. */
function setWork({ slots, queues }: WorkerOptions): void {
  if (slots !== undefined) process.env['ADJUTANT_SLOTS'] = String(slots);
  if (queues !== undefined) process.env['ADJUTANT_QUEUES'] = queues.join(',');
}

function say({ stdout }: Host, app: Runtime, options: WorkerOptions): void {
  const { engine, json, queues, slots } = options;
  if (json) {
    stdout.write(jsonLine({ type: 'working', app: app.app, slots, queues, engine }));
    return;
  }
  const details = [
    ...(queues === undefined ? [] : [`queues ${queues.map(plainLine).join(', ')}`]),
    ...(slots === undefined ? [] : [`${slots} at the same time`]),
    ...(engine === undefined ? [] : [`engine ${engine}`]),
  ];
  const about = details.length === 0 ? '' : ` (${details.join(', ')})`;
  stdout.write(`Working on the app ${plainLine(app.app)}${about}. Ctrl-C ends it.\n`);
}

function tell({ stdout }: Host, { json }: WorkerOptions, report: TaskReport): void {
  stdout.write(json ? jsonLine(report) : `${taskReportLine(report)}\n`);
}
