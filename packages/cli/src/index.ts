export { cli } from './library/cli.ts';
export type { CliOptions, CliOutcome } from './library/options.ts';
export { TerminalInUseError } from './library/terminal-in-use.ts';
