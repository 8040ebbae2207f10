import { choose, type Moves } from './maker.ts';

/** Moves that write what agents read: state, messages, facts and summaries. */
export const contentMoves: Moves<'state' | 'message' | 'remember' | 'compact'> = {
  state: (maker, { pick, value }) => {
    const scope = value % 5 === 0 ? 'user' : 'session';
    const where = choose(maker.open(), pick);
    const newValue = value % 7 === 0 ? {} : { newValue: value };
    maker.add({
      type: 'state_change',
      by: 'runtime',
      scope,
      source: 'mutation',
      changes: [{ key: `key${pick % 4}`, ...newValue }],
      ...(scope === 'user' ? { scopeId: 'u' } : {}),
      ...(where === undefined ? {} : { invocationId: where.path }),
    });
  },
  message: (maker, { pick, value }) => {
    const where = value % 2 === 0 ? choose(maker.open(), pick) : undefined;
    maker.add({
      type: 'user',
      by: 'user',
      text: `message ${value}`,
      ...(where === undefined ? {} : { invocationId: where.path }),
    });
  },
  remember: (maker, { pick, value }) => {
    const where = choose(maker.open(), pick);
    if (where === undefined) return;
    const key = value % 3 === 0 ? {} : { key: `fact${value % 3}` };
    maker.add({
      type: 'memory',
      by: 'tool:do',
      invocationId: where.path,
      text: `fact ${value}`,
      ...key,
    });
  },
  compact: (maker, { pick, value }) => {
    const agent = choose(maker.open(['agent']), pick);
    if (agent === undefined) return;
    const covered = new Set(
      maker.events.flatMap((event) => (event.type === 'compaction' ? event.covers : [])),
    );
    const own = maker.events.filter(
      (event) =>
        event.invocationId === agent.path && event.type === 'tool_result' && !covered.has(event.id),
    );
    const reason = value % 2 === 0 ? 'window' : 'overflow';
    const shorter = value % 5 === 0 ? { resultLimit: 2_000 } : {};
    const covers = own.slice(0, value % 4).map(({ id }) => id);
    const told = {
      summary: `summary ${value}`,
      tokensBefore: value,
      tokensAfter: 1,
      overlap: value % 3,
    };
    maker.add({
      type: 'compaction',
      by: 'runtime',
      invocationId: agent.path,
      strategy: 'trim',
      reason,
      covers,
      ...told,
      ...shorter,
    });
  },
};
