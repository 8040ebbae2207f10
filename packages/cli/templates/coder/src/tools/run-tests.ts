import { execFile } from 'node:child_process';
import { type Tool, tool } from 'adjutant';
import { z } from 'zod';

/** A tool that runs `npm test` in a folder. */
export function runTests({ root }: { readonly root: string }): Tool {
  return tool({
    name: 'runTests',
    description: 'Runs the tests of the project, and gives the end of what they print',
    schema: z.object({}),
    // Tests change nothing that counts, so they may run again after a crash.
    recovery: 'rerun',
    timeoutMs: 300_000,
    execute: ({ signal }) => lastLines(root, signal),
  });
}

function lastLines(cwd: string, signal: AbortSignal): Promise<{ passed: boolean; output: string }> {
  const options = { cwd, signal, maxBuffer: 10_000_000, shell: process.platform === 'win32' };
  return new Promise((done) => {
    execFile('npm', ['test', '--silent'], options, (error, stdout, stderr) =>
      done({ passed: error === null, output: `${stdout}${stderr}`.slice(-4_000) }),
    );
  });
}
