import type { RebuiltTurn } from '../../ledger/port.ts';
import { newTurn, type Turn } from './turn.ts';

/**
 * Members of a turn that is rebuilt, before it has its place. When it was last taken and what its
 * flow was charged are no settings: they stay.
 */
export function rebuiltFields(turn: Turn, rebuilt: RebuiltTurn): Turn {
  const { hardMs, rests, since, softMs } = rebuilt;
  const fresh = newTurn(turn, since);
  const passes = rests === undefined;
  const at = (ms: number | undefined): number | undefined =>
    passes && ms !== undefined ? since + ms : undefined;
  const hardAt = at(hardMs);
  const instants = [rebuilt.controlAt, hardAt].filter((instant) => instant !== undefined);
  return {
    ...fresh,
    queue: rebuilt.queue ?? fresh.queue,
    level: rebuilt.level ?? fresh.level,
    requester: rebuilt.requester ?? fresh.requester,
    runnable: rebuilt.runnable ?? fresh.runnable,
    suspended: rebuilt.suspended ?? false,
    controlAt: instants.length === 0 ? null : Math.min(...instants),
    key: rebuilt.key,
    rate: rebuilt.rate,
    holds: rebuilt.holds ?? false,
    softAt: at(softMs),
    hardAt,
    softLeftMs: passes ? undefined : softMs,
    hardLeftMs: passes ? undefined : hardMs,
    coalesceKey: rebuilt.coalesceKey,
    run: rebuilt.run,
    interests: rebuilt.interests ?? 1,
    attempts: rebuilt.attempts ?? 1,
    estimateMs: rebuilt.estimateMs ?? fresh.estimateMs,
    takenAt: turn.takenAt,
    chargedMs: turn.chargedMs,
    weight: turn.weight,
  };
}
