import type { JsonObject } from '../../base/json.ts';
import type { RequestAnswer } from '../../engine/requests/check.ts';
import type { LedgerStore, RequestRow } from '../../ledger/port.ts';
import type { Runtime } from '../../runtime.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { FaultPlan } from './faults.ts';
import type { MachineRoom } from './machine-room.ts';
import type { World } from './world.ts';

/** Milliseconds after which a caller asks again elsewhere. */
const patienceMs = 120_000;
/** Milliseconds between two looks at what waits for people. */
const lookEveryMs = 30_000;
/** Milliseconds that people take to answer, at least and at most. */
const thinking = { fastest: 500, slowest: 3_600_000 };
const mostTries = 200;

/** A run that people ask for, and their answers to what it asks. */
export interface SimulatedProgram {
  /** Name of the runnable. */
  readonly run: string;
  /** Message of the user. */
  readonly input?: string;
  readonly data?: JsonObject;
  /** Id of the user, whose scope the session shares with other sessions. */
  readonly user?: string;
  /**
   * Answer to a request of the run. @default the first option or the last, as drawn; with an input
   * of `'yes'` where one is asked for
   */
  readonly answer?: (request: RequestRow) => RequestAnswer;
}

/** A program with the session and the run that it has in a simulation. */
export interface StartedProgram {
  readonly program: SimulatedProgram;
  readonly index: number;
  readonly session: string;
  readonly runId: string;
  /** True when the store has confirmed the request. */
  isAccepted: boolean;
}

interface PeopleParts {
  readonly world: World;
  readonly plan: FaultPlan;
  readonly room: MachineRoom;
  /** The ledgers, as people see them: without a network in between. */
  readonly ledgers: LedgerStore;
  /** Finds a runnable of the app of a process by its name. */
  readonly runnable: (app: Runtime, name: string) => Runnable;
}

/** The people around the machines: they ask for runs, and answer what the runs ask. */
export class People {
  readonly started: StartedProgram[] = [];
  /** Answers that were confirmed, by the ids of the requests. */
  readonly answered = new Map<string, Set<string>>();
  readonly #parts: PeopleParts;
  readonly #seen = new Set<string>();
  #isQuick = false;

  constructor(parts: PeopleParts) {
    this.#parts = parts;
    parts.world.after(lookEveryMs, () => void this.#look());
  }

  /** From now on, all requests are answered soon. */
  hurry(): void {
    this.#isQuick = true;
    this.#seen.clear();
  }

  /** Asks for a run, again and again until the store has it. */
  async start(program: SimulatedProgram, index: number): Promise<void> {
    const names = { session: `s${index}`, runId: `run${index}` };
    const started = { program, index, ...names, isAccepted: false };
    this.started.push(started);
    for (let asked = 1; !started.isAccepted && asked <= mostTries; asked++)
      await this.#ask(started, asked);
  }

  async #ask(started: StartedProgram, asked: number): Promise<void> {
    const { room, runnable, world } = this.#parts;
    const { program, runId, session: id } = started;
    const place = `ask ${runId} ${asked}`;
    const found = room.someApp(place);
    if (found !== undefined) {
      const { app, process } = found;
      world.note(`${runId} is asked for at ${process.name}`);
      const { data, input, run, user } = program;
      const asking = async (): Promise<void> => {
        const session = await app.sessions.open(user === undefined ? { id } : { id, userId: user });
        const running = app.run(runnable(app, run), {
          session,
          runId,
          ...(input === undefined ? {} : { input }),
          ...(data === undefined ? {} : { data }),
        });
        running.catch((error: unknown) => world.note(`${runId} is refused: ${textOf(error)}`));
        await running.accepted();
        started.isAccepted = true;
        world.note(`${runId} is accepted`);
      };
      await Promise.race([
        asking().catch((error: unknown) => world.note(`${runId} fails: ${textOf(error)}`)),
        world.wait(patienceMs),
      ]);
    }
    if (!started.isAccepted) await world.wait(world.draws.delay(`${place} pause`, 100, 60_000));
  }

  async #look(): Promise<void> {
    const { ledgers, world } = this.#parts;
    for (const row of await ledgers.requests({ status: 'pending', limit: 1_000 })) {
      if (this.#seen.has(row.requestId)) continue;
      this.#seen.add(row.requestId);
      void this.#answer(row);
    }
    world.after(this.#isQuick ? lookEveryMs / 10 : lookEveryMs, () => void this.#look());
  }

  async #answer(row: RequestRow): Promise<void> {
    const { plan, world } = this.#parts;
    const place = `answer ${row.requestId}`;
    const { fastest, slowest } = thinking;
    await world.wait(
      this.#isQuick ? fastest : world.draws.delay(`${place} thinking`, fastest, slowest),
    );
    const visited = plan.visit(`people/${row.callId}`);
    const first = this.#give(row, `${place} first`);
    if (plan.happens('doubleAnswer', visited)) void this.#give(row, `${place} second`);
    await first;
  }

  async #give(row: RequestRow, place: string): Promise<void> {
    const { room, world } = this.#parts;
    const answer = this.#choice(row, place);
    for (let asked = 1; asked <= mostTries; asked++) {
      const found = room.someApp(`${place} ${asked}`);
      if (found === undefined) {
        await world.wait(1_000);
        continue;
      }
      world.note(`${row.callId} is answered at ${found.process.name}: ${answer.decision}`);
      const giving = found.app.requests.answer(row.requestId, answer).then(
        () => 'done' as const,
        (error: unknown) => codeOf(error),
      );
      const outcome = await Promise.race([giving, world.wait(patienceMs).then(() => 'silent')]);
      world.note(`${row.callId} answer: ${outcome}`);
      if (outcome === 'done') this.#confirmed(row, answer);
      // Anything else says that nobody can answer it any more, or that the answer was wrong.
      if (outcome !== 'silent' && outcome !== 'store_unavailable') return;
      await world.wait(1_000);
    }
  }

  #confirmed({ requestId }: RequestRow, answer: RequestAnswer): void {
    const answers = this.answered.get(requestId) ?? new Set();
    answers.add(JSON.stringify(answer));
    this.answered.set(requestId, answers);
  }

  #choice(row: RequestRow, place: string): RequestAnswer {
    const { world } = this.#parts;
    const given = this.started
      .find(({ session }) => session === row.session)
      ?.program.answer?.(row);
    if (given !== undefined) return given;
    const options = row.request.options.filter((option) => option !== 'edit');
    const decision = world.draws.at(`${place} choice`) < 0.8 ? options[0] : options.at(-1);
    const by = world.draws.oneOf(`${place} by`, row.mayDecide ?? ['user:ann', 'user:bob']);
    const isInput = decision === 'answer' || decision === 'succeeded';
    return {
      by,
      ...(decision === undefined ? {} : { decision }),
      ...(isInput ? { input: 'yes' } : {}),
    };
  }
}

function codeOf(error: unknown): string {
  return String((error as { readonly code?: unknown }).code ?? error);
}

function textOf(error: unknown): string {
  return `${codeOf(error)}: ${(error as Error).message}`;
}
