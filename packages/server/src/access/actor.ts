/** Who does something through the server, as ledgers name them. */
export type Actor = 'user' | 'operator' | `user:${string}` | `operator:${string}`;
