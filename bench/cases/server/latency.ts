import { ours, type Row, type Settings } from '../../row.ts';
import { type Paired, paired } from '../../server/paired.ts';
import type { Plan } from '../../server/plan.ts';
import { HostProcess, ReaderProcess } from '../../server/processes.ts';
import { type Followed, follow, readAnswer } from '../../server/talk.ts';

const bare = 'bare loop';
const perSecond = 200;

/** Milliseconds from a model's delta to a reader in another process, at the pace of a model. */
export async function latency({ quick }: Settings): Promise<readonly Row[]> {
  await using own = await HostProcess.start({ kind: 'adjutant', store: { kind: 'memory' } });
  await using floor = await HostProcess.start({ kind: 'bare' });
  await using peer = await HostProcess.start({ kind: 'ai-sdk' });
  await using reader = await ReaderProcess.start();
  const plan: Plan = { deltas: quick ? 200 : 400, perSecond };
  const repetitions = quick ? 4 : 8;
  const both = (count: number) => [
    { name: bare, measure: () => follow(floor, reader, { count, plan }) },
    { name: ours, measure: () => follow(own, reader, { count, plan }) },
  ];
  const aiSdk = { name: 'AI SDK', measure: () => readAnswer(peer, reader, plan) };
  const one = await paired([...both(1), aiSdk], repetitions);
  const many = await paired(both(100), repetitions);
  return [...rowsOf(one, '1 follower'), ...rowsOf(many, '100 followers')];
}

function rowsOf(figures: Paired<Followed>, to: string): Row[] {
  const [p50, p99] = [({ p50: value }: Followed) => value, ({ p99: value }: Followed) => value];
  return [
    figures.row(`delta to reader, ${perSecond} a second, ${to}, p50`, 'ms', p50),
    figures.row(`delta to reader, ${perSecond} a second, ${to}, p99`, 'ms', p99),
    figures.above(`added to a delta passed on by hand, ${to}, p50`, 'ms', p50, bare),
    figures.above(`added to a delta passed on by hand, ${to}, p99`, 'ms', p99, bare),
    figures.against(`delta to reader against one passed on by hand, ${to}, p50`, p50, {
      other: bare,
      limit: 2,
    }),
    figures.against(`delta to reader against one passed on by hand, ${to}, p99`, p99, {
      other: bare,
      limit: 2.5,
    }),
  ];
}
