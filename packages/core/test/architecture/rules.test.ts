/** Shows that every rule of the architecture test can fail, on small sources that break it. */
import { describe, expect, test } from 'vitest';
import { core, short } from './checked-source.ts';
import { checkServer } from './client-rules.ts';
import { checkRooms } from './room-rules.ts';
import { readSource } from './source-file.ts';

function rooms(path: string, text: string): string[] {
  return short(checkRooms(core({ [path]: text })));
}

describe('the room table', () => {
  test('refuses an import of a room that is not in its line', () => {
    expect(rooms('ledger/fold.ts', "import { decide } from '../loop/decide.ts';")).toEqual([
      'room-import ../loop/decide.ts',
    ]);
    expect(rooms('tools/tool.ts', "export { openai } from '../models/openai.ts';")).toEqual([
      'room-import ../models/openai.ts',
    ]);
    expect(
      rooms('engine/run/advance.ts', "import { sqlite } from '../../stores/sqlite/index.ts';"),
    ).toEqual(['room-import ../../stores/sqlite/index.ts']);
    expect(rooms('base/id.ts', "import type { Event } from '../ledger/event.ts';")).toEqual([
      'room-import ../ledger/event.ts',
    ]);
  });

  test('refuses import() too', () => {
    expect(rooms('models/model.ts', "const load = () => import('../engine/advance.ts');")).toEqual([
      'room-import ../engine/advance.ts',
    ]);
  });

  test(
    'allows what is in the line, the room itself, and anything to tests and ' + 'composition roots',
    () => {
      expect(
        rooms(
          'ledger/fold.ts',
          "import { sha256 } from '../base/hash.ts'; import { x } from './event.ts';",
        ),
      ).toEqual([]);
      expect(
        rooms('loop/decide.test.ts', "import { sqlite } from '../stores/sqlite/index.ts';"),
      ).toEqual([]);
      expect(rooms('runtime.ts', "import { memoryStore } from './stores/memory.ts';")).toEqual([]);
      expect(
        rooms(
          'testing/index.ts',
          "import { decide } from '../loop/decide.ts'; setTimeout(() => {}, 1);",
        ),
      ).toEqual([]);
    },
  );

  test('allows types alone where it says so', () => {
    expect(rooms('runnables/agent.ts', "import type { Tool } from '../tools/tool.ts';")).toEqual(
      [],
    );
    expect(rooms('runnables/agent.ts', "type Tool = import('../tools/tool.ts').Tool;")).toEqual([]);
    expect(rooms('runnables/agent.ts', "import { isTool } from '../tools/tool.ts';")).toEqual([
      'room-import ../tools/tool.ts',
    ]);
    // This import is kept at run time as `import {} from` under verbatimModuleSyntax.
    expect(rooms('runnables/agent.ts', "import { type Tool } from '../tools/tool.ts';")).toEqual([
      'room-import ../tools/tool.ts',
    ]);
  });

  test('takes a room within a room for a room of its own', () => {
    expect(
      rooms('tools/builtin/calculate/calculate.ts', "import { tool } from '../../tool.ts';"),
    ).toEqual([]);
    expect(rooms('tools/tool.ts', "import { calculate } from './builtin/calculate.ts';")).toEqual([
      'room-import ./builtin/calculate.ts',
    ]);
    expect(
      rooms('tools/builtin/x.ts', "import { agent } from '../../runnables/agent.ts';"),
    ).toEqual(['room-import ../../runnables/agent.ts']);
  });

  test(
    'refuses files outside the rooms, the package by its own name, and more of Node than a ' +
      'room may have',
    () => {
      expect(rooms('utils/text.ts', '')).toEqual(['room-import utils']);
      expect(rooms('engine/run/run.ts', "import { agent } from 'adjutant';")).toEqual([
        'room-import adjutant',
      ]);
      expect(
        rooms(
          'base/hash.ts',
          "import { hash } from 'node:crypto'; import { readFileSync } from 'node:fs';",
        ),
      ).toEqual(['room-import node:fs']);
    },
  );
});

describe('the client of the server', () => {
  const client = (text: string, path = 'client/client.ts'): string[] =>
    short(checkServer([readSource(`packages/server/src/${path}`, text)]));

  test('loads nothing of core, of the rest of the server or of Node', () => {
    expect(
      client(
        "import { isAdjutantError } from 'adjutant'; import { problemOf } from " +
          "'../http/problem.ts';",
      ),
    ).toEqual(['client-import adjutant', 'client-import ../http/problem.ts']);
    expect(
      client("import { readFileSync } from 'node:fs'; const load = () => import('hono');"),
    ).toEqual(['client-import node:fs', 'client-import hono']);
  });

  test('may name their types, and load itself and the parser of streams', () => {
    const text =
      "import type { Event } from 'adjutant'; import type { Problem } from " +
      "'../http/problem.ts'; import { createParser } from 'eventsource-parser';";
    expect(client(`${text} import { follow } from './follow.ts';`)).toEqual([]);
    expect(client("import { runtime } from 'adjutant';", 'server.ts')).toEqual([]);
  });

  test('takes its time and chance from its ports, and so does the server', () => {
    expect(client('const now = () => Date.now();')).toEqual(['raw-source-of-chance Date.now']);
    expect(client('const now = () => Date.now();', 'server.ts')).toEqual([
      'raw-source-of-chance Date.now',
    ]);
    expect(client('const now = () => Date.now();', 'client/ports.ts')).toEqual([]);
  });
});

