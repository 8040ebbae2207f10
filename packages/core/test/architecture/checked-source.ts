import type { Finding } from './finding.ts';
import { readSource, type SourceFile } from './source-file.ts';

export const src = 'packages/core/src/';

export function core(sources: Readonly<Record<string, string>>): SourceFile[] {
  return Object.entries(sources).map(([path, text]) => readSource(`${src}${path}`, text));
}

/** Returns `rule subject` of each finding. */
export function short(findings: readonly Finding[]): string[] {
  return findings.map(({ rule, subject }) => `${rule} ${subject}`);
}
