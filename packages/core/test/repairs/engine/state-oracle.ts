import type { Program, Statement, Values } from './state-programs.ts';

/** Tells if others get their turn after a statement. */
const yields = ({ does }: Statement): boolean =>
  ['effect', 'pause', 'call', 'nest', 'ask'].includes(does);

/** Branches as the stretches between two turns. */
function stretchesOf(program: Program): readonly (readonly (readonly Statement[])[])[] {
  return program.map((statements) => {
    const stretches: Statement[][] = [[]];
    for (const statement of statements) {
      if (yields(statement)) stretches.push([]);
      else stretches.at(-1)?.push(statement);
    }
    return stretches;
  });
}

function after(values: Values, statement: Statement): Values {
  const of = (key: string): number => values[key] ?? 0;
  switch (statement.does) {
    case 'increment':
      return { ...values, [statement.key]: of(statement.key) + 1 };
    case 'set':
      return { ...values, [statement.key]: statement.value };
    case 'add':
      return { ...values, [statement.key]: of(statement.key) + statement.by };
    case 'multiply':
      return { ...values, [statement.key]: of(statement.key) * statement.by };
    case 'decide':
      return of(statement.reads) % 2 === statement.remainder
        ? { ...values, [statement.key]: statement.value }
        : values;
    default:
      return values;
  }
}

/** Keys in the order of their names, so that equal values have equal texts. */
export function textOf(values: Values): string {
  return JSON.stringify(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * All states that runs of a program without a stop can end with, as texts: every order of the
 * stretches of its branches, which begin in the order of their declaration. For programs whose
 * children write nothing. `undefined`: there are more than can be looked at.
 */
export function endsOf(program: Program, most = 60_000): ReadonlySet<string> | undefined {
  const branches = stretchesOf(program);
  const run = (values: Values, stretch: readonly Statement[]): Values =>
    stretch.reduce(after, values);
  const ends = new Set<string>();
  const seen = new Set<string>();
  const begun = branches.reduce(
    (values, stretches) => run(values, stretches[0] ?? []),
    {} as Values,
  );
  const open: { readonly at: readonly number[]; readonly values: Values }[] = [
    { at: branches.map(() => 1), values: begun },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { at, values } = next;
    const name = `${at.join()} ${textOf(values)}`;
    if (seen.has(name)) continue;
    if (seen.size >= most) return undefined;
    seen.add(name);
    let isOver = true;
    branches.forEach((stretches, b) => {
      const place = at[b] as number;
      const stretch = stretches[place];
      if (stretch === undefined) return;
      isOver = false;
      open.push({ at: at.with(b, place + 1), values: run(values, stretch) });
    });
    if (isOver) ends.add(textOf(values));
  }
  return ends;
}
