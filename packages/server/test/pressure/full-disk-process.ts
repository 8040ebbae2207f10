/**
 * A process that serves an app from a file on a small disk: `full-disk-process.ts <folder>`. Told by
 * messages to fill the disk and to make room.
 */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { serve } from '@adjutant/server';
import { agent, runtime } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { scriptedModel } from 'adjutant/testing';

const [, , folder = ''] = process.argv;
const ballast = join(folder, 'ballast');
const clerk = agent({ name: 'clerk', model: scriptedModel(() => ({ text: 'Done.' })) });
const app = runtime({ app: 'shop', store: sqlite(join(folder, 'shop.db')), runnables: [clerk] });

function fill(): void {
  const file = openSync(ballast, 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(4_096));
  } catch {
    // The disk is full.
  } finally {
    closeSync(file);
  }
}

process.on('message', (order: 'fill' | 'empty') => {
  if (order === 'fill') fill();
  else rmSync(ballast);
  process.send?.(order);
});
process.on('disconnect', () => process.exit());

const { url } = await serve(app, { port: 0 });
process.send?.(url);
