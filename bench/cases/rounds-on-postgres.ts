import pg from 'pg';
import { agentOfRounds } from '../contenders/adjutant.ts';
import { elapsed, Figure, interleave, type Subject } from '../measure.ts';
import { type Benchmark, ours, type Row, type Settings } from '../row.ts';
import { type OpenStore, openPostgres, postgresUrl } from '../stores.ts';
import { medianRound } from './rounds-in-memory.ts';

const lengths = [10, 100, 1_000];
/** Longest conversation of LangGraph.js, which writes more in each round as it grows. */
const longestOfPeers = 100;
const msPerRound = 0.7;
const flatness = 1.1;

/** One durable round with one tool call; its floor is one statement that inserts as many rows. */
export const roundsOnPostgres: Benchmark = {
  name: 'rounds-on-postgres',
  notes: [
    'The floor on PostgreSQL is one statement that inserts the rows of one round, on one ' +
      'connection.',
  ],
  async run(settings) {
    if (postgresUrl === undefined) return [];
    await using opened = await openPostgres(postgresUrl);
    await using bare = await BareInsert.open(postgresUrl);
    const rows: Row[] = [];
    for (const rounds of lengths) rows.push(await roundsOfLength(opened, bare, rounds, settings));
    const ratios: number[] = [];
    for (let times = settings.quick ? 2 : 5; times > 0; times--)
      ratios.push(await flatnessOf(opened));
    const figures = new Map([[ours, new Figure(ratios)]]);
    return [
      ...rows,
      {
        work: 'round 1,000 against round 10, PostgreSQL',
        unit: '×',
        figures,
        ceiling: { limit: flatness, of: 'median' },
      },
    ];
  },
};

let sessions = 0;

async function roundsOfLength(
  { ours: own, peers, name }: OpenStore,
  bare: BareInsert,
  rounds: number,
  { quick }: Settings,
): Promise<Row> {
  const times = Math.ceil(50 / rounds);
  const subjects: Subject[] = [{ name: 'bare loop', measure: () => bare.commits(100) }];
  for (const contender of [own, ...peers]) {
    if (contender !== own && rounds > longestOfPeers) continue;
    const measure = async (): Promise<number> => {
      const ms = await elapsed(async () => {
        for (let i = 0; i < times; i++) await contender.rounds(`rounds-${++sessions}`, rounds);
      });
      return ms / times / rounds;
    };
    subjects.push({ name: contender.name, measure, every: contender === own ? 1 : 3 });
  }
  const figures = await interleave(subjects, quick ? 3 : 9);
  return {
    work: `a round on ${name}, ${rounds} rounds`,
    unit: 'ms',
    figures,
    ceiling: { limit: msPerRound },
  };
}

async function flatnessOf({ store }: OpenStore): Promise<number> {
  const { model, run } = agentOfRounds(1_000, 1, { store, keepTimes: true });
  await run();
  return medianRound(model.calledAt, [950, 1_000]) / medianRound(model.calledAt, [5, 55]);
}

/** Events of a round, and about how long each is as it is stored. */
const rowsPerRound = 5;
const body = 'x'.repeat(100);

/** The least that a durable round needs: one transaction with as many rows, and the answer. */
class BareInsert implements AsyncDisposable {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async open(url: string): Promise<BareInsert> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('create schema if not exists adjutant_bench_bare');
    await client.query(
      'create table if not exists adjutant_bench_bare.rows (seq bigint generated always as ' +
        'identity primary key, body text)',
    );
    return new BareInsert(client);
  }

  /** Milliseconds for one. */
  async commits(count: number): Promise<number> {
    const bodies = Array.from({ length: rowsPerRound }, () => body);
    const text = 'insert into adjutant_bench_bare.rows (body) select unnest($1::text[])';
    const ms = await elapsed(async () => {
      for (let i = 0; i < count; i++)
        await this.#client.query({ name: 'bare', text, values: [bodies] });
    });
    return ms / count;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.query('drop schema adjutant_bench_bare cascade');
    await this.#client.end();
  }
}
