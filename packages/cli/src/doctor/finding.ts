/** Result of one check: `ok`, or what there is to mend. */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'error';
  readonly text: string;
}

export const ok = (text: string): Finding => ({ level: 'ok', text });
export const warning = (text: string): Finding => ({ level: 'warning', text });
export const failure = (text: string): Finding => ({ level: 'error', text });
