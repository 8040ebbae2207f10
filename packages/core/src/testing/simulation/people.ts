import { defined } from '../../base/defined.ts';
import { isAdjutantError } from '../../base/error.ts';
import type { RequestAnswer } from '../../engine/requests/check.ts';
import { taskId } from '../../engine/tasks/submission.ts';
import { rootOf } from '../../ledger/path.ts';
import type { LedgerStore, RequestRow } from '../../ledger/port.ts';
import type { Runtime } from '../../runtime.ts';
import type { Runnable } from '../../session/runnable.ts';
import { ProgramAnswers } from './answers.ts';
import { Caller, codeOf, patienceMs } from './caller.ts';
import { EventsOfPeople } from './events/events-of-people.ts';
import type { FaultPlan } from './faults.ts';
import { Interventions } from './interventions.ts';
import type { MachineRoom } from './machine-room.ts';
import { AnsweringMessages } from './messages/messages.ts';
import { Repairs } from './repairs/repairs.ts';
import type { RunBeside, SimulatedProgram, StartedProgram } from './simulated-program.ts';
import type { Watch } from './watch.ts';
import type { World } from './world.ts';

/** Milliseconds between two looks at what waits for people. */
const lookEveryMs = 30_000;
/** Milliseconds that people take to answer, at least and at most. */
const thinking = { fastest: 500, slowest: 3_600_000 };
/** Codes of refusals that are the fault of the program. */
const faultsOfRuns = ['invalid_input', 'invalid_run', 'invalid_user_message', 'not_json'];
/** Share of the answers that come about when the request expires. */
const lastMomentShare = 0.3;
/** Milliseconds by which such an answer may be early or late, at least and at most. */
const lastMoment = { least: 1, most: 3_000 };

/** Milliseconds from the first run of a session to the one in another lane. */
const afterFirst = { soonest: 100, latest: 1_800_000 };

interface PeopleParts {
  readonly world: World;
  readonly plan: FaultPlan;
  readonly room: MachineRoom;
  readonly watch: Watch;
  /** The ledgers, as people see them: without a network in between. */
  readonly ledgers: LedgerStore;
  /** Tenant and name of the app. */
  readonly scope: { readonly tenant: string; readonly app: string };
  /** Finds a runnable of the app of a process by its name. */
  readonly runnable: (app: Runtime, name: string) => Runnable;
}

/** The people around the machines: they ask for runs, and answer what the runs ask. */
export class People {
  readonly started: StartedProgram[] = [];
  /** Runs in lanes of their own, beside those of programs. */
  readonly beside: StartedProgram[] = [];
  /** Answers that people tried to give, by the ids of the requests. */
  readonly given = new Map<string, Set<string>>();
  /** Answers that were confirmed, by the ids of the requests. */
  readonly answered = new Map<string, Set<string>>();
  readonly interventions: Interventions;
  readonly messages: AnsweringMessages;
  readonly events: EventsOfPeople;
  readonly repairs: Repairs;
  readonly #parts: PeopleParts;
  readonly #caller: Caller;
  readonly #answers: ProgramAnswers;
  /** Number of questions of a kind about each call. */
  readonly #asked = new Map<string, number>();
  readonly #seen = new Set<string>();
  #isQuick = false;

  constructor(parts: PeopleParts) {
    this.#parts = parts;
    this.#caller = new Caller(parts.world, parts.room);
    this.interventions = new Interventions(parts.world, parts.plan, this.#caller);
    this.events = new EventsOfPeople(parts.world, this.#caller);
    this.messages = new AnsweringMessages(parts.world, this.#caller);
    this.repairs = new Repairs({
      ...parts,
      caller: this.#caller,
      lets: (session) => this.interventions.lets(session),
    });
    this.#answers = new ProgramAnswers({ ...parts, started: this.started });
    parts.world.after(lookEveryMs, () => void this.#look());
  }

  /** From now on, all requests are answered soon. */
  hurry(): void {
    this.#isQuick = true;
    this.repairs.hurry();
    this.#seen.clear();
  }

  /** Asks for a run, again and again until the store has it. */
  async start(program: SimulatedProgram, index: number): Promise<void> {
    const session = `s${index}`;
    const { scope } = this.#parts;
    const task = { ...scope, requester: 'system', key: `task${index}`, session };
    const runId = program.task === undefined ? `run${index}` : taskId(task);
    const started = { program, index, session, runId, isAccepted: false };
    this.started.push(started);
    this.interventions.begin(started, program.task !== undefined);
    this.repairs.begin(started);
    if (program.beside !== undefined) this.#startBeside(started, program.beside);
    await this.#askUntilAccepted(started);
  }

  /** Asks for a run in another lane, a while after the first run of the session was asked for. */
  #startBeside({ index, program, runId: first, session }: StartedProgram, beside: RunBeside): void {
    const { draws } = this.#parts.world;
    const { lane, ...run } = beside;
    const user = defined({ user: program.user });
    const runId = `${first}-${lane}`;
    const { latest, soonest } = afterFirst;
    const names = { session, runId, lane };
    const started = { program: { ...run, ...user }, index, ...names, isAccepted: false };
    this.beside.push(started);
    this.#parts.world.after(draws.delay(`start ${runId}`, soonest, latest), () => {
      this.interventions.beginBeside({ session, runId, lane });
      void this.#askUntilAccepted(started);
    });
  }

  async #askUntilAccepted(started: StartedProgram): Promise<void> {
    for (let asked = 1; !started.isAccepted; asked++) await this.#ask(started, asked);
  }

