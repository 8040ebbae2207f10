export interface ServerFlags {
  /** Address of a server. Without it, the command works with the store of this machine. */
  readonly server?: string;
  /** API key for the server. @default the environment variable `ADJUTANT_KEY` */
  readonly key?: string;
}

/** Options of a command that was given `--server`. */
export type RemoteOptions<Options> = Options & { readonly server: string };

export function isRemote<Options extends ServerFlags>(
  options: Options,
): options is RemoteOptions<Options> {
  return options.server !== undefined;
}
