import type { DurableContender } from '../contenders/durable-contender.ts';
import { elapsed, Figure, interleave } from '../measure.ts';
import { type Benchmark, ours as oursName, type Row, type Settings } from '../row.ts';
import { type OpenStore, openStores } from '../stores.ts';

const lengths = [10, 10_000] as const;
const flatness = 1.1;
/** Timed together: a single one is about as long as a commit varies. */
const forksPerMeasurement = 10;

/** A fork in the store shares its prefix: that of 10,000 rounds costs what that of 10 costs. */
export const forks: Benchmark = {
  name: 'forks',
  async run(settings) {
    const rows: Row[] = [];
    for (const opened of await openStores(settings)) {
      await using open = opened;
      rows.push(...(await forksOn(open, settings)));
    }
    return rows;
  },
};

let made = 0;

async function forksOn({ name, store, ours }: OpenStore, { quick }: Settings): Promise<Row[]> {
  const ledgers = store.for({ tenant: 'default', app: 'bench' });
  const heads = new Map<number, number>();
  for (const rounds of lengths) heads.set(rounds, await storedHead(ours, rounds));
  async function storedHead(contender: DurableContender, rounds: number): Promise<number> {
    await contender.storeRounds(`forks-${rounds}`, rounds);
    return (await ledgers.head(`forks-${rounds}`))?.seq ?? 0;
  }
  const measure = (rounds: number) => async (): Promise<number> => {
    const ms = await elapsed(async () => {
      for (let i = 0; i < forksPerMeasurement; i++)
        await ledgers.fork(`forks-${rounds}`, heads.get(rounds) as number, `fork-${++made}`);
    });
    return ms / forksPerMeasurement;
  };
  const figures = await interleave(
    lengths.map((rounds) => ({ name: `${rounds}`, measure: measure(rounds) })),
    quick ? 10 : 60,
  );
  const [short, long] = lengths.map((rounds) => figures.get(`${rounds}`) as Figure) as [
    Figure,
    Figure,
  ];
  const of = (figure: Figure) => new Map([[oursName, figure]]);
  return [
    { work: `fork of 10 rounds in the store, ${name}`, unit: 'ms', figures: of(short) },
    { work: `fork of 10,000 rounds in the store, ${name}`, unit: 'ms', figures: of(long) },
    {
      work: `fork of 10,000 rounds against 10, ${name}`,
      unit: '×',
      figures: of(new Figure([long.median / short.median])),
      ceiling: { limit: flatness, of: 'median' },
    },
  ];
}
