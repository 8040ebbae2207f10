import type { RoutingDecisions } from '../../ledger/decisions/routing-decisions.ts';
import { plain, type Sentence, type Subject, textOf } from '../decision-subject.ts';

/** Sentences about ways that were taken; `other` is for those that have no words here. */
type RoutingWords = {
  readonly [Component in keyof RoutingDecisions]: {
    readonly [Name in keyof RoutingDecisions[Component] | 'other']: Sentence;
  };
};

export const routingWords: RoutingWords = {
  router: {
    route: routed,
    other: (of) => `${of.who} decided about a route: ${plain(of.decision)}.`,
  },
  graph: {
    begin: (of) => `The graph ${of.who} began.`,
    edges: (of) => `After "${nodeOf(of)}" ${listOf(of, 'taken', 'no edge')} was next.`,
    join: (of) =>
      `"${nodeOf(of)}" had what it waits for, and ${listOf(of, 'cancelled', 'no other work')} ` +
      'was cancelled.',
    other: (of) => `The graph decided: ${plain(of.decision)}.`,
  },
};

function routed(of: Subject): string {
  const target = textOf(of.data, 'target') ?? 'another runnable';
  const after = textOf(of.data, 'after');
  if (after !== undefined) return `"${after}" failed, and ${of.who} tried "${target}".`;
  const by = textOf(of.data, 'by');
  const who = by === 'model' ? 'The model of' : by === 'rule' ? 'A rule of' : 'Without a choice,';
  return `${who} ${of.who} sent the work to "${target}".`;
}

const nodeOf = ({ data }: Subject): string => textOf(data, 'node') ?? 'a node';

function listOf({ data }: Subject, member: string, none: string): string {
  const value = data[member];
  const names = Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
  return names.length === 0 ? none : names.map((name) => `"${name}"`).join(', ');
}
