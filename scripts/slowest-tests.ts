/**
 * `npm run slowest-tests`: the test files that took longest, by the reports of `npm test` in
 * `.ci/run` and of the suites.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { reportsFolder } from '../vitest.suites.ts';
import { repositoryRoot } from './command.ts';

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly assertionResults: readonly unknown[];
  }[];
}

const shown = 10;

const folder = join(repositoryRoot, reportsFolder);
const files = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .flatMap((name) => {
    const { testResults } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Report;
    return testResults.map(({ name: path, startTime, endTime, assertionResults }) => ({
      path: relative(repositoryRoot, path),
      seconds: Math.max(0, endTime - startTime) / 1000,
      tests: assertionResults.length,
    }));
  })
  .toSorted((a, b) => b.seconds - a.seconds);

console.log('seconds  tests  slowest test files');
for (const { path, seconds, tests } of files.slice(0, shown))
  console.log(`${seconds.toFixed(1).padStart(7)}  ${String(tests).padStart(5)}  ${path}`);
