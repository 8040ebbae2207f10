export type Rule =
  | 'syntax'
  | 'room-import'
  | 'client-import'
  | 'workspace-import'
  | 'package-import'
  | 'import-circle'
  | 'file-size'
  | 'function-size'
  | 'export-star'
  | 'default-export'
  | 'any'
  | 'raw-source-of-chance'
  | 'impure-room'
  | 'machine-past-host'
  | 'import-side-effect'
  | 'index-shape'
  | 'index-weight'
  | 'stale-exception';

/** Finding that is accepted for now. Every entry needs a reason that a reader can check. */
export interface Exception {
  readonly rule: Rule;
  /** Path from the repository root. */
  readonly file: string;
  /** Subject of the finding, as its message quotes it: an imported module, a function, a global. */
  readonly subject: string;
  readonly reason: string;
}

/** Place where the source breaks a rule of the architecture. */
export interface Finding {
  readonly rule: Rule;
  readonly file: string;
  readonly line: number;
  /** Subject of the finding; with rule and file it names the finding in the list of exceptions. */
  readonly subject: string;
  readonly message: string;
}

/**
 * Returns the findings without the accepted ones. Each exception that accepts no finding adds one.
 */
export function applyExceptions(
  findings: readonly Finding[],
  exceptions: readonly Exception[],
): Finding[] {
  const matches = (finding: Finding, exception: Exception): boolean =>
    finding.rule === exception.rule &&
    finding.file === exception.file &&
    finding.subject === exception.subject;
  const remaining = findings.filter(
    (finding) => !exceptions.some((exception) => matches(finding, exception)),
  );
  const stale = exceptions.filter(
    (exception) => !findings.some((finding) => matches(finding, exception)),
  );
  return [
    ...remaining,
    ...stale.map(
      (exception): Finding => ({
        rule: 'stale-exception',
        file: exception.file,
        line: 1,
        subject: exception.subject,
        message:
          `the exception for ${exception.rule} "${exception.subject}" is no longer needed: ` +
          'delete it from exceptions.ts and lower mostExceptions',
      }),
    ),
  ];
}

/** Returns one line per finding, so that an editor can jump to it. */
export function printFindings(findings: readonly Finding[]): string {
  return findings
    .map(({ rule, file, line, message }) => `${file}:${line}  ${rule}  ${message}`)
    .join('\n');
}
