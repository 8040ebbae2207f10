import { defined } from 'adjutant/text';
import { openAccess } from '../../access/open-access.ts';
import type { ServerFlags } from '../../access/server-flags.ts';
import { lanesOf, openRunOf } from '../../app/open-run.ts';
import type { ProjectFlags } from '../../app/project.ts';
import { exitCodes } from '../../failure.ts';
import { givenOrRead } from '../../host/given-text.ts';
import type { Host } from '../../host/host.ts';
import { jsonLine } from '../../output/json-output.ts';
import { laneWords } from '../../output/lane-text.ts';
import { plainLine } from '../../output/plain-text.ts';
import { styleFor } from '../../output/style.ts';
import { commandLine } from '../carry-out.ts';
import { forkEdit } from './fork-edit.ts';

export interface ForkCommandOptions extends ProjectFlags, ServerFlags {
  /** Last event of the fork, as its `seq`. */
  readonly at: number;
  readonly id?: string;
  /** Edits of the state with which it begins: `[scope:]key=value`. */
  readonly set?: readonly string[];
  /** Keys of the state without which it begins: `[scope:]key`. */
  readonly unset?: readonly string[];
  /** Instructions of the agent in the fork. */
  readonly instructions?: string;
  readonly agent?: string;
  /** Text in the place of the last message of the user. */
  readonly message?: string;
  readonly json?: boolean;
}

/** `adjutant fork <session> --at <seq>`: makes a new session with the events up to that one. */
export async function forkSession(
  host: Host,
  named: string,
  { at, id, json, set, unset, instructions, agent, message, ...options }: ForkCommandOptions,
): Promise<number> {
  const text = instructions === undefined ? undefined : await givenOrRead(host, instructions);
  const edit = forkEdit({ ...defined({ set, unset, agent, message, instructions: text }) });
  const access = await openAccess(host, options);
  const details = { at, ...defined({ id, edit }) };
  const { from, session: fork } = await access.fork(named, details);
  if (json) {
    host.stdout.write(jsonLine({ type: 'fork', session: fork.id, from, at }));
    return exitCodes.ok;
  }
  const lanes = lanesOf(fork).filter((lane) => openRunOf(fork, lane) !== undefined);
  const lane = lanes.includes(undefined) ? undefined : lanes[0];
  const next =
    lanes.length > 0 ? ['resume', fork.id, ...laneWords(lane)] : ['run', '…', '--session', fork.id];
  host.stdout.write(
    `${plainLine(`Session ${fork.id} has the first ${at} events of ${from}.`)} Go on ` +
      `with: ${styleFor(host.stdout).bold(commandLine(next, options))}\n`,
  );
  return exitCodes.ok;
}
