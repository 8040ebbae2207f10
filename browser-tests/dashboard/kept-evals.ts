import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agent, memoryStore, type Runtime, runtime } from 'adjutant';
import { type EvalReports, evalReports, evaluate } from 'adjutant/eval';
import { scriptedModel } from 'adjutant/testing';
import { onTestFinished } from 'vitest';

const capitals = { France: 'Paris', Norway: 'Oslo', Peru: 'Lima', Kenya: 'Nairobi' } as const;

/** Runs an eval of an agent that knows some capitals. */
async function measured(version: string, app: Runtime, knows: readonly string[]) {
  const model = scriptedModel((prompt) => {
    const text = JSON.stringify(prompt);
    const known = Object.entries(capitals).find(([country]) => text.includes(country));
    const isKnown = known !== undefined && knows.includes(known[0]);
    return { text: isKnown ? `It is ${known[1]}.` : 'I cannot tell.' };
  });
  return evaluate({
    name: 'Capitals',
    runId: `run-${version}`,
    dataset: Object.entries(capitals).map(([id, capital]) => ({
      id,
      input: `What is the capital of ${id}?`,
      expect: { response: { contains: capital } },
      tags: ['geography'],
    })),
    variants: [{ name: 'current', version, app, runnable: agent({ name: 'geographer', model }) }],
    threshold: 0.9,
  });
}

export function emptyFolder(): { readonly folder: string; readonly reports: EvalReports } {
  const folder = mkdtempSync(join(tmpdir(), 'evals-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return { folder, reports: evalReports({ folder }) };
}

/** Two reports in a folder; the sessions of the second are in the store of the app. */
export async function keptEvals(app: Runtime) {
  const { folder, reports } = emptyFolder();
  const elsewhere = runtime({ app: 'elsewhere', store: memoryStore() });
  const before = await measured('1', elsewhere, ['France', 'Norway', 'Peru']);
  const after = await measured('2', app, ['France', 'Kenya']);
  return {
    folder,
    reports,
    before: (await reports.keep(before)).id,
    after: (await reports.keep(after)).id,
  };
}
