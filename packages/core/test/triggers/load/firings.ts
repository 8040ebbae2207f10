import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bundleProgram } from '../../../../../scripts/bundle.ts';
import { repositoryRoot } from '../../../../../scripts/command.ts';
import { newSchema, serverUrl } from '../../stores/postgres/server.ts';
import { referenceInstants } from '../reference.ts';
import { effectMs, type FiringOrder, type LoadTrigger, loadTriggers } from './firing-order.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Delay of each look behind an instant: within the tolerance. */
const lateMs = 5_000;

/** One part of the load: a store, and the days around one change of the clocks. */
export interface FiringPart {
  readonly store: 'sqlite' | 'postgres';
  readonly from: string;
  readonly days: number;
  readonly patterns: number;
  readonly kills: number;
}

/** Firing that was carried out. */
interface Fired {
  readonly trigger: string;
  readonly instant: number;
  readonly standsFor: number;
  readonly key: string;
}

type Expect = (what: string, isTrue: boolean, detail?: string) => void;

/**
 * Three processes fire cron triggers over a change of the clocks, killed at random, with outages
 * and a clock that goes back. Each due firing happens once, and missed ones go by their policy.
 */
export async function runFirings(part: FiringPart, expectThat: Expect): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'adjutant-firings-'));
  const schema = newSchema();
  const start = Date.parse(part.from);
  const order: FiringOrder = {
    store:
      part.store === 'sqlite'
        ? { file: join(directory, 'store.db') }
        : { url: serverUrl, schema: schema.name },
    effects: join(directory, 'effects.jsonl'),
    ...{ start, patterns: part.patterns },
  };
  const load = new Load(order, part);
  try {
    await load.run();
    judge(load, part, expectThat);
  } finally {
    load.end();
    await schema.drop().catch(() => undefined);
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A time at which all processes look, and the one before it. */
interface Look {
  readonly after: number;
  readonly at: number;
}

class Load {
  readonly order: FiringOrder;
  readonly looks: Look[] = [];
  readonly instants = new Map<string, readonly number[]>();
  readonly triggers: readonly LoadTrigger[];
  killed = 0;
  readonly #part: FiringPart;
  readonly #until: number;
  #workers: Worker[] = [];
  #program = '';

  constructor(order: FiringOrder, part: FiringPart) {
    this.order = order;
    this.#part = part;
    this.#until = order.start + part.days * dayMs;
    this.triggers = loadTriggers(order);
    for (const zone of new Set(this.triggers.map(({ timeZone }) => timeZone))) {
      const own = this.triggers.filter(({ timeZone }) => timeZone === zone);
      const found = referenceInstants(
        ...[own.map(({ pattern }) => pattern), zone, order.start, this.#until],
      );
      for (const [index, { name }] of own.entries()) this.instants.set(name, found[index] ?? []);
    }
  }

  async run(): Promise<void> {
    this.#program = await bundleProgram(
      fileURLToPath(new URL('./firing-worker.ts', import.meta.url)),
      join(repositoryRoot, 'node_modules/.cache/firing-worker'),
    );
    this.#workers = await Promise.all([1, 2, 3].map(() => this.#start()));
    await this.#look(this.order.start);
    const all = [...new Set([...this.instants.values()].flat())].sort((a, b) => a - b);
    const killEvery = Math.max(1, Math.floor(all.length / (this.#part.kills + 1)));
    let now = this.order.start;
    for (const [count, instant] of all.entries()) {
      if (instant + lateMs <= now) continue;
      const isOutage = count % 40 === 39 && instant + 8 * hourMs < this.#until;
      // Nobody looks for five hours; the look comes when no instant is just over.
      const at = isOutage ? quietTime(all, instant + 5 * hourMs) : instant + lateMs;
      this.looks.push({ after: now, at });
      await this.#look(at, count % killEvery === killEvery - 1);
      now = at;
      // The clock of the machine is put back, and goes on.
      if (count % 25 === 24) await this.#look(now - 30 * 60_000);
    }
  }

  /** Lets all processes do at once what is due, until nothing is left. */
  async #look(at: number, kills = false): Promise<void> {
    for (let round = 0; ; round++) {
      const answers = this.#workers.map((worker) => worker.ask(at));
      if (kills && round === 0) {
        await this.#kill();
        // Effects of the killed one are taken over when their time limit is over.
        answers.push(...this.#workers.map((worker) => worker.ask(at + 2 * effectMs)));
      }
      const done = await Promise.all(answers);
      if (done.every((count) => count === 0) && !(kills && round === 0)) return;
    }
  }

  async #kill(): Promise<void> {
    await wait(Math.random() * 30);
    const place = Math.floor(Math.random() * this.#workers.length);
    this.#workers[place]?.kill();
    this.killed += 1;
    this.#workers[place] = await this.#start();
  }

  async #start(): Promise<Worker> {
    const worker = new Worker(this.#program, this.order);
    await worker.ready;
    return worker;
  }

  end(): void {
    for (const worker of this.#workers) worker.kill();
  }

  /** Firings that were carried out, each once for its key. */
  fired(): readonly Fired[] {
    if (!existsSync(this.order.effects)) return [];
    const lines = readFileSync(this.order.effects, 'utf8').split('\n').filter(Boolean);
    const byKey = new Map<string, Fired>();
    for (const line of lines) {
      const fired = JSON.parse(line) as Fired;
      byKey.set(fired.key, fired);
    }
    return [...byKey.values()];
  }
}

/** A process, asked by lines and answering by lines. */
class Worker {
  readonly ready: Promise<unknown>;
  readonly #process: ChildProcess;
  readonly #waiting: ((line: string) => void)[] = [];
  #isGone = false;

  constructor(program: string, order: FiringOrder) {
    this.#process = spawn(process.execPath, [program, JSON.stringify(order)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const { stdin, stdout } = this.#process;
    stdin?.on('error', () => undefined);
    if (stdout !== null)
      createInterface({ input: stdout }).on('line', (line) => this.#waiting.shift()?.(line));
    this.#process.on('exit', () => {
      this.#isGone = true;
      for (const tell of this.#waiting.splice(0)) tell('0');
    });
    this.ready = this.#line();
  }

  #line(): Promise<string> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async ask(at: number): Promise<number> {
    if (this.#isGone) return 0;
    const line = this.#line();
    this.#process.stdin?.write(`${at}\n`);
    return Number(await line);
  }

  kill(): void {
    this.#isGone = true;
    this.#process.kill('SIGKILL');
  }
}

/** The first time from `at` on with no instant in the two minutes before it. */
function quietTime(instants: readonly number[], at: number): number {
  const disturbing = instants.find((one) => one > at - 120_000 && one <= at);
  return disturbing === undefined ? at : quietTime(instants, disturbing + 121_000);
}

function judge(load: Load, part: FiringPart, expectThat: Expect): void {
  const fired = load.fired();
  const label = `${part.store} from ${part.from.slice(0, 10)}`;
  const twice = fired.length - new Set(fired.map((one) => `${one.trigger} ${one.instant}`)).size;
  console.log(
    `  ${label}: ${load.triggers.length} triggers, ${fired.length} firings, ` +
      `${load.looks.length} looks, ${load.killed} processes killed`,
  );
  expectThat(`no instant fires twice (${label})`, twice === 0, `${twice} did`);
  const wrong: string[] = [];
  for (const trigger of load.triggers) {
    const wanted = expectedOf(trigger, load);
    const own = fired.filter((one) => one.trigger === trigger.name);
    const got = own.map(({ instant, standsFor }) => `${instant}/${standsFor}`).sort();
    if (JSON.stringify(got) !== JSON.stringify(wanted)) {
      const missing = wanted.filter((one) => !got.includes(one));
      const more = got.filter((one) => !wanted.includes(one));
      wrong.push(`${trigger.name} (${trigger.pattern}): without ${missing}, with ${more}`);
    }
  }
  expectThat(
    `each due instant fires once, and missed ones by their policy (${label})`,
    wrong.length === 0,
    wrong.length === 0 ? `${fired.length} firings` : wrong.slice(0, 3).join('; '),
  );
}

/** The firings that a trigger must have: instant, and the number of instants it stands for. */
function expectedOf({ missed, name }: LoadTrigger, load: Load): readonly string[] {
  const instants = load.instants.get(name) ?? [];
  return load.looks
    .flatMap(({ after, at }) => {
      const due = instants.filter((instant) => instant > after && instant <= at);
      const last = due.at(-1);
      if (last === undefined) return [];
      if (at - last <= lateMs && due.length === 1) return [`${last}/1`];
      if (missed === 'skip') return [];
      return missed === 'once' ? [`${last}/${due.length}`] : due.map((one) => `${one}/1`);
    })
    .sort();
}
