import { AdjutantError } from 'adjutant';

/** The terminal belongs to a call of `cli()` that has not been left. */
export class TerminalInUseError extends AdjutantError<string> {
  constructor() {
    super(
      'terminal_in_use',
      'cli() is open already, and a process has one terminal. ' +
        'Await the first call before the next.',
    );
  }
}
