import type { Branch, Call, Program, Statement } from './program.ts';

/** Programs that have one thing less, the largest steps first. */
export function smallerPrograms(program: Program): readonly Program[] {
  switch (program.kind) {
    case 'sequence':
    case 'parallel':
    case 'graph': {
      const { parts } = program;
      return [
        ...parts,
        ...(parts.length > 1 ? without(parts).map((left) => ({ ...program, parts: left })) : []),
        ...smallerItems(parts, smallerPrograms).map((left) => ({ ...program, parts: left })),
      ];
    }
    case 'loop':
      return [
        program.part,
        ...(program.iterations > 1 ? [{ ...program, iterations: program.iterations - 1 }] : []),
        ...smallerPrograms(program.part).map((part) => ({ ...program, part })),
      ];
    case 'router':
      return [program.part, ...smallerPrograms(program.part).map((part) => ({ ...program, part }))];
    case 'step':
      return smallerLists(program.branches, smallerStatements).map((branches) => ({
        ...program,
        branches: branches as readonly Branch[],
      }));
    default:
      return smallerLists(program.rounds, smallerCalls).map((rounds) => ({
        ...program,
        rounds: rounds as readonly (readonly Call[])[],
      }));
  }
}

/** Lists of lists with one list, one item, or a part of one item less. None becomes empty. */
function smallerLists<Item>(
  lists: readonly (readonly Item[])[],
  smaller: (item: Item) => readonly Item[],
): readonly (readonly (readonly Item[])[])[] {
  return [
    ...(lists.length > 1 ? without(lists) : []),
    ...smallerItems(lists, (list) => (list.length > 1 ? without(list) : [])),
    ...smallerItems(lists, (list) => smallerItems(list, smaller)),
  ];
}

function smallerStatements(statement: Statement): readonly Statement[] {
  return 'part' in statement
    ? smallerPrograms(statement.part).map((part) => ({ ...statement, part }))
    : [];
}

function smallerCalls(call: Call): readonly Call[] {
  if (!('part' in call)) return [];
  return smallerPrograms(call.part)
    .filter(({ kind }) => kind === 'agent')
    .map((part) => ({ ...call, part }));
}

function without<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  return items.map((_, index) => items.toSpliced(index, 1));
}

function smallerItems<Item>(
  items: readonly Item[],
  smaller: (item: Item) => readonly Item[],
): readonly (readonly Item[])[] {
  return items.flatMap((item, index) => smaller(item).map((made) => items.with(index, made)));
}