  async #ask(started: StartedProgram, asked: number): Promise<void> {
    const { room, runnable, world } = this.#parts;
    const { lane, program, runId, session: id } = started;
    const place = `ask ${runId} ${asked}`;
    const found = room.someApp(place);
    if (found !== undefined) {
      const { app, process } = found;
      world.note(`${runId} is asked for at ${process.name}`);
      const { data, input, run, task, user } = program;
      const asking = async (): Promise<void> => {
        if (task !== undefined) {
          const name = { session: id, key: `task${started.index}` };
          await app.submit(runnable(app, run), input, { ...task, ...name, ...defined({ data }) });
          started.isAccepted = true;
          return world.note(`${runId} is submitted`);
        }
        const session = await app.sessions.open(user === undefined ? { id } : { id, userId: user });
        const running = app.run(runnable(app, run), {
          session,
          runId,
          ...defined({ input, data, lane }),
        });
        running.catch((error: unknown) => world.note(`${runId} is refused: ${textOf(error)}`));
        await running.accepted();
        started.isAccepted = true;
        world.note(`${runId} is accepted`);
      };
      // A run that was accepted after all, and was paused meanwhile, goes on.
      const isOver = lane === undefined ? this.interventions.lets(id) : () => undefined;
      const end = asking().catch((error: unknown) => this.#refused(started, error));
      await Promise.race([end.finally(isOver), world.wait(patienceMs)]);
      isOver();
    }
    if (!started.isAccepted) await world.wait(world.draws.delay(`${place} pause`, 100, 60_000));
  }

  /** A run that its app refuses as wrong is refused again whenever it is asked for. */
  #refused({ index, runId }: StartedProgram, error: unknown): void {
    const { watch, world } = this.#parts;
    world.note(`${runId} fails: ${textOf(error)}`);
    if (faultsOfRuns.some((code) => isAdjutantError(error, code)))
      watch.reportError('run_accepted', error, `\`programs[${index}]\` (${runId}) is refused: `);
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
    // The same without faults, where the ids of requests may be others.
    const question = `${row.callId} ${row.kind}`;
    const times = (this.#asked.get(question) ?? 0) + 1;
    this.#asked.set(question, times);
    const place = `answer ${question} ${times}`;
    await world.wait(this.#isQuick ? thinking.fastest : this.#thinkingMs(row, place));
    const visited = plan.visit(`people/${row.callId}`);
    const first = this.#give(row, times, `${place} first`);
    if (plan.happens('doubleAnswer', visited)) void this.#give(row, times, `${place} second`);
    await first;
  }

  /** Draws how long people think. Some leave it to the last moment. */
  #thinkingMs({ expiresAt }: RequestRow, place: string): number {
    const { draws, now } = this.#parts.world;
    const { fastest, slowest } = thinking;
    const leftMs = (expiresAt ?? Number.POSITIVE_INFINITY) - now;
    if (leftMs >= slowest || draws.at(`${place} last moment`) >= lastMomentShare)
      return draws.delay(`${place} thinking`, fastest, slowest);
    const off = draws.delay(`${place} off`, lastMoment.least, lastMoment.most);
    return draws.at(`${place} early`) < 0.5 ? leftMs - off : leftMs + off;
  }

  /** Lane of the run that asks: a message in another lane answers nothing of it. */
  #laneOf({ invocationId }: RequestRow): string | undefined {
    return this.beside.find(({ runId }) => runId === rootOf(invocationId))?.lane;
  }

  async #give(row: RequestRow, times: number, place: string): Promise<void> {
    const answer = this.#answers.choose(row, times, place);
    if (answer === undefined) return;
    if ('message' in answer) {
      await this.messages.say(row, place, { text: answer.message, lane: this.#laneOf(row) });
      this.#seen.delete(row.requestId);
      return;
    }
    keep(this.given, row, answer);
    const outcome = await this.#caller.call({
      place,
      text: `${row.callId} is answered: ${answer.decision}`,
      make: (app) => this.#answers.given(row, app.requests.answer(row.requestId, answer)),
    });
    if (outcome === 'done') keep(this.answered, row, answer);
  }
}

function keep(
  answers: Map<string, Set<string>>,
  { requestId }: RequestRow,
  answer: RequestAnswer,
): void {
  const ofRequest = answers.get(requestId) ?? new Set();
  ofRequest.add(JSON.stringify(answer));
  answers.set(requestId, ofRequest);
}

function textOf(error: unknown): string {
  return `${codeOf(error)}: ${(error as Error).message}`;
}