describe('pure rooms', () => {
  test('refuse packages, Node modules and the outside', () => {
    expect(
      rooms('views/tree.ts', "import { z } from 'zod'; import { readFileSync } from 'node:fs';"),
    ).toEqual(['impure-room zod', 'impure-room node:fs']);
    expect(rooms('loop/decide.ts', 'export const seen = process.env; console.log(fetch);')).toEqual(
      ['impure-room process', 'impure-room console', 'impure-room fetch'],
    );
  });

  test('refuse the ports of the system, and allow ports as types and arguments', () => {
    const clock = "import { systemClock, type Clock } from '../base/clock.ts';";
    expect(rooms('views/tree.ts', clock)).toEqual(['impure-room systemClock']);
    expect(
      rooms(
        'loop/decide.ts',
        "import type { Clock } from '../base/clock.ts'; import { randomFromSeed } from " +
          "'../base/random.ts';",
      ),
    ).toEqual([]);
  });

  test('allow types, methods of these names, and the files that hold effects', () => {
    expect(
      rooms('runnables/agent.ts', "import type { StandardSchemaV1 } from '@standard-schema/spec';"),
    ).toEqual([]);
    expect(
      rooms(
        'views/tree.ts',
        'interface Queue { process(): void } export const start = (queue: Queue) => ' +
          'queue.process();',
      ),
    ).toEqual([]);
    expect(
      rooms('ledger/ledger-writer.ts', "import { setFlagsFromString } from 'node:v8';"),
    ).toEqual([]);
  });
});

describe('rooms that a simulation runs', () => {
  test.each([
    ["import { systemClock } from '../../base/clock.ts';", 'systemClock'],
    ["import { afterThisTurn } from '../../base/clock.ts';", 'afterThisTurn'],
    ["import { setBackgroundTimer } from '../../base/clock.ts';", 'setBackgroundTimer'],
    ["import * as ids from '../../base/id.ts';", '*'],
    ["import { systemTurns } from '../../base/turns.ts';", 'systemTurns'],
    ["import { systemHost } from '../../base/host.ts';", 'systemHost'],
    ['export const held = new WeakRef({});', 'WeakRef'],
    ['export const seen = new FinalizationRegistry(() => {});', 'FinalizationRegistry'],
  ])('refuse %s', (code, subject) => {
    expect(rooms('engine/run/run.ts', code)).toEqual([`machine-past-host ${subject}`]);
  });

  test('allow types of the ports, and other rooms the machine', () => {
    expect(rooms('engine/run/run.ts', "import type { Host } from '../../base/host.ts';")).toEqual(
      [],
    );
    expect(rooms('stores/clock.ts', "import { systemClock } from '../base/clock.ts';")).toEqual([]);
  });

  test('list a file that names the machine only while it does', () => {
    const path = 'tools/builtin/current-time.ts';
    expect(rooms(path, "import { systemClock } from '../../base/clock.ts';")).toEqual([]);
    expect(rooms(path, 'export const none = 1;')).toEqual(['stale-exception tools/builtin']);
  });
});

describe('raw sources of chance', () => {
  test.each([
    ['Date.now()', 'Date.now'],
    ['({ now: Date.now })', 'Date.now'],
    ['new Date()', 'new Date()'],
    ['Date()', 'Date()'],
    ['performance.now()', 'performance.now'],
    ['setTimeout(() => {}, 1)', 'setTimeout'],
    ['globalThis.setInterval(() => {}, 1)', 'setInterval'],
    ['(setImmediate as unknown)', 'setImmediate'],
    ['Math.random()', 'Math.random'],
    ['crypto.randomUUID()', 'crypto.randomUUID'],
    ['globalThis.crypto.getRandomValues(new Uint8Array(1))', 'crypto.getRandomValues'],
    ['AbortSignal.timeout(5)', 'AbortSignal.timeout'],
  ])('refuse %s', (code, subject) => {
    expect(rooms('engine/run/run.ts', `export const value = () => ${code};`)).toEqual([
      `raw-source-of-chance ${subject}`,
    ]);
  });

  test('refuse the modules that hold them', () => {
    expect(rooms('engine/run/run.ts', "import { randomUUID } from 'node:crypto';")).toEqual([
      'raw-source-of-chance node:crypto randomUUID',
    ]);
    expect(
      rooms('engine/run/run.ts', "import { setTimeout as sleep } from 'node:timers/promises';"),
    ).toEqual(['raw-source-of-chance node:timers/promises']);
  });

  test('allow the ports, a given time, a clock of that shape, and hashing', () => {
    expect(rooms('base/clock.ts', 'export const now = () => Date.now();')).toEqual([]);
    expect(
      rooms(
        'engine/run/run.ts',
        'export const at = (clock: { now(): number }) => new Date(clock.now());',
      ),
    ).toEqual([]);
    expect(
      rooms(
        'engine/run/run.ts',
        "import { createHmac } from 'node:crypto'; export type Timer = typeof setTimeout;",
      ),
    ).toEqual([]);
  });
});
