import { compositions, rooms } from './rooms.ts';

const [begin, end] = ['<!-- rooms: npm run room-table -->', '<!-- end of rooms -->'];
const every = ['base', 'ledger', 'session', 'runnables', 'models', 'tools', 'context'];
const everyRoom = [...every, 'supervision', 'loop', 'effects'];

/** Returns a page with the table of rooms between its marks made anew. */
export function withRoomTable(page: string): string {
  const [before, rest = ''] = page.split(begin);
  const [, after = ''] = rest.split(end);
  return `${before}${begin}\n${roomTable()}\n${end}${after}`;
}

function roomTable(): string {
  const lines = Object.entries(rooms).map(([name, { holds, imports, types = [], pure }]) => {
    const allowed = [...shortened(imports), ...types.map((type) => `types of ${type}`)];
    return `| \`${name}/\` | ${holds}${pure ? ' (pure)' : ''} | ${allowed.join(', ') || '–'} |`;
  });
  const roots = Object.entries(compositions).map(
    ([name, holds]) => `| \`${name}${name.endsWith('.ts') ? '' : '/'}\` | ${holds} | anything |`,
  );
  return ['| room | holds | imports |', '|---|---|---|', ...lines, ...roots].join('\n');
}

/** Shortens a list that contains all rooms below the engine to one name for them. */
function shortened(imports: readonly string[]): readonly string[] {
  if (!everyRoom.every((room) => imports.includes(room))) return imports;
  const others = imports.filter((room) => !everyRoom.includes(room));
  return ['all from base to effects', ...others];
}
