import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { describe, expect, test } from 'vitest';
import { workflowVersion } from '../src/index.ts';

// A replay that fails is reported by its error.
const logger = new DefaultLogger('ERROR');
Runtime.install({ logger });

const folder = join(import.meta.dirname, 'histories');
const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
const historyOf = (name: string) =>
  historyFromJSON(JSON.parse(readFileSync(join(folder, name), 'utf8')));
const workflow = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const current = workflow('../src/workflows/burst.ts');

describe('workflows that are running go on with the workflow of today', () => {
  test('all that are recorded', async () => {
    const workflowBundle = await bundleWorkflowCode({ workflowsPath: current, logger });
    for (const name of names) await Worker.runReplayHistory({ workflowBundle }, historyOf(name));
  });

  test('every way through the newest version is recorded', () => {
    const own = names.filter((name) => name.startsWith(`v${workflowVersion}-`));
    expect(own.map((name) => name.slice(3, -5)).sort()).toEqual([
      'done',
      'no-worker',
      'retried',
      'woken',
    ]);
  });
});

test('a workflow that makes other commands is found out', async () => {
  const changed = workflow('./changed-workflow.ts');
  await expect(
    Worker.runReplayHistory({ workflowsPath: changed }, historyOf('v1-done.json')),
  ).rejects.toThrow(/[Nn]ondetermin/);
});

test('nothing but names goes through Temporal', () => {
  for (const name of names) {
    const events = historyOf(name).events ?? [];
    const payloads = events.flatMap(
      ({ workflowExecutionStartedEventAttributes: started, ...event }) => [
        ...(started?.input?.payloads ?? []),
        ...(event.activityTaskScheduledEventAttributes?.input?.payloads ?? []),
      ],
    );
    for (const { data } of payloads)
      expect(JSON.parse(Buffer.from(data ?? []).toString())).toEqual({
        app: 'shop',
        tenant: 'acme',
        session: 's',
      });
    expect(payloads.length).toBeGreaterThan(1);
  }
});
